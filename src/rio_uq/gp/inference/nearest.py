"""The GP of the nearest rows: hyperparameters from a subset, predictions from the rows near the one asked for.

Training maximises the log marginal likelihood of a random subset of m rows (`rio_uq.gp.inference.exact`). The posterior
at a row is exact given its k nearest training rows and slopes of linear terms (`rio_uq.gp.inference.local`): memory is
that of the rows, and time k³ for each row that is predicted, for any n.

**Subset and order.** Rows are kept in the order of a hash of their values. It does not depend on how they came, its
first m are a random subset, and those of two sets of rows are the first m of both subsets' rows: further rows give what
a fit to all rows gives at the same hyperparameters.

**Likelihood.** That of the subset, times n/m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

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
    data = data.subset(_order(data))
    data = replace(data, rows=np.array(data.rows, dtype=float), targets=np.array(data.targets, dtype=float))
    subset = data.subset(np.arange(min(SUBSET_ROWS, len(data))))
    of_subset = exact.posterior_of(kernel, theta, noise_variance, subset)
    local = Local(kernel, theta, noise_variance, data, len(subset), n_neighbors)
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
    """The log marginal likelihood of the subset."""

    def __init__(self, kernel: Kernel, data: Observations, n_neighbors: int) -> None:
        self.all_rows, self.n_neighbors = data, n_neighbors
        super().__init__(kernel, data.subset(_order(data)[:SUBSET_ROWS]))

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        optimum = super().maximize(x, bounds, prior, search)
        return replace(optimum, is_estimate=True)

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
