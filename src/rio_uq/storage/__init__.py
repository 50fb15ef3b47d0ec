"""A fitted regressor in a file without pickle, as plain values and arrays, see docs/format.md."""

from rio_uq.storage.file import STORED, read, write

__all__ = ["STORED", "read", "write"]
