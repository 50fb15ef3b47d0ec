"""A .rio file, and the description in it of the table that it was made from, by which predict reads the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from rio_uq.cli.cells import NUMBERS, TEXT, USABLE
from rio_uq.cli.console import UserError
from rio_uq.cli.models import open_model, split_names, untrusted
from rio_uq.features.dates import DateColumn
from rio_uq.features.table_encoder import CategoryColumn, Column, TableEncoder
from rio_uq.models.files import UntrustedTypesError
from rio_uq.regressor import RIORegressor, load_regressor

KEY = "table"


@dataclass(frozen=True)
class TableDescription:
    """The columns of a table, and their use.

    Attributes
    ----------
    targets : tuple of str
        The columns of outcomes; empty where these are not known.
    predictions : tuple of str
        The columns of the model's predictions; empty where a model makes them.
    columns : dict
        The columns that are X, in their order, each "number", "text", "date", "duration" or "time".
    model : str or None
        As the model was given to fit.
    groups : str or None
        The column of groups that error bars are calibrated by.
    """

    targets: tuple[str, ...]
    predictions: tuple[str, ...]
    columns: dict[str, str]
    model: str | None
    groups: str | None = None

    def metadata(self) -> dict[str, Any]:
        columns = [{"name": name, "kind": kind} for name, kind in self.columns.items()]
        named = {"target": _plain(self.targets), "prediction": _plain(self.predictions)}
        return {KEY: {**named, "columns": columns, "model": self.model, "groups": self.groups}}


def _plain(names: tuple[str, ...]) -> str | list[str] | None:
    """None for no name, the name itself for one, a list for several."""
    return list(names) if len(names) > 1 else names[0] if names else None


def _names(plain: Any) -> tuple[str, ...]:
    return () if plain is None else (plain,) if isinstance(plain, str) else tuple(plain)


@dataclass(frozen=True)
class OpenedRio:
    """A .rio file that is ready to predict."""

    rio: RIORegressor
    table: TableDescription
    has_model: bool


def read_table(rio: RIORegressor, path: Path) -> TableDescription:
    """From the metadata, or from the names of columns if the file was written in Python."""
    stored = getattr(rio, "metadata_", {}).get(KEY)
    if stored is not None:
        try:
            return _checked(stored)
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path}: its description of the table is damaged: {error!r}") from error
    names = getattr(rio, "feature_names_in_", None)
    if names is None:
        raise UserError(
            f"{path} does not say which columns it needs: make it with rio-uq fit, or in Python fit to a DataFrame"
        )
    encoder = encoder_of(rio)
    kinds = {} if encoder is None else {column.name: _kind(column) for column in encoder.columns_}
    return TableDescription((), (), {str(name): kinds.get(name, NUMBERS) for name in names}, None)


def encoder_of(rio: RIORegressor) -> TableEncoder | None:
    """That makes the GP's features, if one does."""
    made_by = getattr(rio.fitted_.extract, "transform", None)
    return made_by if isinstance(made_by, TableEncoder) else None


def _kind(column: Column) -> str:
    if isinstance(column, DateColumn):
        return column.holds.removesuffix("s")
    return TEXT if isinstance(column, CategoryColumn) else NUMBERS


def _checked(stored: Any) -> TableDescription:
    columns = {column["name"]: column["kind"] for column in stored["columns"]}
    targets, predictions = _names(stored["target"]), _names(stored["prediction"])
    others = [value for value in (stored["model"], stored.get("groups")) if value is not None]
    if not all(isinstance(value, str) for value in (*targets, *predictions, *others)):
        raise ValueError("names have to be text")
    if not (columns or predictions) or not all(
        isinstance(name, str) and kind in USABLE for name, kind in columns.items()
    ):
        raise ValueError("columns have to be numbers, text or dates")
    return TableDescription(targets, predictions, columns, stored["model"], stored.get("groups"))


def open_rio(
    path: Path, *, pred_column: str | None, model: str | None, trust_pickle: bool, trusted: Sequence[str]
) -> OpenedRio:
    """A .rio file with what makes predictions: a column, the model inside, or one that is given."""
    if pred_column is not None and model is not None:
        raise typer.BadParameter(
            "give one of them: a column of predictions, or a model that makes them", param_hint="--pred-column, --model"
        )
    estimator: dict[str, Any] = {}
    if pred_column is not None:
        estimator["estimator"] = None
    elif model is not None:
        estimator["estimator"] = open_model(model, trust_pickle=trust_pickle, trusted=trusted).model
    rio = _load(path, trusted, estimator)
    table = read_table(rio, path)
    if pred_column is not None or (table.predictions and model is None):
        named = table.predictions if pred_column is None else of_outcomes(pred_column, rio.fitted_.n_predictions)
        if len(named) != rio.fitted_.n_predictions:
            raise UserError(
                f"{path} was fitted with {rio.fitted_.n_predictions} columns of predictions, and --pred-column names "
                f"{len(named)}"
            )
        return OpenedRio(rio, replace(table, predictions=named), has_model=False)
    if rio.estimator_ is None:
        again = f" (it was {table.model} in fit)" if table.model else ""
        raise UserError(
            f"{path} has no model inside: give it with --model{again}, or name the column of its predictions with "
            "--pred-column"
        )
    return OpenedRio(rio, replace(table, predictions=()), has_model=True)


def of_outcomes(text: str, n_outcomes: int) -> tuple[str, ...]:
    """A column for each outcome, with commas between them."""
    return (text,) if n_outcomes == 1 else tuple(split_names([text]))


def _load(path: Path, trusted: Sequence[str], estimator: dict[str, Any]) -> RIORegressor:
    try:
        return load_regressor(path, trusted=trusted, **estimator)
    except ValueError as error:
        if isinstance(error.__context__, UntrustedTypesError):
            raise untrusted(f"the model inside {path}", error.__context__.types) from error
        raise
