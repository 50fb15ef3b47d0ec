"""The GP's features: X itself, columns of it, a transformer's output, or any function of X."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted

from rio_uq._base.array import Array
from rio_uq._base.checks import check_finite, to_numeric
from rio_uq.features.layers import layer, onnx_tensor

__all__ = ["Columns", "Extractor", "Transformed", "extractor", "feature_names", "layer", "onnx_tensor"]

REMEDY = "remove or impute them before they reach the GP, or choose other features"

Extractor = Callable[[Any], Array]


def extractor(features: Any, X: Any, y: Any) -> Extractor:
    """The function from X to the GP's features, fitted to the training data where it has to be.

    Parameters
    ----------
    features : None, list of columns, transformer or callable
        A transformer that is not fitted yet is cloned and fitted; a fitted one is used as it is.
    X, y
        The training data.
    """
    if features is None:
        return Columns(None)
    if hasattr(features, "transform"):
        return Transformed(_fitted_transformer(features, X, y))
    if callable(features):
        return Transformed(features)
    if isinstance(features, str) or not np.iterable(features):
        raise TypeError(
            "features has to be None (X itself), a list of columns, a transformer, or a function from X to an array; "
            f"got {features!r}"
        )
    return Columns(list(features))


def _fitted_transformer(transformer: Any, X: Any, y: Any) -> Any:
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return clone(transformer).fit(X, y)
    return transformer


def feature_names(extract: Extractor | None, n_features: int, names_in: Any = None) -> list[str]:
    """The names of the GP's features.

    Parameters
    ----------
    extract : Columns, Transformed or None
    n_features : int
        How many features it makes of X.
    names_in : array of str, optional
        The names of the columns of X.
    """
    if isinstance(extract, Columns):
        return extract.names(n_features, names_in)
    if isinstance(extract, Transformed):
        names = extract.names()
        if len(names) == n_features:
            return names
    return [f"feature {i}" for i in range(n_features)]


def is_plain(X: Any) -> bool:
    """Whether X is a matrix of float64 numbers already: the checks of other kinds take longer than a single row."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype == np.float64


class Columns:
    """Columns of X by name or number, or all of them."""

    def __init__(self, columns: list[Any] | None) -> None:
        if columns is not None and not columns:
            raise ValueError("features is an empty list: name at least one column, or use kernel='output'")
        self.columns = columns

    def __call__(self, X: Any) -> Array:
        chosen = X if self.columns is None else self._choose(X)
        if hasattr(chosen, "columns"):
            for name in chosen.columns:
                _check_column(chosen[name], name)
        matrix = chosen if is_plain(chosen) else self._checked(chosen)
        check_finite(matrix, "X", REMEDY)
        return matrix

    def _checked(self, chosen: Any) -> Array:
        try:
            matrix: Array = check_array(chosen, dtype=float, ensure_all_finite=False, input_name="X")
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError(
                f"X does not hold numbers only, which the GP needs ({error}): choose numeric columns with "
                "features=[...], or encode the others with features=a transformer; the model still gets all of X"
            ) from error
        return matrix

    def names(self, n_features: int, names_in: Any = None) -> list[str]:
        """Of the columns chosen: their own, or x0, x1, … by their numbers in X."""
        chosen: list[Any] = list(range(n_features)) if self.columns is None else self.columns
        if all(isinstance(column, bool | np.bool_) for column in chosen):
            chosen = np.flatnonzero(chosen).tolist()
        if names_in is None:
            return [column if isinstance(column, str) else f"x{column}" for column in chosen]
        return [str(column if isinstance(column, str) else names_in[column]) for column in chosen]

    def _choose(self, X: Any) -> Any:
        try:
            return _safe_indexing(X, self.columns, axis=1)
        except (ValueError, KeyError, IndexError) as error:
            known = f"its columns are {list(X.columns)}" if hasattr(X, "columns") else f"its shape is {np.shape(X)}"
            raise ValueError(f"features {self.columns!r} are not all columns of X: {known}") from error


class Transformed:
    """The output of a fitted transformer, or of a function."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def names(self) -> list[str]:
        """Those that the transformer gives its output; none where it gives none."""
        try:
            return [str(name) for name in self.transform.get_feature_names_out()]
        except (AttributeError, ValueError, NotFittedError):
            return []

    def __call__(self, X: Any) -> Array:
        made = self.transform.transform(X) if hasattr(self.transform, "transform") else self.transform(X)
        if hasattr(made, "toarray"):
            made = made.toarray()
        matrix = to_numeric(made, "the output of features")
        if matrix.ndim != 2 or matrix.shape[0] != _num_samples(X) or matrix.shape[1] == 0:
            raise ValueError(
                f"the output of features has to have shape ({_num_samples(X)}, number of features), one line for each "
                f"row of X; got {matrix.shape}"
            )
        check_finite(matrix, "the output of features", REMEDY)
        return matrix


def _check_column(column: Any, name: Any) -> None:
    try:
        if np.asarray(column).dtype.kind in "mM":
            raise TypeError("dates and durations have no unit of their own")
        np.asarray(column, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {name!r} of X does not hold numbers, which the GP needs (dtype {column.dtype}): choose numeric "
            "columns with features=[...], or encode it with features=a transformer; the model still gets all of X"
        ) from error
