"""Tables with a known truth: a smooth one, wide ones of which a handful of columns matter, and Friedman's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.when.problem import (
    N_TEST,
    Function,
    Problem,
    Rows,
    extra_trees,
    histogram_boosting,
    noisy,
    ridge,
    rounds_of_boosting,
    simulator,
)
from lab.datasets.standard import standard_rows

SMOOTH_COLUMNS, SMOOTH_NOISE = 6, 0.1
WIDE_NOISE = 0.3
FRIEDMAN_COLUMNS, FRIEDMAN_NOISE = 10, 1.0

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99)
"""Of the truth in a model of known quality."""
ROUNDS = (1, 3, 10, 30, 100)

WIDE_TREES = {"n_trees": 100, "max_features": 1 / 3}
"""Fewer trees that look at a third of the columns at each split: many columns are dear."""


def generator(name: str, n: int, run: int) -> np.random.Generator:
    """Rows follow from the name of the world, their number and the number of the repetition."""
    return np.random.default_rng([*name.encode(), n, run])


def protein(n: int, run: int) -> Problem:
    """Rows of the UCI set protein by its standard split."""
    rows = standard_rows("protein-tertiary-structure")
    train = np.random.default_rng(run).permutation(rows.train(run))[:n]
    test = rows.test[run]
    tests = {float(n): Rows(rows.X[test], rows.y[test])}
    return Problem(Rows(rows.X[train], rows.y[train]), tests, (extra_trees(), histogram_boosting()))


def smooth_truth(X: np.ndarray) -> np.ndarray:
    """Waves and a product."""
    return np.sin(2.5 * X[:, 0]) + np.cos(2.0 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.5 * X[:, 4]


def smooth(n: int, run: int) -> Problem:
    """A smooth function of six columns, one of which does not matter, with little noise."""
    rng = generator("smooth", n, run)
    train, test = (
        noisy(smooth_truth, rng.uniform(-1.0, 1.0, (n_rows, SMOOTH_COLUMNS)), SMOOTH_NOISE, rng)
        for n_rows in (n, N_TEST)
    )
    return Problem(train, {float(n): test}, (histogram_boosting(),))


def wide_truth(X: np.ndarray) -> np.ndarray:
    """A wave and a threshold in two columns; from eight columns on, a slope that a threshold switches on as well."""
    y = np.sin(3.0 * X[:, 0]) + 1.5 * (X[:, 1] > 0.2)
    if X.shape[1] >= 8:
        y = y + 2.0 * X[:, 3] * (X[:, 2] > 0.0) + 1.5 * ((X[:, 4] > 0.0) & (X[:, 5] > -0.3))
    return np.asarray(y)


def wide(d: int) -> Callable[[int, int], Problem]:
    """Independent columns, of which six matter at most."""

    def problem(n: int, run: int) -> Problem:
        rng = generator(f"wide {d}", n, run)
        train, test = (
            noisy(wide_truth, rng.uniform(-1.0, 1.0, (n_rows, d)), WIDE_NOISE, rng) for n_rows in (n, N_TEST)
        )
        return Problem(train, {float(d): test}, (extra_trees(**WIDE_TREES), ridge()))

    return problem


def friedman_truth(X: np.ndarray) -> np.ndarray:
    """Friedman's first function: 10 sin(πx₁x₂) + 20 (x₃ − ½)² + 10 x₄ + 5 x₅."""
    wave = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return np.asarray(wave + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3] + 5.0 * X[:, 4])


def error_of_model(X: np.ndarray) -> np.ndarray:
    """A smooth bias and a fast wiggle in columns that do not matter, about the mean of the truth."""
    return np.asarray(14.4 + 5.0 * np.cos(2.0 * X[:, 5]) + 2.0 * np.sin(15.0 * X[:, 6]))


def blend(share: float) -> Function:
    """A model that is the truth to a share, and for the rest its own error."""
    return lambda X: share * friedman_truth(X) + (1.0 - share) * error_of_model(X)


def friedman(n: int, run: int) -> Problem:
    """Friedman's first problem under models from useless to nearly perfect."""
    rng = generator("Friedman", n, run)
    train, test = (
        noisy(friedman_truth, rng.uniform(size=(n_rows, FRIEDMAN_COLUMNS)), FRIEDMAN_NOISE, rng)
        for n_rows in (n, N_TEST)
    )
    blends = tuple(simulator("blend", blend(share), share) for share in SHARES)
    return Problem(train, {float(n): test}, (*blends, *map(rounds_of_boosting, ROUNDS)))
