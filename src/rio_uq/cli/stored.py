"""A .rio file, and the description in it of the table that it was made from, by which predict reads the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from rio_uq.cli.cells import NUMBERS, TEXT, USABLE
from rio_uq.cli.console import UserError
from rio_uq.cli.models import open_model, untrusted
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
    target : str or None
        The column of outcomes.
    prediction : str or None
        The column of the model's predictions; None where a model makes them.
    columns : dict
        The columns that are X, in their order, each "number", "text", "date", "duration" or "time".
    model : str or None
        As the model was given to fit.
    """

    target: str | None
    prediction: str | None
    columns: dict[str, str]
    model: str | None

    def metadata(self) -> dict[str, Any]:
        columns = [{"name": name, "kind": kind} for name, kind in self.columns.items()]
        return {KEY: {**asdict(self), "columns": columns}}


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
    return TableDescription(None, None, {str(name): kinds.get(name, NUMBERS) for name in names}, None)


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
    texts = [stored["target"], stored["prediction"], stored["model"]]
    if not all(value is None or isinstance(value, str) for value in texts):
        raise ValueError("names have to be text")
    if not (columns or texts[1]) or not all(isinstance(name, str) and kind in USABLE for name, kind in columns.items()):
        raise ValueError("columns have to be numbers, text or dates")
    return TableDescription(stored["target"], stored["prediction"], columns, stored["model"])


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
    if len(rio.fitted_.y_shape):
        raise UserError(f"{path} has several outcomes, and the command line works on one: use it in Python")
    if pred_column is not None or (table.prediction is not None and model is None):
        return OpenedRio(rio, replace(table, prediction=pred_column or table.prediction), has_model=False)
    if rio.estimator_ is None:
        again = f" (it was {table.model} in fit)" if table.model else ""
        raise UserError(
            f"{path} has no model inside: give it with --model{again}, or name the column of its predictions with "
            "--pred-column"
        )
    return OpenedRio(rio, replace(table, prediction=None), has_model=True)


def _load(path: Path, trusted: Sequence[str], estimator: dict[str, Any]) -> RIORegressor:
    try:
        return load_regressor(path, trusted=trusted, **estimator)
    except ValueError as error:
        if isinstance(error.__context__, UntrustedTypesError):
            raise untrusted(f"the model inside {path}", error.__context__.types) from error
        raise
