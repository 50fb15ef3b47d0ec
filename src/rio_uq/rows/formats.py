"""Tables in files, by the ending of their names: CSV, Parquet, Feather, and Excel to read.

A further format is one more module with a `TableFile`, and a line in `ENDINGS` and in `open_table`. All of this needs
pyarrow, and is imported by those who read such files only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from rio_uq._base.checks import repeated
from rio_uq.rows.blocks import NUMBERS_A_CELL, in_blocks, rows_of_a_block
from rio_uq.rows.csv import CsvFile, CsvOptions
from rio_uq.rows.excel import ExcelFile
from rio_uq.rows.feather import FeatherFile
from rio_uq.rows.parquet import ParquetFile

WRITTEN = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".feather": "feather"}
ENDINGS = {**WRITTEN, **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel")}
"""Of files that are written, and of files that are read."""


class TableFile(Protocol):
    """A table in a file.

    Attributes
    ----------
    path : Path
    schema : pyarrow.Schema
        Names and types of its columns; all of them are text in a CSV file.
    """

    path: Path
    schema: pa.Schema

    def batches(self, block_rows: int) -> Iterator[tuple[pa.RecordBatch, float]]:
        """Rows, about so many at a time if the format leaves the choice, and the share of the file that is read."""


def format_of(path: Path) -> str:
    """csv, parquet, feather or excel, by the ending of the name."""
    name = ENDINGS.get(path.suffix.lower())
    if name is None:
        raise ValueError(f"{path}: the name of a table has to end in one of {', '.join(ENDINGS)}")
    return name


def format_to_write(path: Path) -> str:
    """csv, parquet or feather, by the ending of the name."""
    if format_of(path) == "excel":
        raise ValueError(f"{path}: Excel files are read, and not written: choose one of {', '.join(WRITTEN)}")
    return format_of(path)


def open_table(path: Path, csv_options: CsvOptions) -> TableFile:
    """The table in a file; a ValueError says what is wrong with it."""
    name = format_of(path)
    file: TableFile
    if name == "csv":
        file = CsvFile(path, csv_options)
    elif name == "parquet":
        file = ParquetFile(path)
    elif name == "excel":
        file = ExcelFile(path)
    else:
        file = FeatherFile(path)
    if several := repeated(file.schema.names):
        raise ValueError(f"{path} has more than one column called {', '.join(map(repr, several))}: rename them")
    return file


def table_blocks(file: TableFile) -> Iterator[tuple[pa.Table, float]]:
    """Blocks of rows of a size that memory has room for, each with the share of the file that is read."""
    block_rows = rows_of_a_block(NUMBERS_A_CELL * len(file.schema.names))
    shares = [0.0]

    def batches() -> Iterator[pa.RecordBatch]:
        for batch, shares[0] in file.batches(block_rows):
            yield batch

    for block in in_blocks(batches(), block_rows):
        yield block, shares[0]
