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

    kind: ClassVar[str] = "normal"
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

    def logpdf(self, z: Array) -> Array:
        return np.asarray(-0.5 * (z / self.std) ** 2 - 0.5 * np.log(2.0 * np.pi) - np.log(self.std))

    def crps(self, z: Array) -> Array:
        x = z / self.std
        density = np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi)
        return np.asarray(self.std * (x * (2.0 * ndtr(x) - 1.0) + 2.0 * density - 1.0 / np.sqrt(np.pi)))

    def in_words(self) -> str:
        return "a normal distribution"

    @classmethod
    def to_arrays(cls, scores: Sequence[Self]) -> StoredArrays:
        return {"calibration/std": np.array([score.std for score in scores])}

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> list[Self]:
        std = arrays.positive("calibration/std", len(n_rows))
        return [cls(n, float(value)) for n, value in zip(n_rows, std, strict=True)]
