"""Scores with heavier tails than normal ones: a Student distribution, refined by a histogram.

With T a Student variable of ν degrees of freedom and the standard deviation κ, the density of a score is

    f(z) = t(z) h_j        j: the bin of u = P(|T| < |z|), of k equal bins of (0, 1)

with heights h_j of mean one. P(|Z| < a) is then piecewise linear in u = P(|T| < a), so that distribution function,
quantiles and moments are closed forms, as those of T are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import betainc, gammaln, stdtr, stdtrit

from rio_uq._base.array import Array
from rio_uq.calibration.scores import crps_by_quantiles

DEGREES_NEAR, DEGREES_DEVIATION = 8.0, 1.0
"""Prior of log(ν − 2): normal around the logarithm of the first, with this standard deviation."""

SCALE_DEVIATION = 0.3
"""Prior of the logarithm of the standard deviation: normal around 0, since those of the GP are right on the whole."""

LOG_EXCESS = (-4.0, 7.0)
LOG_SCALE = (-2.5, 2.5)
"""Bounds of log(ν − 2) and of log κ."""

N_BINS = 10
LEAST_PRIOR = 50.0
"""Rows that the flat histogram counts for at least; otherwise for as many as there are."""

LEAST_TAIL = 1e-100
"""SciPy does not find the quantiles of much smaller tails."""


@dataclass(frozen=True, eq=False)
class Student:
    """Symmetric about zero.

    Attributes
    ----------
    n_rows : int
        Rows that it was learnt from.
    degrees : float
        ν > 2.
    scale : float
        κ, the standard deviation under a flat histogram.
    heights : (k,) array
        h_j, of mean one.
    """

    kind: ClassVar[str] = "student"
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    degrees: float
    scale: float
    heights: Array = field(default_factory=lambda: np.ones(1), repr=False)
    mean: float = 0.0

    @classmethod
    def fit(cls, scores: Array, weight: Array) -> Self:
        """ν and κ by penalised likelihood, with a flat histogram."""

        def loss(x: Array) -> float:
            log_excess, log_scale = x
            fit = cls(len(scores), 2.0 + np.exp(log_excess), float(np.exp(log_scale)))
            return -float(weight @ fit.logpdf(scores)) + penalty(log_excess, log_scale)

        optima = (minimize(loss, [start, 0.0], method="L-BFGS-B", bounds=[LOG_EXCESS, LOG_SCALE]) for start in (0, 3))
        log_excess, log_scale = min(optima, key=lambda optimum: float(optimum.fun)).x
        return cls(len(scores), 2.0 + float(np.exp(log_excess)), float(np.exp(log_scale)))

    def refined(self, scores: Array, weight: Array) -> Self:
        """With a histogram of the scores, halfway between that of the data and a flat one."""
        place = np.minimum((N_BINS * (1.0 - self._tail(np.abs(scores)))).astype(np.intp), N_BINS - 1)
        counts = np.bincount(place, weights=weight, minlength=N_BINS)
        prior = max(float(counts.sum()), LEAST_PRIOR)
        heights = N_BINS * (counts + prior / N_BINS) / (counts.sum() + prior)
        return type(self)(self.n_rows, self.degrees, self.scale, heights)

    @property
    def std(self) -> float:
        """∫ x² t(x) dx from −q to q is κ² I(q²/(ν + q²); 3/2, ν/2 − 1), the regularised incomplete beta function."""
        ends = self._tail_inverse(1.0 - self._edges) / self._unit
        share = np.ones_like(ends)
        inside = np.isfinite(ends)
        share[inside] = ends[inside] ** 2 / (self.degrees + ends[inside] ** 2)
        second = betainc(1.5, 0.5 * self.degrees - 1.0, share)
        return float(self.scale * np.sqrt(np.diff(second) @ self.heights))

    def ppf(self, p: Array) -> Array:
        probability = np.asarray(p, dtype=float)
        both_tails = 2.0 * np.minimum(probability, 1.0 - probability)
        # Mirrored, so that small tails keep their digits.
        base = np.interp(both_tails, 1.0 - self._cumulative[::-1], 1.0 - self._edges[::-1])
        return np.sign(probability - 0.5) * self._tail_inverse(base)

    def cdf(self, z: Array) -> Array:
        half = 0.5 * np.interp(self._tail(np.abs(z)), 1.0 - self._edges[::-1], 1.0 - self._cumulative[::-1])
        return np.asarray(np.where(np.asarray(z) < 0.0, half, 1.0 - half))

    def logpdf(self, z: Array) -> Array:
        density = log_student(np.asarray(z) / self._unit, self.degrees) - np.log(self._unit)
        if len(self.heights) == 1:
            return np.asarray(density)
        inside = np.where(np.isnan(z), 0.0, 1.0 - self._tail(np.abs(z)))
        place = np.minimum((len(self.heights) * inside).astype(np.intp), len(self.heights) - 1)
        return np.asarray(density + np.log(self.heights[place]))

    def crps(self, z: Array) -> Array:
        return crps_by_quantiles(self, z)

    def in_words(self) -> str:
        return f"a Student distribution with {self.degrees:.1f} degrees of freedom"

    @property
    def _unit(self) -> float:
        """The scale of a standard Student variable whose standard deviation is κ."""
        return self.scale * float(np.sqrt((self.degrees - 2.0) / self.degrees))

    @property
    def _edges(self) -> Array:
        """Of the bins of u."""
        return np.linspace(0.0, 1.0, len(self.heights) + 1)

    @property
    def _cumulative(self) -> Array:
        """P(|Z| < a) where P(|T| < a) is an edge."""
        inner = np.cumsum(self.heights[:-1]) / self.heights.sum()
        return np.concatenate([[0.0], inner, [1.0]])

    def _tail(self, a: Array) -> Array:
        """P(|T| > a)."""
        return np.asarray(2.0 * stdtr(self.degrees, -np.asarray(a) / self._unit))

    def _tail_inverse(self, tail: Array) -> Array:
        """The a of a tail."""
        half = np.asarray(0.5 * tail)
        return np.where(half > 0.0, -self._unit * stdtrit(self.degrees, np.maximum(half, LEAST_TAIL)), np.inf)


def penalty(log_excess: float, log_std: float) -> float:
    """Minus the logarithm of the prior of log(ν − 2) and of the standard deviation, but for a constant."""
    of_degrees = (log_excess - np.log(DEGREES_NEAR)) / DEGREES_DEVIATION
    return float(0.5 * of_degrees**2 + 0.5 * (log_std / SCALE_DEVIATION) ** 2)


def log_student(x: Any, degrees: float) -> Any:
    """Log density of a standard Student variable."""
    constant = gammaln(0.5 * degrees + 0.5) - gammaln(0.5 * degrees) - 0.5 * np.log(np.pi * degrees)
    return constant - 0.5 * (degrees + 1.0) * np.log1p(x**2 / degrees)
