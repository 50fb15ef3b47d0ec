"""One peer on one split, with what it takes; as a program, in an environment of its own (`lab.peers.process`).

{"engine": "gpflow_svgp", "problem": "….npz", "run": 0, "output": "….npy"}
    → processor seconds of training and of predictions, GiB at the peak; mean and std are in the file
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from lab.measuring import peak_kib
from lab.peers.engines import serve


class Prediction(NamedTuple):
    """Mean and standard deviation of test rows (n,), processor seconds, and peak memory of the process."""

    mean: np.ndarray
    std: np.ndarray
    seconds: float
    seconds_predicting: float
    gib: float


def predict_split(engine: str, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, run: int) -> Prediction:
    """By a module of this package, on standardised columns and outcomes."""
    peer = import_module(f"benchmarks.large.peers.{engine}")
    centre, scale = X.mean(axis=0), X.std(axis=0)
    level, spread = y.mean(), y.std()
    rows, new = (X - centre) / scale, (X_test - centre) / scale
    began = time.process_time()
    trained = peer.train(rows, (y - level) / spread, run)
    fitted = time.process_time()
    mean, std = peer.predict(trained, new)
    predicted = time.process_time()
    return Prediction(level + spread * mean, spread * std, fitted - began, predicted - fitted, peak_kib() / 2**20)


def load(request: dict[str, Any]) -> dict[str, np.ndarray]:
    with np.load(request["problem"]) as arrays:
        return dict(arrays)


def answer(request: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, float]:
    prediction = predict_split(request["engine"], **arrays, run=request["run"])
    np.save(request["output"], np.stack([prediction.mean, prediction.std]))
    return {name: getattr(prediction, name) for name in ("seconds", "seconds_predicting", "gib")}


if __name__ == "__main__":
    serve(load, answer)
