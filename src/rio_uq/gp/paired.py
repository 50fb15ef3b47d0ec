"""Paired comparisons of left-out errors, and how many rows their standard errors are made of.

A squared standard error is a sum of squares p_i² over rows, of which a few may be nearly all. It is as uncertain as a
sum of so many equal ones (Satterthwaite),

    ν = (Σ p_i²)² / Σ p_i⁴

and a mean is compared with Student's quantile for ν degrees of freedom.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

from rio_uq._base.array import Array

LEVEL = 0.975


def degrees_of_freedom(parts: Array) -> float:
    """ν of a sum of squares of parts (n,)."""
    size = float(np.abs(parts).max())
    if size == 0.0:
        return float(len(parts))
    squares = (parts / size) ** 2
    return float(squares.sum() ** 2 / (squares**2).sum())


def student_factor(degrees: float) -> float:
    """What Student's quantile has over the normal one."""
    return float(stdtrit(degrees, LEVEL) / ndtri(LEVEL))


def is_clear_gain(gain: Array, weight: Array, standard_errors: float) -> bool:
    """Whether the weighted mean of gains, (n,) each, is more than so many of its standard errors, each of them the
    larger the fewer rows it is made of.
    """
    mean = float(np.average(gain, weights=weight))
    parts = weight * (gain - mean) / float(weight.sum())
    needed = standard_errors * student_factor(degrees_of_freedom(parts))
    return mean > needed * float(np.sqrt(np.sum(parts**2)))
