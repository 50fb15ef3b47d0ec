"""From the units of the data to those of the GP, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array

FAR = 1e6
"""Standardised values are cut off here: farther away than that, no kernel sees a difference any more."""


@dataclass(frozen=True)
class Scaling:
    """Columns are shifted and divided: ``scaled = (values − offset) / scale``, all of shape (k,).

    Attributes
    ----------
    offset, scale : (k,) arrays
    limit : float
        Scaled values are cut off at ± this.
    """

    offset: Array
    scale: Array
    limit: float = np.inf

    @classmethod
    def standardizing(cls, values: Array, weight: Array | None = None, rounding: Array | float = 0.0) -> Scaling:
        """To mean 0 and standard deviation 1.

        A column that does not vary by more than ``rounding`` is divided by ``rounding``, or by 1 where that is 0.
        """
        if values.shape[1] == 0:
            return cls.identity(0)
        # The first row is taken off before anything is squared, and the largest value divided out: neither a large
        # common offset nor extreme units cost digits.
        first = values[0]
        shifted = values - first
        size = np.abs(shifted).max(axis=0)
        size[size == 0.0] = 1.0
        shifted /= size
        mean = np.average(shifted, axis=0, weights=weight)
        spread = size * np.sqrt(np.average((shifted - mean) ** 2, axis=0, weights=weight))
        floor = np.maximum(rounding, 4.0 * np.finfo(float).eps * np.abs(values).max(axis=0))
        constant = np.where(np.asarray(rounding) > 0.0, rounding, 1.0)
        return cls(first + size * mean, np.where(spread > floor, spread, constant), FAR)

    @classmethod
    def identity(cls, n_columns: int) -> Scaling:
        return cls(np.zeros(n_columns), np.ones(n_columns))

    def apply(self, values: Array) -> Array:
        scaled = (values - self.offset) / self.scale
        # np.clip takes longer than all else for a single row
        return np.asarray(np.minimum(np.maximum(scaled, -self.limit), self.limit))
