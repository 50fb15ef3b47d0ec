"""Tables in CSV, Parquet and Feather files, read in blocks of rows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from rio_uq.cli.console import UserError, progress
from rio_uq.rows.csv import CsvFile, CsvOptions

BLOCK_ROWS, BLOCK_CELLS = 16_384, 2**21
KINDS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".feather": "feather"}


def kind_of(path: Path) -> str:
    """csv, parquet or feather, by the end of the name."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise UserError(f"{path}: the name of a table has to end in one of {', '.join(KINDS)}")
    return kind


class TableFile:
    """A table on disk.

    Attributes
    ----------
    path : Path
    schema : pyarrow.Schema
        Text in every column of a CSV file.
    names : list of str
        Of its columns.
    separator : str or None
        Of a CSV file.
    """

    def __init__(self, path: Path, options: CsvOptions) -> None:
        self.path, self.kind, self.decimal = path, kind_of(path), options.decimal
        self._csv = CsvFile(path, options) if self.kind == "csv" else None
        self.separator = None if self._csv is None else self._csv.separator
        try:
            self.schema = self._read_schema()
        except pa.ArrowInvalid as error:
            raise UserError(f"{path} is no {self.kind.title()} file, or is damaged: {error}") from error
        self.names = self.schema.names
        self.block_rows = max(1, min(BLOCK_ROWS, BLOCK_CELLS // max(len(self.names), 1)))
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise UserError(f"{path} has more than one column called {_quoted(repeated)}: rename them")

    def check_has(self, columns: Iterable[str], why: str = "") -> None:
        """Raise an error that names the columns that are missing, and those that are spelt alike."""
        missing = [name for name in columns if name not in self.names]
        if not missing:
            return
        alike = difflib.get_close_matches(missing[0], self.names, n=1, cutoff=0.6)
        hint = f"did you mean {alike[0]!r}? " if alike else ""
        raise UserError(
            f"{self.path} has no column {_quoted(missing)}{why}: {hint}its columns are {_quoted(self.names)}"
        )

    def blocks(self, label: str) -> Iterator[pa.Table]:
        """The rows, some at a time, with a progress bar of that label."""
        with progress(label) as update:
            for table, share in self._blocks():
                for start in range(0, table.num_rows, self.block_rows):
                    yield table.slice(start, self.block_rows)
                update(share)

    def read(self) -> pa.Table:
        """All rows."""
        tables = list(self.blocks(f"reading {self.path.name}"))
        if not tables:
            raise UserError(f"{self.path} has names of columns and no rows")
        return pa.concat_tables(tables)

    def _blocks(self) -> Iterator[tuple[pa.Table, float]]:
        if self._csv is not None:
            yield from self._csv.blocks()
        elif self.kind == "parquet":
            with parquet.ParquetFile(self.path) as file:
                n_rows, done = max(file.metadata.num_rows, 1), 0
                for batch in file.iter_batches(batch_size=self.block_rows):
                    done += batch.num_rows
                    yield pa.Table.from_batches([batch]), done / n_rows
        else:
            with pa.memory_map(str(self.path)) as source, pa.ipc.open_file(source) as file:
                for number in range(file.num_record_batches):
                    yield pa.Table.from_batches([file.get_batch(number)]), (number + 1) / file.num_record_batches

    def _read_schema(self) -> pa.Schema:
        if self._csv is not None:
            return pa.schema([(name, pa.string()) for name in self._csv.names])
        if self.kind == "parquet":
            return parquet.read_schema(self.path)
        with pa.memory_map(str(self.path)) as source, pa.ipc.open_file(source) as file:
            return file.schema


def _quoted(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:30])
    return shown if len(names) <= 30 else f"{shown} and {len(names) - 30} more"
