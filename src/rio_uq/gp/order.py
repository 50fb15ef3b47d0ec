"""Rows that follow each other and err alike, as those of a time series do.

A row that is left out among random ones has neighbours in time on both sides, whose errors foretell its own; a row to
come has none. Where features move slowly too, the GP learns the course of past errors as if it were due to them. It
shows in the order of the rows: errors of left-out rows, which are independent otherwise, follow those before. Folds of
successive rows are then left out instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from rio_uq._base.array import Array, Mask

N_BLOCKS = 5

LEAST_CORRELATION, STANDARD_ERRORS = 0.25, (3.5, 4.5)
"""Of errors, for rows to depend on each other: in itself, and in units of 1/√n for the row before, and for one of those
before that, of which there are many."""

MOST_LAGS = 12
"""Rows before that are looked at: in a table of a few series, the next row of a series is not the next row."""

SORTED = 0.05
"""Outcomes of which no larger share of steps goes the other way have been sorted: so are their errors then."""


def dependence(scores: Array, outcome: Array) -> float | None:
    """Rank correlation of errors with those of the row before, or of one of a few rows before, the largest of q
    outputs; None where it is not clear, or where rows are sorted by an outcome.

    Parameters
    ----------
    scores, outcome : (n, q) arrays
        Scores of left-out rows, and outcomes, in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.random.default_rng(0).normal(size=(400, 1))
    >>> dependence(steps, steps) is None, round(dependence(np.cumsum(steps, axis=0), steps), 1)
    (True, 1.0)
    """
    n_rows = len(scores)
    if n_rows < 2 or any(_is_sorted(column) for column in outcome.T):
        return None
    lags = np.arange(1, min(MOST_LAGS, n_rows // 2) + 1)
    needed = np.maximum(LEAST_CORRELATION, np.where(lags == 1, *STANDARD_ERRORS) / np.sqrt(n_rows))
    correlations = np.stack([correlations_with_rows_before(errors, lags) for errors in scores.T])
    return float(correlations.max()) if (correlations > needed).any() else None


def correlations_with_rows_before(values: Array, lags: NDArray[np.intp]) -> Array:
    """Rank correlations of values (n,) with those so many rows before; zeros where all are the same."""
    rank = rankdata(values)
    rank -= rank.mean()
    products = np.array([rank[lag:] @ rank[:-lag] for lag in lags])
    return products / max(float(rank @ rank), 1.0)


def blocks_of_successive(is_counted: Mask) -> NDArray[np.intp]:
    """The block of each row, (n,), all with as many rows that count."""
    place = np.maximum(np.cumsum(is_counted) - 1, 0)
    return np.asarray(place * N_BLOCKS // (place[-1] + 1))


def _is_sorted(y: Array) -> bool:
    step = np.diff(y)
    up, down = np.count_nonzero(step > 0.0), np.count_nonzero(step < 0.0)
    return bool(min(up, down) <= SORTED * (up + down))
