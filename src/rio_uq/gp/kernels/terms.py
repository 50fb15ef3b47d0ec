"""The terms of a kernel: stationary families and the linear kernel, each on one block of columns.

Data enter as the columns of small matrices, so that a block of b rows gives a matrix k(Z, c) of shape (m, b)
and everything is a matrix product or one pass over it. With ``ρ`` the squared distance in units of the
lengthscales ``l``, a stationary term is ``k = v g(ρ)`` and

    ρ(z, x) = Σ_d (z_d − x_d)² / l_d² = [−2z/l², 1, |z/l|²] · [x, |x/l|², 1]

is one product. Its pull-back takes ``G = ∂F/∂k`` to ``W = G ∘ ∂k/∂ρ`` and needs of the data only the sums

    W Xᵀ (m, d),    W 1 (m,),    Σ_j (Wᵀ1)_j x_jd² (d,)

from which follow, with ``a = 1/l²`` and everything summed over the columns j,

    ∂F/∂log v   = Σ G ∘ k
    ∂F/∂log l_d = −2 a_d [Σ_j (Wᵀ1)_j x_jd² − 2 Σ_i z_id (W Xᵀ)_id + Σ_i (W 1)_i z_id²]
    ∂F/∂z_id    = −2 a_d [(W Xᵀ)_id − (W 1)_i z_id]

No array of shape (m, b, d) appears. Sums over different blocks simply add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.profiles import PROFILES

FAMILIES = ("rbf", *PROFILES, "linear")


class Design(NamedTuple):
    """One term's view of a block of b rows.

    Attributes
    ----------
    columns : (d + 2, b) array
        The rows of the block as columns; below them |x/l|² (filled in by `forward`) and ones. A linear
        term has the first d lines only.
    squares : (1 or d, b) array
        Squared entries, one line for each lengthscale (summed over columns that share one).
    """

    columns: Array
    squares: Array


Sums = Sequence[Array]
"""What a term's pull-back needs of the rows: `n_sums` arrays that add up over blocks."""


@dataclass(frozen=True)
class Term:
    """One summand of a kernel: a family on the columns ``start:stop`` of the rows.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    part : {"input", "output"}
        Which of the two kernels of RIO the term belongs to.
    start, stop : int
        The columns it looks at.
    ard : bool
        One lengthscale (for a linear term: one variance) per column instead of one for all.
    """

    family: str
    part: str
    start: int
    stop: int
    ard: bool = False

    @property
    def n_scales(self) -> int:
        """Number of lengthscales, or of variances of a linear term."""
        return self.stop - self.start if self.ard else 1

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """What each entry of the term's ``theta`` is the logarithm of."""
        if self.family == "linear":
            return ("variance",) * self.n_scales
        shape = ("shape",) if self.family != "rbf" and PROFILES[self.family].has_shape else ()
        return ("variance", *("lengthscale",) * self.n_scales, *shape)

    @property
    def n_saved(self) -> int:
        """Arrays that are saved of a block for its pull-back: k and its slopes, or what they can be told from."""
        if self.family in ("linear", "rbf"):
            return 0 if self.family == "linear" else 1
        return 3 if PROFILES[self.family].has_shape else 2

    @property
    def n_parameters(self) -> int:
        return len(self.parameter_names)

    def design(self, rows: Array) -> Design:
        """What the term needs of a block of rows (b, D), in its own copy."""
        x = rows[:, self.start : self.stop].T
        d, b = x.shape
        columns = np.empty((d if self.family == "linear" else d + 2, b), dtype=rows.dtype)
        columns[:d] = x
        squares = columns[:d] ** 2
        if not self.ard:
            squares = squares.sum(axis=0, keepdims=True)
        columns[d + 1 :] = 1.0
        return Design(columns, squares)

    def at(self, theta: Array, points: Array, dtype: np.dtype) -> LinearAt | StationaryAt:
        """The term at given parameters and given points Z: what the walk over blocks uses."""
        z = points[:, self.start : self.stop]
        if self.family == "linear":
            return LinearAt(theta, z, dtype)
        return (RBFAt if self.family == "rbf" else StationaryAt)(self, theta, z, dtype)

    def trace(self, theta: Array, total_weight: float, moments: Array) -> tuple[float, Array]:
        """Σ_i w_i k(c_i, c_i) and its gradient, from Σ w_i and ``moments`` = Σ_i w_i c_i² per column."""
        gradient = np.zeros(self.n_parameters)
        if self.family != "linear":
            gradient[0] = np.exp(theta[0]) * total_weight
            return float(gradient[0]), gradient
        squares = moments[self.start : self.stop]
        gradient[:] = np.exp(theta) * (squares if self.ard else squares.sum())
        return float(gradient.sum()), gradient

    def diagonal(self, theta: Array, rows: Array) -> Array:
        """k(c_i, c_i) of each row, shape (n,)."""
        if self.family != "linear":
            return np.full(len(rows), np.exp(theta[0]))
        squares = rows[:, self.start : self.stop] ** 2
        return np.asarray(squares @ np.exp(theta) if self.ard else np.exp(theta) * squares.sum(axis=1))


class StationaryAt:
    """A stationary term at given parameters and points; `forward` and `backward` work on one block.

    Of a block, `forward` saves k and its slopes, see `rio_uq.gp.kernels.profiles`.
    """

    n_sums = 3

    def __init__(self, term: Term, theta: Array, z: Array, dtype: np.dtype) -> None:
        self.z = z
        self.log_variance = float(theta[0])
        self.inverse_squares = np.exp(-2.0 * theta[1 : 1 + term.n_scales])
        self.squared_norms = np.einsum("ij,ij->i", z * self.inverse_squares, z)
        self.row_scales = self.inverse_squares.astype(dtype)
        self.ones = np.ones(len(z), dtype=dtype)
        self._prepare(term, theta, dtype)

    def _prepare(self, term: Term, theta: Array, dtype: np.dtype) -> None:
        self.profile = PROFILES[term.family]
        self.shape = float(np.exp(theta[-1])) if self.profile.has_shape else 1.0
        self.multiple = self.profile.multiple(self.shape)
        # Rounding leaves ρ of equal rows at about ±ε(|z/l|² + |x/l|²). It has to be an exact zero there: √ρ and 1/√ρ of
        # the Matérn kernels would blow the rounding up. So a few ε of both norms are taken off, and what is below zero.
        less = 1.0 - 8.0 * np.finfo(dtype).eps
        left = self._left(-2.0, less * self.squared_norms)
        left[:, -2] *= less
        self.left = (self.multiple * left).astype(dtype)

    def _left(self, factor: float, constant: Array) -> Array:
        """The left side of the product that gives ``−factor/2 (ρ − |z/l|²) + constant``."""
        ones = np.ones((len(self.z), 1))
        return np.hstack([factor * self.inverse_squares * self.z, -0.5 * factor * ones, constant[:, None]])

    def forward(self, design: Design, saved: Array, scratch: Array) -> None:
        np.dot(self.row_scales, design.squares, out=design.columns[-2])
        np.matmul(self.left, design.columns, out=saved[0])
        np.maximum(saved[0], 0.0, out=saved[0])
        self.profile.fill(self.log_variance, self.shape, saved, scratch)

    def value(self, design: Design, saved: Array, scratch: Array) -> Array:
        """k(Z, c) of the block: that which is saved, or ``scratch``."""
        return np.asarray(saved[0])

    def backward(self, design: Design, saved: Array, adjoint: Array) -> Sums:
        """The sums of the pull-back of ``adjoint`` = ∂F/∂k. Overwrites ``saved``."""
        by_variance = np.vdot(adjoint, saved[0])
        by_shape = self.shape * np.vdot(adjoint, saved[2]) if self.profile.has_shape else 0.0
        saved[1] *= adjoint
        w_columns, w_squares = self._sums(design, saved[1])
        factor = self.multiple * self.profile.slope_factor(self.shape)
        return factor * w_columns, factor * w_squares, np.array([by_variance, by_shape], dtype=float)

    def _sums(self, design: Design, w: Array) -> tuple[Array, Array]:
        return w @ design.columns.T, design.squares @ (self.ones @ w)

    def by_theta(self, sums: Sums) -> Array:
        """Gradient of the term's log-parameters from the sums over all blocks."""
        w_columns, w_squares, (by_variance, by_shape) = sums
        shape = [by_shape] if self.profile.has_shape else []
        return np.concatenate([[by_variance], self._by_lengthscale(w_columns, w_squares), shape])

    def by_points(self, sums: Sums) -> Array:
        """Gradient of the term's points Z from the sums over all blocks."""
        w_x, w_one = sums[0][:, :-2], sums[0][:, -1:]
        return np.asarray(-2.0 * self.inverse_squares * (w_x - w_one * self.z))

    def _by_lengthscale(self, w_columns: Array, w_squares: Array) -> Array:
        w_x, w_one = w_columns[:, :-2], w_columns[:, -1]
        per_column = -2.0 * np.einsum("ij,ij->j", self.z, w_x) + w_one @ self.z**2
        cross = per_column if len(w_squares) == len(per_column) else per_column.sum(keepdims=True)
        return np.asarray(-2.0 * self.inverse_squares * (w_squares + cross))


class RBFAt(StationaryAt):
    """The RBF term: log k = log v − ρ/2 is itself a product, so one product and one ``exp`` are the whole cost.

    It saves k, and ``W = −½ G ∘ k``.
    """

    n_sums = 2

    def _prepare(self, term: Term, theta: Array, dtype: np.dtype) -> None:
        self.left = self._left(1.0, theta[0] - 0.5 * self.squared_norms).astype(dtype)

    def forward(self, design: Design, saved: Array, scratch: Array) -> None:
        np.dot(self.row_scales, design.squares, out=design.columns[-2])
        np.matmul(self.left, design.columns, out=saved[0])
        np.exp(saved[0], out=saved[0])

    def backward(self, design: Design, saved: Array, adjoint: Array) -> Sums:
        saved[0] *= adjoint
        return self._sums(design, saved[0])

    def by_theta(self, sums: Sums) -> Array:
        return np.concatenate([[sums[0][:, -1].sum()], -0.5 * self._by_lengthscale(*sums)])

    def by_points(self, sums: Sums) -> Array:
        return -0.5 * super().by_points(sums)


class LinearAt:
    """The linear term k = Σ_d v_d z_d x_d at given parameters and points. It saves nothing of a block."""

    def __init__(self, theta: Array, z: Array, dtype: np.dtype) -> None:
        self.z = z
        self.variances = np.exp(theta)
        self.left = (z * self.variances).astype(dtype)

    n_sums = 1

    def forward(self, design: Design, saved: Array, scratch: Array) -> None:
        pass

    def value(self, design: Design, saved: Array, scratch: Array) -> Array:
        np.matmul(self.left, design.columns, out=scratch)
        return scratch

    def backward(self, design: Design, saved: Array, adjoint: Array) -> Sums:
        return (adjoint @ design.columns.T,)

    def by_theta(self, sums: Sums) -> Array:
        by_variance = np.einsum("ij,ij->j", self.z, self.by_points(sums))
        return np.asarray(by_variance if len(self.variances) == len(by_variance) else by_variance.sum(keepdims=True))

    def by_points(self, sums: Sums) -> Array:
        return sums[0] * self.variances
