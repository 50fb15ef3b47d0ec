"""Writing a file in one step: an error on the way leaves what was there before."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_in_one_step(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes its name when all is written; an error leaves what was there before."""
    target = Path(os.path.realpath(os.fsdecode(path)))
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to: make it first")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a power cut, where folders can be opened at all."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
