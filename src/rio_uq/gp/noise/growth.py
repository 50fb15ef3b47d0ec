"""Noise that is proportional to the prediction stays so beyond the training rows.

A noise field knows nothing beyond the rows that it has seen, and stays where it was. Errors of prices, counts and
durations grow with their size, though, and a prediction that is twice as large as any before has larger ones. Where
left-out residuals e follow

    log e² = a + b log|ŷ| + noise

with a slope b that is clearly more than zero, the variance at a prediction beyond the largest one seen, h, is
multiplied by (|ŷ|/h)^b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array

STANDARD_ERRORS = 4.0
"""A slope has to be larger than so many of them, and one of them is taken off."""

STEEPEST = 2.0
"""Slope of a standard deviation that is proportional to the prediction."""

LEAST_RATIO = 1.5
"""Of the largest to the smallest prediction, between nine of ten: a slope is not to be told from less."""

LARGEST = 100.0
"""Variances are multiplied by no more: ten times the error bar is enough to say that nothing is known."""

SMALLEST_SQUARE = 1e-3
"""Of the mean: a residual that happens to be zero is no evidence of vanishing noise."""


@dataclass(frozen=True)
class Growth:
    """How noise goes on beyond the largest predictions.

    Attributes
    ----------
    slope : (q,) array
        b, zero where noise does not grow.
    reach : (q,) array
        h > 0, the largest |ŷ| of the training rows.
    """

    slope: Array
    reach: Array

    @classmethod
    def none(cls, n_outputs: int) -> Growth:
        return cls(np.zeros(n_outputs), np.ones(n_outputs))

    @property
    def is_none(self) -> bool:
        return not self.slope.any()

    def factor(self, y_pred: Array) -> Array:
        """On noise variances, of the shape (n, q) of the predictions."""
        beyond = np.maximum(np.abs(y_pred) / self.reach, 1.0)
        return np.asarray(np.minimum(beyond**self.slope, LARGEST))


def fit_growth(y_pred: Array, residual: Array, weight: Array) -> Growth:
    """Learn from predictions and left-out residuals, (n, q) each, of rows with weights (n,)."""
    slopes = [_slope(column, errors, weight) for column, errors in zip(y_pred.T, residual.T, strict=True)]
    reach = np.abs(y_pred).max(axis=0)
    return Growth(np.array(slopes), np.where(reach > 0.0, reach, 1.0))


def _slope(y_pred: Array, residual: Array, weight: Array) -> float:
    used = weight > 0.0
    size, squares, w = np.abs(y_pred[used]), residual[used] ** 2, weight[used]
    if len(size) < 3 or np.ptp(np.sign(y_pred[used])) > 0.0 or size.min() == 0.0 or not squares.any():
        return 0.0
    low, high = np.quantile(size, [0.05, 0.95])
    if high < LEAST_RATIO * low:
        return 0.0
    logs = np.log(squares + SMALLEST_SQUARE * np.average(squares, weights=w))
    x = np.log(size)
    x, logs = x - np.average(x, weights=w), logs - np.average(logs, weights=w)
    information = float(w @ x**2)
    slope = float(w @ (x * logs)) / information
    error = float(np.sqrt(np.sum((w * x * (logs - slope * x)) ** 2))) / information
    return min(slope - error, STEEPEST) if slope > STANDARD_ERRORS * error else 0.0
