"""Files that take their name only when they are complete: an interrupted process leaves nothing half written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path to write to, renamed to ``path`` at the end and removed after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def save_arrays(path: Path, **arrays: Any) -> None:
    """Write arrays to a compressed npz file."""
    with whole_file(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **arrays)
