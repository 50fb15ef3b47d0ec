"""The GP of the nearest rows: hyperparameters from a subset, predictions from the rows near the one asked for.

Training maximises the log marginal likelihood of a random subset of m rows (`rio_uq.gp.inference.exact`). The posterior
at a row is exact given its k nearest training rows and weights of features that all rows share: slopes of linear terms
and, where left-out rows say that it helps, values at some points, as in the sparse GP (`rio_uq.gp.inference.local`).
Memory is that of the rows and of their features, and time k³ for each row that is predicted, for any n.

**Subset and order.** Rows are kept in the order of a hash of their values (`rio_uq.gp.inference.row_order`): the first
m are the subset, and further rows give what a fit to all rows gives at the same hyperparameters.

**At full density.** Among n rows neighbours are nearer than among m, and what the subset took for noise may be
something that they can see. So the noise variances get a common factor e^a, by the density of some rows that are not in
the subset, given their k nearest others: with residuals e_i and latent variances v_i, it maximises

    Σ_i w_i log N(e_i | 0, v_i + σ²/w_i) − ½ a²/τ²

Before that, all hyperparameters may move to where other such rows are predicted better, given their nearest ones
(`rio_uq.gp.inference.full_density`), if these are predicted better by that as well.

The number of neighbours, where it is free, is k = 50 until then. At the hyperparameters that were chosen, twice as many
are taken if these rows are predicted better by that: where the function is smooth they are.

**Likelihood.** That of the subset, times n/m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.deadline import NEVER, Deadline
from rio_uq.gp.inducing import greedy
from rio_uq.gp.inference import exact
from rio_uq.gp.inference.contract import Objective
from rio_uq.gp.inference.exact import Exact, ExactObjective, ExactStatistics
from rio_uq.gp.inference.full_density import moved_to_full_density
from rio_uq.gp.inference.local import Local, Weights
from rio_uq.gp.inference.neighbours import Indices
from rio_uq.gp.inference.noise_step import Step, density_step
from rio_uq.gp.inference.row_order import distinct, hashes, ordered
from rio_uq.gp.inference.two_parts import Terms, TwoParts
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings

SUBSET_ROWS = 2000
"""m, at most."""

DENSITY_ROWS, NOISE_ROWS, COMPARING_ROWS = 1000, 500, 10_000
"""Rows of the step at full density, and where it is about noise alone; rows that tell of the weights of features."""

FEWEST_DENSITY_ROWS = 200
"""Rows that are left out to choose by, at least."""

LEARNING_ROWS, FEWEST_LEARNING_ROWS = 4000, 500
"""Rows that move the hyperparameters of the subset, where there are enough."""

WORTH_MOVING = 0.005
"""In nats for each left-out outcome: so much moved hyperparameters have to be better, see `Step.gain`."""

NEIGHBOURS, MORE_NEIGHBOURS, WORTH_MORE = 50, 100, 0.01
"""k where it is free, and so many instead if that is so much better for each left-out outcome, see `Step.gain`: they
take three times as long to predict from."""

SHARED_POINTS = 200
"""Points whose values are features that all rows share, where that helps."""

MOST_FEATURES = 2**27
"""Numbers that features of all rows are at most, a gibibyte of them."""

AMONG_ALL_ROWS = "what nearest rows tell among all"
"""A stage of a fit, which a time budget may leave out."""


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


class Pieces(NamedTuple):
    """Rows in pieces, which are put together once all are there."""

    pieces: tuple[Observations, ...]

    def plus(self, other: Pieces) -> Pieces:
        return Pieces(self.pieces + other.pieces)

    def joined(self) -> Observations:
        """All rows, walked over by as many threads as any of the pieces."""
        return replace(
            max(self.pieces, key=lambda piece: piece.n_jobs),
            rows=np.vstack([piece.rows for piece in self.pieces]),
            targets=np.vstack([piece.targets for piece in self.pieces]),
            weight=self._stacked([piece.weight for piece in self.pieces]),
            precision=self._stacked([piece.precision for piece in self.pieces]),
        )

    def _stacked(self, columns: list[Array | None]) -> Array | None:
        """With ones for the rows of pieces that have none."""
        if all(column is None for column in columns):
            return None
        parts = zip(columns, self.pieces, strict=True)
        return np.concatenate([np.ones(len(piece)) if column is None else column for column, piece in parts])


class NearestStatistics(NamedTuple):
    """All rows.

    Attributes
    ----------
    local : Local
    of_subset : ExactStatistics
    n_points : int
        Shared points that were asked for; few rows may have fewer.
    """

    local: Local
    of_subset: ExactStatistics
    n_points: int

    @property
    def kind(self) -> str:
        return "nearest"

    @property
    def noise_variance(self) -> Array:
        return self.local.noise_variance

    @property
    def total_weight(self) -> float:
        return self.local.data.total_weight

    @property
    def sums(self) -> Pieces:
        return Pieces((self.local.data,))

    def sums_of(self, posterior: Posterior, data: Observations) -> Pieces:
        return Pieces((data,))

    def with_sums(self, posterior: Posterior, sums: Any) -> Posterior:
        of_all = self.of_rows(posterior, distinct(sums.joined()))
        return replace(of_all, noise_variance=posterior.noise_variance)

    def of_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        local, parts = self.local, self.local.parts
        return posterior_of(parts.kernel, parts.theta, local.noise_variance, data, local.n_neighbors, self.n_points)

    def with_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        return self.with_sums(posterior, self.sums.plus(self.sums_of(posterior, data)))

    def log_likelihood(self, posterior: Posterior) -> float:
        share = self.of_subset.total_weight / self.total_weight
        return self.of_subset.log_likelihood(posterior) / share

    def leave_one_out(self, posterior: Posterior, data: Observations) -> tuple[Array, Array]:
        own, asked = hashes(self.local.data), hashes(data)
        numbers = np.minimum(np.searchsorted(own, asked), len(own) - 1)
        if not np.array_equal(own[numbers], asked):
            raise ValueError("only rows behind the posterior can be left out of it, and some of these are not")
        return self.local.leave_one_out(numbers, data.n_jobs)


def posterior_of(
    kernel: Kernel,
    theta: Array,
    noise_variance: Array,
    data: Observations,
    n_neighbors: int,
    n_points: int,
    shared: tuple[Array, Weights] | None = None,
) -> NearestPosterior:
    """The posterior of rows at given hyperparameters, with so many points at most, and fewer where rows are very many.

    ``shared`` has the points and what rows tell of the weights of features, where that is known already.
    """
    data = ordered(data)
    subset = data.subset(np.arange(min(SUBSET_ROWS, len(data))))
    of_subset = exact.posterior_of(kernel, theta, noise_variance, subset)
    points, weights = shared or (_points(kernel, theta, subset, _points_for(n_points, len(data))), None)
    local = Local.of(kernel, theta, noise_variance, data, len(subset), n_neighbors, points, weights)
    return NearestPosterior(
        kernel,
        theta,
        noise_variance,
        of_subset.points,
        of_subset.weights,
        of_subset.variance_factors,
        NearestStatistics(local, ExactStatistics.of(noise_variance, subset), n_points),
        local=local,
        terms=local.parts.all_terms,
    )


class NearestObjective(ExactObjective):
    """The log marginal likelihood of the subset, and a last step at full density."""

    def __init__(self, kernel: Kernel, data: Observations, n_neighbors: int | None) -> None:
        self.all_rows, self.n_points = ordered(data), 0
        self.n_neighbors, self._may_take_more = n_neighbors or NEIGHBOURS, n_neighbors is None
        super().__init__(kernel, self.all_rows.subset(np.arange(min(SUBSET_ROWS, len(data)))))

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        optimum = self.of_subset(x, bounds, prior, search)
        if len(self.data) == len(self.all_rows):
            return optimum
        if search.deadline.leaves_out(AMONG_ALL_ROWS):
            return replace(optimum, is_estimate=True)
        self.n_points, step = self.among_all_rows(optimum.x, bounds, search)
        return replace(optimum, x=np.clip(step.x, *bounds.T), is_estimate=True)

    def of_subset(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        """The optimum of the subset."""
        return super().maximize(x, bounds, prior, search)

    def among_all_rows(self, x: Array, bounds: Array, search: Search) -> tuple[int, Step]:
        """The number of points that is better for rows that are left out, and the step with it: from the optimum of the
        subset, or from hyperparameters near it that other left-out rows prefer, where these are better; with more
        neighbours, if the number of these is free and that is better still.
        """
        n_points, step = self.at_full_density(x, search.deadline)
        if (moved := self._moved(x, bounds, search)) is not None:
            of_moved = self.at_full_density(moved, search.deadline)
            if of_moved[1].gain(step) > WORTH_MOVING:
                n_points, step = of_moved
        if not self._may_take_more or search.deadline.has_passed:
            return n_points, step
        points = _points(self.kernel, self._split(step.x)[0], self.data, n_points)
        with_more = self._step(step.x, points, n_neighbors=MORE_NEIGHBOURS)
        if with_more.gain(step) > WORTH_MORE:
            self.n_neighbors, step = MORE_NEIGHBOURS, with_more
        return n_points, step

    def _moved(self, x: Array, bounds: Array, search: Search) -> Array | None:
        """Hyperparameters that rows prefer which are neither in the subset nor counted; None if there are few."""
        first, rows = len(self.data) + DENSITY_ROWS, self.all_rows
        numbers = np.arange(first, min(first + LEARNING_ROWS, len(rows)))
        if len(numbers) < FEWEST_LEARNING_ROWS or search.deadline.has_passed:
            return None
        (theta, log_noise), n_subset, none = self._split(x), len(self.data), rows.rows[:0]
        slopes = Local.of(self.kernel, theta, np.exp(log_noise), rows, n_subset, self.n_neighbors, none, None, n_subset)
        less_slopes = replace(rows, targets=rows.targets - slopes.features @ slopes.weights.mean)
        return moved_to_full_density(self.kernel, x, less_slopes, numbers, self.n_neighbors, bounds, search)

    def at_full_density(self, x: Array, deadline: Deadline = NEVER) -> tuple[int, Step]:
        """The better number of points at these hyperparameters, and the step with it; none where there is no time for a
        comparison.
        """
        theta, steps = self._split(x)[0], dict[int, Step]()
        for n_points in (0, _points_for(SHARED_POINTS, len(self.all_rows))):
            if steps and deadline.leaves_out(AMONG_ALL_ROWS):
                break
            steps[n_points] = self._step(x, _points(self.kernel, theta, self.data, n_points))
        best = min(steps, key=lambda number: steps[number].loss)
        return best, steps[best]

    def local_step(self, x: Array) -> Step:
        """The step by near rows alone, which takes no work on all rows."""
        points = self.data.rows[:0]
        n_features = TwoParts(self.kernel, self._split(x)[0], points).n_features
        return self._step(x, points, Weights.zero(n_features, self.data.n_outputs))

    def _step(self, x: Array, points: Array, weights: Weights | None = None, n_neighbors: int | None = None) -> Step:
        theta, log_noise = self._split(x)
        n_subset, rows = len(self.data), self.all_rows
        noise_variance = np.exp(log_noise)
        k = n_neighbors or self.n_neighbors
        local = Local.of(self.kernel, theta, noise_variance, rows, n_subset, k, points, weights, COMPARING_ROWS)
        return _local_step(x, local)

    @property
    def left_out(self) -> Indices:
        return _beside_subset(len(self.data), len(self.all_rows))

    def posterior(self, x: Array) -> Posterior:
        theta, log_noise = self._split(x)
        return posterior_of(self.kernel, theta, np.exp(log_noise), self.all_rows, self.n_neighbors, self.n_points)


def _beside_subset(n_subset: int, n_rows: int) -> Indices:
    """Rows that are not in the subset, whose density counts; where these are few, the last ones of the subset as well,
    since a handful of rows would choose by chance.
    """
    first = min(n_subset, max(0, n_rows - FEWEST_DENSITY_ROWS))
    return np.arange(first, min(first + DENSITY_ROWS, n_rows))


def _local_step(x: Array, local: Local, most: int = DENSITY_ROWS) -> Step:
    """The likeliest factor on the noise for rows of which the nearest others predict."""
    left_out = _beside_subset(local.n_subset, len(local.data))[:most]
    nearest = local.nearest_others(left_out)

    def leave_out(noise: Array) -> tuple[Array, Array]:
        return local.changed(noise_variance=noise).leave_one_out(left_out, local.data.n_jobs, nearest)

    return density_step(x, local.data.subset(left_out), leave_out)


def with_noise_at_full_density(posterior: NearestPosterior) -> NearestPosterior:
    """With the noise of the likelihood that is likeliest among its rows, where it was learnt among fewer."""
    local, statistics = posterior.local, posterior.statistics
    if not isinstance(statistics, NearestStatistics) or local.n_subset == len(local.data):
        return posterior
    kernel, theta = local.parts.kernel, local.parts.theta
    step = _local_step(np.concatenate([theta, np.log(local.noise_variance)]), local, NOISE_ROWS)
    noise_variance = np.exp(step.x[len(theta) :])
    denser = posterior_of(kernel, theta, noise_variance, local.data, local.n_neighbors, statistics.n_points)
    return replace(denser, noise_variance=posterior.noise_variance)


def memory_needed(n_rows: int, n_columns: int, n_outputs: int) -> int:
    """Bytes of rows, targets, weights and precisions, as they come and in their order, and of features."""
    return 8 * n_rows * (4 * (n_columns + n_outputs + 2) + _points_for(SHARED_POINTS, n_rows))


def _points_for(n_points: int, n_rows: int) -> int:
    """As many points as asked for, unless the features of all rows would be too many numbers."""
    return min(n_points, MOST_FEATURES // n_rows)


def _points(kernel: Kernel, theta: Array, subset: Observations, n_points: int) -> Array:
    """Points among the rows of the subset that leave least of stationary terms unknown."""
    stationary = [i for i, term in enumerate(kernel.terms) if not term.is_linear]
    if not n_points or not stationary:
        return subset.rows[:0]
    return greedy(*kernel.restricted(stationary, theta), subset.rows, n_points)


class Nearest(Exact):
    """All rows, of which the nearest ones predict."""

    trains_folds = False

    def needs_exploring(self, settings: Settings) -> bool:
        return True

    def objective(
        self, kernel: Kernel, data: Observations, x: Array, settings: Settings, rng: np.random.Generator, n_points: int
    ) -> Objective:
        return NearestObjective(kernel, data, settings.n_neighbors)
