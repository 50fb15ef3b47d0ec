"""Print how long a million rows take to be predicted from a million, by the nearest ones, on two threads.

The rows are those of the arm of eight links. Seconds are by the clock and of the processor, memory is the peak of the
process after `fit` and after `predict`.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.large.problems import LINKS, arm, reach
from lab.markdown import markdown_table
from lab.measuring import Stopwatch, peak_mib
from lab.options import at_least_one, numbers
from rio_uq import RIORegressor

N_JOBS = 2


def measure(n_rows: int, n_new: int, n_neighbors: int) -> list[str]:
    """A line of the table."""
    split = arm(n_rows, 0)
    mean_outcome = float(split.y.mean())
    rio = RIORegressor(
        lambda X: np.full(len(X), mean_outcome),
        inference="nearest",
        target="outcome",
        kernel="input",
        training={"n_neighbors": n_neighbors},
        random_state=0,
        n_jobs=N_JOBS,
    )
    clock = Stopwatch()
    with clock.time("fit"):
        rio.fit(split.X, split.y, held_out=True)
    after_fit = peak_mib()
    new = np.random.default_rng(1).uniform(-1.5, 1.5, size=(n_new, LINKS))
    with clock.time("predict"):
        mean, std = rio.predict(new, return_std=True)
    error = mean - reach(new)
    seconds = [clock.measured[f"{name}_{kind}"] for name in ("fit", "predict") for kind in ("seconds", "cpu_seconds")]
    return [
        str(n_neighbors),
        *(f"{value:.0f}" for value in seconds),
        f"{np.sqrt(np.mean(error**2)):.4f}",
        f"{np.mean(std):.4f}",
        *(f"{mib / 1024:.1f}" for mib in (after_fit, peak_mib())),
    ]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=at_least_one, default=1_000_000, help="training rows (default: %(default)s)")
    parser.add_argument("--new", type=at_least_one, default=1_000_000, help="rows to predict (default: %(default)s)")
    parser.add_argument("--neighbors", type=numbers, default=[32, 100], help="with commas (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    lines = [measure(options.rows, options.new, n_neighbors) for n_neighbors in options.neighbors]
    header = ["k", "s to fit", "of the processor", "s to predict", "of the processor", "RMSE to the truth", "mean std"]
    print(markdown_table([*header, "GiB after fit", "after predict"], lines))
