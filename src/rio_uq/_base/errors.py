"""Errors that users may want to catch."""

from __future__ import annotations


class FormatError(ValueError):
    """A file that is no saved regressor, is damaged, or comes from a newer version."""
