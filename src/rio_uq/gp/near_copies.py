"""Rows that are nearly equal: several records of one measurement, as augmentation, sensors and joined tables make them.

Leaving out a row says nothing as long as its twin stays in. Distances are those of (x, y), each column of x in units of
its spread, and y in units of the spread of what the model has left: ŷ, which a forest changes in steps, does not count.
A length t tells the twins of a row from strangers if some rows are nearer than t/√R and all others further than t√R.
The share of rows of which that is true is largest at some t. For rows drawn at random from any density on D dimensions
it is no larger than that of a homogeneous one,

    max over b of (1 − e^(−b)) e^(−(V − 1) b) = (1 − 1/V)^(V − 1) / V        with V = R^D

which is 8 % for R = 5 and D = 1, and 1.5 % for D = 2. Where it is much more, and t/√R is a small part of a standard
deviation, rows within t/√R of each other are copies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from rio_uq._base.array import Array

GAP = 5.0
"""R: strangers are so many times further away than twins."""

LEAST_SHARE, MORE_OF_FEW_ROWS = 0.25, 5.0
"""Share of rows that have to have twins, 0.25 + 5/n: few rows may have more of them by chance."""

FURTHEST = 0.1
"""Twins are no further apart, in standard deviations: replicates, whose outcomes have noise of their own, are."""

RECURRING = 0.05
"""Share of places x that may recur with other outcomes: where more do, they are levels of a design or coarse numbers,
and what is measured there several times is several measurements."""

NEIGHBOURS, SAMPLE_ROWS, MOST_COLUMNS = 32, 1000, 20
"""Neighbours and rows that are looked at, and columns, beyond which distances are those of random projections."""


def near_copies(features: Array, outcome: Array, residual: Array) -> NDArray[np.intp] | None:
    """The measurement that each row is a record of, (n,); None where each is one of its own.

    Parameters
    ----------
    features, outcome : (n, d), (n, q) arrays
        No two rows are equal in both.
    residual : (n, q) array
        What a model has left of outcomes; outcomes again where there is no model.
    """
    n = len(features)
    columns = np.hstack([features, outcome])
    if n < 2 or not features.shape[1] or not np.isfinite(columns).all():
        return None
    if len(np.unique(features, axis=0)) < (1.0 - RECURRING) * n:
        return None
    points = _in_few_columns(columns, np.hstack([features, residual]))
    if not points.shape[1]:
        return None
    tree = cKDTree(points)
    rng = np.random.default_rng(0)
    sample = points if n <= SAMPLE_ROWS else points[rng.choice(n, SAMPLE_ROWS, replace=False)]
    distances = tree.query(sample, k=min(NEIGHBOURS, n - 1) + 1)[0][:, 1:]
    share, length = share_with_twins(distances)
    if share < LEAST_SHARE + MORE_OF_FEW_ROWS / n:
        return None
    pairs = tree.query_pairs(min(length / np.sqrt(GAP), FURTHEST), output_type="ndarray")
    links = coo_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def share_with_twins(distances: Array) -> tuple[float, float]:
    """The largest share of rows whose neighbours, at distances (n, k) in rising order, a length tells apart, and that
    length: see the top of this module.
    """
    nearer, further = distances[:, :-1] * np.sqrt(GAP), distances[:, 1:] / np.sqrt(GAP)
    is_gap = (nearer < further) & (distances[:, :-1] <= FURTHEST)
    if not is_gap.any():
        return 0.0, 0.0
    begins, ends = np.sort(nearer[is_gap]), np.sort(further[is_gap])
    # Of each row at most one gap is open at a time, so open gaps are rows.
    n_open = np.arange(1, len(begins) + 1) - np.searchsorted(ends, begins)
    best = int(n_open.argmax())
    next_end = float(ends[np.searchsorted(ends, begins[best], side="right")])
    return float(n_open[best]) / len(distances), float(np.sqrt(begins[best] * next_end))


def _in_few_columns(columns: Array, spread_as: Array) -> Array:
    """Columns in units of the spread of others, or random projections, which keep distances but for a third or so."""
    size = np.abs(columns).max(axis=0)
    columns, spread_as = columns[:, size > 0.0] / size[size > 0.0], spread_as[:, size > 0.0] / size[size > 0.0]
    spread = spread_as.std(axis=0)
    varies = spread > 1e-12
    points: Array = (columns[:, varies] - columns[:, varies].mean(axis=0)) / spread[varies]
    if points.shape[1] <= MOST_COLUMNS:
        return points
    directions = np.random.default_rng(0).standard_normal((points.shape[1], MOST_COLUMNS))
    return np.asarray(points @ directions / np.sqrt(MOST_COLUMNS))
