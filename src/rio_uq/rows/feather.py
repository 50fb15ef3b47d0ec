"""Feather files, which are Arrow's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from rio_uq.rows.damage import naming_file


class FeatherFile:
    """A table in a Feather file, see `rio_uq.rows.formats.TableFile`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opened() as file:
            self.schema = file.schema

    def batches(self, block_rows: int) -> Iterator[tuple[pa.RecordBatch, float]]:
        """As large as they are in the file."""
        with self._opened() as file:
            for number in range(file.num_record_batches):
                yield file.get_batch(number), (number + 1) / file.num_record_batches

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        path = str(self.path)
        with naming_file(path, "a Feather file"), pa.memory_map(path) as source, pa.ipc.open_file(source) as file:
            yield file
