"""The GP's features: X itself, columns of it, a transformer's output, or any function of X."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted

from rio_uq._base.array import Array
from rio_uq._base.checks import check_finite, to_numeric
from rio_uq.features.layers import layer, onnx_tensor
from rio_uq.features.table_encoder import TableEncoder, UnencodableColumnsError, is_numeric
from rio_uq.models.base import is_torch_module

__all__ = ["Columns", "Extractor", "Transformed", "extractor", "feature_names", "layer", "onnx_tensor"]

REMEDY = "remove or impute them before they reach the GP, or choose other features"
REMEDY_FOR_X = f"{REMEDY}; of a DataFrame, missing values are encoded"

MOST_FROM_PIPELINE = 200
"""Features that "auto" takes from the steps of a pipeline at most: more of them are too many lengthscales to learn."""

Extractor = Callable[[Any], Array]


def extractor(features: Any, X: Any, y: Any, model: Any = None) -> Extractor:
    """The function from X to the GP's features, fitted to the training data where it has to be.

    Parameters
    ----------
    features : "auto", None, list of columns, transformer or callable
        A transformer that is not fitted yet is cloned and fitted; a fitted one is used as it is.
    X, y
        The training data.
    model : object
        The model, whose steps "auto" may use.
    """
    if features is None:
        return Columns(None)
    if isinstance(features, str) and features == "auto":
        return _auto(X, y, model)
    if is_torch_module(features):
        raise TypeError(
            f"features is a {type(features).__name__}, which takes tensors: use rio_uq.features.layer(module, path) "
            "for one of its layers, or rio_uq.models.torch_model(module).predict for its output"
        )
    if hasattr(features, "transform"):
        return Transformed(_fitted_transformer(features, X, y))
    if callable(features):
        return Transformed(features)
    if isinstance(features, str) or not np.iterable(features):
        raise TypeError(
            "features has to be 'auto', None (X itself), a list of columns, a transformer, or a function from X to an "
            f"array; got {features!r}"
        )
    return Columns(list(features))


def _auto(X: Any, y: Any, model: Any) -> Extractor:
    """X itself; of a frame with columns that are no numbers, the output of the model's own steps, or of an encoder."""
    if not hasattr(X, "columns") or all(map(is_numeric, _columns(X))):
        return Columns(None)
    from_steps = _from_pipeline(X, y, model)
    if from_steps is not None:
        return from_steps
    try:
        return Transformed(TableEncoder().fit(X))
    except UnencodableColumnsError as error:
        raise UnencodableColumnsError(
            f"{error}; the GP does without a column that features=[...] does not name, or sees what features=a "
            "transformer makes of it, and the model gets all of X in any case"
        ) from error


def _columns(X: Any) -> Iterator[Any]:
    """By their places where there are some, for names may be repeated."""
    return (X.iloc[:, i] for i in range(X.shape[1])) if hasattr(X, "iloc") else (X[name] for name in X.columns)


def _from_pipeline(X: Any, y: Any, model: Any) -> Transformed | None:
    """The output of all steps of a Pipeline but the last; None where it is not for the GP.

    Steps that are not fitted yet are fitted to all rows, also where the model is cross-fitted: a fold's own steps
    would give each fold features of its own. They see no outcomes: steps that want y (a TargetEncoder, say) would tell
    the GP the outcomes of the rows that it is fitted to.
    """
    if not isinstance(model, Pipeline) or len(model) < 2 or any(_wants_y(step) for step in _nested(model[:-1])):
        return None
    try:
        extract = Transformed(_fitted_transformer(model[:-1], X, y))
        n_features = extract(X).shape[1]
    except (ValueError, TypeError, AttributeError):  # the steps leave text or missing values to the model
        return None
    return extract if n_features <= MOST_FROM_PIPELINE else None


def _nested(steps: Pipeline) -> list[Any]:
    return [value for value in steps.get_params(deep=True).values() if hasattr(value, "__sklearn_tags__")]


def _wants_y(step: Any) -> bool:
    return bool(get_tags(step).target_tags.required)


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
        names = extract.names(names_in)
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
        _check_is_table(X)
        chosen = X if self.columns is None else self._choose(X)
        if hasattr(chosen, "columns"):
            _check_columns(chosen)
        matrix = chosen if is_plain(chosen) else self._checked(chosen)
        check_finite(matrix, "X", REMEDY if hasattr(chosen, "columns") else REMEDY_FOR_X, chosen)
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
            columns = f"its columns are {list(X.columns)}" if hasattr(X, "columns") else f"its shape is {np.shape(X)}"
            raise ValueError(f"features {self.columns!r} are not all columns of X: {columns}") from error


class Transformed:
    """The output of a fitted transformer, or of a function."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def names(self, names_in: Any = None) -> list[str]:
        """Those that the transformer gives its output; none where it gives none."""
        for arguments in ((), (names_in,)):  # a user's own transformer may not remember the names of its input
            try:
                return [str(name) for name in self.transform.get_feature_names_out(*arguments)]
            except (AttributeError, TypeError, ValueError, NotFittedError):
                continue
        return []

    def __call__(self, X: Any) -> Array:
        made = self.transform.transform(X) if hasattr(self.transform, "transform") else self.transform(X)
        if hasattr(made, "toarray"):
            made = made.toarray()
        matrix = to_numeric(made, "the output of features")
        if matrix.ndim != 2 or matrix.shape[0] != _num_samples(X) or matrix.shape[1] == 0:
            remedy = ": flatten or pool the rest" if matrix.ndim > 2 else ""
            raise ValueError(
                f"the output of features has to have shape ({_num_samples(X)}, number of features), one line for each "
                f"row of X; got {matrix.shape}{remedy}"
            )
        check_finite(matrix, "the output of features", REMEDY, X)
        return matrix


def _check_is_table(X: Any) -> None:
    """Raise for a stack of images, say, of which the GP sees what another choice of features makes."""
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) > 2:
        raise ValueError(
            f"X has shape {shape}, and the GP needs a table of numbers: make one with features=, a layer of the "
            f"network (rio_uq.features.layer, onnx_tensor) or a function from X to an array of shape ({shape[0]}, "
            "number of features), or use kernel='output', which needs none; the model still gets X as it is"
        )


def _check_columns(X: Any) -> None:
    """Raise with the names of all columns that do not hold numbers."""
    columns_of_X = zip(X.columns, _columns(X), strict=True)
    wrong = [f"{name!r} ({column.dtype})" for name, column in columns_of_X if not _holds_numbers(column)]
    if wrong:
        columns, them = ("column", "it") if len(wrong) == 1 else ("columns", "them")
        raise ValueError(
            f"{columns} {', '.join(wrong)} of X {'does' if len(wrong) == 1 else 'do'} not hold numbers, which the GP "
            f"needs: choose numeric columns with features=[...], or encode {them} with features=a transformer; the "
            "model still gets all of X"
        )


def _holds_numbers(column: Any) -> bool:
    """Whether values are numbers, or text that is; dates and durations have no unit of their own."""
    try:
        np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return False
    return np.asarray(column).dtype.kind not in "mM"
