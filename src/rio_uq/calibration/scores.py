"""The contracts of distributions of scores z = (y − mean)/std.

A further method of calibration is a module with a class that answers to `LearntScores`, and an entry in
`rio_uq.calibration.calibration.METHODS`. A further shape answers to `Density`, and is chosen in
`rio_uq.calibration.shape`.
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

    def has(self, name: str) -> bool: ...

    def floats(self, name: str, *shape: int | None, finite: bool = True) -> Array: ...

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
    parts_beyond : int
        How many of n + 1 equal parts of probability lie beyond all rows, where nothing is known.
    """

    is_normal: ClassVar[bool]
    parts_beyond: ClassVar[int]

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


class LearntScores(Scores, Protocol):
    """A distribution of scores of calibration rows.

    Attributes
    ----------
    least_rows : int
        Rows without which it cannot be learnt: enough for the 68.27 % interval.
    """

    least_rows: ClassVar[int]

    @classmethod
    def of(cls, scores: Array) -> Self:
        """Learn from scores of shape (n,)."""

    @classmethod
    def to_arrays(cls, scores: Sequence[Any]) -> StoredArrays:
        """Several of them as arrays for a file, by name."""

    @classmethod
    def from_arrays(cls, arrays: ArrayReader, n_rows: Sequence[int]) -> Sequence[Scores]:
        """As many of them as there are numbers of rows, from a file."""


class Density(Scores, Protocol):
    """A distribution of scores of left-out training rows, which has a density and the mean zero.

    Attributes
    ----------
    kind : str
        Its name in files.
    """

    kind: ClassVar[str]

    def logpdf(self, z: Array) -> Array:
        """Logarithm of the density."""

    def crps(self, z: Array) -> Array:
        """Continuous ranked probability score."""

    def in_words(self) -> str:
        """A noun with its parameters."""


NODES_TO, NODES_STEP = 7.5, 0.25


def normal_nodes(step: float = NODES_STEP) -> tuple[Array, Array]:
    """Points x and weights w with Σ w f(x) = E f(X) for a standard normal X: the trapezoidal rule, which is as good as
    exact for smooth f.
    """
    x = np.arange(-NODES_TO, NODES_TO + 0.5 * step, step)
    weight = np.exp(-0.5 * x**2)
    return x, weight / weight.sum()


N_QUANTILES = 2000


def crps_by_quantiles(distribution: Scores, z: Array) -> Array:
    """E|Z − z| − ½ E|Z − Z'|, with Z on a grid of quantiles that is finer towards the tails.

    With F the distribution function, ½ E|Z − Z'| = E Z (2 F(Z) − 1).
    """
    u = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    weights = 6.0 * u * (1.0 - u)
    weights /= weights.sum()
    cumulative = np.cumsum(weights)
    points = distribution.ppf(cumulative - 0.5 * weights)
    mass = np.concatenate([[0.0], cumulative])
    moment = np.concatenate([[0.0], np.cumsum(weights * points)])
    below = np.searchsorted(points, z)
    distance = z * (2.0 * mass[below] - 1.0) + moment[-1] - 2.0 * moment[below]
    spread = weights @ (points * (2.0 * cumulative - weights - 1.0))
    return np.asarray(distance - spread)


def root_mean_square(scores: Array) -> float:
    return float(np.sqrt(np.mean(scores**2)))


def sorted_pieces(arrays: ArrayReader, name: str, lengths: Sequence[int]) -> list[Array]:
    """An array of a file, cut into ascending pieces of these lengths; values may be infinite."""
    values = arrays.floats(name, sum(lengths), finite=False)
    if np.isnan(values).any():
        arrays.fail(name, "values have to be numbers, and some are NaN")
    pieces = np.split(values, np.cumsum(lengths)[:-1])
    if any((piece[1:] < piece[:-1]).any() for piece in pieces):
        arrays.fail(name, "values have to be in ascending order")
    return pieces
