"""How many rows are in memory at a time, and batches of any size cut into blocks of that many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

BLOCK_ROWS, BLOCK_NUMBERS = 65_536, 2**23
"""Rows in a block at most: fewer, down to 1,024, where they would be more numbers than that."""

NUMBERS_A_CELL = 4
"""Memory of a cell that may be text, in numbers."""


def rows_of_a_block(n_columns: int) -> int:
    return int(np.clip(BLOCK_NUMBERS // max(1, n_columns), 1024, BLOCK_ROWS))


def in_blocks(batches: Iterable[Any], block_rows: int) -> Iterator[Any]:
    """Arrow tables of the same number of rows each, but for the last, from Arrow record batches of any size."""
    import pyarrow as pa

    held, n_held = [], 0
    for batch in batches:
        while batch.num_rows:
            piece = batch.slice(0, block_rows - n_held)
            batch = batch.slice(piece.num_rows)
            held.append(piece)
            n_held += piece.num_rows
            if n_held == block_rows:
                yield pa.Table.from_batches(held)
                held, n_held = [], 0
    if held:
        yield pa.Table.from_batches(held)
