"""What measurements share: clocks, peak memory, Parquet files that are written block by block."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

BLOCK = 200_000
"""Rows of a block."""


class Stopwatch:
    """Seconds by the clock and of this process on a processor, by the name of what took them."""

    def __init__(self) -> None:
        self.measured: dict[str, float] = {}

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), _processor_seconds()
        yield
        self.measured[f"{name}_seconds"] = round(time.perf_counter() - wall, 3)
        self.measured[f"{name}_cpu_seconds"] = round(_processor_seconds() - cpu, 3)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mib() -> int:
    """Peak memory of this process.

    On Linux of its own program alone: what `resource` says there includes that of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) // 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024 if sys.platform == "darwin" else 1024)


def blocks_of(n_rows: int) -> Iterator[tuple[int, int]]:
    """First row and length of each block."""
    return ((start, min(BLOCK, n_rows - start)) for start in range(0, n_rows, BLOCK))


def write_parquet(path: Path, blocks: Iterable[np.ndarray]) -> None:
    """A file with the columns x0, x1, …, y of blocks of rows; it takes its name when all is written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    unfinished, writer = path.with_suffix(".unfinished"), None
    try:
        for block in blocks:
            names = [*(f"x{i}" for i in range(block.shape[1] - 1)), "y"]
            table = pa.table(list(block.T), names=names)
            writer = writer or pq.ParquetWriter(unfinished, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
    unfinished.rename(path)
