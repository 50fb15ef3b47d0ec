"""Split conformal prediction: ranks of calibration scores, whatever their distribution.

If n scores and a new one are exchangeable, the new one is at most the k-th smallest of the others with probability
k/(n + 1) at least. So the ⌈(n + 1) level⌉-th smallest bounds it with probability ``level`` at least.

Where rows to come are distributed in another way than calibration rows, these count by weights w, in units of the new
row's, and k/(n + 1) becomes Σ w/(1 + Σ w), with the k smallest scores in the first sum and all of them in the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.calibration.scores import ONE_SIGMA, ROUNDING, ArrayReader, StoredArrays, sorted_pieces

WEIGHTS = "calibration/weights"


@dataclass(frozen=True, eq=False)
class SymmetricConformal:
    """Split conformal prediction on |z|: the central interval of a level is ± the ⌈(n + 1) level⌉-th smallest |z|.

    Attributes
    ----------
    factors : (n + 2,) array
        0, the sorted |z|, and infinity.
    weight : (n,) array or None
        Of each |z|, in their order; None where each counts as much as the new row.
    """

    least_rows: ClassVar[int] = 3
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 1
    factors: Array = field(repr=False)
    weight: Array | None = field(default=None, repr=False)
    mean: float = 0.0

    @classmethod
    def of(cls, scores: Array, weight: Array | None = None) -> Self:
        sizes, weight = _sorted(np.abs(scores), weight)
        return cls(np.concatenate([[0.0], sizes, [np.inf]]), weight)

    @property
    def n_rows(self) -> int:
        return len(self.factors) - 2

    @property
    def std(self) -> float:
        """Half the width of the 68.27 % interval."""
        return float(self.factors[rank(ONE_SIGMA, self._cumulative)])

    def ppf(self, p: Array) -> Array:
        factor = self.factors[rank(np.abs(2.0 * p - 1.0), self._cumulative)]
        return np.where(p < 0.5, -factor, factor)

    def cdf(self, z: Array) -> Array:
        sizes, inside = self.factors[1:-1], self._cumulative
        below, above = -inside[np.searchsorted(sizes, -z)], inside[np.searchsorted(sizes, z, side="right")]
        return np.asarray(0.5 + 0.5 * np.where(z < 0.0, below, above))

    @property
    def _cumulative(self) -> Array:
        return cumulative(self.n_rows, self.weight)

    @classmethod
    def to_arrays(cls, scores: Sequence[Self]) -> StoredArrays:
        sizes = {"calibration/sizes": np.concatenate([score.factors[1:-1] for score in scores])}
        return sizes | _stored_weights([score.weight for score in scores])

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> list[Self]:
        sizes = sorted_pieces(arrays, "calibration/sizes", n_rows)
        if any(piece[0] < 0.0 for piece in sizes):
            arrays.fail("calibration/sizes", "sizes have to be zero or more")
        weights = _read_weights(arrays, n_rows)
        scores = [cls(np.concatenate([[0.0], piece, [np.inf]]), w) for piece, w in zip(sizes, weights, strict=True)]
        _check_ends(arrays, "calibration/sizes", scores)
        return scores


@dataclass(frozen=True, eq=False)
class TwoSidedConformal:
    """Split conformal prediction for each tail: the quantile p > ½ is the ⌈(n + 1) p⌉-th smallest z, the quantile p < ½
    the ⌈(n + 1) (1 − p)⌉-th largest.

    Attributes
    ----------
    ordered : (n + 2,) array
        The sorted z, between minus infinity and infinity.
    weight : (n,) array or None
        Of each z, in their order; None where each counts as much as the new row.
    """

    least_rows: ClassVar[int] = 6
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 2
    ordered: Array = field(repr=False)
    weight: Array | None = field(default=None, repr=False)
    mean: float = 0.0

    @classmethod
    def of(cls, scores: Array, weight: Array | None = None) -> Self:
        ordered, weight = _sorted(scores, weight)
        return cls(np.concatenate([[-np.inf], ordered, [np.inf]]), weight)

    @property
    def n_rows(self) -> int:
        return len(self.ordered) - 2

    @property
    def std(self) -> float:
        """Half the width of the 68.27 % interval."""
        lower, upper = self.ppf(0.5 + 0.5 * ONE_SIGMA * np.array([-1.0, 1.0]))
        return float(0.5 * (upper - lower))

    def ppf(self, p: Array) -> Array:
        upper = self.ordered[rank(p, cumulative(self.n_rows, self.weight))]
        mirrored = None if self.weight is None else self.weight[::-1]
        lower = self.ordered[self.n_rows + 1 - rank(1.0 - p, cumulative(self.n_rows, mirrored))]
        return np.where(p > 0.5, upper, np.where(p < 0.5, lower, 0.5 * (lower + upper)))

    def cdf(self, z: Array) -> Array:
        place = np.searchsorted(self.ordered[1:-1], z, side="right")
        at_most = cumulative(self.n_rows, self.weight)
        below = at_most[place]
        return np.asarray(np.where(below >= 0.5, below, np.minimum(below + 1.0 - at_most[-1], 0.5)))

    @classmethod
    def to_arrays(cls, scores: Sequence[Self]) -> StoredArrays:
        ordered = {"calibration/scores": np.concatenate([score.ordered[1:-1] for score in scores])}
        return ordered | _stored_weights([score.weight for score in scores])

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> list[Self]:
        pieces = sorted_pieces(arrays, "calibration/scores", n_rows)
        weights = _read_weights(arrays, n_rows)
        scores = [
            cls(np.concatenate([[-np.inf], piece, [np.inf]]), w) for piece, w in zip(pieces, weights, strict=True)
        ]
        _check_ends(arrays, "calibration/scores", scores)
        return scores


def cumulative(n_rows: int, weight: Array | None) -> Array:
    """The probability of the k smallest scores, for k from 0 to n: below one for all of them, as the new row counts."""
    if weight is None:
        return np.arange(n_rows + 1) / (n_rows + 1)
    return np.asarray(np.concatenate([[0.0], np.cumsum(weight)]) / (1.0 + weight.sum()))


def rank(level: Any, cumulative: Array) -> NDArray[np.intp]:
    """How many scores it takes for a probability: ⌈(n + 1) level⌉ without weights; n + 1 if all are not enough."""
    return np.asarray(np.searchsorted(cumulative, np.asarray(level) - ROUNDING), dtype=np.intp)


def _sorted(scores: Array, weight: Array | None) -> tuple[Array, Array | None]:
    order = np.argsort(scores, kind="stable")
    return scores[order], None if weight is None else weight[order]


def _check_ends(arrays: ArrayReader, name: str, scores: Sequence[SymmetricConformal | TwoSidedConformal]) -> None:
    if not all(np.isfinite(score.std) for score in scores):
        arrays.fail(name, "too many values are infinite: the 68 % interval has no end")


def _stored_weights(weights: Sequence[Array | None]) -> StoredArrays:
    arrays = [weight for weight in weights if weight is not None]
    return {WEIGHTS: np.concatenate(arrays)} if arrays else {}


def _read_weights(arrays: ArrayReader, n_rows: Sequence[int]) -> Sequence[Array | None]:
    if not arrays.has(WEIGHTS):
        return [None] * len(n_rows)
    weights = np.split(arrays.floats(WEIGHTS, sum(n_rows)), np.cumsum(n_rows)[:-1])
    if any((weight < 0.0).any() or not weight.any() for weight in weights):
        arrays.fail(WEIGHTS, "weights have to be zero or more, and not all of them zero")
    return weights
