"""The linear kernel k(z, x) = Σ_d v_d z_d x_d: Bayesian regression with a slope of prior variance v_d on each column.

∂F/∂log v_d = Σ_i z_id ∂F/∂z_id        ∂F/∂z_id = v_d (G Xᵀ)_id        with G = ∂F/∂k
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.contract import Design, PullbackSums, TermAt


class Linear:
    """The family of linear kernels, with a variance for each column or one for all."""

    n_saved = 0

    def parameter_names(self, n_scales: int) -> tuple[str, ...]:
        return ("slope_variance",) * n_scales

    def design(self, x: Array, n_scales: int) -> Design:
        return Design.of(x, n_scales)

    def at(self, theta: Array, z: Array, n_scales: int, dtype: np.dtype) -> TermAt:
        return LinearAt(theta, z, dtype)

    def between(self, theta: Array, x: Array, z: Array, n_scales: int) -> Array:
        return np.asarray(np.matmul(x * np.exp(theta), np.swapaxes(z, -1, -2)))

    def by_theta_between(self, theta: Array, x: Array, adjoint: Array, n_scales: int) -> Array:
        by_column = (x * np.matmul(adjoint, x)).sum(axis=tuple(range(x.ndim - 1)))
        return np.asarray(np.exp(theta) * (by_column if n_scales == len(by_column) else by_column.sum(keepdims=True)))

    def roughness(self, theta: Array, n_columns: int) -> Array:
        return np.zeros(n_columns)

    def trace(self, theta: Array, total_weight: float, moments: Array) -> tuple[float, Array]:
        gradient = np.exp(theta) * (moments if len(theta) == len(moments) else moments.sum())
        return float(gradient.sum()), gradient

    def diagonal(self, theta: Array, x: Array) -> Array:
        squares = x**2
        has_one_variance = len(theta) != x.shape[1]
        return np.asarray(np.exp(theta) * squares.sum(axis=1) if has_one_variance else squares @ np.exp(theta))

    def in_units(self, theta: Array, n_scales: int, columns: Array, targets: Array) -> dict[str, Any]:
        return {"variance": np.squeeze(targets[:, None] ** 2 * np.exp(theta) / columns**2)[()]}


class LinearAt:
    """The linear term k = Σ_d v_d z_d x_d at given parameters and points. It saves nothing of a block."""

    n_sums = 1

    def __init__(self, theta: Array, z: Array, dtype: np.dtype) -> None:
        self.z = z
        self.variances = np.exp(theta)
        self.left = (z * self.variances).astype(dtype)

    def part(self, points: slice) -> LinearAt:
        part = copy(self)
        part.z, part.left = self.z[points], self.left[points]
        return part

    def forward(self, design: Design, saved: Array, scratch: Array) -> None:
        pass

    def value(self, design: Design, saved: Array, scratch: Array) -> Array:
        np.matmul(self.left, design.columns, out=scratch)
        return scratch

    def backward(self, design: Design, saved: Array, adjoint: Array) -> PullbackSums:
        return (adjoint @ design.columns.T,)

    def by_theta(self, sums: PullbackSums) -> Array:
        by_variance = np.einsum("ij,ij->j", self.z, self.by_points(sums))
        return np.asarray(by_variance if len(self.variances) == len(by_variance) else by_variance.sum(keepdims=True))

    def by_points(self, sums: PullbackSums) -> Array:
        return sums[0] * self.variances
