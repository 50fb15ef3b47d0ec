"""Figures of small fits over the grid of options, recorded to notice when one of them moves.

``python -m tests.behaviour.figures`` records them anew, after a change that is meant to move them.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import rio_uq
from rio_uq import RIORegressor

RECORDED = Path(__file__).with_suffix(".json")

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "input": {"kernel": "input"},
    "output": {"kernel": "output", "target": "outcome"},
    "kernels": {"input_kernel": "rational_quadratic", "output_kernel": "matern32+linear", "ard": False},
    "constant": {"noise": "constant", "input_kernel": "rbf"},
    "sparse": {"inference": "sparse", "n_inducing": 12},
    "moving": {"inference": "sparse", "n_inducing": 8, "training": {"optimize_inducing": True, "inducing": "first"}},
    "auto": {"inference": "sparse", "n_inducing": "auto"},
    "svgp": {"inference": "svgp", "n_inducing": 10},
    "flat": {"training": {"prior": "flat", "starts": "unit", "standardize_output": False}},
    "cross-fit": {"residuals": "cross-fit", "cv": 3, "combine": "refit"},
}
SOME = ("default", "sparse", "svgp")
"""Options that further data sets are fitted with: the others take the same way through the code with any data."""


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Name, X, y and new rows."""
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes", X[:50, :4], y[:50], X[300:305, :4]
    rng = np.random.default_rng(1)
    X = rng.uniform(-2.0, 2.0, size=(65, 2))
    waves = np.sin(3.0 * X[:, 0]) + X[:, 1] + (0.05 + 0.3 * (X[:, 1] > 0.0)) * rng.normal(size=65)
    yield "waves", X[:60], waves, X[60:]
    yield "two outputs", X[:60], np.column_stack([waves, X[:, 0] * X[:, 1]]), X[60:]


def answers(rio: RIORegressor, X: np.ndarray) -> dict[str, Any]:
    mean, std = rio.predict(X, return_std=True)
    interval = rio.predict_interval(X, confidence_level=0.9)
    parts = rio.decompose(X)
    values = {
        "bound": rio.bound_,
        "noise": rio.noise_variance_,
        "trust": rio.trust_,
        "mean": mean,
        "std": std,
        "width": interval[..., 1] - interval[..., 0],
        "input part": parts.input,
    }
    return {name: np.asarray(value, dtype=float).ravel().tolist() for name, value in values.items()}


def figures() -> dict[str, dict[str, Any]]:
    """All of them, by data set and option."""
    table = {}
    for name, X, y, new in data_sets():
        y = y[: len(X)]
        model = Ridge().fit(X, y)
        for option, parameters in OPTIONS.items():
            if name != "waves" and option not in SOME:
                continue
            settings = {"residuals": "in-sample", "distribution": "normal", "random_state": 0, "max_iter": 5}
            rio = RIORegressor(model, **{**settings, **parameters})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # five iterations do not converge
                rio.fit(X, y)
            table[f"{name}, {option}"] = answers(rio, new)
            if option in ("default", "sparse"):
                table[f"{name}, {option}, loaded"] = answers(_stored(rio, model), new)
                table[f"{name}, {option}, more rows"] = answers(rio.partial_fit(new, model.predict(new) + 0.1), new)
    return table


def _stored(rio: RIORegressor, model: Ridge) -> RIORegressor:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.rio")
        rio.save(path)
        return rio_uq.load(path, estimator=model)


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(figures(), indent=1) + "\n")
