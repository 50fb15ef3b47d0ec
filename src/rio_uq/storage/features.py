"""The GP's features in a file: columns, or an encoder of a table. Transformers and functions are given at load."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rio_uq.features.dates import KINDS, PARTS, DateColumn
from rio_uq.features.extractors import Columns, Extractor, Transformed
from rio_uq.features.table_encoder import CategoryColumn, Column, NumberColumn, TableEncoder, from_plain, to_plain
from rio_uq.storage.fields import Fields

GIVEN_AT_LOAD = "given at load"


class NotPlainError(TypeError):
    """A value that JSON has no form for."""


def as_plain(value: Any) -> Any:
    """The value for JSON, without NumPy's types."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and np.isfinite(value)):
        return value
    raise NotPlainError


def write_extractor(extract: Extractor | None) -> dict[str, Any] | None:
    """For the manifest; None where the kernel does not look at features."""
    if extract is None:
        return None
    if isinstance(extract, Transformed) and type(extract.transform) is TableEncoder:
        return {"table": to_plain(extract.transform)}
    try:
        return {"columns": as_plain(extract.columns) if isinstance(extract, Columns) else GIVEN_AT_LOAD}
    except NotPlainError:
        return {"columns": GIVEN_AT_LOAD}


def names_given_at_load(extract: Extractor | None) -> tuple[str, ...]:
    """ "features", where a file cannot hold what makes them, whatever the parameter of that name says."""
    return ("features",) if write_extractor(extract) == {"columns": GIVEN_AT_LOAD} else ()


def read_extractor(fields: Fields | None, features: Any) -> Extractor | None:
    """The function from X to the GP's features, from the file or from what was given to load."""
    if fields is None:
        return None
    if "table" in fields.left:
        columns = [_read_column(column) for column in fields.children("table")]
        if not columns or len({column.name for column in columns}) != len(columns):
            fields.fail("has to name each of its columns once, and at least one", "table")
        fields.finish()
        return Transformed(from_plain(columns)) if features is None else _extractor_of(features)
    chosen = fields.take("columns")
    fields.finish()
    if chosen is None:
        return Columns(None)
    if chosen != GIVEN_AT_LOAD:
        if not isinstance(chosen, list) or not chosen or not all(isinstance(name, str | int) for name in chosen):
            fields.fail("has to be null, or a list of names or numbers", "columns")
        return Columns(chosen)
    if features is None:
        raise TypeError(
            f"{fields.archive.path} was saved by a regressor whose features are made by a transformer or a function, "
            "which a file cannot hold: give it as features=... (the fitted one, rio.features_; model[:-1] where the "
            "steps of a Pipeline make them)"
        )
    return _extractor_of(features)


def _extractor_of(features: Any) -> Extractor:
    if isinstance(features, list | tuple):
        return Columns(list(features))
    if hasattr(features, "transform"):
        try:
            check_is_fitted(features)
        except NotFittedError as error:
            raise ValueError("the transformer given as features is not fitted: give the fitted one") from error
    return Transformed(features)


def _read_column(fields: Fields) -> Column:
    name = fields.text("name")
    read = {"number": _read_numbers, "category": _read_levels, "date": _read_dates}
    column = read[fields.text("kind", tuple(read))](name, fields)
    fields.finish()
    return column


def _read_numbers(name: str, fields: Fields) -> Column:
    typical = None if "typical" not in fields.left or fields.is_null("typical") else fields.number("typical")
    return NumberColumn(name, _read_fill(fields), typical)


def _read_levels(name: str, fields: Fields) -> Column:
    levels = fields.texts("levels")
    if len(set(levels)) != len(levels):
        fields.fail("has to name each level once", "levels")
    column = CategoryColumn(name, tuple(levels), fields.flag("has_other"), fields.flag("has_missing"))
    if not column.encoded_names():
        fields.fail("has to have a level", "levels")
    return column


def _read_dates(name: str, fields: Fields) -> Column:
    holds, parts = fields.text("holds", KINDS), fields.texts("parts")
    if len(set(parts)) != len(parts) or not set(parts) <= set(PARTS):
        fields.fail(f"has to name some of {', '.join(PARTS)}, each once", "parts")
    column = DateColumn(name, holds, fields.number("origin"), tuple(parts), _read_fill(fields))
    if not column.encoded_names():
        fields.fail("has to have a part", "parts")
    return column


def _read_fill(fields: Fields) -> float | None:
    return None if fields.is_null("fill") else fields.number("fill")
