"""Scores with heavier tails than normal ones: a Student distribution, refined by a histogram.

With T a Student variable of ν degrees of freedom and the standard deviation κ, the density of a score is

    f(z) = t(z) h_j        j: the bin of u = P(|T| > |z|), of k bins of (0, 1)

with heights h_j whose mean, weighted by the widths of bins, is one. P(|Z| > a) is then piecewise linear in
u = P(|T| > a), so that distribution function, quantiles and moments are closed forms, as those of T are.

Bins are of equal width in the middle and ever finer in the tails, down to the farthest score: where some scores are a
hundred times as large as most, they are not in one bin with all others beyond nine of ten. How far the histogram goes
from the flat one to that of the data is chosen by evidence, see `rio_uq.calibration.histogram`.

Student distributions of two degrees of freedom or fewer have no standard deviation. Theirs are the masses of bins, and
T has a few more degrees: beyond the farthest score, where nothing is known, tails are lighter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import betainc, gammaln, softmax, stdtr, stdtrit

from rio_uq._base.array import Array
from rio_uq.calibration.histogram import edges_down_to, likeliest_masses
from rio_uq.calibration.scores import crps_by_quantiles

DEGREES_NEAR, DEGREES_DEVIATION = 10.0, 1.5
"""Prior of log ν: normal around the logarithm of the first, with this standard deviation."""

SCALE_DEVIATION, KNOWN_DEGREES = 0.3, 4.0
"""Prior of the logarithm of the standard deviation: normal around 0, since those of the GP are right on the whole. Of
fewer degrees of freedom than these, whose standard deviation depends on the farthest scores, it is that of a variable
of the same unit and so many degrees, and the deviation is larger by the ratio of both."""

DEGREES, LOG_SCALE = (1.0, 500.0), (-6.0, 4.0)
"""Bounds of ν, and of the logarithm of the standard deviation."""

LEAST_DEGREES = 2.1
"""Of T: with two it has no standard deviation."""

FEW_ROWS, KNOWN_ROWS = 2000, 200
DEGREES_GRID, SCALE_GRID = np.log(np.geomspace(*DEGREES, 40)), np.linspace(-1.0, 1.0, 21)
"""Up to so many rows distributions are averaged over values of log ν, and of log κ less its likeliest one; of more rows
than the second the latter are nearer, as their standard error is."""

FARTHEST_TAIL, DEGREES_BEYOND = 1e-12, 3.0
"""As far as averages are made, much farther than scores have been; and the degrees of freedom of what is there, at
least: with two or fewer the standard deviation would be made of what nobody has seen."""

NEGLIGIBLE = 1e-7
"""Shares of the posterior that are left out."""

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
        h_j, from the middle to the tails.
    edges : (k − 1,) array or None
        Values of u between the bins, from one to zero; None for bins of equal width.
    """

    kind: ClassVar[str] = "student"
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    degrees: float
    scale: float
    heights: Array = field(default_factory=lambda: np.ones(1), repr=False)
    edges: Array | None = field(default=None, repr=False)
    mean: float = 0.0

    @classmethod
    def fit(cls, scores: Array, weight: Array) -> Self:
        """ν and the scale by penalised likelihood."""

        def loss(x: Array) -> float:
            return -float(_log_posterior(float(x[0]), x[1:], scores, weight)[0])

        bounds = [np.log(DEGREES), LOG_SCALE]
        starts = ([0.7, -1.0], [2.0, 0.0])
        optima = (minimize(loss, start, method="L-BFGS-B", bounds=bounds) for start in starts)
        best = min(optima, key=lambda optimum: float(optimum.fun)).x
        degrees, scale = (float(value) for value in np.exp(best))
        fit = cls.of(degrees, unit_of(degrees, scale), scores)
        return fit.averaged(float(best[1]), scores, weight) if len(scores) <= FEW_ROWS else fit

    @classmethod
    def of(cls, degrees: float, unit: float, scores: Array) -> Self:
        """The distribution of ``unit`` times a standard Student variable, of any degrees of freedom."""
        if degrees >= LEAST_DEGREES:
            return cls(len(scores), degrees, unit / _share(degrees))
        plain = cls(len(scores), LEAST_DEGREES, unit / _share(LEAST_DEGREES))
        edges = plain._edges_for(scores)
        tails = 2.0 * stdtr(degrees, -plain._tail_inverse(np.concatenate([[1.0], edges])) / unit)
        heights = -np.diff(tails, append=0.0) / -np.diff(edges, prepend=1.0, append=0.0)
        return cls(plain.n_rows, plain.degrees, plain.scale, heights, edges)

    def averaged(self, log_scale: float, scores: Array, weight: Array) -> Self:
        """The mean of distributions over a grid of log ν and log κ, by their posterior density: few rows do not tell
        either for certain.
        """
        log_scales = log_scale + min(1.0, np.sqrt(KNOWN_ROWS / len(scores))) * SCALE_GRID
        log_density = np.stack([_log_posterior(log, log_scales, scores, weight) for log in DEGREES_GRID])
        density = softmax(log_density)
        edges = edges_down_to(FARTHEST_TAIL)
        ends, tails = self._tail_inverse(np.concatenate([[1.0], edges])), np.zeros(len(edges) + 1)
        farthest = float(np.abs(scores).max())
        for row, column in np.argwhere(density > NEGLIGIBLE):
            degrees, scale = (float(np.exp(log)) for log in (DEGREES_GRID[row], log_scales[column]))
            tails += density[row, column] * _tails_of(ends, degrees, unit_of(degrees, scale), farthest)
        heights = -np.diff(tails / tails[0], append=0.0) / -np.diff(edges, prepend=1.0, append=0.0)
        return type(self)(self.n_rows, self.degrees, self.scale, heights, edges)

    def refined(self, scores: Array, weight: Array) -> tuple[Self, float]:
        """With a histogram of the scores, if there is evidence for one, and that evidence; zero if there is none."""
        edges = self._edges_for(scores)
        if self.edges is not None and len(self.edges) > len(edges):  # the same ones, and further ones
            edges = self.edges
        tails = np.concatenate([[1.0], edges, [0.0]])
        flat = -np.diff(np.interp(tails, self._tails[::-1], self._masses_beyond[::-1]))
        place = np.searchsorted(-edges, -self._tail(np.abs(scores)), side="right")
        counts = np.bincount(place, weights=weight, minlength=len(flat)).astype(float)
        masses, evidence = likeliest_masses(flat, counts)
        if not evidence:
            return self, 0.0
        return type(self)(self.n_rows, self.degrees, self.scale, masses / -np.diff(tails), edges), evidence

    @property
    def std(self) -> float:
        """∫ x² t(x) dx from −q to q is κ² I(q²/(ν + q²); 3/2, ν/2 − 1), the regularised incomplete beta function."""
        ends = self._tail_inverse(self._tails) / self._unit
        share = np.ones_like(ends)
        inside = np.isfinite(ends)
        share[inside] = ends[inside] ** 2 / (self.degrees + ends[inside] ** 2)
        second = betainc(1.5, 0.5 * self.degrees - 1.0, share)
        return float(self.scale * np.sqrt(np.diff(second) @ self.heights))

    def ppf(self, p: Array) -> Array:
        probability = np.asarray(p, dtype=float)
        both_tails = 2.0 * np.minimum(probability, 1.0 - probability)
        base = np.interp(both_tails, self._masses_beyond[::-1], self._tails[::-1])
        return np.sign(probability - 0.5) * self._tail_inverse(base)

    def cdf(self, z: Array) -> Array:
        half = 0.5 * np.interp(self._tail(np.abs(z)), self._tails[::-1], self._masses_beyond[::-1])
        return np.asarray(np.where(np.asarray(z) < 0.0, half, 1.0 - half))

    def logpdf(self, z: Array) -> Array:
        density = log_student(np.asarray(z) / self._unit, self.degrees) - np.log(self._unit)
        if len(self.heights) == 1:
            return np.asarray(density)
        tail = np.where(np.isnan(z), 1.0, self._tail(np.abs(z)))
        place = np.searchsorted(-self._tails[1:-1], -tail, side="right")
        return np.asarray(density + np.log(self.heights[place]))

    def crps(self, z: Array) -> Array:
        return crps_by_quantiles(self, z)

    def in_words(self) -> str:
        return f"a Student distribution with {self.degrees:.1f} degrees of freedom"

    @property
    def _unit(self) -> float:
        """The scale of a standard Student variable whose standard deviation is κ."""
        return self.scale * _share(self.degrees)

    @property
    def _tails(self) -> Array:
        """All edges of the bins of u, from one to zero."""
        if self.edges is None:
            return np.linspace(1.0, 0.0, len(self.heights) + 1)
        return np.concatenate([[1.0], self.edges, [0.0]])

    @property
    def total(self) -> float:
        """The sum of the masses of bins, one but for rounding."""
        return float(self.heights @ -np.diff(self._tails))

    @property
    def _masses_beyond(self) -> Array:
        """P(|Z| > a) where P(|T| > a) is an edge."""
        masses = self.heights * -np.diff(self._tails)
        beyond = np.cumsum(masses[::-1])[::-1]
        return np.append(beyond / beyond[0], 0.0)

    def _edges_for(self, scores: Array) -> Array:
        """Inner edges of bins of u that are as fine as the scores are far."""
        return edges_down_to(float(self._tail(np.abs(scores).max())))

    def _tail(self, a: Array) -> Array:
        """P(|T| > a)."""
        return np.asarray(2.0 * stdtr(self.degrees, -np.asarray(a) / self._unit))

    def _tail_inverse(self, tail: Array) -> Array:
        """The a of a tail."""
        half = np.asarray(0.5 * tail)
        return np.where(half > 0.0, -self._unit * stdtrit(self.degrees, np.maximum(half, LEAST_TAIL)), np.inf)


def _share(degrees: float) -> float:
    """The unit of a Student variable as a share of its standard deviation."""
    return float(np.sqrt((degrees - 2.0) / degrees))


def _log_posterior(log_degrees: float, log_scales: Array, scores: Array, weight: Array) -> Array:
    """Log likelihood and log prior of one log ν and some log κ, but for a constant."""
    degrees = float(np.exp(log_degrees))
    units = unit_of(degrees, np.exp(log_scales))
    likelihood = log_student(scores / units[:, None], degrees) @ weight - weight.sum() * np.log(units)
    return np.asarray(likelihood - penalty(log_degrees, log_scales))


def _tails_of(ends: Array, degrees: float, unit: float, farthest: float) -> Array:
    """P(|Z| > end) for ``unit`` times a Student variable, of `DEGREES_BEYOND` at least beyond the farthest score."""
    tails = 2.0 * stdtr(degrees, -ends / unit)
    if degrees >= DEGREES_BEYOND:
        return np.asarray(tails)
    there, beyond = stdtr(DEGREES_BEYOND, -farthest / unit), stdtr(DEGREES_BEYOND, -ends / unit)
    return np.asarray(np.where(ends > farthest, 2.0 * stdtr(degrees, -farthest / unit) * beyond / there, tails))


def unit_of(degrees: float, scale: Any) -> Any:
    """The unit of a Student variable with this standard deviation; with that which it would have with `KNOWN_DEGREES`,
    if it has fewer.
    """
    return scale * _share(max(degrees, KNOWN_DEGREES))


def penalty(log_degrees: float, log_scale: Any) -> Any:
    """Minus the logarithm of the prior of log ν and of the standard deviation, but for a constant."""
    of_degrees = (log_degrees - np.log(DEGREES_NEAR)) / DEGREES_DEVIATION
    wider = max(KNOWN_DEGREES / float(np.exp(log_degrees)), 1.0)
    of_scale = log_scale / (SCALE_DEVIATION * wider)
    return 0.5 * of_degrees**2 + 0.5 * of_scale**2 + np.log(wider)


def log_student(x: Any, degrees: float) -> Any:
    """Log density of a standard Student variable."""
    constant = gammaln(0.5 * degrees + 0.5) - gammaln(0.5 * degrees) - 0.5 * np.log(np.pi * degrees)
    return constant - 0.5 * (degrees + 1.0) * np.log1p(x**2 / degrees)
