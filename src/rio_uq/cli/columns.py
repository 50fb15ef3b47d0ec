"""The use of each column: outcomes, predictions, inputs of the model, features of the GP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from rio_uq.cli.cells import (
    EMPTY,
    MIXED,
    MIXED_DATES,
    OTHER,
    NumberFormat,
    check_dots,
    dates_of,
    examples,
    how_to_read,
    numbers_of,
)
from rio_uq.cli.console import UserError, note
from rio_uq.cli.dates import DATES
from rio_uq.cli.input import InputTable


class ChosenColumns(NamedTuple):
    """Columns for the model, and those among them that the GP sees."""

    model: list[str]
    gp: list[str]
    is_asked_for: bool


def choose_columns(
    file: InputTable,
    targets: Sequence[str],
    predictions: Sequence[str],
    asked: list[str] | None,
    features: Sequence[str],
    drop: Sequence[str],
    *,
    needs_features: bool,
) -> ChosenColumns:
    """Columns by --features and --drop, and by what the model asks for by name."""
    taken = {**dict.fromkeys(targets, "--target"), **dict.fromkeys(predictions, "--pred-column")}
    file.check_has([*taken, *features, *drop])
    if asked is not None:
        file.check_has(asked, " that the model asks for")
    for name in {*features, *(asked or ())} & set(taken):
        raise UserError(f"column {name!r} is {taken[name]}: it cannot be a feature as well")
    for name in {*targets} & {*predictions}:
        raise UserError(f"column {name!r} is --target and --pred-column: these are two columns")
    if len({*taken}) < len(targets) + len(predictions):
        raise UserError("--target and --pred-column name each column once")
    if predictions and len(predictions) != len(targets):
        raise UserError(
            f"--target names {len(targets)} columns, and --pred-column {len(predictions)}: a column of predictions is "
            "needed for each outcome, in the same order"
        )
    unnamed = [name for name in file.names if not name.strip()]
    if unnamed and not features and asked is None:
        note("a column without a name, which is often a row number, is left out of the features")
    others = [name for name in file.names if name not in taken and name.strip()]
    model = asked or list(dict.fromkeys(features)) or others
    foreign = sorted({*features} - {*model}, key=features.index)
    if foreign:
        raise UserError(
            f"the model does not take {', '.join(map(repr, foreign))}, and the GP sees columns of the model: "
            "leave them out of --features, or give the model's predictions as --pred-column"
        )
    dropped = set(drop)
    gp = [name for name in list(dict.fromkeys(features)) or model if name not in dropped]
    if not gp and needs_features:
        hint = ": add some, or --kernel output, which looks at predictions alone" if predictions else ""
        raise UserError(f"{file.path} has no columns left that could be features{hint}")
    return ChosenColumns(gp if asked is None else model, gp, asked is not None)


def without_empty(names: Sequence[str], kinds: dict[str, str], *, needs_features: bool) -> list[str]:
    """The columns that are not empty in every row."""
    empty = [name for name in names if kinds[name] == EMPTY]
    if empty:
        note(f"{', '.join(map(repr, empty))}: empty in every row, and left out of the features")
    if len(empty) == len(names) and needs_features:
        raise UserError("all features are empty in every row")
    return [name for name in names if kinds[name] != EMPTY]


def check_kind(name: str, kind: str, column: pa.ChunkedArray, number_format: NumberFormat) -> None:
    """Raise for a column that is of no use as it is, with what to do."""
    if kind == MIXED:
        check_dots(name, column, number_format)
        _, _, bad = numbers_of(column, number_format)
        raise UserError(
            f"column {name!r} holds numbers, and in {int(bad.sum()):,} rows text ({examples(column, bad)}): empty or "
            f"correct these cells, or --drop {name}{how_to_read(column, bad, number_format)}"
        )
    if kind == MIXED_DATES:
        _, bad = dates_of(column, DATES)
        raise UserError(
            f"column {name!r} holds dates, and in {int(bad.sum()):,} rows something else ({examples(column, bad)}): "
            f"empty or correct these cells, 2024-12-31 or 2024-12-31 18:30 say, or --drop {name}"
        )
    if kind == OTHER:
        raise UserError(
            f"column {name!r} holds {column.type}, which is neither numbers, text nor dates: make one of these of it, "
            f"or --drop {name}"
        )
