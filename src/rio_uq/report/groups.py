"""Rows in groups: by the size of a prediction or of a feature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats

from rio_uq._base.array import Array, Mask
from rio_uq.report.words import distinct
from rio_uq.summary.bands import cut

LEAST_ROWS = 20
"""Of a group, on average."""


@dataclass(frozen=True, eq=False)
class Group:
    """Some rows.

    Attributes
    ----------
    label : str
        Which values they have: "2 to 3", say.
    rows : (n,) array of bool
    """

    label: str
    rows: Mask


def groups_by(values: Array, most: int) -> list[Group]:
    """At most so many groups with about the same number of rows; none where rows are too few or all the same.

    Parameters
    ----------
    values : (n,) array
    most : int
    """
    n_groups = min(most, len(values) // LEAST_ROWS)
    bands = cut(values, n_groups) if n_groups > 1 else []
    if len(bands) < 2:
        return []
    ends = [low for low, _, _ in bands] + [bands[-1][1]]
    if bands[0][0] == bands[0][1]:
        labels = distinct(ends[:-1])
    else:
        ends[0], ends[-1] = float(values.min()), float(values.max())
        labels = [f"{low} to {high}" for low, high in pairwise(distinct(ends))]
    return [Group(label, rows) for label, (_, _, rows) in zip(labels, bands, strict=True)]


def binomial_interval(successes: Array, trials: Array, level: float = 0.95) -> tuple[Array, Array]:
    """The exact (Clopper–Pearson) interval of a probability."""
    tail = 0.5 - 0.5 * level
    successes, trials = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    with np.errstate(invalid="ignore"):
        low = np.where(successes == 0, 0.0, stats.beta.ppf(tail, successes, trials - successes + 1))
        high = np.where(successes == trials, 1.0, stats.beta.ppf(1.0 - tail, successes + 1, trials - successes))
    return low, high


def mean_interval(values: Array, level: float = 0.95) -> tuple[float, float, float]:
    """A mean with its Student interval, NaN where there is one value only."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, np.nan, np.nan
    half = stats.t.ppf(0.5 + 0.5 * level, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return mean, mean - float(half), mean + float(half)
