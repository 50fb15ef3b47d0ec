"""Rejecting the riskiest rows: the error of those that are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.report.rows import ReportRows
from rio_uq.report.words import measured, share

STEPS = np.arange(0, 96) / 100
"""Shares of rows that may be rejected."""

ANSWERED = 0.1


@dataclass(frozen=True, eq=False)
class Rejection:
    """The fifth section.

    Attributes
    ----------
    rejected : (k,) array
        Shares of rows, the most uncertain ones.
    n_kept : (k,) array of int
    threshold : (k,) array
        The largest standard deviation that is kept.
    rmse, mae : (k,) arrays
        Of the rows that are kept; where some have the same standard deviation, what is expected of a random order.
    best : (k,) array
        RMSE of the rows kept, if those with the largest errors were rejected: nothing can be better.
    """

    rejected: Array
    n_kept: NDArray[np.intp]
    threshold: Array
    rmse: Array
    mae: Array
    best: Array

    @property
    def answered(self) -> int:
        """The place of the share that the answer speaks of."""
        return min(int(np.searchsorted(self.rejected, ANSWERED - 1e-9)), len(self.rejected) - 1)

    @property
    def answer(self) -> str:
        place = self.answered
        before, after = float(self.rmse[0]), float(self.rmse[place])
        if before == 0.0:
            return "There is nothing to gain: all predictions are exact."
        rejected = share(float(self.rejected[place]), 0)
        if after < before:
            return (
                f"If a person takes the most uncertain {rejected} of rows, the RMSE of the others is {measured(after)} "
                f"instead of {measured(before)}, {share(1.0 - after / before, 0)} less."
            )
        return (
            f"It does not help here: without the most uncertain {rejected} of rows the RMSE is {measured(after)}, and "
            f"{measured(before)} with them."
        )


def measure_rejection(rows: ReportRows) -> Rejection:
    """Errors of what is kept, for every per cent of rows rejected."""
    n_rows, residual = len(rows), rows.residual_after
    n_kept = n_rows - np.floor(STEPS * n_rows + 1e-9).astype(np.intp)
    kept, first = np.unique(-n_kept, return_index=True)
    n_kept = -kept
    squares, size = kept_means(rows.std, residual**2), kept_means(rows.std, np.abs(residual))
    best = kept_means(np.abs(residual), residual**2)
    return Rejection(
        STEPS[first] if len(first) == len(STEPS) else 1.0 - n_kept / n_rows,
        n_kept,
        np.sort(rows.std)[n_kept - 1],
        np.sqrt(squares[n_kept - 1]),
        size[n_kept - 1],
        np.sqrt(best[n_kept - 1]),
    )


def kept_means(risk: Array, values: Array) -> Array:
    """Means of the values (n,) of the first 1, 2, … n rows in the order of risk, ties in random order."""
    _, group, count = np.unique(risk, return_inverse=True, return_counts=True)
    of_group = np.bincount(group, weights=values) / count
    return np.asarray(np.cumsum(np.repeat(of_group, count)) / np.arange(1, len(values) + 1))
