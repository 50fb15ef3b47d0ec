"""RIO as it comes, on three models as they come, and the plain Gaussian process of its engine."""

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

from benchmarks.quality.answers import Answer
from benchmarks.quality.trees import extra_trees
from benchmarks.standard.splits import Split
from rio_uq import RIORegressor

Method = Callable[[Split], Answer]

MOST_EPOCHS, BATCH_ROWS = 1000, 32


def network(split: Split) -> TransformedTargetRegressor:
    """One hidden layer, trained by Adam on standardised columns and outcomes until the loss no longer falls."""
    layers = MLPRegressor(
        hidden_layer_sizes=split.hidden, batch_size=BATCH_ROWS, max_iter=MOST_EPOCHS, random_state=split.number
    )
    return TransformedTargetRegressor(make_pipeline(StandardScaler(), layers), transformer=StandardScaler())


MODELS: dict[str, Callable[[Split], Any]] = {
    "ET": lambda split: extra_trees(split.number),
    "HGB": lambda split: HistGradientBoostingRegressor(random_state=split.number),
    "NN": network,
}
"""Before fitting."""


def alone(name: str) -> Method:
    """A model without error bars."""

    def method(split: Split) -> Answer:
        began = time.perf_counter()
        mean = MODELS[name](split).fit(split.X_train, split.y_train).predict(split.X_test)
        return Answer(mean, time.perf_counter() - began)

    return method


def rio_on(name: str) -> Method:
    """RIO with its defaults, which clones and fits the model."""

    def method(split: Split) -> Answer:
        began = time.perf_counter()
        rio = RIORegressor(MODELS[name](split), random_state=split.number, n_jobs=1)
        rio.fit(split.X_train, split.y_train)
        mean, distribution = rio.predict(split.X_test), rio.predict_dist(split.X_test)
        return Answer(mean, time.perf_counter() - began, distribution=distribution)

    return method


def plain_gp(split: Split) -> Answer:
    """RIO's input kernel on the outcomes, with its defaults."""
    began = time.perf_counter()
    rio = RIORegressor(target="outcome", kernel="input", random_state=split.number, n_jobs=1)
    rio.fit(split.X_train, split.y_train, y_pred=np.zeros(len(split.y_train)))
    nothing = np.zeros(len(split.y_test))
    mean, distribution = (answer(split.X_test, y_pred=nothing) for answer in (rio.predict, rio.predict_dist))
    return Answer(mean, time.perf_counter() - began, distribution=distribution)
