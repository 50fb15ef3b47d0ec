"""All methods, in the order of the tables, and what the page says of them."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.quality import trees
from benchmarks.quality.answers import Answer
from benchmarks.standard.methods import DESCRIPTION as STANDARD_DESCRIPTION
from benchmarks.standard.models import MODELS, Method, alone, plain_gp
from benchmarks.standard.splits import Split
from rio_uq import RIORegressor

PAPER, GP = "NN+RIO (paper)", "GP"
RIO = {"NN+RIO": "NN", "ET+RIO": "ET", "HGB+RIO": "HGB"}
"""With the model below each."""


def around(name: str, regressor: Callable[..., RIORegressor] = RIORegressor) -> Method:
    """RIO on a model that has been fitted to all the rows that RIO is given."""

    def method(split: Split) -> Answer:
        began = time.perf_counter()
        model = MODELS[name](split).fit(split.X_train, split.y_train)
        rio = regressor(model, random_state=split.number, n_jobs=1).fit(split.X_train, split.y_train)
        mean, distribution = rio.predict(split.X_test), rio.predict_dist(split.X_test)
        return Answer(mean, time.perf_counter() - began, distribution=distribution)

    return method


METHODS: dict[str, Method] = {
    PAPER: around("NN", RIORegressor.paper),
    **{name: around(model) for name, model in RIO.items()},
    GP: plain_gp,
    "NGBoost": trees.ngboost_refitted,
    "CatBoost": trees.catboost_refitted,
    **{model: alone(model) for model in RIO.values()},
}

DESCRIPTION = {
    PAPER: "`RIORegressor.paper(network)` on the network below: 50 inducing points, residuals of the rows it has seen",
    "NN+RIO": "`RIORegressor(network)` with all defaults on the same network",
    "ET+RIO": "`RIORegressor(trees)` with all defaults on 300 extremely randomised trees",
    "HGB+RIO": "the same on scikit-learn's histogram boosting as it comes",
    **{name: STANDARD_DESCRIPTION[name] for name in (GP, "NGBoost", "CatBoost")},
    "NN": (
        "scikit-learn's network with one hidden layer of 50 units, on standardised columns and outcomes, in batches of "
        "32, until the training loss no longer falls; alone, and without error bars"
    ),
    "ET": "those trees alone",
    "HGB": "that boosting alone",
}
