"""Processor seconds on one thread that searches for hyperparameters take, from the same start, and what they visit.

The GP has a Matérn 5/2 kernel with a lengthscale for each feature, Gaussian noise and no mean, in float64. Each fit has
a process of its own, and methods take turns. A small fit goes before, which is not counted: it loads what is loaded
late. What is stored already is not measured again.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from benchmarks.exact.problems import PROBLEMS, SIZES
from benchmarks.exact.trace import OutOfTimeError, Trace
from lab.datasets import DataNotFoundError
from lab.json_lines import append_row, read_rows
from lab.options import at_least_one, numbers, positive

METHODS = {
    "rio-uq": "ours:training",
    "rio-uq, all rows from the start": "ours:search_on_all_rows",
    "GPyTorch, L-BFGS-B": "peers:gpytorch_l_bfgs",
    "GPyTorch, Adam": "peers:gpytorch_adam",
    "scikit-learn": "peers:scikit_learn",
}
"""Module and function of each, imported in the process that needs it."""

WARM_UP_ROWS, WARM_UP_SECONDS = 100, 2.0


@dataclass(frozen=True)
class Fit:
    """One method on one problem with so many rows, once more."""

    problem: str
    n: int
    round: int
    method: str


def function_of(method: str) -> Callable[..., None]:
    module, name = METHODS[method].split(":")
    return getattr(import_module(f"benchmarks.exact.{module}"), name)


def visited(method: str, problem: str, n_rows: int, most_seconds: float) -> list[tuple[float, float]]:
    """Seconds and likelihoods, those that are higher than any before."""
    rows, search = PROBLEMS[problem](n_rows), function_of(method)
    trace = Trace(most_seconds)
    with warnings.catch_warnings(), suppress(OutOfTimeError):
        warnings.simplefilter("ignore")
        search(rows, trace)
    points, best = [], -float("inf")
    for seconds, value in trace.points:
        if round(value, 4) > best:
            best = round(value, 4)
            points.append((round(seconds, 5), best))
    return points


def measure(fit: Fit, most_seconds: float, path: Path) -> None:
    """In a process of its own."""
    visited(fit.method, fit.problem, WARM_UP_ROWS, WARM_UP_SECONDS)
    append_row(path, {**asdict(fit), "points": visited(fit.method, fit.problem, fit.n, most_seconds)})


def missing_fits(problems: list[str], rows: list[int], methods: list[str], n_rounds: int, path: Path) -> list[Fit]:
    """Those without a row, of the numbers of rows that a problem has."""
    stored = [Fit(row["problem"], row["n"], row["round"], row["method"]) for row in read_rows(path)]
    sizes = {problem: [n for n in sorted(rows) if len(PROBLEMS[problem](n).y) == n] for problem in problems}
    fits = [
        Fit(problem, n, number, method)
        for problem in problems
        for n in sizes[problem]
        for number in range(n_rounds)
        for method in methods
    ]
    return [fit for fit in fits if fit not in stored]


def usable(names: list[str]) -> list[str]:
    """The problems whose data are there; tells of the others."""
    found = []
    for name in names:
        try:
            PROBLEMS[name](10)
            found.append(name)
        except DataNotFoundError as error:
            print(f"left out: {error}", file=sys.stderr)
    return found or sys.exit("there are no data to run on")


def add_options(parser: argparse.ArgumentParser) -> None:
    for option, choices in (("problems", PROBLEMS), ("methods", METHODS)):
        parser.add_argument(
            f"--{option}", nargs="+", choices=list(choices), default=list(choices), help="some of them (all)"
        )
    parser.add_argument("--rows", type=numbers, default=list(SIZES), help="numbers with commas (%(default)s)")
    parser.add_argument("--rounds", type=at_least_one, default=3, help="fits of each (default: %(default)s)")
    parser.add_argument("--max-seconds", type=positive, default=100.0, help="for a fit (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for the processes started below
    problems = usable(options.problems)
    fits = missing_fits(problems, options.rows, options.methods, options.rounds, options.results)
    for number, fit in enumerate(fits, 1):
        print(f"{number}/{len(fits)}: {fit.method} on {fit.problem}, {fit.n:,} rows", file=sys.stderr, flush=True)
        process = get_context("spawn").Process(target=measure, args=(fit, options.max_seconds, options.results))
        process.start()
        process.join()
