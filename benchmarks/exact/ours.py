"""The exact GP of rio-uq."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

from benchmarks.exact.problems import Problem
from benchmarks.exact.trace import Trace
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.inference.exact import ExactObjective, MarginalLikelihood
from rio_uq.gp.kernels.io import Kernel, io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of
from rio_uq.gp.training import train

TOLERANCE, MAX_ITER = 1e-8, 300


def _kernel_and_data(problem: Problem) -> tuple[Kernel, Observations, np.ndarray]:
    kernel = io_kernel(problem.X.shape[1], 0, input_family="matern52", ard=True, kind="input")
    data = Observations(problem.X, problem.y[:, None], n_jobs=1)
    return kernel, data, bounds_of(kernel, 1, Scales.of(data, problem.X.shape[1], 0.0))


def search_on_all_rows(problem: Problem, trace: Trace) -> None:
    """L-BFGS-B from the start, as the peers have it."""
    kernel, data, bounds = _kernel_and_data(problem)
    objective = ExactObjective(kernel, data)
    with single_blas_thread, _recorded(trace, len(data)):
        flat, search = Prior.flat(len(bounds)), Search(MAX_ITER, TOLERANCE, np.random.default_rng(0))
        objective.maximize(problem.start, bounds, flat, search)


def training(problem: Problem, trace: Trace) -> None:
    """As `fit` trains it: from 400 rows on few rows first, and with the curvature there on all of them."""
    kernel, data, bounds = _kernel_and_data(problem)
    settings = Settings("exact", max_iter=MAX_ITER, tolerance=TOLERANCE)
    with _recorded(trace, len(data)):
        train(kernel, data, [problem.start], bounds, settings, np.random.default_rng(0))


@contextmanager
def _recorded(trace: Trace, n_rows: int) -> Iterator[None]:
    """With each likelihood of all rows put on record."""
    evaluate = MarginalLikelihood.__call__

    def recorded(self: MarginalLikelihood, theta: np.ndarray, log_noise: np.ndarray) -> tuple:
        value, gradients = evaluate(self, theta, log_noise)
        if len(self.data) == n_rows:
            trace.add(value)
        return value, gradients

    with patch.object(MarginalLikelihood, "__call__", recorded):
        yield
