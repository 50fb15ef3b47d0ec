"""Models as people have them, which have no error bars, alone and under RIO; and RIO's GP alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.defaults.measures import QUANTILES, of_quantiles
from benchmarks.large.answers import Answer
from benchmarks.large.problems import Split
from rio_uq import RIORegressor, metrics

LAYERS = (64, 64)
"""Units of the network's hidden layers."""


def boosting(run: int) -> Any:
    return HistGradientBoostingRegressor(random_state=run)


def network(run: int) -> Any:
    """It sees standardised columns and outcomes, and stops early on a tenth of the rows."""
    layers = MLPRegressor(hidden_layer_sizes=LAYERS, early_stopping=True, max_iter=500, random_state=run)
    return TransformedTargetRegressor(make_pipeline(StandardScaler(), layers), transformer=StandardScaler())


def alone(make_model: Callable[[int], Any]) -> Callable[[Split, int], Answer]:
    """The model without error bars."""

    def answer(split: Split, run: int) -> Answer:
        began = time.process_time()
        model = make_model(run).fit(split.X, split.y)
        fitted = time.process_time()
        mean = model.predict(split.X_test)
        return Answer({"rmse": metrics.rmse(split.y_test, mean)}, fitted - began, time.process_time() - fitted)

    return answer


def rio_on(make_model: Callable[[int], Any], inference: str) -> Callable[[Split, int], Answer]:
    """The README's three lines; the time is that of RIO, clones included, not of the model."""

    def answer(split: Split, run: int) -> Answer:
        model = make_model(run).fit(split.X, split.y)
        rio = RIORegressor(model, inference=inference, random_state=run, n_jobs=1)
        return _of_rio(rio, split, {})

    return answer


def rio_alone(inference: str, **further: Any) -> Callable[[Split, int], Answer]:
    """A GP on the outcomes, with the same kernel, noise and shape, and further options."""

    def answer(split: Split, run: int) -> Answer:
        mean = float(split.y.mean())
        options: dict[str, Any] = {"inference": inference, "target": "outcome", "kernel": "input", **further}
        rio = RIORegressor(lambda X: np.full(len(X), mean), **options, random_state=run, n_jobs=1)
        return _of_rio(rio, split, {"held_out": True})

    return answer


def _of_rio(rio: RIORegressor, split: Split, said: dict[str, bool]) -> Answer:
    began = time.process_time()
    rio.fit(split.X, split.y, **said)
    fitted = time.process_time()
    distribution = rio.predict_dist(split.X_test)
    predicted = time.process_time()
    quantiles = rio.predict_quantiles(split.X_test, quantiles=QUANTILES)
    measured = of_quantiles(split.y_test, quantiles) | {
        "rmse": metrics.rmse(split.y_test, rio.predict(split.X_test)),
        "nlpd": metrics.nlpd(split.y_test, distribution),
    }
    return Answer(measured, fitted - began, predicted - fitted, rio.inference_)
