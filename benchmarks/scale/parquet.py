"""Parquet files that are written block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from lab.files import whole_file

BLOCK = 200_000
"""Rows of a block."""


def blocks_of(n_rows: int) -> Iterator[tuple[int, int]]:
    """First row and length of each block."""
    return ((start, min(BLOCK, n_rows - start)) for start in range(0, n_rows, BLOCK))


def write_parquet(path: Path, blocks: Iterable[np.ndarray]) -> None:
    """A file with the columns x0, x1, …, y of blocks of rows; it takes its name when all is written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with whole_file(path) as partial, ExitStack() as stack:
        writer = None
        for block in blocks:
            names = [*(f"x{i}" for i in range(block.shape[1] - 1)), "y"]
            table = pa.table(list(block.T), names=names)
            writer = writer or stack.enter_context(pq.ParquetWriter(partial, table.schema))
            writer.write_table(table)
