"""Clones that lack two folds: what a model of errors is worth on rows that it has nothing of.

Out-of-fold predictions of a row are by a clone that has not seen it, but those of the rows around it are by clones that
have. Where the model follows single rows, its errors at these tell the outcome of the row: a model of errors that is
asked about left-out rows looks much better than it is at new ones.

With folds j and k and clones that lack both, predictions of fold j by them are out-of-fold and have nothing of fold k:
a model of errors that learns from those of all j ≠ k meets fold k, and predictions of it by the clone that lacks fold
k, as it will meet new rows. A clone that lacks both folds serves either of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, indexable

from rio_uq._base.array import Array
from rio_uq.models.base import check_predictions, predictions
from rio_uq.models.cross_fitting import Fold, clone_fitted_to


@dataclass(frozen=True)
class NestedFold:
    """A fold, and what a model of errors that has nothing of it may learn from.

    Attributes
    ----------
    learnt, tested : arrays of int
        Numbers of rows.
    of_learnt, of_tested : (n, q) arrays
        Out-of-fold predictions of those rows.
    """

    learnt: NDArray[np.intp]
    tested: NDArray[np.intp]
    of_learnt: Array
    of_tested: Array


def nested_folds(
    model: Any, X: Any, y: Array, weight: Array | None, folds: list[Fold], fit_params: Mapping[str, Any]
) -> list[NestedFold]:
    """Fit a clone for each fold and for each two of them.

    Parameters
    ----------
    model : estimator
    X, y : rows, y of shape (n, q)
    weight : (n,) array or None
    folds : list of (train, test)
    fit_params : mapping
        Further parameters of the model's ``fit``.
    """
    (X,) = indexable(X)
    inside = np.full((len(folds), *y.shape), np.nan)
    outside = np.full(y.shape, np.nan)

    def predict(train: NDArray[np.intp], *targets: tuple[Array, NDArray[np.intp]]) -> None:
        clone = clone_fitted_to(model, X, y, weight, train, fit_params)
        for target, rows in targets:
            if len(rows):
                values = predictions(clone, _safe_indexing(X, rows))
                target[rows] = check_predictions(values, len(rows), y.shape[1], "the model's prediction")

    for k, (train, test) in enumerate(folds):
        predict(train, (outside, test))
        for j, (other_train, other_test) in enumerate(folds[:k]):
            both = np.intersect1d(train, other_train)
            if len(both):
                first = inside[k], np.intersect1d(other_test, train)
                predict(both, first, (inside[j], np.intersect1d(test, other_train)))
    nested = []
    for k, (_, test) in enumerate(folds):
        learnt = np.flatnonzero(np.isfinite(inside[k]).all(axis=1))
        nested.append(NestedFold(learnt, test, inside[k][learnt], outside[test]))
    return [fold for fold in nested if len(fold.learnt) and len(fold.tested)]
