"""The rows of a run: the split, and the base model's predictions, trained once and kept for all tables."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from experiments.base_models import HIDDEN, train_forest, train_network
from experiments.datasets import DATASETS
from experiments.methods import Rows


def rows_of(name: str, run: int, kind: str, cache: Path) -> Rows:
    """Split a data set for a run and predict all of its rows by a base model of that run.

    Parameters
    ----------
    name : str
        Of the data set.
    run : int
        It is the seed of the split and of the model.
    kind : {"network", "forest"}
    cache : Path
        Folder where predictions are kept.
    """
    dataset = DATASETS[name]
    X, y = dataset.load()
    train, test = dataset.split(len(y), run)
    path = cache / f"{name.replace('/', '-')}-{kind}-{run}.npz"
    if not path.exists():
        began = time.perf_counter()
        if kind == "network":
            model = train_network(X[train], y[train], HIDDEN.get(name, (64, 64)), run)
        else:
            model = train_forest(X[train], y[train], 7 if name == "MSD" else 5, run)
        seconds = time.perf_counter() - began
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial.npz")
        validation = getattr(model, "validation", np.zeros(len(train), dtype=bool))
        np.savez(partial, prediction=model.predict(X), seconds=seconds, validation=validation)
        partial.replace(path)
    with np.load(path) as kept:
        prediction, seconds = kept["prediction"], float(kept["seconds"])
    return Rows(X[train], y[train], prediction[train], X[test], y[test], prediction[test], seconds)
