"""The first sheet of an Excel or OpenDocument file, with the extra ``rio-uq[excel]``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from rio_uq._base.extras import require

KINDS: tuple[tuple[type | tuple[type, ...], pa.DataType], ...] = (
    (bool, pa.bool_()),
    ((int, float), pa.float64()),
    ((datetime, date), pa.timestamp("us")),
    (time, pa.time64("us")),
    (timedelta, pa.duration("us")),
)
"""Types of cells, and of columns all of whose cells are of one of them; other columns are text."""


class ExcelFile:
    """The first sheet, see `rio_uq.rows.formats.TableFile`; its first row with a cell has the names of columns.

    Attributes
    ----------
    sheets : list of str
        The names of all sheets.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        calamine = require("python_calamine", "excel", "reading Excel files", "save the sheet as CSV")
        try:
            book = calamine.CalamineWorkbook.from_path(str(path))
            self.sheets: list[str] = book.sheet_names
            rows = book.get_sheet_by_index(0).to_python()
        except (calamine.CalamineError, OSError, IndexError) as error:
            raise ValueError(f"{path} cannot be read as an Excel file: {error}") from error
        rows = [row for row in rows if any(cell != "" for cell in row)]
        if not rows:
            raise ValueError(f"{path} is empty: a row with the names of columns is needed in its first sheet")
        columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [()] * len(rows[0])
        names = [_as_text(name) or "" for name in rows[0]]
        self._table = pa.table([_column(cells) for cells in columns], names=names)
        self.schema = self._table.schema

    def batches(self, block_rows: int) -> Iterator[tuple[pa.RecordBatch, float]]:
        done = 0
        for batch in self._table.to_batches(block_rows):
            done += batch.num_rows
            yield batch, done / self._table.num_rows


def _column(cells: Sequence[Any]) -> pa.Array:
    """Cells of one column; whole numbers stay whole, as those of an id are."""
    values = [None if cell == "" else cell for cell in cells]
    present = [value for value in values if value is not None]
    has_truth = any(isinstance(value, bool) for value in present)  # which is a number to Python
    for types, kind in KINDS:
        if not all(isinstance(value, types) for value in present) or (has_truth and kind != pa.bool_()):
            continue
        if kind == pa.float64() and all(float(value).is_integer() and abs(value) < 2**53 for value in present):
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        return pa.array(values, kind)
    return pa.array([_as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str | None:
    """As the sheet shows it: 7 and not 7.0."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return value.isoformat() if isinstance(value, date | time) else str(value)
