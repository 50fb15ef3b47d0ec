"""Errors of rows that a GP was trained without, hyperparameters included, and how much of its correction they support.

Leave-one-out in closed form keeps the hyperparameters that all rows have led to. It shows corrections that explode, but
not that hyperparameters fit the noise: those have seen the row. A GP trained on the other folds has not. But it has
fewer rows, and is a little worse than the GP of all rows for that alone. How much worse is seen at fixed
hyperparameters: with e_i the error of row i where its fold is left out, and l_i that where only the row is, errors of
folds are multiplied by

    κ = √(Σ w_i l_i² / Σ w_i e_i²)        within ¾ and 1

where folds are a fifth of the rows; a tenth of few rows is left as it is.

With left-out residuals r_i and what the GP expects of them, m_i, predictions are best corrected by c m_i with

    c = Σ w_i r_i m_i / Σ w_i m_i²        and its variance        s² = Σ (w_i m_i (r_i − c m_i))² / (Σ w_i m_i²)²

of which c (1 − (ks/c)⁴) is kept, within 0 and 1, with k = 2 + 10/n: nothing where c is no larger than two of its
standard errors, or than a few more of few rows, and nearly all where it is clearly larger.
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
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.priors import Prior

FEWEST_ROWS = 4
N_FOLDS, FEW_ROWS, MORE_FOLDS = 5, 200, 10
"""Folds, and of few rows more folds, for four fifths of them are clearly less than all."""

NEUTRAL_ROWS = 1000
"""Up to this many rows folds are trained from the start that has won; above, from the optimum of all rows on, which
so few parameters can hardly have fitted to a fifth of so many rows."""

ITERATIONS, MORE_ITERATIONS = 25, 4
"""Of both kinds."""

TOLERANCE = 1e-4

STANDARD_ERRORS, MORE_OF_FEW_ROWS = 2.0, 10.0
"""A factor has to be larger than k of its standard errors for any correction, k = 2 + 10/n."""

WHOLE = 0.9
"""A factor above this is taken for one."""

LEAST_GAIN = 0.75
"""κ is no smaller."""

LEAST_LATENT = 0.3
"""Latent standard deviations are shrunk to this share at most: that no correction is supported where rows are does not
mean that none is needed far from them."""


class FoldPredictions(NamedTuple):
    """Rows as GPs see them that were trained without; each (n, q), in scaled units.

    Attributes
    ----------
    mean, latent : arrays
        Expected target, and the variance of its latent value.
    mean_at_optimum : array
        Expected target at the hyperparameters of all rows.
    """

    mean: Array
    latent: Array
    mean_at_optimum: Array


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
    n_folds = min(MORE_FOLDS if n_rows <= FEW_ROWS else N_FOLDS, n_rows)
    return np.random.default_rng(0).permutation(n_rows) % n_folds


def predict_folds(kernel: Kernel, data: Observations, fold: NDArray[np.intp], how: FoldSearch) -> FoldPredictions:
    """Train the exact GP on all folds but one, and predict that one, for each.

    Of few rows the search begins at the neutral start and at the optimum of all rows, and the likelier end counts: from
    the start alone some folds miss the optimum that all rows have found, and from that optimum alone they would inherit
    the choice between several.

    Parameters
    ----------
    fold : (n,) array of int
        Two different ones at least.
    """
    n = len(data)
    is_neutral = n <= NEUTRAL_ROWS
    most = min(ITERATIONS if is_neutral else MORE_ITERATIONS, how.max_iter)
    search = Search(most, TOLERANCE, np.random.default_rng(0))
    starts = [how.start, how.optimum] if is_neutral else [how.optimum]
    mean, latent, at_optimum = np.empty((3, n, data.n_outputs))
    with single_blas_thread:
        for number in np.unique(fold):
            inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            rows = data.subset(inside)
            offset = np.average(rows.targets, axis=0, weights=rows.weight)
            objective = ExactObjective(kernel, replace(rows, targets=rows.targets - offset))
            posterior = objective.posterior(_likeliest(objective, starts, how, search))
            expected, latent[outside] = gp_posterior.predict(posterior, data.rows[outside])
            mean[outside] = offset + expected
            posterior = objective.posterior(how.optimum)
            at_optimum[outside] = offset + gp_posterior.predict_mean(posterior, data.rows[outside])
    return FoldPredictions(mean, latent, at_optimum)


def _likeliest(objective: ExactObjective, starts: list[Array], how: FoldSearch, search: Search) -> Array:
    """The likeliest of the ends of searches; the optimum of all rows if there is none."""
    ends = []
    for start in starts:
        with suppress(NotPositiveDefiniteError):  # a start that cannot be gone from
            ends.append(objective.maximize(start, how.bounds, how.prior, search))
    return max(ends, key=lambda end: end.value).x if ends else how.optimum


def gain_of_all_rows(left_out: Array, by_fold: Array, weight: Array) -> Array:
    """κ of each output, (q,), from errors at the same hyperparameters without the row and without its fold, (n, q)."""
    by_row, by_group = weight @ left_out**2, weight @ by_fold**2
    ratio = np.where(by_group > 0.0, by_row / np.where(by_group > 0.0, by_group, 1.0), 1.0)
    return np.asarray(np.clip(np.sqrt(ratio), LEAST_GAIN, 1.0))


def latent_share(correction: Array) -> Array:
    """The factor on latent standard deviations, from that on corrections."""
    return np.maximum(correction, LEAST_LATENT)


def supported_shares(residual: Array, mean: Array, weight: Array) -> Array:
    """The factor c of each output, (q,), from left-out residuals and corrections, (n, q), with weights (n,)."""
    return np.array([supported_share(r, m, weight) for r, m in zip(residual.T, mean.T, strict=True)])


def supported_share(residual: Array, mean: Array, weight: Array) -> float:
    """The factor c on corrections ``mean`` that left-out residuals support, all (n,): see the top of this module."""
    counted = weight > 0.0
    n_rows, size = int(np.count_nonzero(counted)), float(np.abs(mean[counted]).max())
    if size == 0.0:
        return 1.0
    if n_rows < 2:
        return 0.0
    residual, mean, weight = residual / size, mean / size, weight / weight[counted].mean()
    information = float(weight @ mean**2)
    best = float(weight @ (residual * mean)) / information
    if best <= 0.0:
        return 0.0
    error = residual - best * mean
    robust = float(np.sum((weight * mean * error / information) ** 2))
    variance = max(robust, float(weight @ error**2) / n_rows / information) * n_rows / (n_rows - 1)
    needed = STANDARD_ERRORS + MORE_OF_FEW_ROWS / n_rows
    share = best * (1.0 - (needed**2 * variance / best**2) ** 2)
    return 1.0 if share > WHOLE else max(share, 0.0)
