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

from rio_uq._base.array import Array

N_BLOCKS = 5

LEAST_CORRELATION, STANDARD_ERRORS = 0.25, 3.5
"""Of successive errors, for rows to depend on each other: in itself, and in units of 1/√n."""

SORTED = 0.05
"""Outcomes of which no larger share of steps goes the other way have been sorted: so are their errors then."""


def dependence(scores: Array, outcome: Array) -> float | None:
    """Rank correlation of errors of successive rows, the largest of q outputs; None where it is not clear, or where
    rows are sorted by their outcome.

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
    if n_rows < 2:
        return None
    found = [
        correlation_of_successive(errors)
        for errors, y in zip(scores.T, outcome.T, strict=True)
        if np.ptp(errors) > 0.0 and not _is_sorted(y)
    ]
    correlation = max(found, default=0.0)
    return correlation if correlation > max(LEAST_CORRELATION, STANDARD_ERRORS / np.sqrt(n_rows)) else None


def correlation_of_successive(values: Array) -> float:
    """Rank correlation of values (n,) with those before them."""
    rank = rankdata(values)
    rank -= rank.mean()
    return float(rank[1:] @ rank[:-1] / (rank @ rank))


def blocks_of_successive(n_rows: int) -> NDArray[np.intp]:
    """The block of each row, (n,)."""
    return np.arange(n_rows) * N_BLOCKS // n_rows


def _is_sorted(y: Array) -> bool:
    step = np.diff(y)
    up, down = np.count_nonzero(step > 0.0), np.count_nonzero(step < 0.0)
    return bool(min(up, down) <= SORTED * (up + down))
