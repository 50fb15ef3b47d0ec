"""Cells of a table as what a model and the GP take: numbers, text, or dates, all of them with missing values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute as pc

from rio_uq._base.array import Array, Mask
from rio_uq.cli.console import UserError
from rio_uq.cli.dates import (
    DATES,
    DURATIONS,
    TIMES,
    dates_of_texts,
    no_cells,
    temporal_cells,
    temporal_kind,
)
from rio_uq.features.date_text import DATE

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None")
"""Text that stands for a missing value."""

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?[iI]nf(inity)?$"

SEPARATORS = (",", ".", "'", "’", " ", "\u00a0", "\u202f", "_")
"""Characters that separate thousands somewhere in the world."""

NUMBERS, TEXT = "number", "text"
USABLE = (NUMBERS, TEXT, DATES, DURATIONS, TIMES)
"""Kinds of columns that features are made of."""

MIXED, MIXED_DATES, EMPTY, OTHER = "mixed", "mixed dates", "empty", "other"


class NumberFormat(NamedTuple):
    """How text shows numbers: its decimal point, and what separates thousands, if anything does."""

    decimal: str = "."
    thousands: str | None = None


def is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def kind_of(column: pa.ChunkedArray, number_format: NumberFormat) -> str:
    """Whether a column holds numbers, text or dates, or something that is of no use as it is."""
    if column.null_count == len(column):
        return EMPTY
    if is_number(column.type):
        return NUMBERS
    if pa.types.is_boolean(column.type):
        return TEXT
    if is_text(column.type):
        numbers, missing, bad = numbers_of(column, number_format)
        n_numbers, n_text = len(numbers) - int(missing.sum()) - int(bad.sum()), int(bad.sum())
        if n_numbers + n_text == 0:
            return EMPTY
        if dotted(column, number_format).any():
            return MIXED
        if n_text and _all_grouped(pc.filter(_trimmed(column), pa.array(bad)), number_format):
            return MIXED
        if 2 * _mask(pc.match_substring_regex(_trimmed(column), DATE)).sum() > n_numbers + n_text:
            return MIXED_DATES if dates_of(column, DATES)[1].any() else DATES
        return NUMBERS if n_text == 0 else MIXED if n_numbers > n_text else TEXT
    return temporal_kind(column.type) or OTHER


def numbers_of(column: pa.ChunkedArray, number_format: NumberFormat) -> tuple[Array, Mask, Mask]:
    """Floats, NaN where there is none; which cells are missing; and which hold something else."""
    if is_text(column.type):
        texts = plain_numbers(_trimmed(column), number_format)
        is_number_text = _mask(pc.match_substring_regex(texts, NUMBER))
        cleaned = pc.replace_substring_regex(pc.if_else(is_number_text, texts, None), r"^\+", "")
        missing = _mask(pc.or_kleene(pc.is_null(texts), pc.is_in(texts, pa.array(MISSING))))
        return _floats(cleaned), missing, ~missing & ~is_number_text
    if not is_number(column.type) and not pa.types.is_boolean(column.type):
        return np.full(len(column), np.nan), np.zeros(len(column), bool), np.ones(len(column), bool)
    numbers = _floats(column)
    return numbers, np.isnan(numbers), np.zeros(len(numbers), bool)


def plain_numbers(texts: Any, number_format: NumberFormat) -> Any:
    """Texts with a decimal point, and nothing between thousands.

    One that has a dot already, where the decimal point is something else, is no number: nobody knows what it separates.
    """
    decimal, thousands = number_format
    if thousands is not None:
        is_grouped = pc.match_substring_regex(texts, _grouped(thousands, decimal))
        texts = pc.if_else(is_grouped, pc.replace_substring(texts, thousands, ""), texts)
    if decimal == ".":
        return texts
    marked = pc.if_else(pc.match_substring(texts, "."), pc.binary_join_element_wise("?", texts, ""), texts)
    return pc.replace_substring(marked, decimal, ".")


def _grouped(thousands: str, decimal: str) -> str:
    """The pattern of numbers with thousands that are separated so: 1,234.5, and neither 12,34 nor 1234."""
    return rf"^[+-]?[0-9]{{1,3}}({re.escape(thousands)}[0-9]{{3}})+({re.escape(decimal)}[0-9]*)?$"


def _all_grouped(texts: Any, number_format: NumberFormat) -> bool:
    """Whether all texts would be numbers if one character separated thousands."""
    others = (separator for separator in SEPARATORS if separator != number_format.decimal)
    return any(_mask(pc.match_substring_regex(texts, _grouped(one, number_format.decimal))).all() for one in others)


def dotted(column: pa.ChunkedArray, number_format: NumberFormat) -> Mask:
    """Cells that would be numbers if their dots were not there, or were decimal points."""
    if number_format.decimal == "." or not is_text(column.type):
        return np.zeros(len(column), dtype=bool)
    texts = _trimmed(column)
    is_grouped = pc.match_substring_regex(texts, _grouped(".", number_format.decimal))
    is_number_text = pc.match_substring_regex(texts, NUMBER)
    dots_group = number_format.thousands == "."
    alike = pc.and_not(is_number_text, is_grouped) if dots_group else pc.or_(is_number_text, is_grouped)
    return _mask(pc.and_(alike, pc.match_substring(texts, ".")))


def check_dots(name: str, column: pa.ChunkedArray, number_format: NumberFormat) -> None:
    """Raise for numbers with a dot where the decimal point is something else."""
    rows = dotted(column, number_format)
    if rows.any():
        separate = "" if number_format.thousands == "." else "--thousands . if dots separate thousands, or "
        raise UserError(
            f"column {name!r} holds {examples(column, rows)}: with --decimal {number_format.decimal} a cell with a dot "
            f"is no number; {separate}leave --decimal out if dots are decimal points"
        )


def how_to_read(column: pa.ChunkedArray, rows: Mask, number_format: NumberFormat) -> str:
    """The options by which cells that are no numbers would be some; empty if there are none."""
    if not is_text(column.type):
        return ""
    texts, decimal = pc.filter(_trimmed(column), pa.array(rows)), number_format.decimal
    hints = []
    if decimal == "." and _mask(pc.match_substring_regex(texts, r"^[+-]?[0-9]*,[0-9]+$")).any():
        hints.append("for decimal commas: --decimal ,")
    for one in SEPARATORS:
        if one != decimal and _mask(pc.match_substring_regex(texts, _grouped(one, decimal))).any():
            hints.append(f"if {one!r} separates thousands: --thousands {one if one.strip() else repr(one)}")
    return "".join(f"; {hint}" for hint in hints)


def dates_of(column: pa.ChunkedArray, kind: str) -> tuple[pd.Series, Mask]:
    """Dates, durations or times, missing where there is none; and which cells hold something else."""
    if temporal_kind(column.type) == kind:
        return temporal_cells(column), np.zeros(len(column), dtype=bool)
    if kind == DATES and is_text(column.type):
        texts = _trimmed(column)
        dates = dates_of_texts(texts)
        missing = _mask(pc.or_kleene(pc.is_null(texts), pc.is_in(texts, pa.array(MISSING))))
        return dates, dates.isna().to_numpy() & ~missing
    return no_cells(len(column), kind), _mask(pc.is_valid(column.combine_chunks()))


def texts_of(column: pa.ChunkedArray) -> pd.Series:
    """Text, NaN where there is none, as `pandas.read_csv` gives it."""
    if pa.types.is_boolean(column.type):
        column = pc.if_else(column, "True", "False")
    if is_number(column.type):
        column = column.cast(pa.string())
    texts = _trimmed(column)
    for word in ("True", "False"):  # Parquet has truth values, and CSV as many spellings of them as programs
        texts = pc.replace_substring_regex(texts, f"(?i)^{word}$", word)
    series = pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts).to_pandas()
    return series.where(series.notna(), np.nan)


def frame_of(
    table: pa.Table, kinds: Mapping[str, str], number_format: NumberFormat
) -> tuple[pd.DataFrame, dict[str, Mask]]:
    """The columns of these kinds, and where columns of numbers or dates hold something else."""
    columns, wrong = {}, {}
    for name, kind in kinds.items():
        column = table.column(name)
        if kind == TEXT:
            if not (is_text(column.type) or is_number(column.type) or pa.types.is_boolean(column.type)):
                raise UserError(f"column {name!r} holds {column.type}, and held text when RIO was fitted")
            columns[name] = texts_of(column)
            continue
        if kind == NUMBERS:
            columns[name], _, bad = numbers_of(column, number_format)
        else:
            columns[name], bad = dates_of(column, kind)
        if bad.any():
            wrong[name] = bad
    return pd.DataFrame(columns, columns=list(kinds), index=range(table.num_rows)), wrong


def examples(column: pa.ChunkedArray, rows: Mask) -> str:
    """A few of the cells that are no numbers, for a message."""
    cells = pc.filter(column, pa.array(rows)).slice(0, 3).to_pylist()
    return ", ".join(dict.fromkeys(map(repr, cells)))


def _trimmed(column: pa.ChunkedArray) -> Any:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.utf8_trim_whitespace(array.cast(pa.string()))


def _mask(values: Any) -> Mask:
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), dtype=bool)


def _floats(column: Any) -> Array:
    numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) if len(column) else np.empty(0)
    return np.array(numbers, dtype=np.float64)
