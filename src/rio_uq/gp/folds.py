"""Rows as GPs expect them that were trained without, hyperparameters included.

Leave-one-out in closed form keeps the hyperparameters that all rows have led to. It shows corrections that explode, but
not that hyperparameters fit the noise: those have seen the row. A GP trained on the other folds has not.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp import posterior as gp_posterior
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.few_rows import FEW_ROWS, search_on_few_rows
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.priors import Prior

N_FOLDS, MOST_IN_TENTHS, MORE_FOLDS = 5, 200, 10
"""Folds, and of few rows more folds, for four fifths of them are clearly less than all."""

NEUTRAL_ROWS = 1000
"""Up to this many rows folds are trained from the start that has won, too; above, from the optimum of all rows alone,
which so few parameters can hardly have fitted to a fifth of so many rows."""

ITERATIONS, LAST_ITERATIONS = 25, 5
"""From a start, and from where a search on few rows, or on all rows, has ended."""

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
    """

    mean: Array
    latent: Array
    mean_at_optimum: Array
    elsewhere: tuple[Array, ...] = ()


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
    """

    start: Array
    optimum: Array
    bounds: Array
    prior: Prior
    max_iter: int


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

    Of few rows the search begins at the neutral start and at the optimum of all rows, and the likelier end counts: from
    the start alone some folds miss the optimum that all rows have found, and from that optimum alone they would inherit
    the choice between several.

    Parameters
    ----------
    fold : (n,) array of int
        Two different ones at least.
    elsewhere : tuple of (n, D) arrays
        Further rows, of the same folds, to be predicted.
    """
    n = len(data)
    mean, latent, at_optimum, *others = np.empty((3 + len(elsewhere), n, data.n_outputs))
    with single_blas_thread:
        for number in np.unique(fold):
            inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            rows = data.subset(inside)
            offset = np.average(rows.targets, axis=0, weights=rows.effective_weight)
            objective = ExactObjective(kernel, replace(rows, targets=rows.targets - offset))
            posterior = objective.posterior(_likeliest(objective, how))
            expected, latent[outside] = gp_posterior.predict(posterior, data.rows[outside])
            mean[outside] = offset + expected
            for other, rows_there in zip(others, elsewhere, strict=True):
                other[outside] = offset + gp_posterior.predict_mean(posterior, rows_there[outside])
            posterior = objective.posterior(how.optimum)
            at_optimum[outside] = offset + gp_posterior.predict_mean(posterior, data.rows[outside])
    return FoldPredictions(mean, latent, at_optimum, tuple(others))


def _likeliest(objective: ExactObjective, how: FoldSearch) -> Array:
    """The likeliest of the ends of searches; the optimum of all rows if there is none."""
    kernel, data = objective.kernel, objective.data
    first = Search(min(ITERATIONS, how.max_iter), TOLERANCE, np.random.default_rng(0))
    search = first if len(data) <= FEW_ROWS else replace(first, max_iter=min(LAST_ITERATIONS, how.max_iter))
    ends = []
    for start in (how.start, how.optimum) if len(data) <= NEUTRAL_ROWS else (how.optimum,):
        with suppress(NotPositiveDefiniteError):  # a start that cannot be gone from
            x = start if start is how.optimum else search_on_few_rows(kernel, data, start, how.bounds, how.prior, first)
            ends.append(objective.maximize(x, how.bounds, how.prior, search))
    return max(ends, key=lambda end: end.value).x if ends else how.optimum
