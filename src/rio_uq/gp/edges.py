"""The ends of the range of ŷ: a slope on ŷ that rows support there goes no further.

A linear term of the output kernel, k(z, c) = Σ_d v_d z_d ŷ_d, would take its slope s = diag(v) Zᵀ W wherever ŷ goes.
With Δ = ŷ − (the nearest end of the range of ŷ that was seen, and a margin),

    mean(c) → mean(c) − Δᵀ s            which is the linear part at that end
    var(c)  → var(c) + Σ_d v_d Δ_d²     since beyond it no row has shown the slope, and it is as unknown as before any

Within the range nothing changes. Stationary terms fade by themselves.
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
    """The range of ŷ over the rows behind a GP and a margin, in scaled units, each (p,)."""

    lowest: Array
    highest: Array

    @classmethod
    def of(cls, y_pred: Array) -> Edges:
        """Of at least one row of scaled predictions (n, p), with a margin."""
        lowest, highest = y_pred.min(axis=0), y_pred.max(axis=0)
        margin = MARGIN * (highest - lowest)
        return cls(lowest - margin, highest + margin)

    def extended(self, other: Edges) -> Edges:
        return Edges(np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest))

    def beyond(self, y_pred: Array) -> Array:
        """Δ of each row, (n, p): zero within the range."""
        return np.asarray(y_pred - np.minimum(np.maximum(y_pred, self.lowest), self.highest))


def slope_of(posterior: Posterior, n_predictions: int) -> Array:
    """s of the linear terms of the output kernel, (p, q)."""
    slope = np.zeros((n_predictions, posterior.n_outputs))
    for term, theta in _linear_terms(posterior):
        slope += (posterior.points[:, term.start : term.stop] * np.exp(theta)).T @ posterior.weights
    return slope


def slope_variance_of(posterior: Posterior, n_predictions: int) -> Array:
    """v of the same terms, (p,)."""
    variance = np.zeros(n_predictions)
    for _, theta in _linear_terms(posterior):
        variance += np.exp(theta)
    return variance


def has_slope(posterior: Posterior) -> bool:
    return bool(_linear_terms(posterior))


def _linear_terms(posterior: Posterior) -> list[tuple[Term, Array]]:
    kernel = posterior.kernel
    parts = zip(kernel.terms, kernel.split(posterior.theta), strict=True)
    return [(term, theta) for term, theta in parts if term.part == "output" and term.family == "linear"]
