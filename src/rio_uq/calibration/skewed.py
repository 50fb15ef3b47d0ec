"""Skewed scores: a Student distribution with one scale below its mode and another above it, refined by a histogram.

With a standard Student density t of ν degrees of freedom and c = √((ν − 2)/ν), the density at the distance x from the
mode is

    f(x) = 2/(c (κ₋ + κ₊)) t(x/(c κ₋)) h₋    below the mode,        … t(x/(c κ₊)) h₊    above it

where h is the height of the bin of u = P(|T| > |x|/(c κ)), of the same bins on both sides; all one without a histogram.
With a and b the edges of a bin in units of c κ, what it adds to the first two moments of the distance from the mode are

    ∫ x t(x) dx = ν/(ν − 1) ((1 + a²/ν) t(a) − (1 + b²/ν) t(b))        ∫ x² t(x) dx = ν/(2 (ν − 2)) I(a, b)

with the difference I(a, b) of the regularised incomplete beta function at q²/(ν + q²), of 3/2 and ν/2 − 1. The mode
lies at minus the mean of x, so that scores have the mean zero and predictions stay the means of outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import betainc, stdtr, stdtrit

from rio_uq._base.array import Array
from rio_uq.calibration.histogram import EVIDENCE, edges_down_to, likeliest_masses
from rio_uq.calibration.scores import crps_by_quantiles
from rio_uq.calibration.student import LEAST_TAIL, LOG_SCALE, log_student, penalty

SKEW_DEVIATION = 0.5
"""Prior of γ in κ₊ = κ e^γ, κ₋ = κ e^−γ: normal around 0."""

MOST_TILT = 20.0
"""Largest exponent |λ μ_j|."""

LOG_EXCESS, LOG_RATIO = (-4.0, 7.0), (-1.5, 1.5)
"""Bounds of log(ν − 2) and of γ."""


@dataclass(frozen=True, eq=False)
class SkewedStudent:
    """A two-piece Student distribution with the mean zero.

    Attributes
    ----------
    n_rows : int
        Rows that it was learnt from.
    degrees : float
        ν > 2.
    lower, upper : float
        κ₋ and κ₊.
    heights : (2, k) array
        Below the mode and above it, from there to the tails.
    edges : (k − 1,) array
        Values of u between the bins, from one to zero.
    """

    kind: ClassVar[str] = "skewed"
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    degrees: float
    lower: float
    upper: float
    heights: Array = field(default_factory=lambda: np.ones((2, 1)), repr=False)
    edges: Array = field(default_factory=lambda: np.empty(0), repr=False)
    mean: float = 0.0

    @classmethod
    def fit(cls, scores: Array, weight: Array) -> Self:
        """ν, κ and γ by penalised likelihood."""

        def parameters(x: Array) -> tuple[int, float, float, float]:
            log_excess, log_scale, ratio = (float(value) for value in x)
            lower, upper = np.exp(log_scale - ratio), np.exp(log_scale + ratio)
            return len(scores), 2.0 + float(np.exp(log_excess)), float(lower), float(upper)

        def loss(x: Array) -> float:
            fit = cls(*parameters(x))
            prior = float(penalty(np.log(fit.degrees), np.log(fit.std))) + 0.5 * float(x[2] / SKEW_DEVIATION) ** 2
            return prior - float(weight @ fit.logpdf(scores))

        bounds = [LOG_EXCESS, LOG_SCALE, LOG_RATIO]
        optima = (minimize(loss, [1.5, 0.0, ratio], method="L-BFGS-B", bounds=bounds) for ratio in (-0.2, 0.2))
        return cls(*parameters(min(optima, key=lambda optimum: float(optimum.fun)).x))

    def refined(self, scores: Array, weight: Array) -> tuple[Self, float]:
        """With a histogram of the scores, if there is evidence for one, and that evidence; zero if there is none.

        A histogram has another mean than the bins were made for. Its masses m_j are tilted to m_j exp(λ μ_j), with the
        means μ_j of bins, such that the mean is zero again and the mode stays. What that costs of the likelihood is
        taken off the evidence: where most scores are the same, it is too much.
        """
        x = scores - self._mode
        tail = self._tail(x)
        edges = edges_down_to(float(tail.min()))
        flat = np.outer([self._below, 1.0 - self._below], -np.diff(edges, prepend=1.0, append=0.0))
        place = np.searchsorted(-edges, -tail, side="right") + flat.shape[1] * (x >= 0.0)
        counts = np.bincount(place, weights=weight, minlength=flat.size).astype(float)
        masses, evidence = likeliest_masses(flat.ravel(), counts)
        if not evidence:
            return self, 0.0
        means = type(self)(self.n_rows, self.degrees, self.lower, self.upper, np.ones(flat.shape), edges).bin_means
        heights = (_tilted(masses, means.ravel(), -self._mode) / flat.ravel()).reshape(flat.shape)
        refined = type(self)(self.n_rows, self.degrees, self.lower, self.upper, heights, edges)
        expected = float(weight @ self.logpdf(scores)) + float(counts @ np.log(masses / flat.ravel()))
        evidence += float(weight @ refined.logpdf(scores)) - expected
        return (refined, evidence) if evidence > EVIDENCE else (self, 0.0)

    @property
    def std(self) -> float:
        return float(np.sqrt(self._moments[1] - self._mode**2))

    def ppf(self, p: Array) -> Array:
        probability, below = np.asarray(p, dtype=float), float(self._masses[0].sum())
        low = np.interp(probability, self._beyond[0][::-1], self._tails[::-1])
        high = np.interp(1.0 - probability, self._beyond[1][::-1], self._tails[::-1])
        left, right = (self._quantile(0.5 * tail) for tail in (low, high))
        return self._mode + np.where(probability < below, self.lower * left, -self.upper * right)

    def cdf(self, z: Array) -> Array:
        x = np.asarray(z) - self._mode
        tail = self._tail(x)
        low, high = (np.interp(tail, self._tails[::-1], beyond[::-1]) for beyond in self._beyond)
        return np.asarray(np.where(x < 0.0, low, 1.0 - high))

    def logpdf(self, z: Array) -> Array:
        x = np.asarray(z) - self._mode
        scale = np.where(x < 0.0, self.lower, self.upper) * self._unit
        width = 0.5 * (self.lower + self.upper) * self._unit
        density = log_student(x / scale, self.degrees) - np.log(width)
        if not len(self.edges):
            return np.asarray(density)
        place = np.searchsorted(-self.edges, -np.where(np.isnan(x), 1.0, self._tail(x)), side="right")
        return np.asarray(density + np.log(self.heights[(x >= 0.0).astype(np.intp), place]))

    def crps(self, z: Array) -> Array:
        return crps_by_quantiles(self, z)

    def in_words(self) -> str:
        side = "above" if self.upper > self.lower else "below"
        ratio = max(self.lower, self.upper) / min(self.lower, self.upper)
        wide = f"{ratio:.1f} times as wide {side}"
        refined = ", refined by a histogram" if len(self.edges) else ""
        return f"a skewed Student distribution with {self.degrees:.1f} degrees of freedom, {wide}{refined}"

    @property
    def total(self) -> float:
        """The sum of the masses of bins, one but for rounding."""
        return float((self.heights * self._flat).sum())

    @property
    def _unit(self) -> float:
        """c."""
        return float(np.sqrt((self.degrees - 2.0) / self.degrees))

    @property
    def _below(self) -> float:
        """P(x < 0) without a histogram."""
        return self.lower / (self.lower + self.upper)

    @property
    def _tails(self) -> Array:
        """All edges of the bins of u, from one to zero."""
        return np.concatenate([[1.0], self.edges, [0.0]])

    @property
    def _flat(self) -> Array:
        """Masses of bins without a histogram, (2, k)."""
        return np.outer([self._below, 1.0 - self._below], -np.diff(self._tails))

    @cached_property
    def _masses(self) -> Array:
        """Of bins, (2, k)."""
        masses = self.heights * self._flat
        return np.asarray(masses / masses.sum())

    @cached_property
    def _beyond(self) -> Array:
        """Masses beyond the edges on each side, (2, k + 1)."""
        beyond = np.cumsum(self._masses[:, ::-1], axis=1)[:, ::-1]
        return np.hstack([beyond, np.zeros((2, 1))])

    @cached_property
    def _bin_moments(self) -> tuple[Array, Array]:
        """∫ x f(x) dx and ∫ x² f(x) dx over each bin under a flat histogram, (2, k) each."""
        v, ends = self.degrees, -stdtrit(self.degrees, np.maximum(0.5 * self._tails[:-1], LEAST_TAIL))
        first = np.append((1.0 + ends**2 / v) * np.exp(log_student(ends, v)), 0.0) * v / (v - 1.0)
        share = np.append(ends**2 / (v + ends**2), 1.0)
        second = betainc(1.5, 0.5 * v - 1.0, share) * 0.5 * v / (v - 2.0)
        # Twice the moments of one side of T are those of |T|, in bins of the masses ``widths``.
        sides = np.array([self._below, 1.0 - self._below])
        scales = self._unit * np.array([-self.lower, self.upper])
        return np.outer(sides * scales, -2.0 * np.diff(first)), np.outer(sides * scales**2, 2.0 * np.diff(second))

    @property
    def bin_means(self) -> Array:
        """E x in each bin, (2, k)."""
        return np.asarray(self._bin_moments[0] / self._flat)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """E x and E x²."""
        first, second = (float((self.heights * moment).sum()) / self.total for moment in self._bin_moments)
        return first, second

    @property
    def _mode(self) -> float:
        return -self._moments[0]

    def _tail(self, x: Array) -> Array:
        """u at distances from the mode."""
        scale = self._unit * np.where(np.asarray(x) < 0.0, self.lower, self.upper)
        return np.asarray(2.0 * stdtr(self.degrees, -np.abs(x) / scale))

    def _quantile(self, tail: Array) -> Array:
        """Of a Student variable of unit variance; of a tail of ½ at most."""
        quantile = self._unit * stdtrit(self.degrees, np.maximum(tail, LEAST_TAIL))
        return np.where(tail > 0.0, quantile, -np.inf)


def _tilted(masses: Array, means: Array, target: float) -> Array:
    """Masses m_j exp(λ μ_j), normalised, whose mean of μ is the target; the masses as they are if there is no such λ
    within reason.
    """
    largest = MOST_TILT / float(np.abs(means).max())

    def tilted(rate: float) -> Array:
        weights = masses * np.exp(rate * means)
        return np.asarray(weights / weights.sum())

    def excess(rate: float) -> float:
        return float(tilted(rate) @ means) - target

    if excess(-largest) * excess(largest) >= 0.0:
        return masses
    return tilted(float(brentq(excess, -largest, largest)))
