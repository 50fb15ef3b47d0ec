"""Train and measure each method on each split, standard ones and those with gaps and tails; goes on where it stopped.

kin8nm and naval are left out unless they are named: they are kept for one run of defaults that are final, to show what
these do on data that nobody has looked at while they were chosen.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import astuple, replace
from importlib import import_module
from pathlib import Path

from benchmarks.quality.answers import Row, measured
from benchmarks.standard.methods import METHODS, PACKAGES, PUBLISHED, applies
from benchmarks.standard.models import Method
from benchmarks.standard.splits import TABLES, Split, numbers_of, split_of
from lab.datasets import available
from lab.datasets.standard import STANDARD, published_mc_dropout
from lab.options import at_least_one, names_among
from lab.store import Store
from lab.tasks import Task, open_tasks, run_tasks

UNSEEN = ("kin8nm", "naval")
SEEN = [name for name in STANDARD if name not in UNSEEN]


def store_of(path: Path) -> Store:
    return Store(path, Row)


def missing_tasks(tables: list[str], datasets: list[str], methods: list[str], n_runs: int, path: Path) -> list[Task]:
    """The tasks without a row, small data sets first."""
    store, by_size = store_of(path), sorted(datasets, key=lambda name: STANDARD[name].shape[0])
    return [
        task
        for table in tables
        for dataset in by_size
        for task in open_tasks(
            table,
            [dataset],
            max(numbers_of(table, dataset), default=-1) + 1,
            [method for method in methods if applies(table, method)],
            store,
        )
        if task.run in numbers_of(table, dataset)[:n_runs]
    ]


def work(task: Task, path: Path) -> None:
    """One task, in a process of its own. A method that fails is told of and leaves no row: the others go on."""
    answer_all(task, split_of(task.table, task.dataset, task.run), METHODS, path)


def answer_all(task: Task, split: Split, methods: Mapping[str, Method], path: Path) -> None:
    """Store a row for each method of a task."""
    logging.disable(logging.INFO)  # MAPIE has a line for each pair of quantiles that cross
    _single_thread()
    for name in task.methods:
        try:
            if name in PACKAGES:
                import_module(PACKAGES[name])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                began = time.process_time()
                answer = methods[name](split)
                seconds = time.process_time() - began
            row = measured(task.table, task.dataset, task.run, name, split.y_test, replace(answer, seconds=seconds))
        except Exception:
            print(f"{name} failed on {task.table} {task.dataset}, run {task.run}:", file=sys.stderr)
            traceback.print_exc()
            continue
        store_of(path).append(rounded(row))


def _single_thread() -> None:
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)


def rounded(row: Row) -> Row:
    """With numbers of six digits, so that thousands of rows stay small."""
    return Row(*(float(f"{value:.6g}") if isinstance(value, float) else value for value in astuple(row)))


def add_published(datasets: list[str], n_runs: int, path: Path) -> None:
    """Add the rows of MC dropout that are not there yet."""
    store = store_of(path)
    stored = store.keys()
    published = published_mc_dropout()
    for line in published[published["dataset"].isin(datasets) & (published["split"] < n_runs)].itertuples():
        if ("standard", line.dataset, line.split, PUBLISHED) not in stored:
            nothing = [None] * 7
            store.append(
                Row("standard", line.dataset, line.split, PUBLISHED, line.rmse, -line.log_likelihood, *nothing, None)
            )


def add_choices(parser: argparse.ArgumentParser, datasets: list[str], methods: list[str]) -> None:
    """Options for data sets, methods and tables, with these defaults and all tables."""
    for option, choices, default in (
        ("datasets", list(STANDARD), datasets),
        ("methods", list(METHODS), methods),
        ("tables", list(TABLES), list(TABLES)),
    ):
        text = f"names with commas, among {', '.join(choices)} (default: {', '.join(default)})"
        parser.add_argument(f"--{option}", type=names_among(choices), default=default, help=text)


def add_options(parser: argparse.ArgumentParser) -> None:
    add_choices(parser, SEEN, list(METHODS))
    parser.add_argument(
        "--runs", type=at_least_one, default=20, help="splits of a set in a table at most (default: %(default)s)"
    )
    parser.add_argument("--jobs", type=at_least_one, default=1, help="processes side by side (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    datasets, reasons = available(options.datasets, datasets=STANDARD)
    for reason in reasons.values():
        print(f"left out: {reason}", file=sys.stderr)
    if not datasets:
        sys.exit("there are no data to run on")
    if "standard" in options.tables:
        add_published(datasets, options.runs, options.results)

    def still_missing() -> list[Task]:
        return missing_tasks(options.tables, datasets, options.methods, options.runs, options.results)

    tasks = still_missing()
    print(f"{sum(len(task.methods) for task in tasks)} results are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results, work)
    if failed := sum(len(task.methods) for task in still_missing()):
        sys.exit(f"{failed} results could not be had, for the reasons above: the same command tries them again")
