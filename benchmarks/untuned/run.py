"""Train and measure each method on each split, small tables first; goes on where it stopped."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.standard.run import answer_all, store_of
from benchmarks.untuned.methods import METHODS
from benchmarks.untuned.tables import TABLES, split_of
from lab.options import at_least_one, names_among, usable_datasets
from lab.tasks import Task, open_tasks, run_tasks

TABLE = "standard"
"""Of all rows: they have the form of those of the standard splits, and are read by the same functions."""

N_RUNS = 10


def work(task: Task, path: Path) -> None:
    """One task, in a process of its own."""
    answer_all(task, split_of(task.dataset, task.run), METHODS, path)


def add_options(parser: argparse.ArgumentParser) -> None:
    for option, choices in (("datasets", list(TABLES)), ("methods", list(METHODS))):
        text = f"names with commas, among {', '.join(choices)} (all)"
        parser.add_argument(f"--{option}", type=names_among(choices), default=choices, help=text)
    text = "random splits of each table (default: %(default)s)"
    parser.add_argument("--runs", type=at_least_one, default=N_RUNS, help=text)
    parser.add_argument("--jobs", type=at_least_one, default=1, help="processes side by side (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    usable = usable_datasets(options.datasets, datasets=TABLES)

    def still_missing() -> list[Task]:
        return open_tasks(TABLE, usable, options.runs, options.methods, store_of(options.results))

    tasks = still_missing()
    print(f"{sum(len(task.methods) for task in tasks)} results are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results, work)
    if failed := sum(len(task.methods) for task in still_missing()):
        sys.exit(f"{failed} results could not be had, for the reasons above: the same command tries them again")
