"""Measure methods on problems with many rows, each in a process of its own; what is stored is left out."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmarks.large.methods import METHODS
from benchmarks.large.peers.answers import PYTHON
from benchmarks.large.problems import PROBLEMS
from lab.datasets import DataNotFoundError
from lab.json_lines import append_row, read_rows
from lab.measuring import peak_kib
from lab.options import at_least_one, names_among, numbers
from lab.peers.process import add_peers_python

ROWS = [1_000, 10_000, 100_000]


@dataclass(frozen=True)
class Fit:
    """One method on one split of a problem, with so many rows at most."""

    problem: str
    rows: int
    run: int
    method: str


def measure(fit: Fit, path: Path) -> None:
    """In a process of its own, whose memory is that of the fit; a method that fails is told of and leaves no row."""
    split = PROBLEMS[fit.problem](fit.rows, fit.run)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = METHODS[fit.method](split, fit.run)
    except Exception:
        print(f"{fit} failed", file=sys.stderr)
        traceback.print_exc()
        return
    memory = peak_kib() / 2**20 if answer.gib is None else answer.gib
    named = {"problem": fit.problem, "rows": fit.rows, "run": fit.run, "method": fit.method, "n": len(split.y)}
    times = {"seconds": answer.seconds, "seconds_predicting": answer.seconds_predicting, "gib": memory}
    values = {name: float(f"{value:.5g}") for name, value in (answer.measured | times).items()}
    append_row(path, named | values | {"n_test": len(split.y_test), "kind": answer.kind})


def missing_fits(problems: list[str], rows: list[int], methods: list[str], n_runs: int, path: Path) -> list[Fit]:
    """Those without a row, few rows first; none where a problem has no more rows than were had before."""
    stored = {Fit(row["problem"], row["rows"], row["run"], row["method"]) for row in read_rows(path)}
    fits = []
    for problem in problems:
        sizes: set[int] = set()
        for most in sorted(rows):
            n = len(PROBLEMS[problem](most, 0).y)
            if n in sizes:
                continue
            sizes.add(n)
            fits += [Fit(problem, most, run, method) for run in range(n_runs) for method in methods]
    return sorted((fit for fit in fits if fit not in stored), key=lambda fit: (fit.rows, fit.run))


def usable(names: list[str]) -> list[str]:
    """The problems whose data are there; tells of the others, and exits if none are."""
    found = []
    for name in names:
        try:
            PROBLEMS[name](100, 0)
            found.append(name)
        except DataNotFoundError as error:
            print(f"left out: {error}", file=sys.stderr)
    return found or sys.exit("there are no data to run on")


def add_options(parser: argparse.ArgumentParser) -> None:
    for option, choices in (("problems", PROBLEMS), ("methods", METHODS)):
        named = {"type": names_among(choices), "default": list(choices)}
        parser.add_argument(f"--{option}", **named, help=f"names with commas, among {', '.join(choices)} (all)")
    add_peers_python(parser)
    parser.add_argument("--rows", type=numbers, default=ROWS, help="training rows at most, with commas (%(default)s)")
    parser.add_argument("--runs", type=at_least_one, default=1, help="number of splits (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for the processes started below
    os.environ[PYTHON] = options.peers_python
    problems = usable(options.problems)
    fits = missing_fits(problems, options.rows, options.methods, options.runs, options.results)
    for number, fit in enumerate(fits, 1):
        print(f"{number}/{len(fits)}: {fit.method} on {fit.problem}, {fit.rows:,} rows", file=sys.stderr)
        process = get_context("spawn").Process(target=measure, args=(fit, options.results))
        process.start()
        process.join()
