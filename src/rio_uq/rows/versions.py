"""Files that are read several times have to stay what they were."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


class FileVersions:
    """The state of files when they are opened: which one each is, its size, and when it was written.

    Parameters
    ----------
    files : iterable of paths
        Those that are no files of this machine are not watched.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._versions = {file: _version(file) for file in files if file.is_file()}

    def check(self) -> None:
        """Raise for a file that was replaced, written or removed."""
        for file, before in self._versions.items():
            if _version(file) != before:
                raise ValueError(
                    f"{file} has changed since it was opened, and its rows are read more than once: begin again when "
                    "nobody writes it any more, or on a copy"
                )


def _version(file: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(file)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
