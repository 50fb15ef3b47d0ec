"""Stochastic training, the same for all libraries: inducing points, batches of rows, and how many steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

POINTS, BATCH, EPOCHS, FEWEST_STEPS, RATE = 500, 1024, 30, 500, 0.01
"""Inducing points, rows of a batch, passes over all rows, steps at least, and Adam's step."""


def inducing_rows(n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the rows at which inducing points begin."""
    return rng.choice(n, min(POINTS, n), replace=False)


def batches(n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Numbers of the rows of each step, in an order of its own in every pass."""
    n_batches = -(-n // BATCH)
    for _ in range(max(EPOCHS, FEWEST_STEPS // n_batches)):
        order = rng.permutation(n)
        for start in range(0, n, BATCH):
            yield order[start : start + BATCH]
