"""Maximising a smooth objective of log-parameters: L-BFGS-B, bounds, honest convergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from rio_uq._base.array import Array, Mask
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError, inverse_root
from rio_uq.gp.deadline import NEVER, TIME_IS_UP, Deadline
from rio_uq.gp.priors import Prior
from rio_uq.gp.progress import ProgressBar

Objective = Callable[[Array], tuple[float, Array]]
"""Gives a value and its gradient."""

LINE_SEARCH_FAILED = 2
"""SciPy's status for it."""

LEAST_CURVATURE = 0.3
"""Directions along which an objective is curved less, or upwards, are taken for ones of this curvature."""

FAR = 1e6
"""A bound that is never reached. Within finite bounds L-BFGS-B tries the whole of its first step, which is the one of
Newton where the curvature is known; without bounds the step would have the length one."""


@dataclass(frozen=True)
class Optimum:
    """Where the optimiser stopped.

    Attributes
    ----------
    x : array
    value : float
        The objective there.
    n_iter : int
    converged : bool
        Whether it stopped because nothing was left to gain within its tolerance.
    message : str
        Why it stopped.
    is_estimate : bool
        Whether the value is an estimate from batches of rows.
    """

    x: Array
    value: float
    n_iter: int
    converged: bool
    message: str
    is_estimate: bool = False


@dataclass(frozen=True)
class Search:
    """How to look for an optimum.

    Attributes
    ----------
    max_iter : int
        Iterations, or passes over the rows.
    tolerance : float
        Relative gain below which the search has converged.
    rng : numpy.random.Generator
        For searches that draw batches.
    label : str
        Of the progress bar.
    verbose : bool
    curvature : (p, p) array or None
        Of the objective near the start, see `rio_uq.gp.curvature`.
    deadline : Deadline
        When it has to end.
    """

    max_iter: int
    tolerance: float
    rng: np.random.Generator
    label: str = "fitting"
    verbose: bool = False
    curvature: Array | None = None
    deadline: Deadline = NEVER


class _TimeIsUpError(Exception):
    """There is no time for another evaluation."""


def maximize_with_prior(objective: Objective, start: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
    """Maximise an objective plus the log density of the prior by L-BFGS-B."""

    def with_prior(x: Array) -> tuple[float, Array]:
        value, gradient = objective(x)
        log_density, prior_gradient = prior(x)
        return value + log_density, gradient + prior_gradient

    options: dict[str, Any] = {
        "max_iter": search.max_iter,
        "tolerance": search.tolerance,
        "label": search.label,
        "verbose": search.verbose,
        "deadline": search.deadline,
    }
    if search.curvature is None:
        return maximize(with_prior, start, bounds, **options)
    near, is_settled = _maximize_near(with_prior, np.clip(start, *bounds.T), bounds, search.curvature, options)
    left = search.max_iter - near.n_iter
    if is_settled or near.message == TIME_IS_UP or left < 1:
        return near
    further = maximize(with_prior, near.x, bounds, **options | {"max_iter": left})
    return replace(further, n_iter=near.n_iter + further.n_iter)


def _maximize_near(
    objective: Objective, start: Array, bounds: Array, curvature: Array, options: dict[str, Any]
) -> tuple[Optimum, bool]:
    """Maximise in coordinates u in which the objective is about equally curved, x = start + C u, and say whether bounds
    have left nothing to be gained: beyond a bound the objective is flat, and a step too far may have ended there. What
    is pushed against a bound at the start is held there.
    """
    lower, upper = bounds.T
    first = value, gradient = objective(start)
    is_held = _pushes_outwards(start, gradient, bounds)
    if is_held.all():
        return Optimum(start, value, 0, True, "all hyperparameters are at their bounds"), True
    axes = np.zeros((len(start), int(np.count_nonzero(~is_held))))
    axes[~is_held] = _root_of(curvature, ~is_held)
    best = value, start, gradient

    def whitened(u: Array) -> tuple[float, Array]:
        nonlocal best
        x = start + axes @ u
        within = np.clip(x, lower, upper)
        value, gradient = objective(within) if u.any() else first
        if value > best[0]:
            best = value, within, gradient
        return value, axes.T @ np.where(x == within, gradient, 0.0)

    anywhere = np.tile([-FAR, FAR], (axes.shape[1], 1))
    optimum = maximize(whitened, np.zeros(axes.shape[1]), anywhere, **options)
    value, x, gradient = best
    meets_bounds = is_held.any() or ((x == lower) | (x == upper)).any()
    is_free = ~_pushes_outwards(x, gradient, bounds)
    gain_of_newton_step = 0.5 * float(np.sum((_root_of(curvature, is_free).T @ gradient[is_free]) ** 2))
    is_settled = not meets_bounds or gain_of_newton_step <= options["tolerance"] * max(1.0, abs(value))
    return replace(optimum, x=x, value=value), is_settled


def _root_of(curvature: Array, is_free: Mask) -> Array:
    """C of the free parameters alone, with C Cᵀ the inverse of their curvature."""
    return inverse_root(curvature[np.ix_(is_free, is_free)], LEAST_CURVATURE)


def _pushes_outwards(x: Array, gradient: Array, bounds: Array) -> Mask:
    """Whether each coordinate is at a bound, and the objective grows beyond it."""
    lower, upper = bounds.T
    return np.asarray(((x <= lower) & (gradient <= 0.0)) | ((x >= upper) & (gradient >= 0.0)))


def maximize(
    objective: Objective,
    start: Array,
    bounds: Array,
    *,
    max_iter: int,
    tolerance: float,
    label: str = "fitting",
    verbose: bool = False,
    deadline: Deadline = NEVER,
) -> Optimum:
    """Maximise ``objective(x) -> (value, gradient)`` by L-BFGS-B from ``start`` within ``bounds`` (p, 2).

    It has converged when an iteration gains less than ``tolerance`` of the objective's size, or when the gradient
    within the bounds has vanished. Where there is no time for another evaluation, it ends at the best point so
    far; one is made in any case.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = np.array([[-10.0, 10.0]])
    >>> peak = maximize(lambda x: (-((x[0] - 3) ** 2), -2 * (x - 3)), np.zeros(1), bounds, max_iter=50, tolerance=1e-9)
    >>> peak.x.round(6), peak.converged
    (array([3.]), True)
    """
    x = np.clip(start, bounds[:, 0], bounds[:, 1])
    bar = ProgressBar(label, max_iter) if verbose else None
    n_iter = 0

    lowest = None
    best, seconds = x, 0.0

    def descend(x: Array) -> tuple[float, Array]:
        nonlocal lowest, best, seconds
        if lowest is not None and not deadline.allows(seconds):
            raise _TimeIsUpError
        began = deadline.clock()
        try:
            value, gradient = objective(x)
        except NotPositiveDefiniteError:
            # A step of the line search went too far. Something much worse than the start makes it come back.
            if lowest is None:
                raise
            return lowest + 1e3 * (1.0 + abs(lowest)), np.zeros_like(x)
        seconds = deadline.clock() - began
        if lowest is None or -value < lowest:
            lowest, best = -value, x.copy()
        return -value, -gradient

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        nonlocal n_iter
        n_iter += 1
        if bar is not None:
            bar.update(n_iter, -float(intermediate_result.fun))

    def run(x: Array) -> OptimizeResult:
        left = max(1, max_iter - n_iter)
        options = {"maxiter": left, "maxfun": 10 * left + 20, "ftol": tolerance, "gtol": 1e-5}
        return minimize(
            descend, x, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_iteration, options=options
        )

    try:
        result = run(x)
        converged = result.status == 0
        if result.status == LINE_SEARCH_FAILED:
            # Rounding spoils the line search next to an optimum. A second run, without the curvature, shows if it is
            # one.
            before, result = result, run(result.x)
            converged = before.fun - result.fun <= tolerance * max(1.0, abs(result.fun))
    except _TimeIsUpError:
        result, converged = OptimizeResult(x=best, fun=lowest, message=TIME_IS_UP), False
    if bar is not None:
        bar.finish(n_iter, -float(result.fun))
    return Optimum(result.x, -float(result.fun), n_iter, bool(converged), str(result.message))
