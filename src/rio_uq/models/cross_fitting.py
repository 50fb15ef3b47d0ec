"""Cross-fitting: predictions for each row by a model that has not seen it.

A model's residuals on its own training rows are too small, and so are error bars made from them. Here the rows are cut
into folds, and the residuals of each fold are those of a clone that was fitted to the other folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from rio_uq._base.array import Array
from rio_uq.gp.copies import measurement_of
from rio_uq.gp.groups import group_folds
from rio_uq.models import base as base_model

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Numbers of the rows to fit to, and of those to predict."""


FEWEST_ROWS = 4
"""For cross-fitting: two folds of two rows."""


class OutOfFold(NamedTuple):
    """Out-of-fold predictions, and the models of the folds."""

    prediction: Array  # (n, q), NaN where no fold predicts a row
    models: list[Any]


class FoldAverage:
    """The models of all folds as one: its prediction is the mean of theirs."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = list(models)

    def predict(self, X: Any) -> Array:
        return np.asarray(np.mean([base_model.predictions(model, X) for model in self.models], axis=0))


def can_be_refitted(model: Any) -> bool:
    """Whether the model is an estimator that can be cloned and fitted to other rows, all of it."""
    return base_model.is_estimator(model) and not isinstance(model, FrozenEstimator) and not has_frozen_parts(model)


def has_frozen_parts(model: Any) -> bool:
    """Whether a model inside of an estimator stays as it is when that is fitted; transformers may."""
    params = model.get_params(deep=True) if base_model.is_estimator(model) else {}
    return any(
        (name.rpartition("__")[2] == "cv" and isinstance(part, str) and part == "prefit")
        or (isinstance(part, FrozenEstimator) and hasattr(part, "predict") and not hasattr(part, "transform"))
        for name, part in params.items()
    )


def are_the_same(predictions: Sequence[Array]) -> bool:
    """Whether clones that were fitted to different rows predict the same, which depends on the row that is predicted:
    then they have not been fitted.
    """
    first, *others = predictions
    return bool(others) and np.ptp(first, axis=0).any() and all(np.array_equal(first, other) for other in others)


def check_can_be_refitted(model: Any) -> None:
    if not can_be_refitted(model):
        raise TypeError(
            "residuals='cross-fit' fits the model anew to parts of the rows, which needs an estimator that can be "
            f"cloned; got {model!r}: use residuals='in-sample', and calibrate on rows that the model has not seen"
        )


def make_folds(
    cv: Any,
    X: Any,
    y: Array,
    features: Array,
    groups: Any,
    weight: Array | None,
    rng: np.random.Generator,
    labels: NDArray[np.intp] | None = None,
) -> list[Fold]:
    """The folds of a splitter, or for a number of them, those that keep groups together, or random ones that keep
    copies of a row together, or with labels the shares of these.

    Parameters
    ----------
    cv : int, splitter or iterable of folds
        As in scikit-learn.
    X, y
        What a splitter may want to see.
    groups : sequence of n labels or None
        That too.
    features : (n, d) array
        Rows with equal features and outcomes, or nearly so, are copies: a row that occurs twice is in one fold, as is a
        row of weight two.
    weight : (n,) array or None
        Rows of weight 0 are in no fold.
    rng : numpy.random.Generator
    labels : (n,) array of int, optional
        Classes of rows, where outcomes are no measurements. Near rows with the same label are no copies then.
    """
    if not isinstance(cv, int | np.integer):
        return [_checked_fold(fold, len(features)) for fold in check_cv(cv).split(X, y, groups)]
    counted = np.arange(len(features)) if weight is None else np.flatnonzero(weight)
    if groups is not None:
        fold_of = group_folds([groups[row] for row in counted], int(cv))
        return [(counted[fold_of != fold], counted[fold_of == fold]) for fold in range(fold_of.max() + 1)]
    if labels is not None:
        cv = min(cv, max(2, len(counted) // 2))
        order = rng.permutation(len(counted))
        order = order[np.argsort(labels[counted][order], kind="stable")]
        fold_of = np.empty(len(counted), dtype=np.intp)
        fold_of[order] = np.arange(len(counted)) % cv
        return [(counted[fold_of != fold], counted[fold_of == fold]) for fold in range(cv)]
    copy_of = measurement_of(features[counted], y.reshape(len(y), -1)[counted])
    if copy_of.max() == 0:  # copies of a single measurement: there is nothing to keep together
        copy_of = np.arange(len(counted))
    cv = min(cv, max(2, len(counted) // 2), copy_of.max() + 1)
    fold_of = rng.permutation(copy_of.max() + 1)[copy_of] % cv
    return [(counted[fold_of != fold], counted[fold_of == fold]) for fold in range(cv)]


def out_of_fold(
    model: Any,
    X: Any,
    y: Array,
    weight: Array | None,
    folds: Iterable[Fold],
    fit_params: Mapping[str, Any] | None = None,
) -> OutOfFold:
    """Predict each row by clones of the model that were fitted without it.

    Parameters
    ----------
    model : estimator
        It is cloned, never touched.
    X, y : the rows, y of shape (n,) or (n, q)
    weight : (n,) array or None
    folds : iterable of (train, test)
        A row that several folds predict gets the mean.
    fit_params : mapping, optional
        Further parameters of the model's ``fit``; those with an entry for each row are cut as the rows are.
    """
    n_rows = len(y)
    n_outputs = 1 if y.ndim == 1 else y.shape[1]
    total, count, models = np.zeros((n_rows, n_outputs)), np.zeros(n_rows), []
    for train, test in folds:
        if not len(train) or not len(test):
            raise ValueError(f"a fold has {len(train)} rows to fit to and {len(test)} to predict: use fewer folds")
        if shared := len(np.intersect1d(train, test)):
            raise ValueError(
                f"a fold of cv fits the model to {shared} of the {len(test)} rows that it predicts: residuals have to "
                "be those of rows that the model has not seen, so use a splitter that keeps the two apart"
            )
        fitted = clone_fitted_to(model, X, y, weight, train, fit_params)
        values = base_model.predictions(fitted, _safe_indexing(X, test))
        total[test] += base_model.check_predictions(values, len(test), n_outputs, "the model's prediction")
        count[test] += 1.0
        models.append(fitted)
    with np.errstate(invalid="ignore"):
        return OutOfFold(total / np.where(count > 0.0, count, np.nan)[:, None], models)


def clone_fitted_to(
    model: Any,
    X: Any,
    y: Array,
    weight: Array | None,
    rows: NDArray[np.intp],
    fit_params: Mapping[str, Any] | None = None,
) -> Any:
    """A clone of the model, fitted to the rows with these numbers."""
    params = _check_method_params(X, fit_params or {}, indices=rows)
    some_weight = None if weight is None else weight[rows]
    return base_model.fitted_clone(model, _safe_indexing(X, rows), y[rows], some_weight, params)


def _checked_fold(fold: Fold, n_rows: int) -> Fold:
    """Row numbers; a mask of rows is one, too."""
    numbers = []
    for chosen in fold:
        rows = np.asarray(chosen)
        if rows.dtype == bool and rows.shape == (n_rows,):
            rows = np.flatnonzero(rows)
        is_number = np.issubdtype(rows.dtype, np.integer) or not rows.size
        if rows.ndim != 1 or not is_number or (rows.size and not 0 <= rows.min() <= rows.max() < n_rows):
            raise ValueError(
                f"a fold of cv has to name rows by numbers from 0 to {n_rows - 1}, or by a mask of {n_rows} rows; got "
                f"{rows.dtype.name} of shape {rows.shape}"
                + (f" from {rows.min()} to {rows.max()}" if is_number and rows.size else "")
            )
        numbers.append(rows.astype(np.intp))
    return numbers[0], numbers[1]
