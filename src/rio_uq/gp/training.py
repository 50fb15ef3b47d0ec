"""Training a GP: which objective, from which starts, on which rows, in which stages.

Few rows: the exact log marginal likelihood. Many rows: the collapsed bound on greedily chosen inducing points, or the
uncollapsed one in batches of rows. The latter ends with one pass over all rows that takes q(u) to its optimum.

An evaluation on all rows is dear, so the starts are tried in a cheaper way first: with few inducing points and, if
there are very many rows, on a random subset of them. The one that has the highest bound after some iterations goes on
alone, and ends on all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp import inducing
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError
from rio_uq.gp.inference import exact, sparse, svgp
from rio_uq.gp.inference.updating import log_likelihood
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.optimize import LONG_MEMORY, MEMORY, Optimum, maximize
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.rows import Rows, in_parallel, single_blas_thread
from rio_uq.gp.starts import Prior

EXACT_ROWS = 2000
"""Up to this many rows, "auto" is exact."""

FIRST_ROUND, FIRST_STEPS = 20, 100
"""Iterations, or steps on batches, before greedy inducing points are chosen again."""

EXACT_EXPLORING, EXPLORING_POINTS = 1000, 200
"""Starts are compared by the exact GP up to this many rows, by the sparse one with this many points above."""

EXPLORING_ITERATIONS = 30
"""Iterations after which the starts are compared."""

SUBSET_TOLERANCE = 1e-5
"""Relative gain at which the optimiser stops on a subset of the rows."""


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes
    ----------
    inference : {"auto", "exact", "sparse", "svgp"}
    n_inducing : int or None
        None for as many as are worth their cost.
    time_budget : float or None
        Seconds that a fit should take at most, by estimate, where the number of points is free.
    inducing : {"greedy", "kmeans", "random", "first"} or (m, D) array
    optimize_inducing : bool
        Whether inducing points move with the hyperparameters.
    max_iter : int
        Iterations on all rows; passes over them for "svgp".
    tolerance : float
        Relative gain of an iteration below which the optimiser has converged.
    subset_rows : int or None
        Rows of the first stage at most; None goes from every start to the optimum on all rows.
    verbose : bool
    """

    inference: str = "auto"
    n_inducing: int | None = 300
    time_budget: float | None = None
    inducing: str | Array = "greedy"
    optimize_inducing: bool = False
    max_iter: int = 200
    tolerance: float = 1e-6
    subset_rows: int | None = 10_000
    verbose: bool = False

    def most_points(self, n_rows: int) -> int:
        if self.n_inducing is not None:
            return self.n_inducing
        if self.time_budget is None:
            return inducing.MOST_POINTS
        return inducing.affordable(self.time_budget, n_rows)

    def is_exact(self, n_rows: int) -> bool:
        return self.inference == "exact" or (self.inference == "auto" and n_rows <= EXACT_ROWS)


@dataclass(frozen=True)
class Trained:
    """A trained GP and how it came about.

    Attributes
    ----------
    posterior : Posterior
    bound : float
        The log marginal likelihood or its lower bound.
    objective : float
        The same plus the log density of the prior: what was maximised.
    n_iter : int
        Iterations on all rows.
    converged : bool
    message : str
    """

    posterior: Posterior
    bound: float
    objective: float
    n_iter: int
    converged: bool
    message: str


class _Exact:
    """The log marginal likelihood as a function of one vector: log-parameters, log noise variances."""

    def __init__(self, kernel: Kernel, data: Rows) -> None:
        self.kernel, self.data = kernel, data
        self.likelihood = exact.MarginalLikelihood(kernel, data)

    def __call__(self, x: Array) -> tuple[float, Array]:
        value, gradients = self.likelihood(*self._split(x))
        return value, np.concatenate(gradients)

    def _split(self, x: Array) -> tuple[Array, Array]:
        return x[: self.kernel.n_parameters], x[self.kernel.n_parameters :]

    def start(self, x: Array) -> Array:
        return x

    def bounds(self, bounds: Array) -> Array:
        return bounds

    def posterior(self, x: Array) -> Posterior:
        return exact.posterior(self.kernel, *self._split(x), self.data)


class _Sparse:
    """The collapsed bound as a function of one vector: the same, and the inducing points if they move."""

    def __init__(self, kernel: Kernel, data: Rows, points: Array, *, move_points: bool) -> None:
        self.kernel, self.data, self.points, self.move_points = kernel, data, points, move_points
        self.bound = sparse.CollapsedBound(kernel, data, len(points))

    def __call__(self, x: Array) -> tuple[float, Array]:
        value, (by_theta, by_log_noise, by_points) = self.bound(*self.split(x))
        moved = [by_points.ravel()] if self.move_points else []
        return value, np.concatenate([by_theta, by_log_noise, *moved])

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        p = self.kernel.n_parameters
        theta, log_noise, moved = np.split(x, [p, p + self.data.n_outputs])
        return theta, log_noise, moved.reshape(self.points.shape) if self.move_points else self.points

    def start(self, x: Array) -> Array:
        return np.concatenate([x, self.points.ravel()]) if self.move_points else x

    def bounds(self, bounds: Array) -> Array:
        free = np.tile([-np.inf, np.inf], (self.points.size, 1))
        return np.vstack([bounds, free]) if self.move_points else bounds

    def posterior(self, x: Array) -> Posterior:
        return sparse.posterior(self.kernel, *self.split(x), self.data)


def train(
    kernel: Kernel,
    data: Rows,
    starts: list[Array],
    bounds: Array,
    settings: Settings,
    rng: np.random.Generator,
    prior: Prior | None = None,
) -> Trained:
    """Train from the starts and keep the best.

    Parameters
    ----------
    kernel : Kernel
    data : Rows
    starts : list of (p,) arrays
        Vectors of log-parameters and log noise variances, see `rio_uq.gp.starts`.
    bounds : (p, 2) array
    settings : Settings
    rng : numpy.random.Generator
    prior : Prior or None
        On those vectors; None maximises the likelihood alone.
    """
    trainer = _Trainer(kernel, data, bounds, settings, rng, prior or Prior.flat(len(bounds)))
    with single_blas_thread:
        if settings.subset_rows is not None:
            starts = [trainer.explore(starts, settings.subset_rows)]
        return max((trainer.run(start) for start in starts), key=lambda trained: trained.objective)


@dataclass(frozen=True)
class _Trainer:
    kernel: Kernel
    data: Rows
    bounds: Array
    settings: Settings
    rng: np.random.Generator
    prior: Prior

    @property
    def is_exact(self) -> bool:
        return self.settings.is_exact(len(self.data))

    @property
    def is_stochastic(self) -> bool:
        return self.settings.inference == "svgp"

    def explore(self, starts: list[Array], n_rows: int) -> Array:
        """The best of the starts after some iterations; where not all rows took part, its optimum on those that did."""
        is_subset = len(self.data) > n_rows
        has_points = self.is_exact or self.settings.n_inducing is not None
        if len(starts) == 1 and not is_subset and has_points:
            return starts[0]
        data = self.data
        if is_subset:
            data = data.subset(np.sort(self.rng.choice(len(data), n_rows, replace=False)))

        def problem_at(x: Array) -> _Exact | _Sparse:
            if len(data) <= EXACT_EXPLORING:
                return _Exact(self.kernel, data)
            theta, m = (
                x[: self.kernel.n_parameters],
                min(EXPLORING_POINTS, self.settings.n_inducing or EXPLORING_POINTS),
            )
            points = inducing.choose("greedy", m, data.rows, self.kernel, theta, self.rng)
            return _Sparse(self.kernel, data, points, move_points=False)

        problems = [problem_at(start) for start in starts]

        def walk_from(i: int) -> Optimum:
            label = f"start {i + 1} on {len(data)} rows"
            max_iter = min(EXPLORING_ITERATIONS, self.settings.max_iter)
            try:
                return self._maximize(problems[i], starts[i], max_iter, SUBSET_TOLERANCE, label)
            except NotPositiveDefiniteError as error:  # one of the others may do
                return Optimum(starts[i], -np.inf, 0, False, str(error))

        # The exact GP works on one thread, so the starts can share the others. Two bars at once could not be read.
        can_share = len(data) <= EXACT_EXPLORING and not self.settings.verbose
        found = in_parallel(walk_from, range(len(starts)), data.n_jobs if can_share else 1)
        best = max(found, key=lambda optimum: optimum.value)
        if is_subset and not best.converged:
            label = f"best start on {len(data)} rows"
            best = self._maximize(problem_at(best.x), best.x, self.settings.max_iter, SUBSET_TOLERANCE, label)
        return best.x

    def run(self, x: Array) -> Trained:
        """To the optimum on all rows."""
        rounds = [self.settings.max_iter]
        if not self.is_exact and isinstance(self.settings.inducing, str) and self.settings.inducing == "greedy":
            # Greedy points depend on the kernel: choose, optimise a little, choose again.
            rounds = [min(self._first_round(), self.settings.max_iter), self.settings.max_iter]
        n_iter, n_points = 0, 1
        for max_iter in rounds:
            problem = self._problem_at(x, at_least=n_points)
            n_points = len(problem.points) if isinstance(problem, _Sparse) else 0
            label, left = f"on all {len(self.data)} rows", max(1, max_iter - n_iter)
            if self.is_stochastic and isinstance(problem, _Sparse):
                found = self._climb(problem, x, left, label)
            else:
                found = self._maximize(problem, x, left, self.settings.tolerance, label)
            n_iter += found.n_iter
            x = found.x[: len(self.bounds)]
        posterior, log_density = problem.posterior(found.x), self.prior(found.x)[0]
        bound = log_likelihood(posterior)[0] if self.is_stochastic else found.value - log_density
        return Trained(posterior, bound, bound + log_density, n_iter, found.converged, found.message)

    def _first_round(self) -> int:
        return ceil(FIRST_STEPS / svgp.n_batches(self.data)) if self.is_stochastic else FIRST_ROUND

    def _problem_at(self, x: Array, at_least: int) -> _Exact | _Sparse:
        if self.is_exact:
            return _Exact(self.kernel, self.data)
        points = self.settings.inducing
        if isinstance(points, str):
            points = self._points_at(x, points, at_least)
        return _Sparse(self.kernel, self.data, points, move_points=self.settings.optimize_inducing)

    def _points_at(self, x: Array, method: str, at_least: int) -> Array:
        """Inducing points. Where their number is free it does not fall from round to round, unless fewer rows differ by
        the new kernel, so that a smaller budget does not end with more of them.
        """
        theta, noise_variance = x[: self.kernel.n_parameters], np.exp(x[self.kernel.n_parameters :])
        rows, most = self.data.rows, self.settings.most_points(len(self.data))
        if self.settings.n_inducing is None:
            worth = inducing.enough(self.kernel, theta, noise_variance, rows, self.rng)
            most = max(at_least, min(most, len(worth)))
            if method == "greedy" and most <= len(worth):
                return worth[:most]
        return inducing.choose(method, most, rows, self.kernel, theta, self.rng)

    def _climb(self, problem: _Sparse, x: Array, max_passes: int, label: str) -> Optimum:
        return svgp.climb(
            self.kernel,
            self.data,
            problem.start(x),
            problem.split,
            problem.bounds(self.bounds),
            self.prior,
            self.rng,
            max_passes=max_passes,
            tolerance=self.settings.tolerance,
            label=label,
            verbose=self.settings.verbose,
        )

    def _maximize(self, problem: _Exact | _Sparse, x: Array, max_iter: int, tolerance: float, label: str) -> Optimum:
        def objective(x: Array) -> tuple[float, Array]:
            value, gradient = problem(x)
            log_density, pull = self.prior(x)
            return value + log_density, gradient + pull

        return maximize(
            objective,
            problem.start(x),
            problem.bounds(self.bounds),
            max_iter=max_iter,
            tolerance=tolerance,
            memory=LONG_MEMORY if self.settings.optimize_inducing else MEMORY,
            label=label,
            verbose=self.settings.verbose,
        )
