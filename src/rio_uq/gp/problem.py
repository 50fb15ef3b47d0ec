"""The rows that a GP is trained on, and what becomes of copies among them."""

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
    is_residual : bool
        Whether the targets are residuals, not outcomes.
    held_out : (n,) array of bool or None
        Rows that the model was not trained on; None where that is unknown, or makes no difference.
    fold : (n,) array of int or None
        Folds that rows are to be left out by, where these keep groups or times apart; None for random ones.
    """

    features: Array
    y_pred: Array
    targets: Array
    weight: Array | None
    is_residual: bool
    held_out: Mask | None = None
    fold: NDArray[np.intp] | None = None

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
        )

    def without_copies(self) -> tuple[Problem, NDArray[np.intp]]:
        """Equal rows as one row that counts as often, in sorted order: the exact GP is then cheaper, and what it learns
        does not depend on the order of the rows. The numbers (n,) say which of them each row has become.
        """
        # A model may give equal rows predictions that differ in the last digits.
        y_pred, targets = _rounded(self.y_pred), _rounded(self.targets)
        held_out = np.zeros((len(self.features), 0)) if self.held_out is None else self.held_out[:, None]
        keys = np.hstack([self.features, y_pred, targets, held_out])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        weight = np.bincount(group.ravel(), weights=self.weight).astype(float)
        unit = bool((weight == 1.0).all())
        merged = replace(
            self,
            features=self.features[first],
            y_pred=y_pred[first],
            targets=targets[first],
            weight=None if unit else weight,
            held_out=None if self.held_out is None else self.held_out[first],
            fold=None if self.fold is None else self.fold[first],
        )
        return merged, group.ravel()

    def learning_weight(self) -> Array | None:
        """The weight of each row in learning hyperparameters, of a problem without copies.

        Rows with equal features and different outcomes were measured several times, and show how large the noise is.
        Where all outcomes agree, they are one measurement that was copied, and count as one: taken for several, they
        would show that there is no noise, and the GP would memorise. A row of weight two is the same as two copies;
        weights below one are kept.
        """
        if self.weight is None or not self.features.shape[1]:
            return self.weight
        _, place = np.unique(self.features, axis=0, return_inverse=True)
        measured = np.unique(np.column_stack([place.ravel(), self.y_pred, self.targets]), axis=0)
        n_outcomes = np.bincount(measured[:, 0].astype(int))
        weight = np.where(n_outcomes[place.ravel()] > 1, self.weight, np.minimum(self.weight, 1.0))
        return None if (weight == 1.0).all() else weight


def _rounded(values: Array) -> Array:
    """To ten digits of the spread of each column."""
    spread = np.ptp(values, axis=0)
    with np.errstate(divide="ignore"):
        decimals = np.clip(10 - np.floor(np.log10(spread)), -200, 200)
    columns = [
        column if width == 0.0 else np.round(column, int(places))
        for column, width, places in zip(values.T, spread, decimals, strict=True)
    ]
    return np.stack(columns, axis=1)
