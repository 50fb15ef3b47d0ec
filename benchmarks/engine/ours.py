"""The problems in our engine."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.engine.problems import Problem
from lab.measuring import peak_kib, seconds_of
from rio_uq.gp.inference import sparse
from rio_uq.gp.kernels.io import Kernel, io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import maximize
from rio_uq.gp.posterior import predict
from rio_uq.gp.starts import Scales, bounds_of

N_JOBS = os.cpu_count() or 1


class Ours:
    """A problem in our engine."""

    def __init__(self, problem: Problem) -> None:
        arrays = problem.arrays()
        self.kernel: Kernel = io_kernel(problem.d, 1, ard=problem.ard)
        self.data = Observations(arrays["rows"], arrays["residuals"], n_jobs=N_JOBS)
        self.points = arrays["points"]
        log_lengthscales = np.full(problem.d if problem.ard else 1, np.log(arrays["lengthscale"]))
        self.theta = np.concatenate([[0.0], log_lengthscales, [0.0, 0.0]])
        self.log_noise = np.log(arrays["noise_variance"]).reshape(1)
        self.bound = sparse.CollapsedBound(self.kernel, self.data, problem.m)

    def evaluate(self) -> float:
        return self.bound(self.theta, self.log_noise, self.points)[0]

    def fit(self, max_iter: int) -> list[tuple[float, float]]:
        trace: list[tuple[float, float]] = []
        problem = sparse.SparseObjective(self.kernel, self.data, self.points, move_points=True)
        x = np.concatenate([self.theta, self.log_noise])
        began = time.perf_counter()

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = problem(x)
            trace.append((time.perf_counter() - began, value))
            return value, gradient

        scales = Scales.of(self.data, self.data.rows.shape[1] - 1, 0.0)
        bounds = problem.bounds(bounds_of(self.kernel, 1, scales))
        maximize(objective, problem.start(x), bounds, max_iter=max_iter, tolerance=2.2e-9)
        return trace

    def predict(self, n_rows: int) -> float:
        posterior = sparse.posterior(self.kernel, self.theta, self.log_noise, self.points, self.data)
        rows = np.random.default_rng(0).standard_normal((n_rows, self.data.rows.shape[1]))
        return seconds_of(lambda: predict(posterior, rows, n_jobs=N_JOBS))


def print_memory(problem: Problem) -> None:
    """Peak memory of one evaluation beyond the data, in MiB (on Linux)."""
    ours = Ours(problem)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
    before = peak_kib()
    ours.evaluate()
    print((peak_kib() - before) / 1024)


if __name__ == "__main__":
    print_memory(Problem(*(int(size) for size in sys.argv[1:])))
