"""The sparse GP: inducing points, posterior, further rows, leave-one-out.

Symbols and the bound that is maximised are those of `rio_uq.gp.inference.collapsed`. The rows are whitened before they
are summed up, and V = Q Λ Qᵀ. The information that rows give about the latent value is

    K⁻¹ − Σ⁻¹ = L⁻ᵀ (I − B⁻¹) L⁻¹ = RᵀR        R = (Λ/(σ² + Λ))^½ Qᵀ L⁻¹

in which nothing cancels, and the weights of the mean follow from

    kᵀ Σ⁻¹ b/σ² = kᵀ L⁻ᵀ Q (σ² + Λ)⁻¹ Qᵀ β
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp import inducing
from rio_uq.gp.backend.linalg import cholesky, solve_lower
from rio_uq.gp.backend.walking import Block, block_rows_for, walk
from rio_uq.gp.inference.collapsed import CollapsedBound, Sums, Whitening, bound_of
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search, maximize_with_prior
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings

FIRST_ROUND = 20
"""Iterations before greedy inducing points are chosen again."""


class SparseStatistics(NamedTuple):
    """Sums over rows, so that rows may come in parts and in any order.

    Attributes
    ----------
    noise_variance : (q,) array
        Of the likelihood.
    sums : Sums
        Of rows that were whitened before they were summed up: sums of Φ would lose V in their rounding.
    jitter : float
        That of the whitening, which further rows have to share.
    """

    noise_variance: Array
    sums: Sums
    jitter: float

    @property
    def kind(self) -> str:
        return "sparse"

    @property
    def total_weight(self) -> float:
        return self.sums.n

    def sums_of(self, posterior: Posterior, data: Observations) -> Sums:
        if not len(data):
            return Sums.of_no_rows(len(posterior.points), data.n_outputs)
        return _summed(posterior.kernel, posterior.theta, posterior.points, data, self.jitter)[0]

    def with_sums(self, posterior: Posterior, sums: Sums) -> Posterior:
        of_sums = posterior_of(posterior.kernel, posterior.theta, posterior.points, self._replace(sums=sums))
        return replace(of_sums, noise_variance=posterior.noise_variance)

    def of_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        kernel, theta, points = posterior.kernel, posterior.theta, posterior.points
        statistics = SparseStatistics(self.noise_variance, *_summed(kernel, theta, points, data))
        return posterior_of(kernel, theta, points, statistics)

    def with_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        return self.with_sums(posterior, self.sums.plus(self.sums_of(posterior, data)))

    def log_likelihood(self, posterior: Posterior) -> float:
        return bound_of(self.noise_variance, self.sums)[0]

    def leave_one_out(self, posterior: Posterior, data: Observations) -> tuple[Array, Array]:
        """Given the inducing variables the sparse GP is a linear model. With a = Qᵀ L⁻¹ k_i, the part of the variance
        of row i that the rows can reduce is v = Σ a² σ²/(σ² + Λ), the row's leverage h = w_i ρ_i v/σ², and without the
        row

            r_i − mean_i → (r_i − mean_i)/(1 − h)        v → v/(1 − h)

        To v comes k(c_i, c_i) − |a|², which no row reduces.
        """
        kernel, theta, at, noise_variance = posterior.kernel, posterior.theta, posterior.at, self.noise_variance
        spectrum = _Spectrum.of(kernel, theta, posterior.points, self)
        shares = 1.0 / (noise_variance + spectrum.values[:, None])  # (m, q)
        residual, variance = np.empty((2, *data.targets.shape))

        def work(span: int, blocks: list[Block]) -> None:
            for _, block in blocks:
                rows = np.asarray(data.rows[block], dtype=float)
                cross = at.matrix(kernel.designs(rows))
                squares = (spectrum.back @ cross) ** 2
                rest = kernel.diagonal(theta, rows) - squares.sum(axis=0)
                reducible = squares.T @ shares  # v/σ²
                weight = 1.0 if data.effective_weight is None else data.effective_weight[block, None]
                left = np.maximum(1.0 - weight * reducible, np.finfo(float).eps)
                residual[block] = (data.targets[block] - cross.T @ posterior.weights) / left
                variance[block] = np.maximum(rest, 0.0)[:, None] + noise_variance * reducible / left

        walk(len(data), data.block_rows or block_rows_for(len(posterior.points)), data.n_jobs, work)
        return residual, variance


class _Spectrum(NamedTuple):
    """V = Q Λ Qᵀ: the information about the inducing variables, direction by direction."""

    values: Array  # Λ, (m,)
    back: Array  # Qᵀ L⁻¹, (m, m)
    targets: Array  # Qᵀ β, (m, q)

    @classmethod
    def of(cls, kernel: Kernel, theta: Array, points: Array, statistics: SparseStatistics) -> _Spectrum:
        factor, _ = cholesky(kernel.matrix(theta, points, points), statistics.jitter)
        sums = statistics.sums
        values, vectors = np.linalg.eigh(0.5 * (sums.phi + sums.phi.T))
        back = np.ascontiguousarray(solve_lower(factor, vectors, transposed=True).T)
        return cls(np.maximum(values, 0.0), back, vectors.T @ sums.b)


def posterior(kernel: Kernel, theta: Array, log_noise: Array, points: Array, data: Observations) -> Posterior:
    """The posterior with the variational distribution at its optimum."""
    sums, jitter = _summed(kernel, theta, points, data)
    return posterior_of(kernel, theta, points, SparseStatistics(np.exp(log_noise), sums, jitter))


def posterior_of(kernel: Kernel, theta: Array, points: Array, statistics: SparseStatistics) -> Posterior:
    """The posterior of rows from their sums."""
    spectrum, noise_variance = _Spectrum.of(kernel, theta, points, statistics), statistics.noise_variance
    weights = spectrum.back.T @ (spectrum.targets / (noise_variance + spectrum.values[:, None]))
    shares = (np.sqrt(spectrum.values / (noise + spectrum.values)) for noise in noise_variance)
    factors = tuple(share[:, None] * spectrum.back for share in shares)
    return Posterior(kernel, theta, noise_variance, points, weights, factors, statistics)


def with_noise(posterior: Posterior, noise_variance: Array) -> Posterior:
    """The posterior of the same rows with other noise variances in the likelihood."""
    statistics = posterior.statistics
    if not isinstance(statistics, SparseStatistics):
        raise TypeError("the posterior has to be one of sparse inference, with its sums")
    moved = statistics._replace(noise_variance=noise_variance)
    return posterior_of(posterior.kernel, posterior.theta, posterior.points, moved)


def _summed(
    kernel: Kernel, theta: Array, points: Array, data: Observations, jitter: float | None = None
) -> tuple[Sums, float]:
    """Sums of whitened rows in one walk, and the jitter of the whitening; with that of other sums, such that both add
    up.
    """
    bound = CollapsedBound(kernel, replace(data, cache_bytes=0), len(points))
    trace, _ = kernel.trace(theta, data.total_effective_weight, data.moments)
    whitening = Whitening.of(kernel.matrix(theta, points, points), bound.jitter if jitter is None else jitter)
    sums = bound.sums(kernel.at(theta, points, data.dtype), trace, whitening.inverse.astype(data.dtype))
    return sums, whitening.jitter


class SparseObjective:
    """The collapsed bound as a function of log-parameters, log noise variances, and inducing points if they move."""

    def __init__(self, kernel: Kernel, data: Observations, points: Array, *, move_points: bool) -> None:
        self.kernel, self.data, self.points, self.move_points = kernel, data, points, move_points
        self.bound = CollapsedBound(kernel, data, len(points))

    @property
    def n_points(self) -> int:
        return len(self.points)

    def __call__(self, x: Array) -> tuple[float, Array]:
        value, (by_theta, by_log_noise, by_points) = self.bound(*self.split(x))
        moved = [by_points.ravel()] if self.move_points else []
        return value, np.concatenate([by_theta, by_log_noise, *moved])

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """Log-parameters, log noise variances and inducing points."""
        p = self.kernel.n_parameters
        n_fixed = p + self.data.n_outputs
        points = x[n_fixed:].reshape(self.points.shape) if self.move_points else self.points
        return x[:p], x[p:n_fixed], points

    def start(self, x: Array) -> Array:
        return np.concatenate([x, self.points.ravel()]) if self.move_points else x

    def bounds(self, bounds: Array) -> Array:
        free = np.tile([-np.inf, np.inf], (self.points.size, 1))
        return np.vstack([bounds, free]) if self.move_points else bounds

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        return maximize_with_prior(self, self.start(x), self.bounds(bounds), prior, search)

    def posterior(self, x: Array) -> Posterior:
        return posterior(self.kernel, *self.split(x), self.data)


class Sparse:
    """Inducing points, with the collapsed bound as objective."""

    sorts_rows = False
    trains_folds = False
    keeps_rows = False

    def needs_exploring(self, settings: Settings) -> bool:
        return settings.n_inducing is None

    def exploring_rows(self, n_rows: int) -> int:
        return n_rows

    def rounds(self, settings: Settings, data: Observations) -> list[int]:
        """Greedy points depend on the kernel: choose, optimise a little, choose again."""
        if isinstance(settings.inducing, str) and settings.inducing == "greedy":
            first = min(self._first_round(data), settings.max_iter - 1)
            return [first, settings.max_iter] if first > 0 else [settings.max_iter]
        return [settings.max_iter]

    def _first_round(self, data: Observations) -> int:
        return FIRST_ROUND

    def objective(
        self, kernel: Kernel, data: Observations, x: Array, settings: Settings, rng: np.random.Generator, n_points: int
    ) -> SparseObjective:
        points = settings.inducing
        if isinstance(points, str):
            points = _choose_points(kernel, data, x, points, settings, rng, n_points)
        return self._objective_at(kernel, data, points, settings)

    def _objective_at(self, kernel: Kernel, data: Observations, points: Array, settings: Settings) -> SparseObjective:
        return SparseObjective(kernel, data, points, move_points=settings.optimize_inducing)


def _choose_points(
    kernel: Kernel,
    data: Observations,
    x: Array,
    method: str,
    settings: Settings,
    rng: np.random.Generator,
    at_least: int,
) -> Array:
    """Inducing points: at least so many where their number is free, unless that is more than the time allows."""
    theta, noise_variance = x[: kernel.n_parameters], np.exp(x[kernel.n_parameters :])
    most = settings.most_points(len(data))
    if settings.n_inducing is None:
        worth = inducing.enough(kernel, theta, noise_variance, data.rows, rng)
        most = min(most, max(at_least, len(worth)))
        if method == "greedy" and most <= len(worth):
            return worth[:most]
    return inducing.choose(method, most, data.rows, kernel, theta, rng)
