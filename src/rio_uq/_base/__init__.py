"""What every part of the library may use: checks, extras, files, the array type."""
