"""Which rows should a person look at? The most uncertain and the most corrected ones, with the user's own columns."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from rio_uq._base.array import Array, Mask
from rio_uq.features.extractors import Columns
from rio_uq.regressor import RIORegressor
from rio_uq.report.page_json import is_whole, safe_json
from rio_uq.report.rows import Numbers, ReportRows
from rio_uq.report.words import LONGEST_NAME, counted, measured, number, shortened

ROWS_OF_A_KIND, MOST_COLUMNS = 250, 40
TEXT_LENGTHS, MOST_BYTES = (80, 40, 20, 10), 2 * 2**20
"""How long texts may be: as long as all of them together, as JSON, have no more bytes than that."""

Cell = float | int | str | bool | None


@dataclass(frozen=True)
class ShownColumns:
    """Columns of X as a reader sees them.

    Attributes
    ----------
    names : list of str
    values : list of lists
        Of each column: numbers, texts, or None where a value is missing.
    n_hidden : int
        Columns that are left out.
    """

    names: list[str]
    values: list[list[Cell]]
    n_hidden: int


@dataclass(frozen=True, eq=False)
class RowsToSee:
    """The fourth section.

    Attributes
    ----------
    rows : (k,) array of int
        Their numbers in X.
    is_uncertain, is_corrected : (k,) arrays of bool
        Why they are shown: among the largest standard deviations, or among the largest corrections.
    columns : ShownColumns
    answer : str
    """

    rows: Numbers
    is_uncertain: Mask
    is_corrected: Mask
    columns: ShownColumns
    answer: str


def rows_to_see(rio: RIORegressor, X: Any, rows: ReportRows, notes: Any = None) -> RowsToSee:
    """Choose the rows, and read the columns of notes and of X for them."""
    uncertain, corrected = largest(rows.std), largest(np.abs(rows.correction))
    both = np.union1d(uncertain, corrected)
    columns = shown_columns(rio, X, both, rows, MOST_COLUMNS)
    if notes is not None:
        columns = _with_notes(columns, notes, both, len(rows))
    return RowsToSee(both, np.isin(both, uncertain), np.isin(both, corrected), columns, _answer(rows))


def _with_notes(columns: ShownColumns, notes: Any, chosen: Numbers, n_rows: int) -> ShownColumns:
    if len(notes) != n_rows:
        raise ValueError(f"notes has to have a row for each of X, {n_rows}; it has {len(notes)}")
    part = _safe_indexing(notes, chosen)
    values = [list(_safe_indexing(part, place, axis=1)) for place in range(part.shape[1])]
    names = [shortened(str(name), LONGEST_NAME) for name in notes.columns]
    return ShownColumns([*names, *columns.names], [*cells(values), *columns.values], columns.n_hidden)


def largest(values: Array) -> Numbers:
    """The rows with the largest values, largest first."""
    return np.argsort(-values, kind="stable")[:ROWS_OF_A_KIND]


def _answer(rows: ReportRows) -> str:
    uncertain, corrected = int(np.argmax(rows.std)), int(np.argmax(np.abs(rows.correction)))
    typical = float(np.median(rows.std))
    wide = int((rows.std > 2.0 * typical).sum())
    is_wide = f"{counted(wide, 'row has', 'rows have')}" if wide else "No row has"
    change = rows.correction[corrected]
    first, second = rows.names_of(np.array([uncertain, corrected]))
    return (
        f"{is_wide} a standard deviation of more than twice the median ({measured(typical)}). Row {first} is the "
        f"most uncertain, with {measured(float(rows.std[uncertain]))}; row {second} the most corrected, from "
        f"{number(rows.y_pred[corrected], 4)} {'up' if change > 0 else 'down'} to {number(rows.mean[corrected], 4)}."
    )


def shown_columns(rio: RIORegressor, X: Any, chosen: Numbers, rows: ReportRows, most: int) -> ShownColumns:
    """The columns of X for some rows: all in their order, or the most relevant ones if they are too many.

    None where X is no table (a stack of images, say).
    """
    names = column_names(rio, X)
    if not names:
        return ShownColumns([], [], 0)
    places = list(range(len(names)))
    if len(names) > most:
        rank = {name: place for place, name in enumerate(rows.names)} if _sees_columns(rio) else {}
        places = sorted(sorted(places, key=lambda place: rank.get(names[place], len(names)))[:most])
    part = _safe_indexing(X, chosen)
    columns = [list(_safe_indexing(part, place, axis=1)) for place in places]
    shown = [shortened(names[place], LONGEST_NAME) for place in places]
    return ShownColumns(shown, cells(columns), len(names) - len(places))


def cells(columns: list[list[Any]]) -> list[list[Cell]]:
    """The cells of some columns, their texts as long as there is room for."""
    for longest in TEXT_LENGTHS:
        values = [[cell(value, longest) for value in column] for column in columns]
        if len(safe_json(values).encode()) <= MOST_BYTES:
            break
    return values


def column_names(rio: RIORegressor, X: Any) -> list[str]:
    """Those of a frame, x0, x1, … of a matrix; none where X is something else."""
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return []
    names = getattr(rio, "feature_names_in_", None)
    return [f"x{i}" for i in range(X.shape[1])] if names is None else [str(name) for name in names]


def _sees_columns(rio: RIORegressor) -> bool:
    return isinstance(rio.fitted_.extract, Columns)


def cell(value: Any, longest: int = TEXT_LENGTHS[0]) -> Cell:
    """A value as JSON can hold it: a number, a short text, or None where it is missing."""
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, numbers.Integral):
        return int(value) if abs(int(value)) < 2**53 else str(value)
    if isinstance(value, numbers.Real):
        if is_whole(float(value)):
            return int(float(value))
        return float(f"{float(value):.6g}") if math.isfinite(value) else None if math.isnan(value) else str(value)
    return None if _is_missing(value) else shortened(str(value), longest)


def _is_missing(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value, an array no single one
        return type(value).__name__ == "NAType"
