"""Rows as GPs expect them that were trained without, hyperparameters included.

Leave-one-out in closed form keeps the hyperparameters that all rows have led to. It shows corrections that explode, but
not that hyperparameters fit the noise: those have seen the row. A GP trained on the other folds has not.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp import posterior as gp_posterior
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.backend.walking import in_parallel
from rio_uq.gp.deadline import NEVER, Deadline
from rio_uq.gp.few_rows import few_rows
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search
from rio_uq.gp.priors import Prior

N_FOLDS, MOST_IN_TENTHS, MORE_FOLDS = 5, 200, 10
"""Folds, and of few rows more folds, for four fifths of them are clearly less than all."""

NEUTRAL_ROWS = 1000
"""Up to this many rows in the other folds these are searched from the start that has won, too; above, from the optimum
of all rows alone, which so few parameters can hardly have fitted to a fifth of so many rows."""

FEW_ROWS = 150
"""Rows of a first search from the start that has won."""

NEUTRAL_ITERATIONS, LAST_ITERATIONS = 25, 5
"""Of a search from the start, and of one from where a search on few rows or on all rows has ended."""

NEAR_ITERATIONS, NEAREST_ITERATIONS = 3, 1
"""Of a search from the optimum of all rows with the curvature there; and with more than `NEUTRAL_ROWS`, whose optimum
is nearer still."""

FAR_BEHIND = 10.0
"""Nats that the end of a search on few rows may be behind for it to go on with all rows of the other folds."""

TOLERANCE = 1e-4


class FoldPredictions(NamedTuple):
    """Rows as GPs see them that were trained without; each (n, q), in scaled units.

    Attributes
    ----------
    mean, latent : arrays
        Expected target, and the variance of its latent value.
    mean_at_optimum : array
        Expected target at the hyperparameters of all rows.
    elsewhere : tuple of arrays
        Expected targets of the same rows with other predictions of the model.
    optima : dict
        Hyperparameters of the GP without each fold, by the number of the fold.
    """

    mean: Array
    latent: Array
    mean_at_optimum: Array
    elsewhere: tuple[Array, ...] = ()
    optima: Mapping[int, Array] = MappingProxyType({})


class FoldSearch(NamedTuple):
    """How the GPs of folds are trained.

    Attributes
    ----------
    start, optimum : (p,) arrays
        Log-parameters and log noise variances that training on all rows has started from, and ended at.
    bounds : (p, 2) array
    prior : Prior
    max_iter : int
        Iterations at most.
    curvature : (p, p) array or None
        Of the objective of all rows near its optimum.
    optima : dict or None
        Hyperparameters that are good without each fold, if there are any: with them there is no need to begin anew.
    is_settled : bool
        Whether no other optimum of all rows comes near, so that folds have no other choice.
    deadline : Deadline
        When searches have to end. A fold for which there is no time keeps the optimum of all rows.
    """

    start: Array
    optimum: Array
    bounds: Array
    prior: Prior
    max_iter: int
    curvature: Array | None = None
    optima: Mapping[int, Array] | None = None
    is_settled: bool = False
    deadline: Deadline = NEVER

    def for_one_of(self, n_folds: int) -> FoldSearch:
        """The search of the next one of so many folds, which share the time that is left."""
        return self._replace(deadline=self.deadline.part(1.0 / max(1, n_folds)))


def random_folds(n_rows: int) -> NDArray[np.intp]:
    """The fold of each row, (n,), always the same ones."""
    n_folds = min(MORE_FOLDS if n_rows <= MOST_IN_TENTHS else N_FOLDS, n_rows)
    return np.random.default_rng(0).permutation(n_rows) % n_folds


def predict_folds(
    kernel: Kernel,
    data: Observations,
    fold: NDArray[np.intp],
    how: FoldSearch,
    elsewhere: tuple[Array, ...] = (),
) -> FoldPredictions:
    """Train the exact GP on all folds but one, and predict that one, for each.

    The search begins at the optimum of all rows and, of few rows, at the start that has won as well, and the likelier
    end counts: from the start alone some folds miss the optimum that all rows have found, and from that optimum alone
    they would inherit the choice between several, unless none of the others comes near. Where hyperparameters that are
    good without each fold are known already, these take the place of the start, and the search begins at the likelier
    ones.

    Parameters
    ----------
    fold : (n,) array of int
        Two different ones at least.
    elsewhere : tuple of (n, D) arrays
        Further rows, of the same folds, to be predicted.
    """
    mean, latent, at_optimum, *others = np.empty((3 + len(elsewhere), len(data), data.n_outputs))
    numbers = np.unique(fold).tolist()

    def predict_fold(number: int) -> Array:
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        rows = data.subset(inside)
        offset = np.average(rows.targets, axis=0, weights=rows.effective_weight)
        objective = ExactObjective(kernel, replace(rows, targets=rows.targets - offset))
        to_come = len(numbers) - numbers.index(number)
        optimum = _likeliest(objective, how.for_one_of(-(-to_come // data.n_jobs)), number)
        posterior = objective.posterior(optimum)
        expected, latent[outside] = gp_posterior.predict(posterior, data.rows[outside])
        mean[outside] = offset + expected
        for other, rows_there in zip(others, elsewhere, strict=True):
            other[outside] = offset + gp_posterior.predict_mean(posterior, rows_there[outside])
        is_there = optimum is how.optimum
        at_optimum[outside] = mean[outside] if is_there else offset + objective.mean(how.optimum, data.rows[outside])
        return optimum

    with single_blas_thread:
        optima = dict(zip(numbers, in_parallel(predict_fold, numbers, data.n_jobs), strict=True))
    return FoldPredictions(mean, latent, at_optimum, tuple(others), optima)


def _likeliest(objective: ExactObjective, how: FoldSearch, fold: int) -> Array:
    """The likeliest of the ends of searches; the optimum of all rows if there is none."""
    if how.deadline.has_passed:
        return how.optimum
    start = how.optimum
    if how.optima is not None:
        start = _likelier(objective, start, how.optima[fold], how.prior)
    ends = []
    with suppress(NotPositiveDefiniteError):
        nearby = NEAREST_ITERATIONS if len(objective.data) > NEUTRAL_ROWS else NEAR_ITERATIONS
        max_iter = LAST_ITERATIONS if how.curvature is None else nearby
        ends.append(_maximum(objective, start, how, max_iter, how.curvature))
    begins_anew = how.optima is None and not how.is_settled and not how.deadline.has_passed
    if begins_anew and len(objective.data) <= NEUTRAL_ROWS:
        few = few_rows(objective.data, np.random.default_rng(0), FEW_ROWS)
        with suppress(NotPositiveDefiniteError):  # a start that cannot be gone from
            if few is objective.data:
                ends.append(_maximum(objective, how.start, how, NEUTRAL_ITERATIONS))
            else:
                end = _maximum(ExactObjective(objective.kernel, few), how.start, how, NEUTRAL_ITERATIONS).x
                value = objective.value(end) + how.prior(end)[0]
                if not ends or value > ends[0].value - FAR_BEHIND:
                    ends.append(_maximum(objective, end, how, LAST_ITERATIONS))
    return max(ends, key=lambda end: end.value).x if ends else how.optimum


def _likelier(objective: ExactObjective, x: Array, other: Array, prior: Prior) -> Array:
    """The likelier one of two vectors of hyperparameters; the first where the other cannot be gone from."""

    def value(x: Array) -> float:
        try:
            return objective.value(x) + prior(x)[0]
        except NotPositiveDefiniteError:
            return -np.inf

    return other if value(other) > value(x) else x


def _maximum(
    objective: ExactObjective,
    x: Array,
    how: FoldSearch,
    max_iter: int,
    curvature: Array | None = None,
) -> Optimum:
    """Where a search ends that need not be exact."""
    max_iter, rng = min(max_iter, how.max_iter), np.random.default_rng(0)
    search = Search(max_iter, TOLERANCE, rng, curvature=curvature, deadline=how.deadline)
    return objective.maximize(x, how.bounds, how.prior, search)
