"""Split conformal prediction: ranks of calibration scores, whatever their distribution.

If n scores and a new one are exchangeable, the new one is at most the k-th smallest of the others with probability
k/(n + 1) at least. So the ⌈(n + 1) level⌉-th smallest bounds it with probability ``level`` at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.calibration.scores import ONE_SIGMA, ROUNDING, ArrayReader, StoredArrays, sorted_pieces


@dataclass(frozen=True, eq=False)
class SymmetricConformal:
    """Split conformal prediction on |z|: the central interval of a level is ± the ⌈(n + 1) level⌉-th smallest |z|.

    Attributes
    ----------
    factors : (n + 2,) array
        0, the sorted |z|, and infinity.
    """

    least_rows: ClassVar[int] = 3
    is_normal: ClassVar[bool] = False
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
        return float(self.factors[rank(ONE_SIGMA, self.n_rows)])

    def ppf(self, p: Array) -> Array:
        factor = self.factors[rank(np.abs(2.0 * p - 1.0), self.n_rows)]
        return np.where(p < 0.5, -factor, factor)

    def cdf(self, z: Array) -> Array:
        sizes = self.factors[1:-1]
        inside = np.where(z < 0.0, -np.searchsorted(sizes, -z), np.searchsorted(sizes, z, side="right"))
        return np.asarray(0.5 + 0.5 * inside / (self.n_rows + 1))

    @classmethod
    def to_arrays(cls, scores: Sequence[Self]) -> StoredArrays:
        return {"calibration/sizes": np.concatenate([score.factors[1:-1] for score in scores])}

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> list[Self]:
        sizes = sorted_pieces(arrays, "calibration/sizes", n_rows)
        if any(piece[0] < 0.0 for piece in sizes):
            arrays.fail("calibration/sizes", "sizes have to be zero or more")
        return [cls(np.concatenate([[0.0], piece, [np.inf]])) for piece in sizes]


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
    is_normal: ClassVar[bool] = False
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
        place = rank(np.maximum(p, 1.0 - p), self.n_rows)
        upper, lower = self.ordered[place], self.ordered[self.n_rows + 1 - place]
        median = 0.5 * (self.ordered[(self.n_rows + 1) // 2] + self.ordered[self.n_rows // 2 + 1])
        return np.where(p > 0.5, upper, np.where(p < 0.5, lower, median))

    def cdf(self, z: Array) -> Array:
        parts = self.n_rows + 1
        below = np.searchsorted(self.ordered[1:-1], z, side="right")
        return np.asarray(np.where(2 * below >= parts, below / parts, np.minimum((below + 1) / parts, 0.5)))

    @classmethod
    def to_arrays(cls, scores: Sequence[Self]) -> StoredArrays:
        return {"calibration/scores": np.concatenate([score.ordered[1:-1] for score in scores])}

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> list[Self]:
        pieces = sorted_pieces(arrays, "calibration/scores", n_rows)
        return [cls(np.concatenate([[-np.inf], piece, [np.inf]])) for piece in pieces]


def rank(level: Any, n_rows: int) -> NDArray[np.intp]:
    """⌈(n + 1) level⌉."""
    return np.asarray(np.ceil((n_rows + 1) * (level - ROUNDING)), dtype=np.intp)
