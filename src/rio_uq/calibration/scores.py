"""How scores z = (y − mean)/std are distributed, as calibration rows show it.

The rank behind the conformal forms: if n scores and a new one are exchangeable, the new one is at most the k-th
smallest of the others with probability k/(n + 1) at least. So the ⌈(n + 1) level⌉-th smallest bounds it with
probability ``level`` at least, whatever the distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, log_ndtr, ndtr, ndtri, ndtri_exp

from rio_uq._base.array import Array

ONE_SIGMA = float(erf(np.sqrt(0.5)))
"""The level of the interval mean ± std of a normal distribution, 0.6827."""

ROUNDING = 1e-12
"""Levels within this distance are one: 0.95 and 2 · 0.975 − 1 differ in the last digit."""


class Scores(Protocol):
    """A distribution of scores.

    Attributes
    ----------
    n_rows : int
        Rows that it was learnt from.
    mean, std : float
        ``std`` is what RIO's standard deviation is multiplied with.
    least_rows : int
        Rows without which it cannot be learnt: enough for the 68.27 % interval.
    parts_beyond : int
        How many of n + 1 equal parts of probability lie beyond all rows, where nothing is known.
    """

    least_rows: ClassVar[int]
    parts_beyond: ClassVar[int]

    @classmethod
    def of(cls, scores: Array) -> Self:
        """Learn from scores of shape (n,)."""

    @property
    def n_rows(self) -> int: ...

    @property
    def mean(self) -> float: ...

    @property
    def std(self) -> float: ...

    def ppf(self, p: Array) -> Array:
        """Quantiles, infinite where nothing is known."""

    def cdf(self, z: Array) -> Array:
        """The largest p whose quantile is z or less."""


@dataclass(frozen=True, eq=False)
class ScaledNormal:
    """Normal about zero, with a standard deviation that may be other than one."""

    least_rows: ClassVar[int] = 2
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    std: float
    mean: float = 0.0

    @classmethod
    def of(cls, scores: Array) -> Self:
        """With the likeliest standard deviation."""
        return cls(len(scores), _root_mean_square(scores))

    def ppf(self, p: Array) -> Array:
        return np.asarray(self.std * ndtri(p))

    def cdf(self, z: Array) -> Array:
        return np.asarray(ndtr(z / self.std))


@dataclass(frozen=True, eq=False)
class SymmetricConformal:
    """Split conformal prediction on |z|: the central interval of a level is ± the ⌈(n + 1) level⌉-th smallest |z|.

    Attributes
    ----------
    factors : (n + 2,) array
        0, the sorted |z|, and infinity.
    """

    least_rows: ClassVar[int] = 3
    parts_beyond: ClassVar[int] = 1
    factors: Array = field(repr=False)
    mean: float = 0.0

    @classmethod
    def of(cls, scores: Array) -> Self:
        return cls(np.concatenate([[0.0], np.sort(np.abs(scores)), [np.inf]]))

    @property
    def n_rows(self) -> int:
        return len(self.factors) - 2

    @property
    def std(self) -> float:
        """Half the width of the 68.27 % interval."""
        return float(self.factors[_rank(ONE_SIGMA, self.n_rows)])

    def ppf(self, p: Array) -> Array:
        factor = self.factors[_rank(np.abs(2.0 * p - 1.0), self.n_rows)]
        return np.where(p < 0.5, -factor, factor)

    def cdf(self, z: Array) -> Array:
        sizes = self.factors[1:-1]
        inside = np.where(z < 0.0, -np.searchsorted(sizes, -z), np.searchsorted(sizes, z, side="right"))
        return np.asarray(0.5 + 0.5 * inside / (self.n_rows + 1))


@dataclass(frozen=True, eq=False)
class TwoSidedConformal:
    """Split conformal prediction for each tail: the quantile p > ½ is the ⌈(n + 1) p⌉-th smallest z, the quantile p < ½
    the ⌈(n + 1) (1 − p)⌉-th largest.

    Attributes
    ----------
    ordered : (n + 2,) array
        The sorted z, between minus infinity and infinity.
    """

    least_rows: ClassVar[int] = 6
    parts_beyond: ClassVar[int] = 2
    ordered: Array = field(repr=False)
    mean: float = 0.0

    @classmethod
    def of(cls, scores: Array) -> Self:
        return cls(np.concatenate([[-np.inf], np.sort(scores), [np.inf]]))

    @property
    def n_rows(self) -> int:
        return len(self.ordered) - 2

    @property
    def std(self) -> float:
        """Half the width of the 68.27 % interval."""
        lower, upper = self.ppf(0.5 + 0.5 * ONE_SIGMA * np.array([-1.0, 1.0]))
        return float(0.5 * (upper - lower))

    def ppf(self, p: Array) -> Array:
        rank = _rank(np.maximum(p, 1.0 - p), self.n_rows)
        upper, lower = self.ordered[rank], self.ordered[self.n_rows + 1 - rank]
        median = 0.5 * (self.ordered[(self.n_rows + 1) // 2] + self.ordered[self.n_rows // 2 + 1])
        return np.where(p > 0.5, upper, np.where(p < 0.5, lower, median))

    def cdf(self, z: Array) -> Array:
        parts = self.n_rows + 1
        below = np.searchsorted(self.ordered[1:-1], z, side="right")
        return np.asarray(np.where(2 * below >= parts, below / parts, np.minimum((below + 1) / parts, 0.5)))


@dataclass(frozen=True, eq=False)
class Recalibrated:
    """Isotonic regression of the frequency of scores on the probability that the normal distribution gives them.

    The i-th smallest of n scores has the frequency i/(n + 1). That is monotone as it is, so the regression goes through
    all points; ties share the mean of theirs. Between points it is linear in the score. Beyond them there are the tails
    of the likeliest normal distribution.

    Attributes
    ----------
    points, probabilities : (k,) arrays
        Distinct scores, and the distribution function there.
    scale : float
        Standard deviation of that normal distribution.
    """

    least_rows: ClassVar[int] = 6
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    points: Array = field(repr=False)
    probabilities: Array = field(repr=False)
    scale: float

    @classmethod
    def of(cls, scores: Array) -> Self:
        points, counts = np.unique(scores, return_counts=True)
        mean_ranks = np.cumsum(counts) - 0.5 * (counts - 1.0)
        return cls(len(scores), points, mean_ranks / (len(scores) + 1), _root_mean_square(scores))

    def ppf(self, p: Array) -> Array:
        first, last = self.probabilities[[0, -1]]
        below = ndtri_exp(np.log(np.minimum(p / first, 1.0)) + self._log_tail(self.points[0]))
        above = ndtri_exp(np.log(np.minimum((1.0 - p) / (1.0 - last), 1.0)) + self._log_tail(-self.points[-1]))
        between = np.interp(p, self.probabilities, self.points)
        return np.where(p < first, self.scale * below, np.where(p > last, -self.scale * above, between))

    def cdf(self, z: Array) -> Array:
        first, last = self.probabilities[[0, -1]]
        low, high = self.points[[0, -1]]
        below = first * np.exp(self._log_tail(np.minimum(z, low)) - self._log_tail(low))
        above = (1.0 - last) * np.exp(self._log_tail(-np.maximum(z, high)) - self._log_tail(-high))
        between = np.interp(z, self.points, self.probabilities)
        return np.where(z < low, below, np.where(z > high, 1.0 - above, between))

    def _log_tail(self, z: Any) -> Any:
        return log_ndtr(z / self.scale)

    @property
    def mean(self) -> float:
        return self._moments()[0]

    @property
    def std(self) -> float:
        first, second = self._moments()
        return float(np.sqrt(second - first**2))

    def _moments(self) -> tuple[float, float]:
        """E z and E z²: of uniform pieces between the points, and of the tails.

        With h(t) = φ(t)/Φ(t), a standard normal variable below t has the moments −h(t) and 1 − t h(t).
        """
        low, high = self.points[:-1], self.points[1:]
        between = np.diff(self.probabilities)
        ends = np.array([self.points[0], -self.points[-1]]) / self.scale
        beyond = np.array([self.probabilities[0], 1.0 - self.probabilities[-1]])
        h = np.exp(-0.5 * ends**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(ends))
        first = between @ (low + high) / 2.0 + self.scale * float(beyond @ (h * [-1.0, 1.0]))
        second = between @ (low**2 + low * high + high**2) / 3.0 + self.scale**2 * float(beyond @ (1.0 - ends * h))
        return float(first), float(second)


def _rank(level: Any, n_rows: int) -> NDArray[np.intp]:
    """⌈(n + 1) level⌉."""
    return np.asarray(np.ceil((n_rows + 1) * (level - ROUNDING)), dtype=np.intp)


def _root_mean_square(scores: Array) -> float:
    return float(np.sqrt(np.mean(scores**2)))
