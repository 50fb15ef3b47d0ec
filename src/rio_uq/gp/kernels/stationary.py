"""Stationary kernels k = v g(ρ), where ρ is the squared distance in units of the lengthscales and g(0) = 1.

Data enter as the columns of small matrices, so that a block of b rows gives a matrix k(Z, c) of shape (m, b)
and everything is a matrix product or one pass over it. With the lengthscales ``l``

    ρ(z, x) = Σ_d (z_d − x_d)² / l_d² = [−2z/l², 1, |z/l|²] · [x, |x/l|², 1]

is one product. Its pull-back takes ``G = ∂F/∂k`` to ``W = G ∘ ∂k/∂ρ`` and needs of the data only the sums

    W Xᵀ (m, d),    W 1 (m,),    Σ_j (Wᵀ1)_j x_jd² (d,)

from which follow, with ``a = 1/l²`` and everything summed over the columns j,

    ∂F/∂log v   = Σ G ∘ k
    ∂F/∂log l_d = −2 a_d [Σ_j (Wᵀ1)_j x_jd² − 2 Σ_i z_id (W Xᵀ)_id + Σ_i (W 1)_i z_id²]
    ∂F/∂z_id    = −2 a_d [(W Xᵀ)_id − (W 1)_i z_id]

No array of shape (m, b, d) appears. PullbackSums over different blocks simply add up.

**Profiles.** Each is written in a multiple r of ρ, which costs nothing where ρ is made, and with s = √r:

    matern12            r = ρ        g = e⁻ˢ                  dg/dr = −e⁻ˢ/2s, taken as 0 at s = 0
    matern32            r = 3ρ       g = (1 + s) e⁻ˢ          dg/dr = −½ e⁻ˢ
    matern52            r = 5ρ       g = (1 + s + r/3) e⁻ˢ    dg/dr = −⅙ (1 + s) e⁻ˢ
    rational_quadratic  r = ρ/2α     g = (1 + r)^−α           dg/dr = −α g/(1 + r)

The last has a shape α, with dg/dlog α = α g (r/(1 + r) − log(1 + r)). What value and slopes have in common is computed
once: they are written together, the slopes without their constant factors, which sums are multiplied by later. The
factor v comes into the exponent, e⁻ˢ to exp(log v − s).

**A new stationary kernel** is one function that fills a block, and one entry in `PROFILES`. The RBF kernel has a
shorter way of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.contract import Design, PullbackSums, TermAt


@dataclass(frozen=True)
class Stationary:
    """A family of stationary kernels.

    Attributes
    ----------
    fill : callable
        Given log v, α, the saved arrays and one for intermediate results: the first of the saved arrays holds r, and
        then k; the second gets dk/dr without its factor, the third, if there is one, dk/dlog α without the factor α.
    multiple : callable
        r/ρ, given α.
    slope_factor : callable
        The constant factor of dg/dr, given α.
    has_shape : bool
    """

    fill: Callable[[float, float, Array, Array], None]
    multiple: Callable[[float], float]
    slope_factor: Callable[[float], float]
    has_shape: bool = False

    @property
    def n_saved(self) -> int:
        return 3 if self.has_shape else 2

    def parameter_names(self, n_scales: int) -> tuple[str, ...]:
        return ("variance", *("lengthscale",) * n_scales, *("shape",) * self.has_shape)

    def design(self, x: Array, n_scales: int) -> Design:
        return Design.of(x, n_scales, n_extra=2)

    def at(self, theta: Array, z: Array, n_scales: int, dtype: np.dtype) -> TermAt:
        return StationaryAt(self, theta, z, n_scales, dtype)

    def between(self, theta: Array, x: Array, z: Array, n_scales: int) -> Array:
        return self._profile(theta, self._squared_distances(theta, x, z, n_scales))

    def by_theta_between(self, theta: Array, x: Array, adjoint: Array, n_scales: int) -> Array:
        saved = self._with_slopes(theta, self._squared_distances(theta, x, x, n_scales))
        by_shape = [np.exp(theta[-1]) * np.vdot(adjoint, saved[2])] if self.has_shape else []
        by_variance, w = np.vdot(adjoint, saved[0]), self._slope(theta, saved) * adjoint
        # Σ_ij w_ij (x_i − x_j)² of each column
        over_rows = tuple(range(x.ndim - 1))
        apart = ((w.sum(axis=-1) + w.sum(axis=-2))[..., None] * x**2 - 2.0 * x * np.matmul(w, x)).sum(axis=over_rows)
        apart = apart if n_scales == len(apart) else apart.sum(keepdims=True)
        return np.concatenate([[by_variance], -2.0 * np.exp(-2.0 * theta[1 : 1 + n_scales]) * apart, by_shape])

    def _squared_distances(self, theta: Array, x: Array, z: Array, n_scales: int) -> Array:
        """ρ of stacks of rows, (..., a, b)."""
        inverse = np.exp(-theta[1 : 1 + n_scales])
        scaled = x * inverse
        others = scaled if z is x else z * inverse
        rho = np.matmul(scaled, np.swapaxes(-2.0 * others, -1, -2))
        # A few ε are taken off, as in `StationaryAt`: rounding of equal rows has to end at zero.
        less = 1.0 - 8.0 * np.finfo(float).eps
        norms = less * np.einsum("...ij,...ij->...i", scaled, scaled)
        rho += norms[..., :, None]
        rho += (norms if z is x else less * np.einsum("...ij,...ij->...i", others, others))[..., None, :]
        np.maximum(rho, 0.0, out=rho)
        return np.asarray(rho)

    def _profile(self, theta: Array, rho: Array) -> Array:
        """v g(ρ), in place of ρ where that saves memory."""
        return np.asarray(self._with_slopes(theta, rho)[0])

    def _with_slopes(self, theta: Array, rho: Array) -> Array:
        """k and its slopes without their factors, (n_saved, ...); ρ is overwritten."""
        shape = self._shape(theta)
        saved = np.empty((self.n_saved, *rho.shape))
        np.multiply(rho, self.multiple(shape), out=saved[0])
        self.fill(float(theta[0]), shape, saved, rho)
        return saved

    def _slope(self, theta: Array, saved: Array) -> Array:
        """dk/dρ."""
        shape = self._shape(theta)
        return np.asarray(self.multiple(shape) * self.slope_factor(shape) * saved[1])

    def _shape(self, theta: Array) -> float:
        """α, or 1 where there is none."""
        return float(np.exp(theta[-1])) if self.has_shape else 1.0

    def roughness(self, theta: Array, n_columns: int) -> Array:
        inverse_squares = np.exp(theta[0] - 2.0 * theta[1 : len(theta) - self.has_shape])
        return np.array(np.broadcast_to(inverse_squares, n_columns))

    def trace(self, theta: Array, total_weight: float, moments: Array) -> tuple[float, Array]:
        gradient = np.zeros(len(theta))
        gradient[0] = np.exp(theta[0]) * total_weight
        return float(gradient[0]), gradient

    def diagonal(self, theta: Array, x: Array) -> Array:
        return np.full(len(x), np.exp(theta[0]))

    def in_units(self, theta: Array, n_scales: int, columns: Array, targets: Array) -> dict[str, Any]:
        variance = np.squeeze(targets**2 * np.exp(theta[0]))[()]
        lengthscale = np.squeeze(np.exp(theta[1 : 1 + n_scales]) * columns)[()]
        shape = {"shape": float(np.exp(theta[-1]))} if self.has_shape else {}
        return {"variance": variance, "lengthscale": lengthscale, **shape}


def _matern12(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope = saved
    np.sqrt(value, out=scratch)
    np.subtract(log_variance, scratch, out=value)
    np.exp(value, out=value)
    slope.fill(0.0)
    np.divide(value, scratch, out=slope, where=scratch > 0.0)


def _matern32(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope = saved
    np.sqrt(value, out=value)
    np.subtract(log_variance, value, out=slope)
    np.exp(slope, out=slope)
    value += 1.0
    value *= slope


def _matern52(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope = saved
    np.sqrt(value, out=slope)
    np.subtract(log_variance, slope, out=scratch)
    np.exp(scratch, out=scratch)
    slope += 1.0
    slope *= scratch
    scratch *= 1.0 / 3.0
    value *= scratch
    value += slope


def _rational_quadratic(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope, shape_slope = saved
    np.log1p(value, out=scratch)
    np.add(value, 1.0, out=slope)
    np.reciprocal(slope, out=slope)
    np.subtract(1.0, slope, out=shape_slope)
    shape_slope -= scratch
    scratch *= -shape
    scratch += log_variance
    np.exp(scratch, out=value)
    slope *= value
    shape_slope *= value


class StationaryAt:
    """A stationary term at given parameters and points; `forward` and `backward` work on one block.

    Of a block, `forward` saves k and its slopes.
    """

    n_sums = 3

    def __init__(self, family: Stationary, theta: Array, z: Array, n_scales: int, dtype: np.dtype) -> None:
        self.family, self.z = family, z
        self.log_variance = float(theta[0])
        self.inverse_squares = np.exp(-2.0 * theta[1 : 1 + n_scales])
        self.squared_norms = np.einsum("ij,ij->i", z * self.inverse_squares, z)
        self.row_scales = self.inverse_squares.astype(dtype)
        self.ones = np.ones(len(z), dtype=dtype)
        self._prepare(theta, dtype)

    def _prepare(self, theta: Array, dtype: np.dtype) -> None:
        self.shape = float(np.exp(theta[-1])) if self.family.has_shape else 1.0
        self.multiple = self.family.multiple(self.shape)
        # Rounding leaves ρ of equal rows at about ±ε(|z/l|² + |x/l|²). It has to be an exact zero there: √ρ and 1/√ρ of
        # the Matérn kernels would blow the rounding up. So a few ε of both norms are taken off, and what is below zero.
        less = 1.0 - 8.0 * np.finfo(dtype).eps
        left = self._left(-2.0, less * self.squared_norms)
        left[:, -2] *= less
        self.left = (self.multiple * left).astype(dtype)

    def part(self, points: slice) -> StationaryAt:
        part = copy(self)
        part.z, part.left, part.ones = self.z[points], self.left[points], self.ones[points]
        return part

    def _left(self, factor: float, constant: Array) -> Array:
        """The left side of the product that gives ``−factor/2 (ρ − |z/l|²) + constant``."""
        m, d = self.z.shape
        left = np.empty((m, d + 2))
        np.multiply(factor * self.inverse_squares, self.z, out=left[:, :d])
        left[:, d] = -0.5 * factor
        left[:, d + 1] = constant
        return left

    def forward(self, design: Design, saved: Array, scratch: Array) -> None:
        np.dot(self.row_scales, design.squares, out=design.columns[-2])
        np.matmul(self.left, design.columns, out=saved[0])
        np.maximum(saved[0], 0.0, out=saved[0])
        self.family.fill(self.log_variance, self.shape, saved, scratch)

    def value(self, design: Design, saved: Array, scratch: Array) -> Array:
        return np.asarray(saved[0])

    def backward(self, design: Design, saved: Array, adjoint: Array) -> PullbackSums:
        by_variance = np.einsum("ij,ij->", adjoint, saved[0])
        by_shape = self.shape * np.einsum("ij,ij->", adjoint, saved[2]) if self.family.has_shape else 0.0
        saved[1] *= adjoint
        w_columns, w_squares = self._sums(design, saved[1])
        factor = self.multiple * self.family.slope_factor(self.shape)
        return factor * w_columns, factor * w_squares, np.array([by_variance, by_shape], dtype=float)

    def _sums(self, design: Design, w: Array) -> tuple[Array, Array]:
        return w @ design.columns.T, design.squares @ (self.ones @ w)

    def by_theta(self, sums: PullbackSums) -> Array:
        w_columns, w_squares, (by_variance, by_shape) = sums
        shape = [by_shape] if self.family.has_shape else []
        return np.concatenate([[by_variance], self._by_lengthscale(w_columns, w_squares), shape])

    def by_points(self, sums: PullbackSums) -> Array:
        w_x, w_one = sums[0][:, :-2], sums[0][:, -1:]
        return np.asarray(-2.0 * self.inverse_squares * (w_x - w_one * self.z))

    def _by_lengthscale(self, w_columns: Array, w_squares: Array) -> Array:
        w_x, w_one = w_columns[:, :-2], w_columns[:, -1]
        per_column = -2.0 * np.einsum("ij,ij->j", self.z, w_x) + w_one @ self.z**2
        cross = per_column if len(w_squares) == len(per_column) else per_column.sum(keepdims=True)
        return np.asarray(-2.0 * self.inverse_squares * (w_squares + cross))


class RBF(Stationary):
    """exp(−ρ/2), for which less is saved than for the others."""

    def __init__(self) -> None:
        super().__init__(lambda *_: None, lambda shape: 1.0, lambda shape: -0.5)

    @property
    def n_saved(self) -> int:
        return 1

    def _with_slopes(self, theta: Array, rho: Array) -> Array:
        rho *= -0.5
        rho += theta[0]
        return np.asarray(np.exp(rho, out=rho)[None])

    def _slope(self, theta: Array, saved: Array) -> Array:
        return -0.5 * np.asarray(saved[0])

    def at(self, theta: Array, z: Array, n_scales: int, dtype: np.dtype) -> TermAt:
        return RBFAt(self, theta, z, n_scales, dtype)


class RBFAt(StationaryAt):
    """The RBF term: log k = log v − ρ/2 is itself a product, so one product and one ``exp`` are the whole cost.

    It saves k, and ``W = −½ G ∘ k``.
    """

    n_sums = 2

    def _prepare(self, theta: Array, dtype: np.dtype) -> None:
        self.left = self._left(1.0, theta[0] - 0.5 * self.squared_norms).astype(dtype)

    def forward(self, design: Design, saved: Array, scratch: Array) -> None:
        np.dot(self.row_scales, design.squares, out=design.columns[-2])
        np.matmul(self.left, design.columns, out=saved[0])
        np.exp(saved[0], out=saved[0])

    def backward(self, design: Design, saved: Array, adjoint: Array) -> PullbackSums:
        saved[0] *= adjoint
        return self._sums(design, saved[0])

    def by_theta(self, sums: PullbackSums) -> Array:
        return np.concatenate([[sums[0][:, -1].sum()], -0.5 * self._by_lengthscale(*sums)])

    def by_points(self, sums: PullbackSums) -> Array:
        return -0.5 * super().by_points(sums)


PROFILES = {
    "rbf": RBF(),
    "matern12": Stationary(_matern12, lambda shape: 1.0, lambda shape: -0.5),
    "matern32": Stationary(_matern32, lambda shape: 3.0, lambda shape: -0.5),
    "matern52": Stationary(_matern52, lambda shape: 5.0, lambda shape: -1.0 / 6.0),
    "rational_quadratic": Stationary(
        _rational_quadratic, lambda shape: 0.5 / shape, lambda shape: -shape, has_shape=True
    ),
}
