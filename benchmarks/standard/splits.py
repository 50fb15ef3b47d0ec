"""The rows of a split: one of the standard ones, or one whose training rows leave out a part of one feature's range.

The latter two ask whether error bars grow where data end (Foong et al. 2019): "gap" tests on the middle third of a
feature, "tails" on the sixth at either end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from lab.datasets.standard import STANDARD, StandardRows
from lab.splits import held_out_rows

TABLES = ("standard", "gap", "tails")
LEFT_OUT = {"gap": (1 / 3, 2 / 3), "tails": (1 / 6, 5 / 6)}
"""Shares of the rows between which the middle is."""

FEWEST, MOST = 0.1, 0.5
"""Shares of the rows that may be test rows: a feature of two values, say, has no gap."""

HIDDEN, HIDDEN_OF_LARGE = (50,), {"protein": (100,)}
"""Widths of hidden layers in those papers."""


@dataclass(frozen=True)
class Split:
    """Rows for training and testing. The number is the seed of everything."""

    number: int
    hidden: tuple[int, ...]
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def held_out(self) -> np.ndarray:
        """A random 20 % of the training rows, (n,) of bool."""
        return held_out_rows(len(self.y_train), self.number)


def split_of(table: str, dataset: str, number: int) -> Split:
    """A split by the number of a standard one, or by that of a feature."""
    rows = STANDARD[dataset].load()
    is_test = np.zeros(len(rows.y), dtype=bool)
    if table == "standard":
        is_test[rows.test[number]] = True
    else:
        left_out = left_out_rows(rows.X[:, number], table)
        assert left_out is not None, "has_split tells which features can be split"
        is_test = left_out
    hidden = HIDDEN_OF_LARGE.get(dataset, HIDDEN)
    return Split(number, hidden, rows.X[~is_test], rows.y[~is_test], rows.X[is_test], rows.y[is_test])


def left_out_rows(feature: np.ndarray, table: str) -> np.ndarray | None:
    """Test rows, (n,) of bool: those with a value in the middle of a feature's range, or at its ends.

    Rows with equal values stay together, so that both bounds are the values nearest to the shares of `LEFT_OUT`; None
    where there are no such bounds, or too few or too many rows are left out by them.
    """
    values, counts = np.unique(feature, return_counts=True)
    if len(values) < 3:
        return None
    share = np.cumsum(counts) / len(feature)
    low, high = (values[np.argmin(np.abs(share[:-1] - bound))] for bound in LEFT_OUT[table])
    middle = (feature > low) & (feature <= high)
    is_test = middle if table == "gap" else ~middle
    return is_test if FEWEST <= is_test.mean() <= MOST else None


@cache
def numbers_of(table: str, dataset: str) -> tuple[int, ...]:
    """Numbers of all splits of a data set."""
    data = STANDARD[dataset]
    if table == "standard":
        return tuple(range(data.n_splits))
    return _splittable(data.load(), table)


def _splittable(rows: StandardRows, table: str) -> tuple[int, ...]:
    """Features that can be split."""
    return tuple(j for j, feature in enumerate(rows.X.T) if left_out_rows(feature, table) is not None)
