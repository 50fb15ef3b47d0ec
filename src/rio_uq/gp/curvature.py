"""The curvature of the exact objective near its optimum, which a further search nearby takes along.

L-BFGS-B learns the curvature from its steps, anew in each search, and a step on many rows is dear. Searches that follow
an optimum close by, on more rows or without one of the folds, can start from what is known there:

    H = (n/k) H_k + diag(h)

with H_k the negated Hessian of the log likelihood of k rows, by differences of its gradients, and h that of the log
prior. In the coordinates u of x = x₀ + C u with C Cᵀ = H⁻¹ the objective is nearly as curved in all directions.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError
from rio_uq.gp.few_rows import few_rows
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.priors import Prior

STEP = 1e-2
"""Of the logarithm of a parameter, for differences."""

MOST_PARAMETERS = 30
"""Each costs an evaluation; of more the curvature is learnt from steps."""


def curvature_of_few(kernel: Kernel, data: Observations, x: Array, bounds: Array, prior: Prior) -> Array | None:
    """H at x for all rows, (p, p), by those of `rio_uq.gp.few_rows`; None where it cannot be had, or costs too much."""
    if len(x) > MOST_PARAMETERS:
        return None
    with suppress(NotPositiveDefiniteError):
        objective = ExactObjective(kernel, few_rows(data, np.random.default_rng(0)))
        of_all = curvature(objective, np.clip(x, *bounds.T), bounds, prior, len(data))
        return of_all if np.isfinite(of_all).all() else None
    return None


def curvature(objective: ExactObjective, x: Array, bounds: Array, prior: Prior, n_rows: int) -> Array:
    """H at x, (p, p), for ``n_rows`` rows like those of the objective."""
    step = np.where(x + STEP <= bounds[:, 1], STEP, -STEP)
    _, gradient = objective(x)
    columns = [(gradient - objective(x + shift)[1]) / shift.sum() for shift in np.diag(step)]
    of_rows = np.stack(columns)
    return np.asarray(n_rows / len(objective.data) * 0.5 * (of_rows + of_rows.T) + np.diag(prior.curvature(x)))
