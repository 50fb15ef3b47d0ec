"""Rows that follow each other and err alike, as those of a time series do.

A row that is left out among random ones has neighbours in time on both sides, whose errors foretell its own; a row to
come has none. Where features move slowly too, the GP learns the course of past errors as if it were due to them. It
shows in the order of the rows: errors of left-out rows, which are independent otherwise, follow those before. Of a few
slow rows the GP may have learnt that course so well that its errors do not show it; then residuals follow those before,
and the rows on both sides foretell a residual r_i better than the GP does, which had all others: with its error e_i,

    Σ (r_i − b (r_{i−l} + r_{i+l})/2)² < Σ e_i²        for a lag l, with the best b

A function of the features that rows follow in a grid or a sorted table is not taken for that: the GP knows it better.
Folds of successive rows are left out instead where rows depend on each other.
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


def dependence(scores: Array, outcome: Array, residual: Array, error: Array) -> float | None:
    """Rank correlation of errors, or of residuals, with those of the row before, or of one of a few rows before, the
    largest of q outputs; None where it is not clear, or where rows are sorted by an outcome.

    Parameters
    ----------
    scores, outcome : (n, q) arrays
        Scores of left-out rows, and outcomes, in the order of the rows.
    residual, error : (n, q) arrays
        Targets of the GP, and its errors at left-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.random.default_rng(0).normal(size=(400, 1))
    >>> course = np.cumsum(steps, axis=0)
    >>> dependence(steps, steps, steps, steps) is None, round(dependence(course, steps, course, course), 1)
    (True, 1.0)
    """
    n_rows = len(scores)
    if n_rows < 2 or any(_is_sorted(column) for column in outcome.T):
        return None
    lags = np.arange(1, min(MOST_LAGS, n_rows // 2) + 1)
    needed = np.maximum(LEAST_CORRELATION, np.where(lags == 1, *STANDARD_ERRORS) / np.sqrt(n_rows))

    def clearest(columns: Array, counts: Array | None = None) -> float | None:
        correlations = np.stack([correlations_with_rows_before(values, lags) for values in columns.T])
        is_clear = (correlations > needed) & (True if counts is None else counts)
        return float(correlations[is_clear].max()) if is_clear.any() else None

    found = clearest(scores)
    if found is not None:
        return found
    columns = zip(residual.T, error.T, strict=True)
    return clearest(residual, np.stack([is_foretold_by_neighbours(r, e, lags) for r, e in columns]))


def is_foretold_by_neighbours(residual: Array, error: Array, lags: NDArray[np.intp]) -> Mask:
    """Whether the residuals (n,) so many rows before and after foretell a residual better than a GP with these errors
    (n,), for each lag.
    """
    residual = residual - residual.mean()
    left = np.empty(len(lags))
    for number, lag in enumerate(lags):
        around, n_around = np.zeros((2, len(residual)))
        for here, there in ((slice(lag, None), slice(None, -lag)), (slice(None, -lag), slice(lag, None))):
            around[here] += residual[there]
            n_around[here] += 1.0
        around /= np.maximum(n_around, 1.0)
        slope = residual @ around / max(float(around @ around), np.finfo(float).tiny)
        left[number] = np.mean((residual - slope * around) ** 2)
    return np.asarray(left < np.mean(error**2))


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
