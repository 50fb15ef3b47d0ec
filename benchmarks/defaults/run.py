"""Fit RIO as it comes to models as they come, and MAPIE to the same models; goes on where it was interrupted.

Of each split, a third of the rows (540 at most, of further splits 343) is given to RIO. The model was trained on the
same rows ("seen"), on as many others ("new"), or on half of each ("half"); what is left are test rows, 2,000 at most.
The first split has all three cases, each further one has one of them, by turns. MAPIE is given the rows and the
unfitted model of the first case.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.defaults import peers
from benchmarks.defaults.measures import CASES, PEERS, QUANTILES, Row, of_quantiles, root_mean_square, row
from benchmarks.defaults.models import FUNCTION, MODELS, as_function
from benchmarks.defaults.tables import TABLES, rows_of_table
from lab.datasets import DataNotFoundError
from lab.options import at_least_one, names_among
from lab.store import Store
from lab.tasks import Task, open_tasks, run_tasks
from rio_uq import RIORegressor, metrics

MOST_ROWS, MOST_ROWS_FURTHER, MOST_TEST_ROWS = 540, 343, 2000
"""A third of a set of 1,600 rows, as the larger ones of the small sets have, and in further splits of one of 1,030: of
more, twenty splits would take days."""

RUNS_OF_PEERS = (0, 3)
"""Splits on which MAPIE is run, with the case that it stands beside."""


def rows_of(n: int, case: str, run: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of the rows that the model is trained on, that RIO is given, and of test rows."""
    order = np.random.default_rng(run).permutation(n)
    k = min(n // 3, MOST_ROWS if run == 0 else MOST_ROWS_FURTHER)
    given, others, test = order[:k], order[k : 2 * k], order[2 * k :][:MOST_TEST_ROWS]
    half = np.concatenate([given[: k // 2], others[: k // 2]])
    return {"seen": given, "new": others, "half": half}[case], given, test


def measure(name: str, X: Any, y: np.ndarray, case: str, run: int) -> dict[str, Any]:
    """RIO with its defaults on one of `MODELS`; of a function it is said that rows are new."""
    trained, given, test = rows_of(len(y), case, run)
    X_trained, X_given, X_test = (rows_of_table(X, rows) for rows in (trained, given, test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name](X, run).fit(X_trained, y[trained])
        said = {"held_out": True} if name == FUNCTION else {}
        began = time.process_time()
        rio = RIORegressor(as_function(model) if said else model, random_state=run, n_jobs=1)
        quantiles = rio.fit(X_given, y[given], **said).predict_quantiles(X_test, quantiles=QUANTILES)
        seconds = time.process_time() - began
        distribution, mean = rio.predict_dist(X_test), rio.predict(X_test)
        own, new = (y[rows] - np.ravel(model.predict(rows_of_table(X, rows))) for rows in (trained, test))
    return of_quantiles(y[test], quantiles) | {
        "rmse": metrics.rmse(y[test], mean),
        "crps": metrics.crps(y[test], distribution),
        "nlpd": metrics.nlpd(y[test], distribution),
        "model_rmse": root_mean_square(new),
        "training_rmse": root_mean_square(own),
        "kind": rio.residuals_.kind,
        "rows": rio.residuals_.rows,
        "copies": n_copies(X, y, trained, given),
        "seconds": seconds,
    }


def n_copies(X: Any, y: np.ndarray, trained: np.ndarray, given: np.ndarray) -> int:
    """Rows given that have a copy among those that the model was trained on."""
    table = pd.DataFrame(X).assign(outcome=y)
    first, second = table.iloc[given], table.iloc[trained].drop_duplicates()
    return int((first.merge(second, how="left", indicator=True)["_merge"] == "both").sum())


def applies(table: str, model: str) -> bool:
    """Nobody can say of a function which rows it has seen, and MAPIE cannot fit one."""
    return table == "new" if model == FUNCTION else peers.applies(table, model)


def has_run(table: str, run: int) -> bool:
    """Whether a case, or MAPIE, is measured on a split."""
    return run in RUNS_OF_PEERS if table in PEERS else run == 0 or table == CASES[run % len(CASES)]


def store_of(path: Path) -> Store:
    return Store(path, Row)


def missing_tasks(datasets: list[str], models: list[str], tables: list[str], n_runs: int, path: Path) -> list[Task]:
    """The tasks without a row; the first runs of all data sets come first."""
    tasks = [
        task
        for table in tables
        for task in open_tasks(table, datasets, n_runs, [m for m in models if applies(table, m)], store_of(path))
        if has_run(table, task.run)
    ]
    return sorted(tasks, key=lambda task: (task.run, datasets.index(task.dataset)))


def work(task: Task, path: Path) -> None:
    """One task, in a process of its own. A model that fails is told of and leaves no row: the others go on."""
    X, y = TABLES[task.dataset]()
    _, given, test = rows_of(len(y), "seen", task.run)
    split = (rows_of_table(X, given), y[given], rows_of_table(X, test), y[test])
    logging.disable(logging.INFO)  # MAPIE has a line for each pair of quantiles that cross
    for model in task.methods:
        try:
            if task.table in CASES:
                measured = measure(model, X, y, task.table, task.run)
            else:
                measured = peers.measure(task.table, model, split, task.run)
        except Exception:
            print(f"{task.table}: {model} failed on {task.dataset}, run {task.run}", file=sys.stderr)
            traceback.print_exc()
            continue
        key = {"table": task.table, "dataset": task.dataset, "run": task.run, "method": model}
        store_of(path).append(row(**key, n=len(given), n_test=len(test), n_all=len(y), **measured))


def usable(names: list[str]) -> list[str]:
    """The data sets that are there; tells of the others, and exits if none is."""
    found = []
    for name in names:
        try:
            TABLES[name]()
            found.append(name)
        except DataNotFoundError as error:
            print(f"left out: {error}", file=sys.stderr)
    return found or sys.exit("there are no data to run on")


def add_options(parser: argparse.ArgumentParser) -> None:
    for option, choices in (("datasets", TABLES), ("models", MODELS), ("tables", (*CASES, *PEERS))):
        named = {"type": names_among(choices), "default": list(choices)}
        parser.add_argument(f"--{option}", **named, help=f"names with commas, among {', '.join(choices)} (all)")
    parser.add_argument("--runs", type=at_least_one, default=1, help="number of random splits (default: %(default)s)")
    parser.add_argument("--jobs", type=at_least_one, default=1, help="processes side by side (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    datasets = usable(options.datasets)

    def still_missing() -> list[Task]:
        return missing_tasks(datasets, options.models, options.tables, options.runs, options.results)

    tasks = still_missing()
    print(f"{sum(len(task.methods) for task in tasks)} fits are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results, work)
    if failed := sum(len(task.methods) for task in still_missing()):
        sys.exit(f"{failed} fits could not be had, for the reasons above: the same command tries them again")
