"""The base of every part of the library: checks, extras, files, the array type."""
