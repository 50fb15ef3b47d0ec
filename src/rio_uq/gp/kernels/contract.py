"""The contract between the terms of a kernel and the mathematics of their families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from rio_uq._base.array import Array


class Design(NamedTuple):
    """One term's view of a block of b rows.

    Attributes
    ----------
    columns : (d, b) or (d + 2, b) array
        The rows of the block as columns. A stationary term has |x/l|² (filled in by `forward`) and ones below them.
    squares : (1 or d, b) array
        Squared entries, one line for each scale (summed over columns that share one).
    """

    columns: Array
    squares: Array

    def part(self, rows: slice) -> Design:
        """Some of the rows, in the same memory."""
        return Design(self.columns[:, rows], self.squares[:, rows])

    @classmethod
    def of(cls, x: Array, n_scales: int, *, n_extra: int = 0) -> Design:
        """Of the rows x (b, d), in their own copy, with some lines of ones below."""
        b, d = x.shape
        columns = np.empty((d + n_extra, b), dtype=x.dtype)
        columns[:d] = x.T
        squares = columns[:d] ** 2
        if n_scales != d:
            squares = squares.sum(axis=0, keepdims=True)
        columns[d:] = 1.0
        return cls(columns, squares)


PullbackSums = Sequence[Array]
"""The sums over rows that a pull-back is made of: `TermAt.n_sums` arrays that add up over blocks. Those with two axes
have a line for each point.
"""


class TermAt(Protocol):
    """A term at given parameters and points Z, working on one block of b rows after the other."""

    n_sums: int

    def part(self, points: slice) -> TermAt:
        """The same at some of the points."""

    def forward(self, design: Design, saved: Array, scratch: Array) -> None:
        """Compute what `value` and `backward` need, into ``saved``."""

    def value(self, design: Design, saved: Array, scratch: Array) -> Array:
        """k(Z, c) of the block, shape (m, b): an array that is saved, or ``scratch``."""

    def backward(self, design: Design, saved: Array, adjoint: Array) -> PullbackSums:
        """The sums of the pull-back of ``adjoint`` = ∂F/∂k. Overwrites ``saved``."""

    def by_theta(self, sums: PullbackSums) -> Array:
        """Gradient of the term's log-parameters from the sums over all blocks."""

    def by_points(self, sums: PullbackSums) -> Array:
        """Gradient of the term's points Z from the sums over all blocks."""


class Family(Protocol):
    """A kind of kernel on d columns, with one scale for each of them or one for all (n_scales is d or 1)."""

    @property
    def n_saved(self) -> int:
        """Arrays that `TermAt.forward` saves of a block."""

    def parameter_names(self, n_scales: int) -> tuple[str, ...]:
        """Names of the entries of theta, which holds logarithms: variance, lengthscale, shape or slope_variance."""

    def design(self, x: Array, n_scales: int) -> Design:
        """The design of a block of rows (b, d)."""

    def at(self, theta: Array, z: Array, n_scales: int, dtype: np.dtype) -> TermAt:
        """The kernel at given parameters and points (m, d)."""

    def between(self, theta: Array, x: Array, z: Array, n_scales: int) -> Array:
        """k(x, z), shape (..., a, b), of stacks of rows x (..., a, d) and z (..., b, d)."""

    def by_theta_between(self, theta: Array, x: Array, adjoint: Array, n_scales: int) -> Array:
        """Gradient of Σ adjoint ∘ k(x, x) by theta, of stacks of rows x (..., a, d) and an adjoint (..., a, a)."""

    def roughness(self, theta: Array, n_columns: int) -> Array:
        """How fast values part with the distance of rows in each column, (d,): s² = Σ_d roughness_d (x_d − z_d)² is the
        measure of how far rows are from each other. Zero for what does not fade with distance.
        """

    def trace(self, theta: Array, total_weight: float, moments: Array) -> tuple[float, Array]:
        """Σ_i w_i k(x_i, x_i) and its gradient, from Σ w_i and ``moments`` = Σ_i w_i x_i² per column."""

    def diagonal(self, theta: Array, x: Array) -> Array:
        """k(x_i, x_i) of each row, shape (n,)."""

    def in_units(self, theta: Array, n_scales: int, columns: Array, targets: Array) -> dict[str, Any]:
        """The parameters in the units of the data, by name, given the scales of the columns (d,) and targets (q,)."""
