"""Scores that stay normal, with another standard deviation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtr, ndtri

from rio_uq._base.array import Array
from rio_uq.calibration.scores import ArrayReader, StoredArrays, root_mean_square


@dataclass(frozen=True, eq=False)
class ScaledNormal:
    """Normal about zero, with a standard deviation that may be other than one."""

    least_rows: ClassVar[int] = 2
    is_normal: ClassVar[bool] = True
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    std: float
    mean: float = 0.0

    @classmethod
    def of(cls, scores: Array) -> Self:
        """With the likeliest standard deviation."""
        return cls(len(scores), root_mean_square(scores))

    def ppf(self, p: Array) -> Array:
        return np.asarray(self.std * ndtri(p))

    def cdf(self, z: Array) -> Array:
        return np.asarray(ndtr(z / self.std))

    @classmethod
    def to_arrays(cls, scores: Sequence[Self]) -> StoredArrays:
        return {"calibration/std": np.array([score.std for score in scores])}

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> list[Self]:
        std = arrays.positive("calibration/std", len(n_rows))
        return [cls(n, float(value)) for n, value in zip(n_rows, std, strict=True)]
