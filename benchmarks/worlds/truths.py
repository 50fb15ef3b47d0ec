"""Inputs, and the conditional means of outcomes as functions of them."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

Generator = np.random.Generator


def normal_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))


def uniform_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    return rng.uniform(size=(n, d))


def wide_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    """On which `rough` has about eleven half-waves each way."""
    return rng.uniform(-1.5, 1.5, size=(n, d))


def lognormal_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    return rng.lognormal(sigma=1.5, size=(n, d))


def collinear_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    """All columns are nearly the same."""
    return rng.normal(size=(n, 1)) + 0.01 * rng.normal(size=(n, d))


def coarse_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    """Three values in each column."""
    return rng.integers(0, 3, size=(n, d)).astype(float)


def near_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    """Half a standard deviation beside `normal_inputs`."""
    return 0.5 + rng.normal(size=(n, d))


def far_inputs(rng: Generator, n: int, d: int) -> np.ndarray:
    """Ten standard deviations away from `normal_inputs`."""
    return 10.0 + rng.normal(size=(n, d))


def linear(X: np.ndarray) -> np.ndarray:
    return X[:, 0]


def smooth(X: np.ndarray) -> np.ndarray:
    """x₁ + sin 2x₂; both are the same column if there is one."""
    return X[:, 0] + np.sin(2.0 * X[:, min(1, X.shape[1] - 1)])


def positive(X: np.ndarray) -> np.ndarray:
    return np.exp(0.5 * X[:, 0] + 1.0)


def slow_inputs(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Normal inputs that hardly change from one row to the next."""
    return lasting(rng, (n, d), 0.97)


def lasting(rng: np.random.Generator, shape: tuple[int, ...], memory: float) -> np.ndarray:
    """Standard normal values in the order of time, each ``memory`` times the one before and something new."""
    start, new = rng.normal(size=(1, *shape[1:])), np.sqrt(1.0 - memory**2) * rng.normal(size=shape)
    return lfilter([1.0], [1.0, -memory], new, axis=0, zi=memory * start)[0]


def friedman(X: np.ndarray) -> np.ndarray:
    curved = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return curved + 10.0 * X[:, 3] + 5.0 * X[:, 4]


def rough(X: np.ndarray) -> np.ndarray:
    return np.sin(12.0 * X[:, 0]) * np.cos(12.0 * X[:, 1])


def of_few_inputs(X: np.ndarray) -> np.ndarray:
    """Three of all inputs matter."""
    return np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.5 * np.cos(2.0 * X[:, 2])


def above_one(X: np.ndarray) -> np.ndarray:
    return np.where(X[:, 0] < 1.0, 0.0, 2.0 * (X[:, 0] - 1.0))


def exponential(X: np.ndarray) -> np.ndarray:
    """The mean of exp(2x + 0.3ε) for ε normal."""
    return np.exp(2.0 * X[:, 0] + 0.5 * 0.3**2)


def nought(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X))


def middle(X: np.ndarray) -> np.ndarray:
    """The mean of outcomes that are 0 or 41."""
    return np.full(len(X), 20.5)


def rare(X: np.ndarray) -> np.ndarray:
    """Chances of 0.1 to 0.3, by the first input."""
    return 0.1 + 0.1 * X[:, 0]


def two(X: np.ndarray) -> np.ndarray:
    return np.column_stack([smooth(X), X[:, 0] - X[:, 1]])


def five(X: np.ndarray) -> np.ndarray:
    return np.column_stack([smooth(X), X, X[:, 0] * X[:, 1]])[:, :5]
