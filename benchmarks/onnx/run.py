"""Time predictions in Python and in onnxruntime.

Both take turns, and the best of their rounds counts: what others do on the same machine can only add to it. Every
problem is stored as soon as it is measured; what is stored already is not measured again.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from threadpoolctl import threadpool_limits

import rio_uq
from benchmarks.onnx.page import N_FEATURES, OURS
from lab.json_lines import Row, append_row, read_rows
from lab.measuring import seconds_of
from lab.rio import QUICK_TRAINING, fit, regressor
from rio_uq import RIORegressor

MANY_ROWS, ROUNDS_OF_MANY = 1_000, 40
ROUNDS_OF_ONE, CALLS_OF_ONE = 60, 10

Engine = Callable[[np.ndarray, np.ndarray], Any]


class Problem(NamedTuple):
    """A GP with that many points: all rows of an exact one, inducing points of a sparse one."""

    inference: str
    n_points: int


PROBLEMS = (
    Problem("sparse", 50),
    Problem("sparse", 300),
    Problem("exact", 500),
    Problem("exact", 2_000),
)


def fitted_regressor(problem: Problem) -> RIORegressor:
    """Trained for a moment only: how good it is does not matter here, but its shapes do."""
    rng = np.random.default_rng(0)
    n_rows = problem.n_points if problem.inference == "exact" else 1_000
    X = rng.normal(size=(n_rows, N_FEATURES))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n_rows)
    options = {"inference": problem.inference, "n_inducing": problem.n_points, "max_iter": 2, "noise": "constant"}
    rio = regressor(training=QUICK_TRAINING, n_jobs=1, random_state=0, **options)
    return fit(rio, X, y, y_pred=X[:, 1])


def in_onnxruntime(rio: RIORegressor, dtype: str) -> Engine:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = rio_uq.onnx.export(rio, dtype=dtype).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    return lambda X, y_pred: session.run(
        ["mean", "std"], {"X": X.astype(dtype, copy=False), "y_pred": y_pred[:, None].astype(dtype, copy=False)}
    )


def measure(problem: Problem, *, quick: bool = False) -> Row:
    """Seconds of the best round by engine, for one row and for many; every round asks all engines."""
    rio = fitted_regressor(problem)
    engines: dict[str, Engine] = {
        OURS: lambda X, y_pred: rio.predict(X, y_pred=y_pred, return_std=True),
        "onnxruntime": in_onnxruntime(rio, "float64"),
        "onnxruntime, float in and out": in_onnxruntime(rio, "float32"),
    }
    rng = np.random.default_rng(1)
    X, y_pred = rng.normal(size=(MANY_ROWS, N_FEATURES)), rng.normal(size=MANY_ROWS)
    for ours, theirs in zip(engines[OURS](X, y_pred), engines["onnxruntime"](X, y_pred), strict=True):
        np.testing.assert_allclose(theirs[:, 0], ours, rtol=1e-6, atol=1e-9)
    one: dict[str, list[float]] = {name: [] for name in engines}
    many: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(3 if quick else ROUNDS_OF_ONE):
        for name, engine in engines.items():
            engine(X[:1], y_pred[:1])
            calls = seconds_of(lambda engine=engine: [engine(X[:1], y_pred[:1]) for _ in range(CALLS_OF_ONE)])
            one[name].append(calls / CALLS_OF_ONE)
    for _ in range(1 if quick else ROUNDS_OF_MANY):
        for name, engine in engines.items():
            many[name].append(seconds_of(lambda engine=engine: engine(X, y_pred)))
    best = {name: {"one_row": min(one[name]), "many_rows": min(many[name])} for name in engines}
    packages = {name: version(name) for name in ("numpy", "onnx", "onnxruntime")}
    setting = {"n_rows": MANY_ROWS, "python": platform.python_version(), "machine": platform.machine()}
    return {**problem._asdict(), **setting, "packages": packages, "seconds": best}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="the smallest problem, a few rounds, nothing stored")


def main(options: argparse.Namespace) -> None:
    stored = {(row["inference"], row["n_points"]) for row in read_rows(options.results)}
    for problem in PROBLEMS[:1] if options.quick else PROBLEMS:
        if options.quick or problem not in stored:
            with threadpool_limits(1):
                row = measure(problem, quick=options.quick)
            print(row, flush=True)
            if not options.quick:
                append_row(options.results, row)
