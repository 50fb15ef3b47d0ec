"""What a point of a sweep consists of: rows for training and testing, and the models that RIO is put on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N_TEST = 2000

Function = Callable[[np.ndarray], np.ndarray]


class Rows(NamedTuple):
    """X (n, d) and y (n,)."""

    X: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Candidate:
    """A model under RIO.

    Attributes
    ----------
    name : str
    make : callable
        From the seed to an estimator before fitting, or to a function of X that has seen no row.
    is_trained : bool
        Whether it is fitted to the training rows.
    level : float or None
        How good it is, in a sweep over models.
    """

    name: str
    make: Callable[[int], Any]
    is_trained: bool = True
    level: float | None = None


@dataclass(frozen=True)
class Problem:
    """Training rows, test rows by their place in the sweep, and the models."""

    train: Rows
    tests: dict[float, Rows]
    candidates: tuple[Candidate, ...]


def simulator(name: str, function: Function, level: float | None = None) -> Candidate:
    """A closed formula as a model."""
    return Candidate(name, lambda seed: function, is_trained=False, level=level)


def extra_trees(n_trees: int = 300, max_features: float = 1.0) -> Candidate:
    """Extremely randomised trees."""
    return Candidate("trees", lambda seed: ExtraTreesRegressor(n_trees, max_features=max_features, random_state=seed))


def histogram_boosting() -> Candidate:
    return Candidate("boosting", lambda seed: HistGradientBoostingRegressor(random_state=seed))


def rounds_of_boosting(n_rounds: int) -> Candidate:
    """Gradient boosting that stops after so many trees."""
    return Candidate(
        "boosting",
        lambda seed: GradientBoostingRegressor(n_estimators=n_rounds, random_state=seed),
        level=n_rounds,
    )


def ridge() -> Candidate:
    return Candidate("ridge", lambda seed: make_pipeline(StandardScaler(), Ridge()))


def noisy(truth: Function, X: np.ndarray, noise: float, rng: np.random.Generator) -> Rows:
    """Outcomes with normal noise of a standard deviation."""
    return Rows(X, truth(X) + noise * rng.normal(size=len(X)))


def uniform(lower: np.ndarray, upper: np.ndarray, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows (n, d) between bounds (d,)."""
    return rng.uniform(lower, upper, size=(n_rows, len(lower)))
