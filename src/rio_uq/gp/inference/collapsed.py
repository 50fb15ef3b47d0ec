"""The collapsed bound of the sparse GP, and its gradient.

Of the rows it needs only the sums, with k_i = k(Z, c_i), targets r_i, and weights w_i (of equally precise rows),

    Φ = Σ w_i k_i k_iᵀ     b = Σ w_i k_i r_i     s = Σ w_i r_i²     t = Σ w_i k(c_i, c_i)     n = Σ w_i

Where row i has the noise variance σ²/ρ_i, w_i ρ_i stands for w_i in all of them but n, and F below has ½ Σ w_i log ρ_i
in addition.

Write K = K_uu = L Lᵀ and whiten: V = L⁻¹ Φ L⁻ᵀ, β = L⁻¹ b, B = I + V/σ², γ = B⁻¹ β/σ². Then Σ = K + Φ/σ² = L B Lᵀ and

    F = −n/2 log 2πσ² − ½ log|B| − s/2σ² + ½ βᵀγ/σ² − (t − tr V)/2σ²

    ∂F/∂Φ      = L⁻ᵀ (I − B⁻¹ − γγᵀ) L⁻¹ / 2σ²
    ∂F/∂b      = L⁻ᵀ γ / σ²
    ∂F/∂t      = −1/2σ²
    ∂F/∂K      = ½ L⁻ᵀ (2I − B⁻¹ − B − γγᵀ) L⁻¹
    ∂F/∂log σ² = ½ (−n + m − tr B⁻¹ + s/σ² − βᵀγ/σ² − |γ|² + (t − tr V)/σ²)

Several outputs share Φ and K, have a noise variance each, and add up. A second walk over the rows takes

    ∂F/∂k_i = w_i (2 (∂F/∂Φ) k_i + (∂F/∂b) r_i)

through the kernel. With the targets stacked below the kernel matrix of a block, [k; r], the first walk is one
product [k; r][k; r]ᵀ and the second one is [2 ∂F/∂Φ, ∂F/∂b][k; r]; with weights, both are of √w [k; r].

L⁻¹ takes the rounding of Φ with it: where K is nearly singular and the noise small beside the kernel, V would be
nothing but rounding. There the rows are whitened before they are summed up, V = Σ w_i (L⁻¹k_i)(L⁻¹k_i)ᵀ, at the cost
of one more product for each block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import BASE_JITTER, cholesky, inverse, log_determinant, triangular_inverse
from rio_uq.gp.backend.walking import Block, block_rows_for, sum_over_rows
from rio_uq.gp.kernels.contract import Design
from rio_uq.gp.kernels.io import Kernel, KernelAt
from rio_uq.gp.kernels.symmetric import PointsMatrix
from rio_uq.gp.observations import Observations

FLOAT32_JITTER = 1e-6
"""Whitening divides the rounding of float32 blocks, about 1e-7, by the jitter: with less, gradients are noise."""

ROUNDING_ALLOWED = 1e-4
"""Estimated rounding of V/σ² above which rows are whitened before they are summed up. The bound may be rough by more
than that, and a line search fails where it is rough by more than is still to be gained; see
benchmarks/levers/README.md."""


class Sums(NamedTuple):
    """The sufficient statistics of the sparse GP for q outputs: sums, so those of two sets of rows add up."""

    phi: Array  # (m, m); V if whitened
    b: Array  # (m, q); β if whitened
    s: Array  # (q,)
    t: float
    n: float
    log_precision: float = 0.0

    @classmethod
    def of_no_rows(cls, n_points: int, n_outputs: int) -> Sums:
        return cls(np.zeros((n_points, n_points)), np.zeros((n_points, n_outputs)), np.zeros(n_outputs), 0.0, 0.0)

    def whitened(self, whitener: Array) -> Sums:
        """With V and β for Φ and b, given L⁻¹."""
        return self._replace(phi=whitener @ self.phi @ whitener.T, b=whitener @ self.b)

    def plus(self, other: Sums) -> Sums:
        """Of both sets of rows."""
        return Sums(
            self.phi + other.phi,
            self.b + other.b,
            self.s + other.s,
            self.t + other.t,
            self.n + other.n,
            self.log_precision + other.log_precision,
        )


class Adjoints(NamedTuple):
    """Gradients of the bound with respect to V, β, t, Lᵀ (∂F/∂K) L and the log noise variances."""

    v: Array
    beta: Array
    t: float
    kuu: Array
    log_noise: Array


class Whitening(NamedTuple):
    """The Cholesky factor L of K_uu with its inverse, and the share of the mean diagonal that was added to K_uu."""

    factor: Array
    inverse: Array
    jitter: float

    @classmethod
    def of(cls, kuu: Array, jitter: float = BASE_JITTER) -> Whitening:
        factor, jitter = cholesky(kuu, jitter)
        return cls(factor, triangular_inverse(factor), jitter)

    def amplifies_rounding(self, mean_diagonal: float, n_rows: float, noise_variance: float) -> bool:
        """Whether V/σ² made from a sum Φ over rows would be wrong by more than `ROUNDING_ALLOWED`."""
        condition = mean_diagonal / float(self.factor.diagonal().min()) ** 2
        rounding = np.finfo(float).eps * n_rows * mean_diagonal / noise_variance * condition
        return bool(rounding > ROUNDING_ALLOWED)

    def by_kuu(self, middle: Array) -> Array:
        """∂F/∂K from Lᵀ (∂F/∂K) L; the jitter is a share of K's mean diagonal."""
        by_kuu = self.inverse.T @ middle @ self.inverse
        np.fill_diagonal(by_kuu, by_kuu.diagonal() + self.jitter * by_kuu.trace() / len(by_kuu))
        return by_kuu


BoundOf = Callable[[Array, Sums], tuple[float, Adjoints]]


def bound_of(noise_variance: Array, sums: Sums) -> tuple[float, Adjoints]:
    """The bound F and its adjoints from noise variances (q,) and whitened statistics: no data, no kernel."""
    v, beta = sums.phi, sums.b
    m = len(v)
    trace_gap = sums.t - v.trace()
    value = 0.0
    by_v: Array = np.zeros((m, m))
    by_kuu: Array = np.zeros((m, m))
    by_beta = np.empty_like(beta)
    by_log_noise = np.empty(len(noise_variance))
    for q, noise in enumerate(noise_variance):
        information = v / noise  # B − I
        big_factor, _ = cholesky(information, diagonal=1.0 + information.diagonal())
        big_inverse = inverse(big_factor)
        gamma = big_inverse @ beta[:, q] / noise
        fit = beta[:, q] @ gamma / noise
        misfit = (sums.s[q] + trace_gap) / noise
        value += 0.5 * (fit - misfit - log_determinant(big_factor))
        value += 0.5 * (sums.log_precision - sums.n * np.log(2.0 * np.pi * noise))
        by_log_noise[q] = 0.5 * (misfit - sums.n + m - big_inverse.trace() - fit - gamma @ gamma)
        common = -gamma[:, None] * gamma
        common -= big_inverse
        np.fill_diagonal(common, 1.0 + common.diagonal())
        by_v += common / (2.0 * noise)
        common -= information
        by_kuu += 0.5 * common
        by_beta[:, q] = gamma / noise
    by_t = -0.5 * float((1.0 / noise_variance).sum())
    return float(value), Adjoints(by_v, by_beta, by_t, by_kuu, by_log_noise)


class _BlockArrays(NamedTuple):
    """The arrays in which a block of b rows is worked off; the last two are shared by a thread's blocks."""

    designs: list[Design]
    saved: list[Array]
    stacked: Array  # (m + q, b)
    scratch: Array  # (m, b)
    adjoint: Array  # (m, b)


class CollapsedBound:
    """The collapsed bound as a function of theta, noise and inducing points, on fixed rows.

    It owns the arrays of the blocks, so that one evaluation after the other works in the same memory. Another function
    of noise variances and whitened sums may stand in for `bound_of`, as in `rio_uq.gp.inference.svgp`.

    Examples
    --------
    >>> import numpy as np
    >>> from rio_uq.gp.kernels.io import io_kernel
    >>> from rio_uq.gp.observations import Observations
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(200, 3))
    >>> data = Observations(rows, np.sin(rows[:, :1]))
    >>> bound = CollapsedBound(io_kernel(2, 1), data, n_points=20)
    >>> value, gradients = bound(np.zeros(4), np.log([0.1]), rows[:20])
    >>> [gradient.shape for gradient in gradients]
    [(4,), (1,), (20, 3)]
    """

    def __init__(self, kernel: Kernel, data: Observations, n_points: int, bound_of: BoundOf = bound_of) -> None:
        self.kernel, self.data, self.n_points, self.bound_of = kernel, data, n_points, bound_of
        self.jitter = BASE_JITTER if np.dtype(data.dtype) == np.float64 else FLOAT32_JITTER
        self.block_rows = data.block_rows or block_rows_for(n_points)
        self.is_cached = self._bytes_to_cache() <= data.cache_bytes
        self._kept: dict[int | tuple[int, int], _BlockArrays] = {}
        self._shared: dict[int, Array] = {}

    def _bytes_to_cache(self) -> int:
        per_row = self.n_points + self.data.n_outputs
        for term in self.kernel.terms:
            per_row += term.stop - term.start + 2 + term.n_scales + term.n_saved * self.n_points
        return per_row * len(self.data) * np.dtype(self.data.dtype).itemsize

    def __call__(self, theta: Array, log_noise: Array, points: Array) -> tuple[float, tuple[Array, Array, Array]]:
        """The bound and its gradients with respect to theta, the log noise variances and the points."""
        at = self.kernel.at(theta, points, self.data.dtype)
        points_matrix = PointsMatrix(at if at.dtype == np.float64 else self.kernel.at(theta, points))
        t, trace_theta = self.kernel.trace(theta, self.data.total_effective_weight, self.data.moments)
        noise_variance = np.exp(log_noise)
        whitening = Whitening.of(points_matrix.value, self.jitter)
        n = self.data.total_effective_weight
        before = whitening.amplifies_rounding(t / n, n, noise_variance.min())
        whitener = whitening.inverse.astype(self.data.dtype) if before else None
        sums = self.sums(at, t, whitener)
        value, adjoints = self.bound_of(noise_variance, sums if before else sums.whitened(whitening.inverse))
        # One side of [2 ∂F/∂V, ∂F/∂β] acts on what the first walk has stacked, the other on kernel values.
        left = whitening.inverse.T @ np.hstack([2.0 * adjoints.v, adjoints.beta])
        if not before:
            left[:, : self.n_points] = left[:, : self.n_points] @ whitening.inverse
        row_sums = self._row_sums(at, left, whitener)
        kuu_sums = points_matrix.pullback_sums(whitening.by_kuu(adjoints.kuu))
        by_theta = at.by_theta([row + kuu for row, kuu in zip(row_sums, kuu_sums, strict=True)])
        # Z is both arguments of K_uu.
        by_points = at.by_points([row + 2.0 * kuu for row, kuu in zip(row_sums, kuu_sums, strict=True)])
        return value, (by_theta + adjoints.t * trace_theta, adjoints.log_noise, by_points)

    def sums(self, at: KernelAt, t: float, whitener: Array | None = None) -> Sums:
        """The first walk; t comes from the moments of the rows. With L⁻¹, of whitened rows."""
        m = self.n_points

        def work(span: int, block: Block) -> list[Array]:
            stacked = self._forward(at, self._arrays(at, span, block), block, whitener)
            stacked = stacked.astype(float, copy=False)  # float32 sums would not be positive semidefinite
            return [stacked @ stacked.T]

        (total,) = sum_over_rows(len(self.data), self.block_rows, self.data.n_jobs, work)
        n, log_precision = self.data.total_weight, self.data.log_precision
        return Sums(total[:m, :m], total[:m, m:], total.diagonal()[m:], t, n, log_precision)

    def _row_sums(self, at: KernelAt, left: Array, whitener: Array | None) -> list[Array]:
        """The second walk: the sums of the kernel's pull-back over all rows."""
        left = left.astype(self.data.dtype)

        def work(span: int, block: Block) -> list[Array]:
            arrays = self._arrays(at, span, block)
            if not self.is_cached:
                self._forward(at, arrays, block, whitener)
            adjoint = np.matmul(left, arrays.stacked, out=arrays.adjoint)
            if self.data.effective_weight is not None:
                adjoint *= np.sqrt(self.data.effective_weight[block[1]])
            return at.backward(arrays.designs, arrays.saved, adjoint)

        return sum_over_rows(len(self.data), self.block_rows, self.data.n_jobs, work)

    def _forward(self, at: KernelAt, arrays: _BlockArrays, block: Block, whitener: Array | None) -> Array:
        """The kernel matrix of a block, whitened or not, with its targets below, √w [k; r], shape (m + q, b)."""
        stacked, m = arrays.stacked, self.n_points
        at.forward(arrays.designs, arrays.saved, arrays.scratch)
        at.value(arrays.designs, arrays.saved, arrays.scratch, stacked[:m])
        if whitener is not None:
            np.copyto(arrays.scratch, stacked[:m])
            np.matmul(whitener, arrays.scratch, out=stacked[:m])
        stacked[m:] = self.data.targets[block[1]].T
        if self.data.effective_weight is not None:
            stacked *= np.sqrt(self.data.effective_weight[block[1]])
        return stacked

    def _arrays(self, at: KernelAt, span: int, block: Block) -> _BlockArrays:
        """The arrays of a block: its own from walk to walk, or those of all blocks of the thread that are as long."""
        index, rows = block
        if self.is_cached and index in self._kept:
            return self._kept[index]
        key = index if self.is_cached else (span, rows.stop - rows.start)
        arrays = self._kept[key] if key in self._kept else self._new_arrays(at, span, rows.stop - rows.start)
        designs = self.kernel.designs(np.asarray(self.data.rows[rows], dtype=self.data.dtype))
        self._kept[key] = arrays._replace(designs=designs)
        return self._kept[key]

    def _new_arrays(self, at: KernelAt, span: int, b: int) -> _BlockArrays:
        m, q, dtype = self.n_points, self.data.n_outputs, self.data.dtype
        if span not in self._shared:
            self._shared[span] = np.empty((2, m * self.block_rows), dtype=dtype)
        scratch, adjoint = (array[: m * b].reshape(m, b) for array in self._shared[span])
        return _BlockArrays([], at.saved_arrays(b), np.empty((m + q, b), dtype=dtype), scratch, adjoint)
