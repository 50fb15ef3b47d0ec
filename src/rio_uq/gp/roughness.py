"""How rough the function is that an input kernel stands for, told by rows that are near each other.

Under a Matérn kernel of order ν, latent values of rows at a small distance r differ by about r^min(ν, 1). Few rows are
too far apart for that to matter, and the smooth order 5/2 does well with them. Among many, the nearest ones are so near
that it decides what is noise and what is not. So of the orders 5/2, 3/2 and 1/2, each at its own hyperparameters by an
exact fit of a subset, the one is taken that makes left-out rows likeliest given their nearest others, as in
`rio_uq.gp.inference.nearest`; the smoother one unless the gain is clear.

It is outcomes that are compared, not residuals: what is rough in them is what a model leaves over, and stands out more
clearly from noise.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.deadline import NEVER, Deadline
from rio_uq.gp.few_rows import few_rows
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.inference.nearest import NearestObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search
from rio_uq.gp.priors import weak_prior
from rio_uq.gp.starts import Scales, bounds_of, rio_start, rough_start

AUTO = "auto"
ORDERS = ("matern52", "matern32", "matern12")
"""From smooth to rough."""

SEARCHED_ROWS = 1000
FIRST_ITERATIONS, FURTHER_ITERATIONS = 12, 12
"""From each start with the first order, and from the better end of these with every order."""

TOLERANCE = 1e-5

WORTH = 0.01
"""Nats for each left-out outcome that a rougher order has to gain."""


def likeliest_order(
    kernels: Mapping[str, Kernel],
    data: Observations,
    scales: Scales,
    n_neighbors: int | None,
    deadline: Deadline = NEVER,
) -> str:
    """The name of the kernel that left-out rows prefer.

    Parameters
    ----------
    kernels : mapping from str to Kernel
        From smooth to rough, with the same parameters.
    data : Observations
        More rows than the exact GP takes, with outcomes for targets.
    scales : Scales
        Of these rows.
    n_neighbors : int or None
        Rows that a left-out one is given; None for as many as are tried first.
    deadline : Deadline
        When the searches have to end; the smoothest kernel is taken where there is no time for all.
    """
    stage = "the order of the Matérn kernel"
    if deadline.leaves_out(stage):
        return next(iter(kernels))
    smooth, q = next(iter(kernels.values())), data.n_outputs
    bounds, prior, start = bounds_of(smooth, q, scales), weak_prior(smooth, q, scales), rio_start(smooth, q, scales)
    nearest = {name: NearestObjective(kernel, data, n_neighbors) for name, kernel in kernels.items()}
    few = few_rows(next(iter(nearest.values())).data, np.random.default_rng(0), SEARCHED_ROWS)

    def end_of_search(kernel: Kernel, x: Array, max_iter: int) -> Optimum:
        search = Search(max_iter, TOLERANCE, np.random.default_rng(0), deadline=deadline)
        try:
            return ExactObjective(kernel, few).maximize(x, bounds, prior, search)
        except NotPositiveDefiniteError:  # a start that cannot be gone from
            return Optimum(x, -np.inf, 0, False, "")

    with single_blas_thread:
        starts = (start, rough_start(smooth, start))
        best = max((end_of_search(smooth, x, FIRST_ITERATIONS) for x in starts), key=lambda end: end.value).x
        losses = {}
        for name, objective in nearest.items():
            if deadline.leaves_out(stage):
                return next(iter(kernels))
            losses[name] = objective.local_step(end_of_search(objective.kernel, best, FURTHER_ITERATIONS).x).loss
    names = list(kernels)
    worth = WORTH * q * len(nearest[names[0]].left_out)
    return min(names, key=lambda name: losses[name] + worth * names.index(name))
