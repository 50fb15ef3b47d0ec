"""Which rows are left out to learn how far predictions are off: all of them or, of very many, a sample.

Leaving a row out of the GP of nearest rows costs as much as a prediction, so that the time for all rows would grow with
their number. The sample consists of short runs of successive rows, because errors of rows that follow each other tell
whether rows depend on each other (`rio_uq.gp.order`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_ROWS, RUN_ROWS = 50_000, 25
"""Rows that are left out at most, and those of a run."""

Rows = NDArray[np.intp] | slice
"""Numbers of rows, or a slice of all of them."""

ALL_ROWS = slice(None)


def left_out_rows(n_distinct: int, place: NDArray[np.intp] | None) -> Rows:
    """The distinct rows to leave out.

    Parameters
    ----------
    n_distinct : int
    place : (n,) array of int or None
        Which of the distinct rows each row of the problem is; None where none were merged.

    Examples
    --------
    >>> left_out_rows(1_000, None)
    slice(None, None, None)
    >>> numbers = left_out_rows(1_000_000, None)
    >>> len(numbers), bool((np.diff(numbers.reshape(-1, RUN_ROWS)) == 1).all())
    (50000, True)
    """
    if n_distinct <= MOST_ROWS:
        return ALL_ROWS
    n_runs = (n_distinct if place is None else len(place)) // RUN_ROWS
    runs = np.sort(np.random.default_rng(0).choice(n_runs, MOST_ROWS // RUN_ROWS, replace=False))
    numbers = (RUN_ROWS * runs[:, None] + np.arange(RUN_ROWS)).ravel()
    return numbers if place is None else np.unique(place[numbers])
