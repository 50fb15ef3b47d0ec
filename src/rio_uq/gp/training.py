"""Training a GP: from which starts, on which rows, in which stages.

An evaluation on all rows is dear, so the starts are tried in a cheaper way first: with few inducing points and, if
there are very many rows, on a random subset of them. The one that has the highest bound after some iterations goes on
alone, and ends on all rows, or on as many as its way of inference learns hyperparameters from. The objective is that of
the way of inference, see `rio_uq.gp.inference`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.backend.walking import in_parallel
from rio_uq.gp.curvature import MOST_PARAMETERS, curvature_of_few
from rio_uq.gp.few_rows import FEW_ROWS, few_rows
from rio_uq.gp.inference import INFERENCES, inference_for
from rio_uq.gp.inference.contract import Inference, Objective
from rio_uq.gp.inference.exact import EXPLORING_ROWS, ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import without_signal

EXPLORING_POINTS = 200
"""Starts are compared by the exact GP up to `EXPLORING_ROWS`, by the sparse one with this many points above."""

POINTS_TO_BEAT = 300
"""Where the number of points is free, hyperparameters are first learnt with at least so many, and fewer are taken if
these turn out to be enough: few points from the start would not see what is rough."""

EXPLORING_ITERATIONS, COMPARING_ITERATIONS, LAST_ITERATIONS = 30, 10, 2
"""Iterations after which the starts are compared; what was found on few rows, without and with the curvature there."""

ROUGH_ITERATIONS, FAR_BEHIND = (6, 14), 15.0
"""Iterations from the rough start on more than few rows: some, and if it is not so many nats behind, more."""

SAME_OPTIMUM = 0.5
"""Ends of two searches are the same optimum if no logarithm of a parameter differs by more."""

SUBSET_TOLERANCE = 1e-5
"""Relative gain at which the optimiser stops while starts are compared, and on a subset of the rows. A larger one would
stop on plateaus: on the way from a start that does without the model there are some."""


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
        Iterations on all rows, or on those that hyperparameters come from.
    converged : bool
    message : str
    start : (p,) array
        The one of the starts that it came from.
    lead : float
        By how much it was ahead of other optima, and of a GP that has learnt nothing, when starts were explored; zero
        where they were not, or not on all rows.
    """

    posterior: Posterior
    bound: float
    objective: float
    n_iter: int
    converged: bool
    message: str
    start: Array
    lead: float = 0.0

    @property
    def optimum(self) -> Array:
        """Log-parameters and log noise variances at which the posterior is."""
        return np.concatenate([self.posterior.theta, np.log(self.posterior.noise_variance)])


def train(
    kernel: Kernel,
    data: Observations,
    starts: list[Array],
    bounds: Array,
    settings: Settings,
    rng: np.random.Generator,
    prior: Prior | None = None,
    rough: Array | None = None,
    first_end: Array | None = None,
    curvature: Array | None = None,
) -> Trained:
    """Train from the starts and keep the best.

    Parameters
    ----------
    kernel : Kernel
    data : Observations
    starts : list of (p,) arrays
        Vectors of log-parameters and log noise variances, see `rio_uq.gp.starts`.
    bounds : (p, 2) array
    settings : Settings
    rng : numpy.random.Generator
    prior : Prior or None
        On those vectors; None maximises the likelihood alone.
    rough : (p,) array or None
        One more start where starts are explored first, see `rio_uq.gp.starts.rough_start`.
    first_end : (p,) array or None
        Where a search from the first start has come to already.
    curvature : (p, p) array or None
        Of the objective of all rows near the starts, where it is known.
    """
    prior = prior or Prior.flat(len(bounds))
    trainer = _Trainer(kernel, data, bounds, settings, rng, prior, rough, first_end, curvature)
    with single_blas_thread:
        if settings.subset_rows is not None:
            return trainer.run(trainer.explore(starts, settings.subset_rows))
        return max((trainer.run(Explored(start, start)) for start in starts), key=lambda trained: trained.objective)


class Explored(NamedTuple):
    """Where a search has come to, the start that it came from, and its lead, see `Trained`."""

    x: Array
    start: Array
    lead: float = 0.0


@dataclass(frozen=True)
class _Trainer:
    kernel: Kernel
    data: Observations
    bounds: Array
    settings: Settings
    rng: np.random.Generator
    prior: Prior
    rough: Array | None
    first_end: Array | None
    curvature: Array | None

    def explore(self, starts: list[Array], n_rows: int) -> Explored:
        """Where the best of the starts has come to after some iterations.

        Where the number of points is free, few rows are searched exactly beside more of them with points: the exact GP
        sees what is rough, and what it finds may take more points than there can be. The bound on all rows decides.
        """
        inference = self._inference
        n_rows = inference.exploring_rows(n_rows)
        if not inference.needs_exploring(self.settings):
            return self._explore(starts, n_rows)
        sizes = {min(n_rows, EXPLORING_ROWS, len(self.data)), min(n_rows, len(self.data))}
        explored = [self._explore(starts, size) for size in sorted(sizes)]

        def bound_at(x: Array) -> float:
            objective = inference.objective(self.kernel, self.data, x, self.settings, self.rng, POINTS_TO_BEAT)
            return self._maximize(objective, x, COMPARING_ITERATIONS, self.settings.tolerance, "comparing").value

        return explored[0] if len(explored) == 1 else max(explored, key=lambda end: bound_at(end.x))

    def _explore(self, starts: list[Array], n_rows: int) -> Explored:
        """On so many rows; where these are not all, and too many for the exact GP, to the optimum on them."""
        data = self.data
        if n_rows < len(data):
            data = data.subset(np.sort(self.rng.choice(len(data), n_rows, replace=False)))
        is_exact, is_subset = len(data) <= EXPLORING_ROWS, data is not self.data
        rough = self.rough if is_exact else None
        starts = starts if rough is None else [*starts, rough]
        is_alone = len(starts) == 1 and not is_subset
        ends, max_iter = dict(enumerate(starts)), EXPLORING_ITERATIONS
        if self.first_end is not None:
            ends[0] = self.first_end
        has_first_search = is_exact and len(data) > FEW_ROWS
        if has_first_search and not (is_alone and self._inference is not INFERENCES["exact"]):
            ends = self._after_few_rows(list(ends.values()), data)
            max_iter = LAST_ITERATIONS if len(self.bounds) <= MOST_PARAMETERS else COMPARING_ITERATIONS
        if len(ends) == 1 and rough is None and not is_subset:
            return Explored(ends[0], starts[0])

        def walk_from(number: int) -> Optimum:
            objective = self._cheaper_objective(ends[number], data, is_exact=is_exact)
            label, some_of = f"start {number + 1} on {len(data)} rows", data if is_exact else None
            return self._walk(objective, ends[number], max_iter, label, some_of)

        # The exact GP works on one thread, so the starts can share the others. Two bars at once could not be read.
        n_jobs = data.n_jobs if is_exact and not self.settings.verbose else 1
        optima = dict(zip(ends, in_parallel(walk_from, list(ends), n_jobs), strict=True))
        winner = max(optima, key=lambda number: optima[number].value)
        best = optima[winner]
        if has_first_search and rough is not None and not self.settings.deadline.has_passed:
            optima[-1] = end = self._rough_end(rough, data, best.value)
            if end.value > best.value:
                winner, best = len(starts) - 1, end
        if is_subset and not is_exact and not best.converged:
            label = f"best start on {len(data)} rows"
            with_points = self._cheaper_objective(best.x, data, is_exact=False)
            best = self._maximize(with_points, best.x, self.settings.max_iter, SUBSET_TOLERANCE, label)
        lead = self._lead(best, list(optima.values())) if is_exact and not is_subset else 0.0
        return Explored(best.x, starts[winner], lead)

    def _lead(self, best: Optimum, optima: list[Optimum]) -> float:
        """Of the best of some optima of all rows over the others and, in likelihood alone, over a GP without signal."""
        data, others = self.data, (end for end in optima if np.abs(end.x - best.x).max() > SAME_OPTIMUM)
        noise = np.average(data.targets**2, axis=0, weights=data.effective_weight)
        nothing = without_signal(self.kernel, best.x, self.bounds, noise)
        over_nothing = best.value - self.prior(best.x)[0] - ExactObjective(self.kernel, data).value(nothing)
        return min(over_nothing, best.value - max((end.value for end in others), default=-np.inf))

    def _rough_end(self, rough: Array, data: Observations, best: float) -> Optimum:
        """Where a search from the rough start ends, which few rows are too far apart to show all of: given up where it
        is far behind the best value of the others.
        """
        objective, label = ExactObjective(self.kernel, data), f"rough start on {len(data)} rows"
        end = self._walk(objective, rough, ROUGH_ITERATIONS[0], label)
        return self._walk(objective, end.x, ROUGH_ITERATIONS[1], label) if end.value > best - FAR_BEHIND else end

    def _walk(
        self, objective: Objective, x: Array, max_iter: int, label: str, some_of: Observations | None = None
    ) -> Optimum:
        """Some iterations from x on; of no value where it cannot be gone from, since another start may do."""
        try:
            return self._maximize(objective, x, min(max_iter, self.settings.max_iter), SUBSET_TOLERANCE, label, some_of)
        except NotPositiveDefiniteError as error:
            return Optimum(x, -np.inf, 0, False, str(error))

    def _cheaper_objective(self, x: Array, data: Observations, *, is_exact: bool) -> Objective:
        """That of the exact GP of few rows, or of the sparse one with few points."""
        if is_exact:
            return ExactObjective(self.kernel, data)
        n_inducing = min(EXPLORING_POINTS, self.settings.n_inducing or EXPLORING_POINTS)
        settings = replace(self.settings, n_inducing=n_inducing, inducing="greedy", optimize_inducing=False)
        return INFERENCES["sparse"].objective(self.kernel, data, x, settings, self.rng, 1)

    def _after_few_rows(self, starts: list[Array], data: Observations) -> dict[int, Array]:
        """Where searches on few rows end, by the number of their start: those that lead to the same optimum once."""
        max_iter = min(EXPLORING_ITERATIONS, self.settings.max_iter)
        few = few_rows(data, np.random.default_rng(0))

        def walk_from(number: int) -> Array:
            search = Search(max_iter, SUBSET_TOLERANCE, np.random.default_rng(0), deadline=self.settings.deadline)
            try:
                return ExactObjective(self.kernel, few).maximize(starts[number], self.bounds, self.prior, search).x
            except NotPositiveDefiniteError:  # all rows may do
                return starts[number]

        ends: dict[int, Array] = {}
        n_jobs = 1 if self.settings.verbose else data.n_jobs
        for number, end in enumerate(in_parallel(walk_from, range(len(starts)), n_jobs)):
            if all(np.abs(end - other).max() > SAME_OPTIMUM for other in ends.values()):
                ends[number] = end
        return ends

    @property
    def _inference(self) -> Inference:
        return inference_for(self.settings, len(self.data))

    def run(self, explored: Explored) -> Trained:
        """To the optimum on all rows."""
        x, inference = explored.x, self._inference
        n_iter, rounds = 0, inference.rounds(self.settings, self.data)
        for number, max_iter in enumerate(rounds, 1):
            at_least = 1 if number == len(rounds) else POINTS_TO_BEAT
            objective = inference.objective(self.kernel, self.data, x, self.settings, self.rng, at_least)
            label, left = f"on all {len(self.data)} rows", max(1, max_iter - n_iter)
            rows = objective.data if isinstance(objective, ExactObjective) else None
            optimum = self._maximize(objective, x, left, self.settings.tolerance, label, rows)
            n_iter += optimum.n_iter
            x = optimum.x[: len(self.bounds)]
        posterior, log_density = objective.posterior(optimum.x), self.prior(optimum.x)[0]
        bound = posterior.log_likelihood() if optimum.is_estimate else optimum.value - log_density
        return Trained(posterior, bound, bound + log_density, n_iter, optimum.converged, optimum.message, *explored[1:])

    def _maximize(
        self,
        objective: Objective,
        x: Array,
        max_iter: int,
        tolerance: float,
        label: str,
        some_of: Observations | None = None,
    ) -> Optimum:
        """From x on, with the curvature there: that which is known, or by the exact GP of ``some_of`` the rows."""
        curvature, deadline = self.curvature, self.settings.deadline
        if curvature is None and some_of is not None and len(some_of) > FEW_ROWS and not deadline.has_passed:
            curvature = curvature_of_few(self.kernel, some_of, x, self.bounds, self.prior)
        search = Search(max_iter, tolerance, self.rng, label, self.settings.verbose, curvature, deadline)
        return objective.maximize(x, self.bounds, self.prior, search)
