"""The rows of a run: the split, and the base model's predictions, trained once and kept for all tables."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.base_models import HIDDEN, PaperNetwork, train_forest, train_network
from experiments.datasets import DATASETS, DataSet
from experiments.methods import Rows
from rio_uq.models.cross_fitting import FoldAverage, make_folds, out_of_fold

N_FOLDS = 5


def rows_of(name: str | DataSet, run: int, kind: str, cache: Path) -> Rows:
    """Split a data set for a run and predict all of its rows by a base model of that run.

    Parameters
    ----------
    name : str or DataSet
        Of the data set, or the data set itself if it is none of the paper's.
    run : int
        It is the seed of the split and of the model.
    kind : {"network", "forest", "folds"}
        "folds" predicts each training row by a network that was trained on the other folds, and each test row by the
        mean of those networks.
    cache : Path
        Folder where predictions are kept.
    """
    dataset = name if isinstance(name, DataSet) else DATASETS[name]
    X, y = dataset.load()
    train, test = dataset.split(len(y), run)
    path = cache / f"{dataset.name.replace('/', '-')}-{kind}-{run}.npz"
    if not path.exists():
        began = time.perf_counter()
        arrays = BASE_MODELS[kind](dataset.name, run, X, y, train)
        _save(path, seconds=time.perf_counter() - began, **arrays)
    with np.load(path) as kept:
        prediction, seconds, validation = kept["prediction"], float(kept["seconds"]), kept["validation"]
    return Rows(
        X[train], y[train], prediction[train], X[test], y[test], prediction[test], seconds, validation.astype(bool)
    )


def _network(name: str, run: int, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    model = train_network(X[train], y[train], HIDDEN.get(name, (64, 64)), run)
    return {"prediction": model.predict(X), "validation": model.validation}


def _forest(name: str, run: int, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    model = train_forest(X[train], y[train], 7 if name == "MSD" else 5, run)
    return {"prediction": model.predict(X), "validation": np.zeros(len(train), dtype=bool)}


def _folds(name: str, run: int, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    model = PaperNetwork(HIDDEN.get(name, (64, 64)), run)
    folds = make_folds(N_FOLDS, X[train], y[train], X[train], None, None, np.random.default_rng(run))
    found = out_of_fold(model, X[train], y[train], None, folds)
    prediction = FoldAverage(found.models).predict(X)
    prediction[train] = found.prediction[:, 0]
    return {"prediction": prediction, "validation": np.zeros(len(train), dtype=bool)}


BASE_MODELS = {"network": _network, "forest": _forest, "folds": _folds}


def _save(path: Path, **arrays: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial.npz")
    np.savez(partial, **arrays)
    partial.replace(path)
