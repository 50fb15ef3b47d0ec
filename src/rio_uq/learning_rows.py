"""Rows given to `fit`, checked, with the GP's features of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, validate_data

from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_held_out, check_weight
from rio_uq.features.extractors import Extractor, extractor
from rio_uq.models.fit_rows import FitRows, without_copies_of_seen_rows
from rio_uq.models.row_order import labels_of_groups
from rio_uq.options import Options
from rio_uq.rows.contract import Part


@dataclass(frozen=True)
class LearningRows:
    """Rows in memory, as a fit needs them.

    Attributes
    ----------
    X : rows as the model takes them
    y : (n,) or (n, q) array
        Outcomes, as numbers.
    weight : (n,) array or None
    extract : Extractor or None
        The function from X to the GP's features; None where the kernel does not look at them.
    features : (n, d) array
    unseen : (n,) array of bool, bool or None
        The rows that the model was not trained on; None where nobody says.
    groups : sequence of n labels or None
    n_features_in, feature_names_in
        As in `rio_uq.fitted.Fitted`.
    labels : (n,) array of int or None
        Classes of rows, where ``y`` has their indicators.
    """

    X: Any
    y: Array
    weight: Array | None
    extract: Extractor | None
    features: Array
    unseen: Mask | bool | None
    groups: Sequence[Any] | None
    n_features_in: int | None
    feature_names_in: tuple[str, ...] | None
    labels: NDArray[np.intp] | None = None

    def used(self, y_pred: Array) -> NDArray[np.intp]:
        """Numbers of the rows that the GP is fitted to: those with predictions (n, p) and a weight."""
        used = np.flatnonzero(np.isfinite(y_pred).all(axis=1) & (True if self.weight is None else self.weight > 0.0))
        if isinstance(self.unseen, np.ndarray) and not self.unseen[used].any():
            raise ValueError(
                "held_out names no row with a prediction and a sample_weight above zero, and error bars are learnt "
                "from such rows: give some of them a weight, or leave held_out out"
            )
        return used

    def weights(self, rows: NDArray[np.intp]) -> Array:
        """Of the rows with these numbers."""
        return np.ones(len(rows)) if self.weight is None else self.weight[rows]

    def for_model(self, y_pred: Any, options: Options) -> FitRows:
        """As the choice of residuals needs them, with predictions that were given."""
        rows = FitRows(self.X, self.y, self.weight, self.features, y_pred, self.unseen, self.groups, options.fit_params)
        return replace(rows, labels=self.labels)


def learning_rows(
    part: Part,
    outcomes: Callable[[int], Array],
    options: Options,
    held_out: bool | None,
    labels: NDArray[Any] | None = None,
) -> LearningRows:
    """Check rows in memory, and make features of them.

    Parameters
    ----------
    part : Part
    outcomes : function
        From the number of rows to outcomes (n,) or (n, q), checked.
    options : Options
    held_out : bool or None
        Of all rows, where somebody has said so.
    labels : (n,) array, optional
        Outcomes as transformers of features take them, where they are no numbers.
    """
    X, n_rows = part.X, _num_samples(part.X)
    n_features_in, feature_names_in = _columns_of(X)
    y = outcomes(n_rows)
    weight = check_weight(part.sample_weight, n_rows)
    unseen = check_held_out(part.held_out if held_out is None else held_out, n_rows)
    extract = None
    if options.kernel != "output":
        extract = extractor(options.features, X, y if labels is None else labels, options.estimator)
    features = np.empty((n_rows, 0)) if extract is None else extract(X)
    if isinstance(unseen, np.ndarray) and labels is None:
        unseen = without_copies_of_seen_rows(unseen, features, y)
    groups = labels_of_groups(part.groups, n_rows)
    codes = None if labels is None else np.unique(labels, return_inverse=True)[1]
    return LearningRows(X, y, weight, extract, features, unseen, groups, n_features_in, feature_names_in, codes)


def _columns_of(X: Any) -> tuple[int | None, tuple[str, ...] | None]:
    """Number and names of the columns of X, as scikit-learn counts them."""
    seen = BaseEstimator()
    validate_data(seen, X, reset=True, skip_check_array=True)
    names = getattr(seen, "feature_names_in_", None)
    return getattr(seen, "n_features_in_", None), None if names is None else tuple(names.tolist())
