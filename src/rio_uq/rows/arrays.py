"""Memory maps, read block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.checks import named
from rio_uq.rows.blocks import rows_of_a_block


class ArrayRows:
    """Rows of a memory map."""

    name, path = "the memory map", None

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.n_rows = array, len(array)
        name = getattr(array, "filename", None)
        self.files = [] if name is None else [Path(os.fsdecode(name))]
        self.n_columns = None if array.ndim < 2 else int(array.shape[1])

    def chosen(self, usual: Sequence[str] | None, others: list[str]) -> None:
        if others:
            raise ValueError(f"a memory map has no column {named(others)}: give an array with a value for each row")

    def blocks(self, columns: list[str]) -> Iterator[NDArray[Any]]:
        block_rows = rows_of_a_block(int(np.prod(self.array.shape[1:])))
        for start in range(0, self.n_rows, block_rows):
            yield self.array[start : start + block_rows]

    @staticmethod
    def pick(block: NDArray[Any], indices: NDArray[np.intp]) -> NDArray[Any]:
        return np.asarray(block[indices])

    @staticmethod
    def join(pieces: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(pieces)

    @staticmethod
    def in_memory(block: NDArray[Any]) -> NDArray[Any]:
        return np.array(block)
