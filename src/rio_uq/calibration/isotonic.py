"""Scores of a distribution that isotonic regression has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from rio_uq._base.array import Array
from rio_uq.calibration.scores import ArrayReader, StoredArrays, root_mean_square, sorted_pieces


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
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    points: Array = field(repr=False)
    probabilities: Array = field(repr=False)
    scale: float

    @classmethod
    def of(cls, scores: Array) -> Self:
        points, counts = np.unique(scores, return_counts=True)
        mean_ranks = np.cumsum(counts) - 0.5 * (counts - 1.0)
        return cls(len(scores), points, mean_ranks / (len(scores) + 1), root_mean_square(scores))

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

    @classmethod
    def to_arrays(cls, scores: Sequence[Self]) -> StoredArrays:
        return {
            "calibration/n_points": np.array([len(score.points) for score in scores], dtype=np.int64),
            "calibration/points": np.concatenate([score.points for score in scores]),
            "calibration/probabilities": np.concatenate([score.probabilities for score in scores]),
            "calibration/scale": np.array([score.scale for score in scores]),
        }

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> list[Self]:
        lengths = arrays.counts("calibration/n_points", len(n_rows), least=1).tolist()
        points = sorted_pieces(arrays, "calibration/points", lengths)
        probabilities = sorted_pieces(arrays, "calibration/probabilities", lengths)
        if any(piece[0] <= 0.0 or piece[-1] >= 1.0 for piece in probabilities):
            arrays.fail("calibration/probabilities", "probabilities have to be between 0 and 1")
        scale = arrays.positive("calibration/scale", len(n_rows)).tolist()
        return [cls(*of_one) for of_one in zip(n_rows, points, probabilities, scale, strict=True)]
