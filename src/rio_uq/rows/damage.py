"""Errors of Arrow about the contents of a file, with the name of the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def naming_file(name: str, kind: str = "a table") -> Iterator[None]:
    """Raise errors about contents as a ValueError that names the file; those of the system name it themselves."""
    try:
        yield
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name} cannot be read as {kind}, and may be damaged: {error}") from error
