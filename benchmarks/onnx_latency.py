"""A regressor in Python beside the same one as an ONNX graph in onnxruntime, on one thread each.

    python -m benchmarks.onnx_latency            prints a table, and writes it to benchmarks/onnx.md
    python -m benchmarks.onnx_latency --quick    the smallest problem, printed only

Mean and std of rows whose predictions are known: the time of the model itself is in neither. Both take turns, and the
best of their rounds counts: what others do on the same machine can only add to it.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import rio_uq
from rio_uq import RIORegressor

PAGE = Path(__file__).with_name("onnx.md")
N_FEATURES = 8
MANY_ROWS, ROUNDS_OF_MANY = 1_000, 40
ROUNDS_OF_ONE, CALLS_OF_ONE = 60, 10


class Problem(NamedTuple):
    """A GP with that many points: all rows of an exact one, inducing points of a sparse one."""

    inference: str
    n_points: int

    def __str__(self) -> str:
        return f"{self.inference}, {self.n_points:,} points"


PROBLEMS = (
    Problem("sparse", 50),
    Problem("sparse", 300),
    Problem("exact", 500),
    Problem("exact", 2_000),
)


class Times(NamedTuple):
    """In seconds, of the best round."""

    one_row: float
    many_rows: float


def regressor(problem: Problem) -> RIORegressor:
    """Trained for a moment only: how good it is does not matter here, but its shapes do."""
    rng = np.random.default_rng(0)
    n_rows = problem.n_points if problem.inference == "exact" else 1_000
    X = rng.normal(size=(n_rows, N_FEATURES))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n_rows)
    rio = RIORegressor(
        inference=problem.inference,
        n_inducing=problem.n_points,
        max_iter=2,
        starts="rio",
        noise="constant",
        n_jobs=1,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return rio.fit(X, y, y_pred=X[:, 1])


def in_onnxruntime(rio: RIORegressor, dtype: str) -> Callable[[np.ndarray, np.ndarray], Any]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = rio_uq.onnx.export(rio, dtype=dtype).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    return lambda X, y_pred: session.run(
        ["mean", "std"], {"X": X.astype(dtype, copy=False), "y_pred": y_pred[:, None].astype(dtype, copy=False)}
    )


def measure(problem: Problem, *, quick: bool = False) -> dict[str, Times]:
    """By engine; every round asks all of them."""
    rio = regressor(problem)
    engines = {
        "rio-uq in Python": lambda X, y_pred: rio.predict(X, y_pred=y_pred, return_std=True),
        "onnxruntime": in_onnxruntime(rio, "float64"),
        "onnxruntime, float in and out": in_onnxruntime(rio, "float32"),
    }
    rng = np.random.default_rng(1)
    X, y_pred = rng.normal(size=(MANY_ROWS, N_FEATURES)), rng.normal(size=MANY_ROWS)
    expected = engines["rio-uq in Python"](X, y_pred)
    found = engines["onnxruntime"](X, y_pred)
    for wanted, got in zip(expected, found, strict=True):
        np.testing.assert_allclose(got[:, 0], wanted, rtol=1e-6, atol=1e-9)
    one = {name: [] for name in engines}
    many = {name: [] for name in engines}
    for _ in range(3 if quick else ROUNDS_OF_ONE):
        for name, engine in engines.items():
            engine(X[:1], y_pred[:1])
            one[name].append(seconds(lambda engine=engine: [engine(X[:1], y_pred[:1]) for _ in range(CALLS_OF_ONE)]))
    for _ in range(1 if quick else ROUNDS_OF_MANY):
        for name, engine in engines.items():
            many[name].append(seconds(lambda engine=engine: engine(X, y_pred)))
    return {name: Times(min(one[name]) / CALLS_OF_ONE, min(many[name])) for name in engines}


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def table(results: dict[Problem, dict[str, Times]]) -> str:
    lines = [
        f"| GP | engine | one row, µs | speed-up | {MANY_ROWS:,} rows at once, rows/s | speed-up |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for problem, times in results.items():
        ours = times["rio-uq in Python"]
        for name, (one_row, many_rows) in times.items():
            lines.append(
                f"| {problem} | {name} | {1e6 * one_row:,.0f} | {ours.one_row / one_row:.1f} | "
                f"{MANY_ROWS / many_rows:,.0f} | {ours.many_rows / many_rows:.1f} |"
            )
    return "\n".join(lines)


def page(results: dict[Problem, dict[str, Times]]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "onnx", "onnxruntime"))
    return f"""# Error bars in Python and in onnxruntime

Written by `make bench-onnx`: mean and std, {N_FEATURES} features, one thread each, engines by turns, the best
round of each. The model's predictions are given, so its own time is in neither. The exported graph works in double
precision inside, whatever its inputs and outputs are.

{table(results)}

Python {platform.python_version()}, {packages}, {platform.machine()}.
"""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest problem, a few rounds, nothing written")
    options = parser.parse_args(arguments)
    problems = PROBLEMS[:1] if options.quick else PROBLEMS
    with threadpool_limits(1):
        results = {problem: measure(problem, quick=options.quick) for problem in problems}
    print(table(results))
    if not options.quick:
        PAGE.write_text(page(results))
        print(f"\nwritten to {PAGE}")


if __name__ == "__main__":
    main()
