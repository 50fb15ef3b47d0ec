"""Paired comparisons of left-out errors."""

from __future__ import annotations

import numpy as np

from rio_uq._base.array import Array


def is_clear_gain(gain: Array, weight: Array, standard_errors: float) -> bool:
    """Whether the weighted mean of gains, (n,) each, is more than so many of its standard errors."""
    mean = float(np.average(gain, weights=weight))
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2))) / float(weight.sum())
    return mean > standard_errors * error
