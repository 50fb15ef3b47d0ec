"""Rows that do not fit into memory: `RIORegressor` on files, memory maps and clusters.

What is learnt from many rows is learnt as well from a random sample of them: hyperparameters, inducing points, scalings
and how noise depends on the row. What all rows are needed for is the posterior, which is made of sums over rows: one
pass over the parts of a source (`rio_uq.rows.source`) adds them up, in memory that does not grow with the rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from rio_uq._base.checks import check_levels, check_target, check_weight
from rio_uq.explain import MOST_ROWS, KnownRows
from rio_uq.gp.inference.statistics import Statistics
from rio_uq.gp.inference.updating import sums_behind
from rio_uq.gp.residual import Problem, ResidualGP
from rio_uq.models import base as base_model
from rio_uq.options import check_options
from rio_uq.rows.parquet import ArrayRows, ArrowRows, parquet_writer
from rio_uq.rows.source import MESSAGES, LocalSource, Part, Source, is_source, names_columns, row_source

Method = TypeVar("Method", bound=Callable[..., Any])

ROLES = ("y", "y_pred", "sample_weight", "held_out", "groups")
"""What is known of rows beside X, in the order in which fit has it."""


OUTPUTS = ("mean", "std", "lower", "upper")


def by_parts(method: Method) -> Method:
    """A method that says something of each row of X, for an X that is not in memory too: part by part."""

    @wraps(method)
    def of_any_rows(self: Any, X: Any, **options: Any) -> Any:
        if not is_source(X):
            return method(self, X, **options)
        if options.get("return_cov"):
            raise ValueError("return_cov is a matrix of all rows by all rows: give X as an array, for a few of them")
        given = {name: options.pop(name) for name in ("y_pred", "groups") if name in options}
        return self._new_source(X, given).rows(
            partial(_answer, method.__name__, options),
            self,
            lambda: method(_on_a_known_row(self), None, **options),
        )

    return cast(Method, of_any_rows)


def _answer(method: str, options: dict[str, Any], rio: Any, part: Part) -> Any:
    return getattr(rio, method)(part.X, **part.given, **options)


def _on_a_known_row(rio: Any) -> Any:
    """A regressor that answers for a row of its own, whatever it is asked: its answers have the shapes to expect."""
    known, other = rio._known_rows, copy(rio)
    other._inputs = lambda X, y_pred: (known.features[:1], known.y_pred[:1])
    other.calibration_ = None
    return other


class StreamingMixin:
    """`fit`, `partial_fit` and predictions of rows that are not in memory, for RIORegressor."""

    estimator: Any
    sample_rows: int
    inference: str
    kernel: str
    random_state: Any
    get_params: Any
    predict: Any
    _gp: ResidualGP
    _known_rows: KnownRows
    _fit: Any
    _tell_of_rows: Any
    _take_in: Any

    def predict_to_parquet(
        self,
        X: Any,
        output: str | os.PathLike[str],
        *,
        y_pred: Any = None,
        groups: Any = None,
        confidence_level: float | None = None,
        include_noise: bool = True,
    ) -> Path:
        """Write corrected predictions and their standard deviations to a Parquet file, a line for each row of X.

        Its columns are ``mean`` and ``std``, with a ``confidence_level`` also ``lower`` and ``upper``; for several
        outputs ``mean_0``, ``mean_1``, and so on. Rows are in the order of X. The file takes its name when all is
        written: an error leaves what was there before. Needs the extra ``rio-uq[parquet]``.

        Parameters
        ----------
        X : path, pyarrow.Table, pyarrow.dataset.Dataset, ArrowRows or memory map
        output : path
        y_pred, groups : name of a column of X, or array of shape (n,), optional
            As in `predict`.
        confidence_level : float, optional
            Of intervals, see `predict_interval`.
        include_noise : bool
            As in `predict`.

        Returns
        -------
        Path
            Of the file.
        """
        check_is_fitted(self)
        if confidence_level is not None and check_levels(confidence_level, "confidence_level").ndim:
            raise ValueError(f"confidence_level has to be one number here, 0.95 say; got {confidence_level!r}")
        source = self._new_source(X, {"y_pred": y_pred, "groups": groups})
        if not isinstance(source, LocalSource):
            raise TypeError("predict_to_parquet reads files and memory maps: use predict for X of Dask")
        if _is_read_from(source.table, Path(output)):
            raise ValueError(f"the predictions would replace the rows that they are for: {os.fspath(output)!r} is X")

        def columns_of(rio: Any, part: Part) -> dict[str, NDArray[Any]]:
            if confidence_level is None:
                found = rio.predict(part.X, **part.given, return_std=True, include_noise=include_noise)
                return _flat(dict(zip(("mean", "std"), found, strict=True)))
            known = (part.given.get(name) for name in ("y_pred", "groups"))
            bars = rio._error_bars(part.X, float(confidence_level), *known, include_noise=include_noise)
            return _flat({name: rio._shaped(values) for name, values in zip(OUTPUTS, bars, strict=True)})

        with parquet_writer(output) as append:
            for columns in source.each(columns_of, self):
                append(columns)
        return Path(output)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the corrected predictions, as of any regressor of scikit-learn.

        Parameters
        ----------
        X : as in `predict`
        y : array of shape (n,) or (n, q)
            Outcomes in memory, also where X is a file.
        sample_weight : array of shape (n,), optional
        """
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            if names_columns(values):
                raise TypeError(
                    f"{name} has to be an array in score, and not the name of a column; got {values!r}: read the "
                    "column first (pandas.read_parquet(path, columns=[...]), say)"
                )
        return float(r2_score(np.asarray(y), np.asarray(self.predict(X)), sample_weight=sample_weight))

    def _new_source(self, X: Any, given: dict[str, Any]) -> Source:
        """Rows for a fitted regressor."""
        check_is_fitted(self)
        known = [] if getattr(self, "n_features_in_", None) == 0 else getattr(self, "feature_names_in_", None)
        source = row_source(X, given, known, needs_columns=self.kernel != "output")
        if source is None:
            raise TypeError(
                f"X has to be a Parquet file, an Arrow table or dataset, a memory map or of Dask; got {type(X)}"
            )
        return source

    def _training_source(self, X: Any, given: dict[str, Any]) -> Source | None:
        """Rows for `fit`; None if they are in memory, or have to be for a model that is still to be fitted."""
        if isinstance(X, np.memmap) and base_model.needs_fit(self.estimator):
            return None
        names = getattr(self.estimator, "feature_names_in_", None)
        return row_source(X, given, names, needs_columns=self.kernel != "output")

    def _fit_source(self, source: Source) -> None:
        options = self.get_params(deep=False)
        check_options(options)
        n_drawn = min(self.sample_rows, source.n_rows)
        is_sample = n_drawn < source.n_rows
        if is_sample:
            _check_can_be_streamed(options)
            self.inference = "sparse" if self.inference == "auto" else self.inference
        sample = source.take(_draw(source.n_rows, n_drawn, self.random_state))
        if is_sample and not np.any(sample.given.get("sample_weight", 1.0)):
            raise ValueError(
                f"all of the {n_drawn} rows that were drawn to learn from have sample_weight 0: leave out rows without "
                "weight, or set a larger sample_rows"
            )
        for name in ("_extract", "estimator_"):  # those of an earlier fit would tell `_check_part` nothing
            self.__dict__.pop(name, None)
        try:
            self._fit(sample.X, *(sample.given.get(role) for role in ROLES))
        except MESSAGES:
            source.total(_check_part, self)  # it says where the rows are, if they are the reason
            raise
        self.inference = options["inference"]
        if is_sample:
            self._gp = self._gp.of_sums(source.total(_sums_of_part, self))
            self._known_rows = replace(self._known_rows, n_fitted=source.n_rows)
            self._tell_of_rows()

    def _partial_fit_source(self, source: Source) -> None:
        sums = sums_behind(self._gp.posterior).plus(source.total(_sums_of_part, self))
        some = source.take(_draw(source.n_rows, min(MOST_ROWS, source.n_rows), self.random_state))
        self._take_in(self._gp.of_sums(sums), _problem_of(self, some), source.n_rows)


def _draw(n_rows: int, n_drawn: int, random_state: Any) -> NDArray[np.intp]:
    """Numbers of rows, drawn without replacement, in order."""
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    return np.sort(rng.choice(n_rows, n_drawn, replace=False))


def _check_can_be_streamed(options: dict[str, Any]) -> None:
    """Raise if all rows would have to be in memory."""
    more = f"X has more than sample_rows={options['sample_rows']} rows, so that they are read in parts"
    if base_model.needs_fit(options["estimator"]) or options["residuals"] == "cross-fit":
        raise ValueError(
            f"{more}, and the model is to be fitted to all of them: fit it before, on as many rows as it takes, "
            "and give RIORegressor the fitted model and rows that it has not seen; or give y_pred and no model"
        )
    if options["inference"] == "exact":
        raise ValueError(f"{more}, and inference='exact' keeps all of them: use inference='sparse'")


def _problem_of(rio: Any, part: Part) -> Problem:
    y, y_pred, weight = (part.given.get(name) for name in ("y", "y_pred", "sample_weight"))
    problem: Problem = rio._new_rows(part.X, y, y_pred, weight, is_part=True)
    return problem


def _sums_of_part(rio: Any, part: Part) -> Statistics:
    sums: Statistics = rio._gp.sums_of(_problem_of(rio, part), rio._walk_options())
    return sums


class _Nothing(NamedTuple):
    def plus(self, other: _Nothing) -> _Nothing:
        return self


def _check_part(rio: Any, part: Part) -> _Nothing:
    """Raise for rows that no GP can be fitted to; of what is learnt in `fit`, it looks at what there is already."""
    n_rows = _num_samples(part.X)
    check_target(part.given.get("y"), n_rows)
    check_weight(part.given.get("sample_weight"), n_rows, may_vanish=True)
    if hasattr(rio, "_extract"):
        rio._features(part.X)
    if hasattr(rio, "estimator_"):
        rio._predictions(part.X, part.given.get("y_pred"))
    return _Nothing()


def _flat(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """One column for each output."""
    if all(values.ndim == 1 for values in columns.values()):
        return columns
    return {f"{name}_{i}": values[:, i] for name, values in columns.items() for i in range(values.shape[1])}


def _is_read_from(table: ArrowRows | ArrayRows, path: Path) -> bool:
    """Whether a path is that of a file, or in the folder, which a table is read from."""
    if table.path is not None and _is_inside(path, table.path):
        return True
    return path.exists() and any(file.exists() and path.samefile(file) for file in table.files)


def _is_inside(path: Path, source: Path) -> bool:
    """Whether a path is the source, or in the folder that is the source."""
    return path.resolve() == source.resolve() or (source.is_dir() and source.resolve() in path.resolve().parents)
