"""Paired comparisons of left-out errors, and how many rows their standard errors are made of.

A squared standard error is a sum of squares p_i² over rows, of which a few may be nearly all. It is as uncertain as a
sum of so many equal ones (Satterthwaite),

    ν = (Σ p_i²)² / Σ p_i⁴

and a mean has to be larger by a factor where ν is small. Of ν normal parts this would be what Student's quantile t has
over the normal one. Parts of which a few are nearly all have heavier tails than normal ones, so that the ratio of their
mean and its standard error varies less; and some errors of models are seen in few rows. The factor is √(t/1.96).
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


def factor_of_few(parts: Array) -> float:
    """By which a mean has to be larger where few parts are nearly all of its standard error."""
    return float(np.sqrt(student_factor(degrees_of_freedom(parts))))


def is_gain(gain: Array, weight: Array, standard_errors: float) -> bool:
    """Whether the weighted mean of gains, (n,) each, is more than so many of its standard errors."""
    mean, parts = _mean_and_parts(gain, weight)
    return mean > standard_errors * float(np.sqrt(np.sum(parts**2)))


def is_clear_gain(gain: Array, weight: Array, standard_errors: float) -> bool:
    """The same with standard errors that are the larger the fewer rows they are made of."""
    _, parts = _mean_and_parts(gain, weight)
    return is_gain(gain, weight, standard_errors * factor_of_few(parts))


def _mean_and_parts(gain: Array, weight: Array) -> tuple[float, Array]:
    """A weighted mean, and what each row is away from it: their squares add up to its squared standard error."""
    mean = float(np.average(gain, weights=weight))
    return mean, weight * (gain - mean) / float(weight.sum())
