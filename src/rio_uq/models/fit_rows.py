"""Rows given to `fit`, as the choice of residuals needs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask
from rio_uq.gp.copies import measurement_of
from rio_uq.models.base import check_predictions, predictions


@dataclass(frozen=True)
class FitRows:
    """Rows in memory, as residuals need them.

    Attributes
    ----------
    X : rows as the model takes them
    y : (n,) or (n, q) array
    weight : (n,) array or None
    features : (n, d) array
    y_pred : (n, q) array or None
        Predictions that were given.
    held_out : (n,) array of bool, bool or None
        The rows that the model was not trained on: True for all of them, False for none; None where nobody says.
    groups : sequence of n labels or None
        Rows of a group are left out together.
    fit_params : mapping
        Further parameters of the model's own ``fit``.
    labels : (n,) array of int or None
        Classes of rows, where ``y`` has their indicators.
    """

    X: Any
    y: Array
    weight: Array | None
    features: Array
    y_pred: Array | None
    held_out: Mask | bool | None
    groups: Any
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    labels: NDArray[np.intp] | None = None

    @property
    def n_outputs(self) -> int:
        return 1 if self.y.ndim == 1 else int(self.y.shape[1])

    @property
    def n_counted(self) -> int:
        """Rows with a positive weight."""
        return len(self.y) if self.weight is None else int(np.count_nonzero(self.weight))

    def predicted_by(self, model: Any) -> Array:
        values = predictions(model, self.X)
        return check_predictions(values, len(self.y), self.n_outputs, "the model's prediction")


def without_copies_of_seen_rows(held_out: Mask, features: Array, y: Array) -> Mask | bool:
    """Held-out rows but for those that have a copy, of (nearly) equal features and outcome, among the rows that were
    seen.
    """
    copy_of = measurement_of(features, y.reshape(len(y), -1))
    is_seen = np.zeros(copy_of.max() + 1, dtype=bool)
    is_seen[copy_of[~held_out]] = True
    unseen = held_out & ~is_seen[copy_of]
    return unseen if unseen.any() else False
