"""Generated rows for measurements of time and memory, and a base model that costs nothing."""

from __future__ import annotations

from typing import Any

import numpy as np


def model(X: Any) -> np.ndarray:
    """The base model of generated rows: it misses some of the truth."""
    return np.asarray(X)[:, 0]


def rows(seed: int, n_rows: int, n_features: int) -> np.ndarray:
    """Features and outcomes, the latter last: (n, d + 1)."""
    rng = np.random.default_rng([seed, n_features])
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=len(X))
    return np.column_stack([X, y])
