"""Print the seconds that `time_budget` promises beside those that `fit` takes by the clock, and by the processor.

The model is a ridge regression, whose clones take next to no time; the last line for each number of rows has no budget.
"""

from __future__ import annotations

import argparse
import time
import warnings

from sklearn.linear_model import Ridge

from lab import generated
from lab.markdown import markdown_table
from lab.options import numbers
from rio_uq import RIORegressor

BUDGETS = (1.0, 3.0, 10.0, None)
N_FEATURES = 8


def taken(n_rows: int, budget: float | None) -> list[str]:
    """A line of the table."""
    table = generated.rows(0, n_rows, N_FEATURES)
    rio = RIORegressor(Ridge(), training={"time_budget": budget}, n_jobs=1, random_state=0)
    wall, processor = time.monotonic(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rio.fit(table[:, :-1], table[:, -1])
    seconds = time.monotonic() - wall, time.process_time() - processor
    promised = "" if budget is None else f"{budget:g}"
    ended = "converged" if rio.converged_ else "stopped"
    return [f"{n_rows:,}", promised, *(f"{value:.2f}" for value in seconds), rio.inference_, ended]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=numbers, default=[300, 1_000, 2_000, 5_000], help="with commas (%(default)s)")


def main(options: argparse.Namespace) -> None:
    header = ["rows", "promised, s", "taken, s", "of the processor, s", "inference", "search"]
    lines = [taken(n_rows, budget) for n_rows in options.rows for budget in BUDGETS]
    print(markdown_table(header, lines), end="")
