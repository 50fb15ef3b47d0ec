"""Models under RIO: predictions made of the truth, or estimators that are fitted to the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge

Predictions = Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes
    ----------
    name : str
    predictions : callable or None
        Of a generator, inputs (n, d) and conditional means (n,) or (n, q): predictions of the shape of the means. Such
        a model has seen none of the rows.
    estimator : callable or None
        Of a seed: an estimator that is not fitted, which RIO cross-fits.
    """

    name: str
    predictions: Predictions | None = None
    estimator: Callable[[int], Any] | None = None


PERFECT = Model("perfect", lambda rng, X, mean: mean)
BIASED = Model("biased by 1", lambda rng, X, mean: mean + 1.0)
SCALED = Model("half the truth", lambda rng, X, mean: 0.5 * mean)
DOUBLE = Model("twice the truth", lambda rng, X, mean: 2.0 * mean)
REVERSED = Model("of the wrong sign", lambda rng, X, mean: -mean)
CONSTANT = Model("constant", lambda rng, X, mean: np.zeros_like(mean))
MIDDLE = Model("constant", lambda rng, X, mean: np.full_like(mean, 20.0))
SMALL = Model("constant", lambda rng, X, mean: np.full_like(mean, 0.05))
RANDOM = Model("random numbers", lambda rng, X, mean: rng.normal(size=mean.shape))
HALF = Model("knows x₁ only", lambda rng, X, mean: X[:, 0])
MULTIPLICATIVE = Model("wrong by a factor", lambda rng, X, mean: mean * (1.0 + 0.5 * np.sin(2.0 * X[:, -1])))
MEDIAN = Model("exp(2x)", lambda rng, X, mean: np.exp(2.0 * X[:, 0]))

FOREST = Model("forest", estimator=lambda seed: RandomForestRegressor(random_state=seed))
BOOSTING = Model("boosting", estimator=lambda seed: HistGradientBoostingRegressor(random_state=seed))
RIDGE = Model("ridge", estimator=lambda seed: Ridge())
LEAST_SQUARES = Model("least squares", estimator=lambda seed: LinearRegression())
