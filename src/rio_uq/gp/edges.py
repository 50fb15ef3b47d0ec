"""The ends of the range of ŷ: a slope on ŷ that rows support there goes no further.

A linear term of the output kernel, k(z, c) = Σ_d v_d z_d ŷ_d, would take its slope s = diag(v) Zᵀ W wherever ŷ goes.
With Δ = ŷ − (the nearest end of the range of ŷ that was seen, and a margin),

    mean(c) → mean(c) − Δᵀ s            which is the linear part at that end
    var(c)  → var(c) + Σ_d v_d Δ_d²     since beyond it no row has shown the slope, and it is as unknown as before any

Within the range nothing changes. Stationary terms fade by themselves.

Where a correction is not made, or not all of it, errors may still go with ŷ: left-out rows say by which slope b, with a
standard error e, and that it was too little to be corrected. Within the range its part of errors is in the noise, and
beyond it grows. With m the middle of the range that was seen, h half its width and c the share of the correction made,

    var(c)  → var(c) + (1 − c) (b² + e²) ((ŷ − m)² − h²)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.terms import Term
from rio_uq.gp.posterior import Posterior

MARGIN = 0.5
"""Of the range, on both sides: without one, a model that the GP does without (trust 0) would be trusted again as soon
as ŷ is a little larger than before."""


class Edges(NamedTuple):
    """The range of ŷ over the rows behind a GP and a margin, in scaled units.

    Attributes
    ----------
    lowest, highest : (p,) arrays
    open_slope : (p,) array
        √((1 − c) (b² + e²)): how large a slope on ŷ may be that is not corrected.
    """

    lowest: Array
    highest: Array
    open_slope: Array

    @classmethod
    def of(cls, y_pred: Array, open_slope: Array | None = None) -> Edges:
        """Of at least one row of scaled predictions (n, p), with a margin."""
        lowest, highest = y_pred.min(axis=0), y_pred.max(axis=0)
        margin = MARGIN * (highest - lowest)
        return cls(lowest - margin, highest + margin, np.zeros(len(lowest)) if open_slope is None else open_slope)

    def extended(self, other: Edges) -> Edges:
        lowest, highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        return self._replace(lowest=lowest, highest=highest)

    @property
    def middle(self) -> Array:
        """m, (p,)."""
        return 0.5 * (self.lowest + self.highest)

    @property
    def half_width(self) -> Array:
        """h, (p,): without the margin."""
        return 0.5 * (self.highest - self.lowest) / (1.0 + 2.0 * MARGIN)

    def left_open(self, y_pred: Array) -> Array:
        """Standard deviation of errors by a slope that is not corrected, (n, p), with the sign of ŷ − m."""
        distance = y_pred - self.middle
        reach = np.sqrt(np.maximum(distance**2 - self.half_width**2, 0.0))
        return np.asarray(np.sign(distance) * reach * self.open_slope)

    def beyond(self, y_pred: Array) -> Array:
        """Δ of each row, (n, p): zero within the range."""
        return np.asarray(y_pred - np.minimum(np.maximum(y_pred, self.lowest), self.highest))


def open_slope(y_pred: Array, residual: Array, weight: Array, correction: Array) -> Array:
    """√((1 − c) (b² + e²)) of each output, (q,), from scaled predictions and left-out residuals, both (n, q), weights
    (n,) and the shares c of corrections (q,).
    """
    x = y_pred - np.average(y_pred, axis=0, weights=weight)
    r = residual - np.average(residual, axis=0, weights=weight)
    information = weight @ x**2
    varies = information > 0.0
    per_information = np.where(varies, 1.0 / np.where(varies, information, 1.0), 0.0)
    slope = per_information * (weight @ (x * r))
    n_rows = int(np.count_nonzero(weight))
    error = per_information * (weight @ (r - slope * x) ** 2) / max(n_rows - 2, 1)
    return np.asarray(np.sqrt((1.0 - correction) * (slope**2 + error)))


def slope_of(posterior: Posterior, n_predictions: int) -> Array:
    """s of the linear terms of the output kernel, (p, q)."""
    slope = np.zeros((n_predictions, posterior.n_outputs))
    for share, member in posterior.members:
        for term, theta in _linear_terms(member):
            slope += share * (member.points[:, term.start : term.stop] * np.exp(theta)).T @ member.weights
    return slope


def slope_variance_of(posterior: Posterior, n_predictions: int) -> Array:
    """v of the same terms, (p,)."""
    variance = np.zeros(n_predictions)
    for share, member in posterior.members:
        for _, theta in _linear_terms(member):
            variance += share * np.exp(theta)
    return variance


def has_slope(posterior: Posterior) -> bool:
    return bool(_linear_terms(posterior))


def _linear_terms(posterior: Posterior) -> list[tuple[Term, Array]]:
    kernel = posterior.kernel
    parts = zip(kernel.terms, kernel.split(posterior.theta), strict=True)
    return [(term, theta) for term, theta in parts if term.part == "output" and term.is_linear]
