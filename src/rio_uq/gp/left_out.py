"""Leave-one-out errors in the units of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp.left_out_rows import Rows


@dataclass(frozen=True)
class LeftOut:
    """Leave-one-out errors of the distinct rows that a GP was trained on, in the units of the data.

    Neither the mean nor the noise at a row has seen that row: both are closed forms at fixed hyperparameters.

    Attributes
    ----------
    residual, std : (m, q) arrays
        Target minus leave-one-out mean, and the standard deviation that was expected of it, noise included.
    scores : (m, q) array
        residual/std; with a guard and exact inference those of GPs that were trained without the row.
    expected : (m, q) array
        Targets as they are expected without the row, by the same GPs, before a guard takes a share of corrections.
    weight : (m,) array
        How often each row counts where the shape of errors is learnt: zero for rows that the model has seen, if others
        are held out, and once for copies of one measurement; zero, too, for rows that were not left out, of which the
        rest is NaN.
    place : (n,) array of int or None
        Which of the distinct rows each row of the problem is; None where none were merged.
    """

    residual: Array
    std: Array
    scores: Array
    expected: Array
    weight: Array
    place: NDArray[np.intp] | None

    @property
    def first_rows(self) -> NDArray[np.intp]:
        """For each of the distinct rows the first row of the problem that it stands for, (m,)."""
        return np.arange(len(self.weight)) if self.place is None else np.unique(self.place, return_index=True)[1]

    def of_rows(self, values: Array) -> Array:
        """Values of distinct rows (m, q) as those of all rows (n, q)."""
        return values if self.place is None else values[self.place]

    def among(self, n_rows: int, chosen: Rows) -> LeftOut:
        """These as some of so many distinct rows."""
        if isinstance(chosen, slice):
            return self
        columns = np.full((4, n_rows, self.residual.shape[1]), np.nan)
        columns[:, chosen] = self.residual, self.std, self.scores, self.expected
        weight = np.zeros(n_rows)
        weight[chosen] = self.weight
        return replace(self, residual=columns[0], std=columns[1], scores=columns[2], expected=columns[3], weight=weight)
