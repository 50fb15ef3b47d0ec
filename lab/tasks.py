"""Tables of results that are missing something: what is to be done, side by side on processes, never twice."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from lab.store import Store


@dataclass(frozen=True)
class Task:
    """One run of one data set in one table, with the methods that are still missing."""

    table: str
    dataset: str
    run: int
    methods: tuple[str, ...]


def open_tasks(
    table: str,
    datasets: list[str],
    n_runs: int,
    methods: list[str],
    store: Store,
    applies: Callable[[str, str], bool] = lambda method, dataset: True,
) -> list[Task]:
    """The tasks that are missing in the store, run by run, so that every data set gets its first runs first.

    ``applies`` tells whether a method is tried on a data set.
    """
    stored = store.keys()
    tasks = []
    for run in range(n_runs):
        for dataset in datasets:
            wanted = (method for method in methods if applies(method, dataset))
            missing = tuple(method for method in wanted if (table, dataset, run, method) not in stored)
            if missing:
                tasks.append(Task(table, dataset, run, missing))
    return tasks


def run_tasks(tasks: list[Task], n_jobs: int, path: Path, work: Callable[[Task, Path], None]) -> None:
    """Do the tasks on processes of one thread each, with a bar; ``work`` stores the rows of one in the file."""
    if not tasks:
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for the processes started below
    total = sum(len(task.methods) for task in tasks)
    began, done = time.monotonic(), 0
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as executor:
        futures = {executor.submit(work, task, path): task for task in tasks}
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
