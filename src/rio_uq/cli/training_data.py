"""The rows that fit learns from: the columns chosen, their kinds, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask
from rio_uq.cli.cells import (
    NUMBERS,
    USABLE,
    NumberFormat,
    check_dots,
    examples,
    frame_of,
    how_to_read,
    kind_of,
    numbers_of,
    texts_of,
)
from rio_uq.cli.columns import check_kind, choose_columns, without_empty
from rio_uq.cli.console import UserError, note
from rio_uq.cli.input import InputTable
from rio_uq.cli.models import OpenedModel, column_names
from rio_uq.cli.stored import TableDescription
from rio_uq.features.table_encoder import TableEncoder
from rio_uq.rows.csv import CsvOptions

LEAST_ROWS = 5
TRUE, FALSE = ("true", "yes"), ("false", "no")


@dataclass(frozen=True)
class TrainingData:
    """Rows with an outcome and, where a column has them, a prediction.

    Attributes
    ----------
    table : TableDescription
        Its description in the .rio file.
    encoder : TableEncoder or None
        Fitted to X; None where X has no columns, and the GP looks at predictions alone.
    X : DataFrame
    y : (n,) array, or (n, q) of several outcomes
    y_pred : array of the shape of y, or None
    held_out : (n,) array of bool or None
        Rows that the model was not trained on, where a column says so.
    groups : list of n texts or None
        Of rows that err alike, where a column has them.
    """

    table: TableDescription
    encoder: TableEncoder | None
    X: pd.DataFrame
    y: Array
    y_pred: Array | None
    held_out: Mask | None = None
    groups: list[str] | None = None


def read_training_data(
    path: Path,
    csv_options: CsvOptions,
    target: str,
    prediction: str | None,
    model: OpenedModel | None,
    features: list[str],
    drop: list[str],
    held_out: str | None = None,
    groups: str | None = None,
    *,
    needs_features: bool = True,
) -> TrainingData:
    """Read a table for fit; an error says in a sentence why it cannot be used."""
    file = InputTable(path, csv_options)
    if held_out is not None:
        file.check_has([held_out], " that --rows names")
        drop = [*drop, held_out]
    if groups is not None:
        file.check_has([groups], " that --groups names")
        drop = [*drop, groups]
    asked = None if model is None else model.columns()
    targets = column_names(target, file.names)
    predictions = () if prediction is None else column_names(prediction, file.names)
    chosen = choose_columns(file, targets, predictions, asked, features, drop, needs_features=needs_features)
    rows = file.read()
    kinds = {name: kind_of(rows.column(name), file.number_format) for name in chosen.model}
    seen = without_empty(chosen.gp, kinds, needs_features=needs_features)
    for name in seen:
        check_kind(name, kinds[name], rows.column(name), file.number_format)
    taken = chosen.model if chosen.is_asked_for else seen
    kinds = {name: kinds[name] if kinds[name] in USABLE else NUMBERS for name in taken}
    X, _ = frame_of(rows, kinds, file.number_format)
    usable, columns = np.ones(len(X), dtype=bool), []
    for name in (*targets, *predictions):
        check_dots(name, rows.column(name), file.number_format)
        numbers, missing, bad = numbers_of(rows.column(name), file.number_format)
        _check_numbers(path, name, rows.column(name), bad, file.number_format)
        _check_finite(path, name, numbers)
        n_missing = int((usable & missing).sum())
        if 0 < n_missing < len(X):
            note(f"{n_missing:,} of {len(X):,} rows have no number in {name!r}: left out")
        if len(X) and missing.all():
            raise UserError(f"{path}: no row has a number in {name!r}: it is empty in every row")
        usable &= ~missing
        columns.append(numbers)
    if int(usable.sum()) < LEAST_ROWS:
        both = " and ".join(map(repr, (*targets, *predictions)))
        raise UserError(
            f"{path}: {int(usable.sum())} rows have a number in {both}, and fit needs {LEAST_ROWS} at least, some "
            "hundreds to be of use"
        )
    y, y_pred = (
        np.column_stack(part)[usable] if len(part) > 1 else part[0][usable] if part else None
        for part in (columns[: len(targets)], columns[len(targets) :])
    )
    assert y is not None
    X = X[usable].reset_index(drop=True)
    return TrainingData(
        TableDescription(targets, predictions, kinds, None if model is None else model.name),
        _encoder(seen, X) if seen else None,
        X,
        y,
        y_pred,
        None if held_out is None else _mask(path, held_out, rows.column(held_out), file.number_format)[usable],
        None if groups is None else _labels(path, groups, rows.column(groups), usable),
    )


def _labels(path: Path, name: str, column: pa.ChunkedArray, usable: Mask) -> list[str]:
    labels = texts_of(column)
    missing = np.flatnonzero(labels.isna().to_numpy() & usable)
    if len(missing):
        raise UserError(f"{path}, column {name!r}, row {_shown(missing)}: nothing, where every row needs a group")
    return list(labels[usable])


def _mask(path: Path, name: str, column: pa.ChunkedArray, number_format: NumberFormat) -> Mask:
    """A column of 1 and 0, or of true and false, as a mask."""
    texts = [str(value).strip().lower() for value in column.to_pylist()]
    numbers, _, _ = numbers_of(column, number_format)
    is_true, is_false = (np.isin(texts, words) | (numbers == number) for words, number in ((TRUE, 1.0), (FALSE, 0.0)))
    if not (is_true | is_false).all():
        row = int(np.flatnonzero(~(is_true | is_false))[0])
        raise UserError(f"{path}, column {name!r}, row {row + 1}: {texts[row]!r} where 1 or 0, true or false is needed")
    return np.asarray(is_true)


def _check_numbers(path: Path, name: str, column: pa.ChunkedArray, bad: Mask, number_format: NumberFormat) -> None:
    """Raise for outcomes or predictions that are text: rows without them would be missing from what is learnt."""
    n_bad = int(bad.sum())
    if not n_bad:
        return
    hint = how_to_read(column, bad, number_format)
    if n_bad == len(bad):
        raise UserError(f"{path}: no row has a number in {name!r}: it holds {examples(column, bad)}{hint}")
    cells = "this cell" if n_bad == 1 else f"these {n_bad:,} cells"
    raise UserError(
        f"{path}, column {name!r}, row {_shown(np.flatnonzero(bad))}: {examples(column, bad)} where a number is "
        f"needed, or nothing, which leaves the row out: correct or empty {cells}{hint}"
    )


def _shown(rows: NDArray[np.intp]) -> str:
    """Numbers of the first rows, counted from 1."""
    return f"{', '.join(str(row + 1) for row in rows[:5])}{' …' if len(rows) > 5 else ''}"


def _check_finite(path: Path, name: str, numbers: Array) -> None:
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise UserError(
            f"{path}, column {name!r}, row {_shown(infinite)}: infinite, where a number is needed: correct or empty "
            "these cells"
        )


def _encoder(columns: list[str], X: pd.DataFrame) -> TableEncoder:
    try:
        return TableEncoder(columns).fit(X)
    except ValueError as error:
        raise UserError(f"{error}; --drop leaves it out, and dates are read if written as 2024-12-31") from error
