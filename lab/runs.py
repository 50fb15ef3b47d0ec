"""The rows of a run: the split, and the base model's predictions, trained once and kept for all tables."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.datasets import DATASETS, DataSet
from lab.files import save_arrays
from rio_uq.models.cross_fitting import FoldAverage, make_folds, out_of_fold

CACHE = Path(__file__).parent / "cache" / "paper-splits"
"""Predictions for the paper's own splits, apart from those for other splits that the folder above may hold."""
N_FOLDS = 5
CROSS_FITTED = "cross-fitted network"


@dataclass(frozen=True)
class Rows:
    """The rows of one run, with the base model's predictions for them."""

    X_train: np.ndarray
    y_train: np.ndarray
    pred_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    pred_test: np.ndarray
    base_seconds: float
    validation: np.ndarray | None = None


def rows_of(name: str | DataSet, run: int, kind: str, cache: Path = CACHE) -> Rows:
    """Split a data set for a run and predict all of its rows by a base model of that run.

    Parameters
    ----------
    name : str or DataSet
        Of the data set, or the data set itself if it is none of the paper's.
    run : int
        It is the seed of the split and of the model.
    kind : {"network", "two-layer network", "forest", "folds", "cross-fitted network"}
        "network" is the paper's for the data set, which on MSD has four layers, and two where lengthscales are learnt
        for each feature; "folds" predicts each training row by a network that was trained on the other folds, and each
        test row by the mean of those networks; "cross-fitted network" predicts training rows as "folds" does, and test
        rows as "network" does.
    cache : Path
        Folder where predictions are kept.
    """
    if kind == CROSS_FITTED:
        given, folds = (rows_of(name, run, part, cache) for part in ("network", "folds"))
        seconds = given.base_seconds + folds.base_seconds
        return replace(folds, pred_test=given.pred_test, base_seconds=seconds)
    dataset = name if isinstance(name, DataSet) else DATASETS[name]
    X, y = dataset.load()
    train, test = dataset.split(len(y), run)
    path = cache / f"{dataset.name.replace('/', '-')}-{kind}-{run}.npz"
    if not path.exists():
        began = time.perf_counter()
        arrays = BASE_MODELS[kind](dataset.name, run, X, y, train)
        save_arrays(path, seconds=time.perf_counter() - began, **arrays)
    with np.load(path) as cached:
        prediction, seconds, validation = cached["prediction"], float(cached["seconds"]), cached["validation"]
    return Rows(
        X[train], y[train], prediction[train], X[test], y[test], prediction[test], seconds, validation.astype(bool)
    )


def _network(name: str, run: int, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    from lab.base_models import hidden_layers, train_network

    model = train_network(X[train], y[train], hidden_layers(name), run)
    return {"prediction": model.predict(X), "validation": model.validation}


def _two_layer_network(name: str, run: int, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    from lab.base_models import TWO_LAYERS, train_network

    model = train_network(X[train], y[train], TWO_LAYERS, run)
    return {"prediction": model.predict(X), "validation": model.validation}


def _forest(name: str, run: int, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    from lab.base_models import train_forest

    model = train_forest(X[train], y[train], 7 if name == "MSD" else 5, run)
    return {"prediction": model.predict(X), "validation": np.zeros(len(train), dtype=bool)}


def _folds(name: str, run: int, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> dict[str, Any]:
    from lab.base_models import PaperNetwork, hidden_layers

    model = PaperNetwork(hidden_layers(name), run)
    folds = make_folds(N_FOLDS, X[train], y[train], X[train], None, None, np.random.default_rng(run))
    held_out = out_of_fold(model, X[train], y[train], None, folds)
    prediction = FoldAverage(held_out.models).predict(X)
    prediction[train] = held_out.prediction[:, 0]
    return {"prediction": prediction, "validation": np.zeros(len(train), dtype=bool)}


BASE_MODELS = {"network": _network, "two-layer network": _two_layer_network, "forest": _forest, "folds": _folds}
