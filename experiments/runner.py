"""Running tables: what is to be done, side by side on processes, never twice."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from experiments import predictions
from experiments.datasets import DATASETS, DataNotFoundError, DataSet
from experiments.store import Store

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "rows.csv"
CACHE = FOLDER / "cache"
PREDICTIONS = CACHE / "predictions"
FIGURES = FOLDER / "results" / "figures"


@dataclass(frozen=True)
class Task:
    """One run of one data set in one table, with the methods that are still missing."""

    table: str
    dataset: str
    run: int
    methods: tuple[str, ...]


def available(
    names: list[str], *, download: bool, datasets: Mapping[str, DataSet] = DATASETS
) -> tuple[list[str], dict[str, str]]:
    """The data sets that can be read, and why the others cannot."""
    usable, missing = [], {}
    for name in names:
        dataset = datasets[name]
        try:
            if dataset.find() is None:
                dataset.load(download=download)
            usable.append(name)
        except DataNotFoundError as error:
            missing[name] = str(error)
    return usable, missing


def open_tasks(table: str, datasets: list[str], n_runs: int, methods: list[str], store: Store) -> list[Task]:
    """What is missing in the store, run by run, so that every data set gets its first runs first."""
    from experiments.methods import applies

    known = store.keys()
    tasks = []
    for run in range(n_runs):
        for dataset in datasets:
            wanted = (method for method in methods if applies(method, dataset))
            missing = tuple(method for method in wanted if (table, dataset, run, method) not in known)
            if missing:
                tasks.append(Task(table, dataset, run, missing))
    return tasks


def run_tasks(tasks: list[Task], n_jobs: int, path: Path, worker: Callable[[Task, Path], None] | None = None) -> None:
    """Work off the tasks on processes of one thread each, with a bar; the worker of each is `work` unless given."""
    if not tasks:
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for the processes started below
    total = sum(len(task.methods) for task in tasks)
    began, done = time.monotonic(), 0
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as executor:
        futures = {executor.submit(worker or work, task, path): task for task in tasks}
        try:
            for future in as_completed(futures):
                future.result()
                task = futures[future]
                done += len(task.methods)
                _bar(done, total, time.monotonic() - began, f"{task.table} {task.dataset} run {task.run}")
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    sys.stderr.write("\n")


def _bar(done: int, total: int, seconds: float, label: str) -> None:
    filled = round(30 * done / total)
    left = seconds * (total / done - 1)
    bar = "█" * filled + "·" * (30 - filled)
    start, end = ("\r\033[K", "") if sys.stderr.isatty() else ("", "\n")
    sys.stderr.write(
        f"{start}{bar} {done}/{total} methods, {seconds:.0f} s, about {left:.0f} s left; last: {label}{end}"
    )
    sys.stderr.flush()


def work(task: Task, path: Path) -> None:
    """One task, in a process of its own: the base model, then each missing method; rows are stored one by one."""
    import torch

    from experiments.methods import TABLES, base_model_of, measured
    from experiments.runs import rows_of

    torch.set_num_threads(1)
    store = Store(path)
    for name in task.methods:
        rows = rows_of(task.dataset, task.run, base_model_of(task.table, name), CACHE)
        answer = TABLES[task.table][name](rows, task.run)
        key = task.table, task.dataset, task.run, name
        predictions.save(PREDICTIONS, *key, y=rows.y_test, base=rows.pred_test, mean=answer.mean, std=answer.std)
        store.append(measured(task.table, task.dataset, task.run, name, rows, answer))
