"""Data sets, splits and tasks: each method on each run, one row each, never twice."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.quality.answers import Answer, Row, measured
from lab.datasets import DATASETS as PAPER_DATASETS
from lab.datasets import DataSet
from lab.runs import CACHE, Rows, rows_of
from lab.splits import held_out_rows
from lab.store import Store
from lab.tasks import Task, open_tasks

Method = Callable[["Run"], Answer]


def without_copies(dataset: DataSet, n_rows: int) -> DataSet:
    """The same data set with one row of each set of equal rows; its name ends in a star."""

    def read(content: bytes) -> tuple[np.ndarray, np.ndarray]:
        X, y = dataset.read(content)
        _, first = np.unique(np.column_stack([X, y]), axis=0, return_index=True)
        kept = np.sort(first)
        return X[kept], y[kept]

    return replace(dataset, name=f"{dataset.name}*", shape=(n_rows, dataset.shape[1]), read=read)


SMALL = ("yacht", "ENB/h", "ENB/c", "airfoil", "CCS", "wine/r")
DATASETS: dict[str, DataSet] = {
    dataset.name: dataset
    for dataset in (
        *(PAPER_DATASETS[name] for name in SMALL),
        without_copies(PAPER_DATASETS["wine/r"], 1359),
        PAPER_DATASETS["wine/w"],
        without_copies(PAPER_DATASETS["wine/w"], 3961),
        PAPER_DATASETS["CCPP"],
        PAPER_DATASETS["protein"],
    )
}


@dataclass(frozen=True)
class Run:
    """One random split of a data set; its number is the seed of everything."""

    dataset: DataSet
    number: int
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    cache: Path = CACHE

    @classmethod
    def of(cls, dataset: DataSet, number: int, cache: Path = CACHE) -> Run:
        X, y = dataset.load()
        train, test = dataset.split(len(y), number)
        return cls(dataset, number, X[train], y[train], X[test], y[test], cache)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the hidden layers of networks."""
        from lab.base_models import hidden_layers

        return hidden_layers(self.dataset.name)

    def with_network(self, kind: str) -> Rows:
        """The same rows with predictions of the paper's network, trained once; see `lab.runs.rows_of`."""
        return rows_of(self.dataset, self.number, kind, self.cache)

    def held_out(self) -> np.ndarray:
        """A random 20 % of the training rows, (n,) of bool."""
        return held_out_rows(len(self.y_train), self.number)


def store_of(path: Path) -> Store:
    return Store(path, Row)


def missing_tasks(
    groups: dict[str, dict[str, Method]], datasets: list[str], n_runs: int, methods: list[str], path: Path
) -> list[Task]:
    """The tasks without a row; the first runs of all data sets come first."""
    tasks = [
        task
        for group, names in groups.items()
        for task in open_tasks(group, datasets, n_runs, [name for name in methods if name in names], store_of(path))
    ]
    return sorted(tasks, key=lambda task: (task.run, datasets.index(task.dataset)))


def work(task: Task, path: Path) -> None:
    """One task, in a process of its own. A method that fails is told of and leaves no row: the others go on."""
    from benchmarks.quality.methods import GROUPS

    _single_thread()
    run = Run.of(DATASETS[task.dataset], task.run)
    for name in task.methods:
        try:
            with _no_information():
                answer = GROUPS[task.table][name](run)
            row = measured(task.table, task.dataset, task.run, name, run.y_test, answer)
        except Exception:
            print(f"{name} failed on {task.dataset}, run {task.run}:\n{traceback.format_exc()}", file=sys.stderr)
            continue
        store_of(path).append(row)


@contextmanager
def _no_information() -> Iterator[None]:
    """Warnings and errors alone are logged: MAPIE has a line for each pair of quantiles that cross."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


def _single_thread() -> None:
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
