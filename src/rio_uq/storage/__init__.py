"""A fitted regressor in a file without pickle, as plain values and arrays, see docs/format.md."""

from rio_uq.storage.file import STORED, read, what_is_left_out, write

__all__ = ["STORED", "read", "what_is_left_out", "write"]
