"""The GP of the nearest rows: hyperparameters from a subset, predictions from the rows near the one asked for.

Training maximises the log marginal likelihood of a random subset of m rows (`rio_uq.gp.inference.exact`). The posterior
at a row is exact given its k nearest training rows and slopes of linear terms (`rio_uq.gp.inference.local`): memory is
that of the rows, and time k³ for each row that is predicted, for any n.

**Subset and order.** Rows are kept in the order of a hash of their values. It does not depend on how they came, its
first m are a random subset, and those of two sets of rows are the first m of both subsets' rows: further rows give what
a fit to all rows gives at the same hyperparameters.

**At full density.** Among n rows neighbours are nearer than among m, and what the subset took for noise may be
something that they can see. So the noise variances get a common factor e^a, by the density of some rows that are not in
the subset, given their k nearest others: with residuals e_i and latent variances v_i, it maximises

    Σ_i w_i log N(e_i | 0, v_i + σ²/w_i) − ½ a²/τ²

Lengthscales stay: shorter ones were likelier by this density on protein data, and predicted worse.

**Likelihood.** That of the subset, times n/m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from rio_uq._base.array import Array
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.inference import exact
from rio_uq.gp.inference.collapsed import Sums
from rio_uq.gp.inference.contract import Objective
from rio_uq.gp.inference.exact import ExactObjective, ExactStatistics
from rio_uq.gp.inference.local import Local, Terms
from rio_uq.gp.inference.neighbours import Indices
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings

SUBSET_ROWS = 2000
"""m, at most."""

EXPLORING_ROWS = 1000
"""On which starts are compared."""

DENSITY_ROWS, DEVIATION = 1000, 0.5
"""Rows of the step at full density, and τ."""

LARGEST_STEP, STEP_TOLERANCE = 3.0, 0.05
"""Of a."""


@dataclass(frozen=True)
class NearestPosterior(Posterior):
    """A posterior whose points, weights and variance factors are those of the exact GP of the subset, and which
    predicts from nearest rows.

    Attributes
    ----------
    local : Local
        All rows, and how near ones predict.
    terms : tuple of int
        Those of the kernel that it is the posterior of.
    """

    local: Local = field(kw_only=True)
    terms: Terms = field(kw_only=True)

    predicts_from_points = False

    def moments(self, rows: Array, n_jobs: int, *, with_variance: bool) -> tuple[Array, Array]:
        with single_blas_thread:
            return self.local.moments(rows, self.terms, n_jobs, with_variance=with_variance)

    def covariance(self, rows: Array) -> Array:
        with single_blas_thread:
            return self.local.covariance(rows, self.terms)

    def of_terms(self, indices: Sequence[int]) -> Posterior:
        kernel, theta = self.kernel.restricted(indices, self.theta)
        terms = tuple(self.terms[i] for i in indices)
        return replace(self, kernel=kernel, theta=theta, terms=terms, statistics=None)


class NearestStatistics(NamedTuple):
    """All rows.

    Attributes
    ----------
    local : Local
    of_subset : ExactStatistics
    """

    local: Local
    of_subset: ExactStatistics

    @property
    def noise_variance(self) -> Array:
        return self.local.noise_variance

    @property
    def total_weight(self) -> float:
        return self.local.data.total_weight

    @property
    def sums(self) -> Sums:
        _refuse_parts()

    def sums_of(self, posterior: Posterior, data: Observations) -> Sums:
        _refuse_parts()

    def with_sums(self, posterior: Posterior, sums: Sums) -> Posterior:
        _refuse_parts()

    def of_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        local = self.local
        return posterior_of(local.kernel, local.theta, local.noise_variance, data, local.n_neighbors)

    def with_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        of_all = self.of_rows(posterior, _both(self.local.data, data))
        return replace(of_all, noise_variance=posterior.noise_variance)

    def log_likelihood(self, posterior: Posterior) -> float:
        share = self.of_subset.total_weight / self.total_weight
        return self.of_subset.log_likelihood(posterior) / share

    def leave_one_out(self, posterior: Posterior, data: Observations) -> tuple[Array, Array]:
        order, numbers = _order(data), np.arange(len(data))
        residual, variance = np.empty((2, len(data), data.n_outputs))
        residual[order], variance[order] = self.local.leave_one_out(numbers, data.n_jobs)
        return residual, variance


def posterior(kernel: Kernel, theta: Array, log_noise: Array, data: Observations, n_neighbors: int) -> NearestPosterior:
    """The posterior of rows at given hyperparameters."""
    return posterior_of(kernel, theta, np.exp(log_noise), data, n_neighbors)


def posterior_of(
    kernel: Kernel, theta: Array, noise_variance: Array, data: Observations, n_neighbors: int
) -> NearestPosterior:
    """The same from noise variances."""
    data = _ordered(data)
    subset = data.subset(np.arange(min(SUBSET_ROWS, len(data))))
    of_subset = exact.posterior_of(kernel, theta, noise_variance, subset)
    local = Local.of(kernel, theta, noise_variance, data, len(subset), n_neighbors)
    return NearestPosterior(
        kernel,
        theta,
        noise_variance,
        of_subset.points,
        of_subset.weights,
        of_subset.variance_factors,
        NearestStatistics(local, ExactStatistics.of(noise_variance, subset)),
        local=local,
        terms=local.all_terms,
    )


class NearestObjective(ExactObjective):
    """The log marginal likelihood of the subset, and a last step at full density."""

    def __init__(self, kernel: Kernel, data: Observations, n_neighbors: int) -> None:
        self.all_rows, self.n_neighbors = _ordered(data), n_neighbors
        super().__init__(kernel, self.all_rows.subset(np.arange(min(SUBSET_ROWS, len(data)))))

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        optimum = super().maximize(x, bounds, prior, search)
        if len(self.data) == len(self.all_rows):
            return optimum
        x = np.clip(self.at_full_density(optimum.x), *bounds.T)
        return replace(optimum, x=x, is_estimate=True)

    def at_full_density(self, x: Array) -> Array:
        """Log-parameters and log noise variances with the likeliest factor on the noise."""
        data, m = self.all_rows, len(self.data)
        theta, log_noise = self._split(x)
        local = Local.of(self.kernel, theta, np.exp(log_noise), data, m, self.n_neighbors)
        numbers = np.arange(m, min(m + DENSITY_ROWS, len(data)))
        nearest = local.nearest_others(numbers)
        weight = np.ones(len(numbers)) if data.weight is None else data.weight[numbers]

        def loss(a: float) -> float:
            moved = replace(local, noise_variance=np.exp(log_noise + a))
            residual, latent = moved.leave_one_out(numbers, data.n_jobs, nearest)
            variance = latent + moved.noise_variance / local.weight[numbers, None]
            losses = np.log(variance) + residual**2 / variance
            return 0.5 * (float(weight @ losses.sum(axis=1)) + (a / DEVIATION) ** 2)

        with single_blas_thread:
            optimum = minimize_scalar(
                loss, bounds=(-LARGEST_STEP, LARGEST_STEP), method="bounded", options={"xatol": STEP_TOLERANCE}
            )
        return np.concatenate([theta, log_noise + optimum.x])

    def posterior(self, x: Array) -> Posterior:
        return posterior(self.kernel, *self._split(x), self.all_rows, self.n_neighbors)


class Nearest:
    """All rows, of which the nearest ones predict."""

    sorts_rows = True
    trains_folds = False
    keeps_rows = True

    def needs_exploring(self, settings: Settings) -> bool:
        return True

    def exploring_rows(self, n_rows: int) -> int:
        return min(n_rows, EXPLORING_ROWS)

    def rounds(self, settings: Settings, data: Observations) -> list[int]:
        return [settings.max_iter]

    def objective(
        self, kernel: Kernel, data: Observations, x: Array, settings: Settings, rng: np.random.Generator, n_points: int
    ) -> Objective:
        return NearestObjective(kernel, data, settings.n_neighbors)


def _order(data: Observations) -> Indices:
    """The numbers of the rows in the order of a hash of their values and targets; of equal ones by their weights."""
    values = np.ascontiguousarray(np.hstack([data.rows, data.targets]), dtype=float) + 0.0  # −0.0 is 0.0
    bits = values.view(np.uint64)
    mixed = np.zeros(len(data), dtype=np.uint64)
    for column in bits.T:
        mixed = _mixed(mixed ^ column)
    weight = np.zeros(len(data)) if data.effective_weight is None else data.effective_weight
    return np.lexsort((weight, mixed))


def _ordered(data: Observations) -> Observations:
    """The rows in that order, in arrays of their own."""
    data = data.subset(_order(data))
    return replace(data, rows=np.array(data.rows, dtype=float), targets=np.array(data.targets, dtype=float))


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: every bit depends on all bits of x."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _both(data: Observations, more: Observations) -> Observations:
    def stacked(one: Array | None, other: Array | None) -> Array | None:
        if one is None and other is None:
            return None
        parts = zip((one, other), (data, more), strict=True)
        return np.concatenate([np.ones(len(rows)) if part is None else part for part, rows in parts])

    return replace(
        more,
        rows=np.vstack([data.rows, more.rows]),
        targets=np.vstack([data.targets, more.targets]),
        weight=stacked(data.weight, more.weight),
        precision=stacked(data.precision, more.precision),
    )


def _refuse_parts() -> NoReturn:
    raise ValueError(
        "rows that are read in parts cannot be added to a GP that predicts from nearest rows, which keeps all of them: "
        "give them as arrays, or fit with inference='sparse'"
    )
