"""The rows that a GP is trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask


@dataclass(frozen=True)
class Problem:
    """The rows that a GP is trained on, in the units of the data.

    Attributes
    ----------
    features, y_pred, targets : (n, d), (n, p), (n, q) arrays
        Features and predictions of the model, which make up the rows, and targets. If targets are residuals, p = q.
    weight : (n,) array or None
        How much each row counts: see `rio_uq.gp.copies`.
    is_residual : bool
        Whether the targets are residuals, not outcomes.
    held_out : (n,) array of bool or None
        Rows that the model was not trained on; None where that is unknown, or makes no difference.
    fold : (n,) array of int or None
        Folds that rows are to be left out by, where these keep groups or times apart; None for random ones.
    is_corrected : bool
        Whether predictions are corrected: not where residuals are those of clones that do not speak for the model.
    own, like_clones : (n, q) arrays or None
        Where ``y_pred`` is by clones of the model that will predict: predictions of the model itself, and what they
        would be if it erred as its clones do.
    """

    features: Array
    y_pred: Array
    targets: Array
    weight: Array | None
    is_residual: bool
    held_out: Mask | None = None
    fold: NDArray[np.intp] | None = None
    own: Array | None = None
    like_clones: Array | None = None
    is_corrected: bool = True

    def __post_init__(self) -> None:
        if self.is_residual and not self.has_prediction_for_each_target:
            p, q = self.y_pred.shape[1], self.targets.shape[1]
            raise ValueError(f"residuals take one prediction for each target; got {p} predictions and {q} targets")

    @property
    def has_prediction_for_each_target(self) -> bool:
        """Whether p = q, so that column j of ŷ predicts what column j of the targets is about."""
        return bool(self.y_pred.shape[1] == self.targets.shape[1])

    def subset(self, chosen: Mask | NDArray[np.intp]) -> Problem:
        """Some of the rows."""
        return replace(
            self,
            features=self.features[chosen],
            y_pred=self.y_pred[chosen],
            targets=self.targets[chosen],
            weight=None if self.weight is None else self.weight[chosen],
            held_out=None if self.held_out is None else self.held_out[chosen],
            fold=None if self.fold is None else self.fold[chosen],
            own=None if self.own is None else self.own[chosen],
            like_clones=None if self.like_clones is None else self.like_clones[chosen],
        )
