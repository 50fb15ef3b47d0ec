"""Problems with many rows: three sets with their standard splits, flights, and an arm whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.defaults import tables
from lab.datasets.standard import standard_rows

MOST_TEST_ROWS = 5000

LINKS, ARM_NOISE = 8, 0.02


class Split(NamedTuple):
    """Rows for training and for testing."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def standard(name: str, n_rows: int, run: int) -> Split:
    """A standard split, and so many of its training rows at most."""
    rows = standard_rows(name)
    train = np.random.default_rng(run).permutation(rows.train(run))[:n_rows]
    test = rows.test[run]
    return Split(rows.X[train], rows.y[train], rows.X[test], rows.y[test])


def flights(n_rows: int, run: int) -> Split:
    """Arrival delays: heavy tails, and little to be learnt."""
    X, y = tables.flights()
    order = np.random.default_rng(run).permutation(len(y))
    test, train = order[:MOST_TEST_ROWS], order[MOST_TEST_ROWS:][:n_rows]
    return Split(X[train], y[train], X[test], y[test])


def arm(n_rows: int, run: int) -> Split:
    """How far the end of an arm of eight links is from its beginning, by their angles: smooth, and no table of a few
    thousand rows shows it.
    """
    rng = np.random.default_rng(run)
    angles = rng.uniform(-1.5, 1.5, size=(n_rows + MOST_TEST_ROWS, LINKS))
    y = reach(angles) + ARM_NOISE * rng.normal(size=len(angles))
    return Split(angles[:n_rows], y[:n_rows], angles[n_rows:], y[n_rows:])


def reach(angles: np.ndarray) -> np.ndarray:
    """Of the arm, whose links are three eighths long."""
    directions = np.cumsum(angles, axis=1)
    return np.asarray(3.0 * np.hypot(np.cos(directions).mean(axis=1), np.sin(directions).mean(axis=1)))


PROBLEMS: dict[str, Callable[[int, int], Split]] = {
    "protein": lambda n_rows, run: standard("protein-tertiary-structure", n_rows, run),
    "power-plant": lambda n_rows, run: standard("power-plant", n_rows, run),
    "kin8nm": lambda n_rows, run: standard("kin8nm", n_rows, run),
    "flights": flights,
    "arm": arm,
}
"""From the largest number of rows and the number of a split."""
