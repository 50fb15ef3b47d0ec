"""A regressor as a function from a table or an array of rows to a table of error bars, as services want it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from rio_uq._base.checks import check_levels
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.regressor import RIORegressor

GROUP = "group"


@dataclass(frozen=True)
class InputForm:
    """The form in which rows come in.

    Attributes
    ----------
    columns : list of str or None
        Of the columns of a table that are X; None if X is an array.
    library : {"numpy", "pandas", "polars"}
        The kind of X that the regressor takes.
    y_pred : list of str
        Columns with the model's predictions, if there is no model to ask.
    group : bool
        Whether there is a column with the group of each row, which error bars were calibrated by.
    categories : dict
        Of each column that is a category of pandas, its ``levels`` and whether they are ``ordered``. Such columns come
        in as their values.
    """

    columns: list[str] | None
    library: str
    y_pred: list[str]
    group: bool
    categories: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, rio: RIORegressor, X: Any, *, has_model: bool) -> InputForm:
        """For rows such as X."""
        library = type(X).__module__.split(".")[0]
        library = library if library in ("pandas", "polars") else "numpy"
        names = [] if has_model else numbered(["y_pred"], rio.fitted_.n_predictions)
        group = rio.fitted_.scores.groups is not None
        columns = None
        if library != "numpy":
            columns = [str(name) for name in X.columns]
        elif names or group:
            if np.ndim(X) != 2:
                raise ValueError(
                    "X has to be a table or an array of shape (n, d) where predictions or groups come with it; got "
                    f"shape {np.shape(X)}"
                )
            columns = [f"x{number}" for number in range(np.shape(X)[1])]
        clashes = {*names, *([GROUP] if group else [])} & set(columns or ())
        if clashes:
            raise ValueError(f"X has a column {clashes.pop()!r}, which is the name of one beside X: rename it")
        return cls(columns, library, names, group, _categories(X) if library == "pandas" else {})

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> InputForm:
        return cls(**value)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def joined(self, X: Any, y_pred: Any, groups: Any) -> Any:
        """Rows in this form, for an example."""
        import pandas as pd

        if self.columns is None:
            return np.asarray(X)
        if self.library == "pandas":
            values = {name: _without_category(X[name]) for name in self.categories}
            table = X.assign(**values).reset_index(drop=True)
        else:
            table = pd.DataFrame({name: np.asarray(X)[:, i] for i, name in enumerate(self.columns)})
        more = dict(zip(self.y_pred, np.reshape(y_pred, (len(X), -1)).T, strict=True)) if self.y_pred else {}
        return table.assign(**more, **({GROUP: groups} if self.group else {}))

    def split(self, rows: Any) -> dict[str, Any]:
        """X, y_pred and groups of rows in this form."""
        if self.columns is None:
            return {"X": np.asarray(rows), "y_pred": None, "groups": None}
        wanted = [*self.columns, *self.y_pred, *([GROUP] if self.group else [])]
        if not hasattr(rows, "columns"):
            raise TypeError(f"rows have to come as a table with the columns {', '.join(wanted)}; got {type(rows)}")
        missing = [name for name in wanted if name not in rows.columns]
        if missing:
            raise ValueError(
                f"columns are missing: {', '.join(missing)}; there are {', '.join(map(str, rows.columns))}"
            )
        X = rows[self.columns]
        if self.categories:
            X = X.assign(**{name: _as_category(X[name], **kind) for name, kind in self.categories.items()})
        if self.library == "numpy":
            X = X.to_numpy(dtype=float)
        elif self.library == "polars":
            X = import_module("polars").DataFrame({name: X[name].to_numpy() for name in self.columns})
        y_pred = rows[self.y_pred].to_numpy(dtype=float) if self.y_pred else None
        return {"X": X, "y_pred": y_pred, "groups": rows[GROUP].to_numpy() if self.group else None}


def _categories(X: Any) -> dict[str, dict[str, Any]]:
    categories = {}
    for name in X.columns:
        if str(X[name].dtype) == "category":
            levels = X[name].cat.categories.tolist()
            if not all(type(level) in (str, int, float, bool) for level in levels):
                raise ValueError(f"column {name!r} has categories that are neither text nor numbers: make them so")
            categories[str(name)] = {"levels": levels, "ordered": bool(X[name].cat.ordered)}
    return categories


def _without_category(values: Any) -> Any:
    """The values themselves, in a dtype that MLflow has a name for."""
    kind = getattr(values.cat.categories.dtype, "kind", "O")
    if kind in "iuf":
        return values.astype(float if values.isna().any() else values.cat.categories.dtype)
    return values.astype(object)


def _as_category(values: Any, levels: list[Any], ordered: bool) -> Any:
    """A category again; what is none of its levels is missing."""
    import pandas as pd

    members = values.astype(object).where(values.isin(levels), None)
    return pd.Categorical(members, categories=levels, ordered=ordered)


class ErrorBarService:
    """A function from rows to a table with ``mean``, ``std``, ``lower`` and ``upper``.

    Of q outputs, each has columns of its own: ``mean_0``, ``std_0``, and so on.

    Parameters
    ----------
    rio : RIORegressor
    form : InputForm
    confidence_level : float
        Of the intervals.
    """

    def __init__(self, rio: RIORegressor, form: InputForm, confidence_level: float) -> None:
        self.rio, self.form, self.confidence_level = rio, form, confidence_level

    def table(self, rows: Any, confidence_level: Any = None) -> Any:
        """A pandas.DataFrame with a line for each row."""
        import pandas as pd

        level = check_levels(
            self.confidence_level if confidence_level is None else confidence_level, "confidence_level"
        )
        if level.ndim:
            raise ValueError(f"confidence_level has to be one number; got {confidence_level!r}")
        arguments = self.form.split(rows)
        fitted, n_jobs = self.rio.fitted_, effective_jobs(self.rio.n_jobs)
        bars = fitted.error_bars(self.rio.inputs(**arguments), n_jobs, level=float(level))
        names = bars._fields if fitted.y_shape == () else numbered(bars._fields, fitted.n_outputs, always=True)
        return pd.DataFrame(dict(zip(names, np.stack(bars, axis=2).reshape(len(bars.mean), -1).T, strict=True)))

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """As MLflow calls it; what is wrong with rows is an error of the one who asks."""
        from mlflow.exceptions import MlflowException
        from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

        try:
            return self.table(model_input, (params or {}).get("confidence_level"))
        except (TypeError, ValueError) as error:
            raise MlflowException(str(error), error_code=INVALID_PARAMETER_VALUE) from error


def numbered(names: Sequence[str], n_outputs: int, *, always: bool = False) -> list[str]:
    """Each name for each output; as it is if there is but one."""
    if n_outputs == 1 and not always:
        return list(names)
    return [f"{name}_{output}" for output in range(n_outputs) for name in names]
