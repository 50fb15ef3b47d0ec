"""Running the tables of the paper: where results go, and one task of them."""

from __future__ import annotations

from pathlib import Path

from experiments import predictions
from experiments.measures import measured, store_of
from lab import runs
from lab.tasks import Task

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "rows.csv"
PREDICTIONS = FOLDER / "cache" / "predictions"
NETWORKS = FOLDER / "cache" / "images"
FIGURES = FOLDER / "results" / "figures"


def work(task: Task, path: Path) -> None:
    """One task, in a process of its own: the base model, then each missing method; rows are stored one by one."""
    import torch

    from experiments.methods import TABLES, base_model_of

    torch.set_num_threads(1)
    for name in task.methods:
        rows = runs.rows_of(task.dataset, task.run, base_model_of(task.table, task.dataset, name), runs.CACHE)
        answer = TABLES[task.table][name](rows, task.run)
        key = task.table, task.dataset, task.run, name
        predictions.save(PREDICTIONS, *key, y=rows.y_test, base=rows.pred_test, mean=answer.mean, std=answer.std)
        store_of(path).append(measured(*key, rows, answer))
