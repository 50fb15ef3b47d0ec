"""Writing a file or a folder in one step: an error on the way leaves what was there before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO


@contextmanager
def written_in_one_step(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """An open file, whose content is found under the path once all of it is written."""
    with file_in_one_step(path) as temporary, temporary.open("xb") as file:
        yield file


@contextmanager
def file_in_one_step(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write a file to, which is moved to the path asked for at the end."""
    target = Path(os.path.realpath(os.fsdecode(path)))
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to: make it first")
    with _moved_at_the_end(target) as temporary:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())


@contextmanager
def folder_in_one_step(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to make a folder at, which is moved to the path asked for at the end; parents are made as needed."""
    target = Path(path).absolute()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FileExistsError(f"{target} exists, and is no empty folder: choose another one, or remove it")
    with _moved_at_the_end(target) as temporary:
        yield temporary
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rmdir()


@contextmanager
def _moved_at_the_end(target: Path) -> Iterator[Path]:
    """A path on the same disk, in a folder that is removed in any case."""
    beside = next(parent for parent in target.parents if parent.is_dir())
    with TemporaryDirectory(prefix=".rio-uq-", dir=beside) as scratch:
        temporary = Path(scratch, target.name)
        yield temporary
        os.replace(temporary, target)
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a power cut, where folders can be opened at all."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
