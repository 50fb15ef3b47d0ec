"""The contract of a calibration: how scores z = (y − mean)/std are distributed, as calibration rows show it.

A further one is a module with a class of these methods, and an entry in `rio_uq.calibration.calibration.METHODS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from rio_uq._base.array import Array

ONE_SIGMA = float(erf(np.sqrt(0.5)))
"""The level of the interval mean ± std of a normal distribution, 0.6827."""

ROUNDING = 1e-12
"""Levels within this distance are one: 0.95 and 2 · 0.975 − 1 differ in the last digit."""

StoredArrays = dict[str, NDArray[Any]]


class ArrayReader(Protocol):
    """Arrays of a file by name, each with the size that it has to have; an error names the file."""

    def floats(self, name: str, *shape: int | None) -> Array: ...

    def positive(self, name: str, *shape: int | None) -> Array: ...

    def counts(self, name: str, length: int, *, least: int) -> NDArray[np.int64]: ...

    def fail(self, name: str, reason: str) -> NoReturn: ...


class Scores(Protocol):
    """A distribution of scores.

    Attributes
    ----------
    n_rows : int
        Rows that it was learnt from.
    mean, std : float
        ``std`` is the factor on RIO's standard deviation.
    is_normal : bool
        Whether outcomes are still normal.
    least_rows : int
        Rows without which it cannot be learnt: enough for the 68.27 % interval.
    parts_beyond : int
        How many of n + 1 equal parts of probability lie beyond all rows, where nothing is known.
    """

    least_rows: ClassVar[int]
    is_normal: ClassVar[bool]
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

    @classmethod
    def to_arrays(cls, scores: Sequence[Any]) -> StoredArrays:
        """Several of them as arrays for a file, by name."""

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> Sequence[Scores]:
        """As many of them as there are numbers of rows, from a file."""


def root_mean_square(scores: Array) -> float:
    return float(np.sqrt(np.mean(scores**2)))


def sorted_pieces(arrays: ArrayReader, name: str, lengths: Sequence[int]) -> list[Array]:
    """An array of a file, cut into ascending pieces of these lengths."""
    pieces = np.split(arrays.floats(name, sum(lengths)), np.cumsum(lengths)[:-1])
    if any((np.diff(piece) < 0.0).any() for piece in pieces):
        arrays.fail(name, "values have to be in ascending order")
    return pieces
