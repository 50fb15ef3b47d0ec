"""Normal tails beyond the data, for outcomes whose exponential is taken: with heavier ones it has no mean.

Beyond a score a, with F(a) = p_a, the distribution is that of a normal variable about zero whose quantile at p_a is a
too: its standard deviation is a/Φ⁻¹(p_a). The distribution function is continuous, and no mass is moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtr, ndtri

from rio_uq._base.array import Array
from rio_uq.calibration.scores import Density, crps_by_quantiles, normal_nodes

LEAST, MOST = 2.0, 30.0
"""Tails begin no nearer than the first, since few rows do not show where the data end, nor farther than the second."""


@dataclass(frozen=True, eq=False)
class NormalTails:
    """A density with normal tails below ``lowest`` and above ``highest``.

    Attributes
    ----------
    inner : Density
    lowest, highest : float
        The range of the scores that it was learnt from.
    """

    kind: ClassVar[str] = "normal tails"
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 0
    inner: Density
    lowest: float
    highest: float

    @classmethod
    def of(cls, inner: Density, scores: Array) -> Self:
        lowest, highest = np.clip([-scores.min(), scores.max()], LEAST, MOST)
        return cls(inner, -float(lowest), float(highest))

    @property
    def n_rows(self) -> int:
        return self.inner.n_rows

    @cached_property
    def _ends(self) -> Array:
        """F at both ends."""
        return self.inner.cdf(np.array([self.lowest, self.highest]))

    @cached_property
    def _tail_stds(self) -> tuple[float, float]:
        quantiles = ndtri(self._ends)
        return float(self.lowest / quantiles[0]), float(self.highest / quantiles[1])

    @cached_property
    def mean(self) -> float:
        z, weight = normal_nodes()
        return float(weight @ self.ppf(ndtr(z)))

    @cached_property
    def std(self) -> float:
        z, weight = normal_nodes()
        return float(np.sqrt(weight @ self.ppf(ndtr(z)) ** 2 - self.mean**2))

    def ppf(self, p: Array) -> Array:
        probability = np.asarray(p, dtype=float)
        inner = self.inner.ppf(np.clip(probability, *self._ends))
        low, high = (std * ndtri(probability) for std in self._tail_stds)
        below, above = probability < self._ends[0], probability > self._ends[1]
        return np.where(below, low, np.where(above, high, inner))

    def cdf(self, z: Array) -> Array:
        score = np.asarray(z, dtype=float)
        low, high = (ndtr(score / std) for std in self._tail_stds)
        return np.where(score < self.lowest, low, np.where(score > self.highest, high, self.inner.cdf(score)))

    def logpdf(self, z: Array) -> Array:
        score = np.asarray(z, dtype=float)
        low, high = (-0.5 * (score / std) ** 2 - 0.5 * np.log(2.0 * np.pi) - np.log(std) for std in self._tail_stds)
        return np.where(score < self.lowest, low, np.where(score > self.highest, high, self.inner.logpdf(score)))

    def crps(self, z: Array) -> Array:
        return crps_by_quantiles(self, z)

    def in_words(self) -> str:
        return self.inner.in_words()
