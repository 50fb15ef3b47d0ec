"""Choosing inducing points among the rows, and how many of them.

More points make the collapsed bound tighter. What they can still gain is in its trace term tr(K − Q)/2σ² (see
`rio_uq.gp.inference.sparse`): half the variance of the rows that the points leave unexplained, in units of the noise.
Points are worth their cost while twice as many would take a noticeable part of it away.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.cluster.vq import kmeans2

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import BASE_JITTER
from rio_uq.gp.kernels.io import Kernel

METHODS = ("greedy", "kmeans", "random", "first")

FEWEST_POINTS, MOST_POINTS = 10, 1000
"""Of those that are chosen by what they gain."""

GAIN_PER_ROW = 0.01
"""In nats: points are added while twice as many would gain more for a row than this."""

KMEANS_ITERATIONS = 50

EVALUATIONS = 50
"""Of the bound on all rows, in a usual fit."""

WHOLE_MATRIX_ROWS = 1000
"""Up to this many rows their whole kernel matrix is made at once, instead of a column for each pivot."""

ROW_SECONDS, PAIR_SECONDS, POINT_SECONDS = 2e-8, 6e-11, 3e-9
"""Of one evaluation on an ordinary processor: for each row and point, for each row and pair of points, and for each
three points. See benchmarks/levers/README.md."""


def choose(method: str, n_points: int, rows: Array, kernel: Kernel, theta: Array, rng: np.random.Generator) -> Array:
    """Inducing points by one of `METHODS`, shape (at most n_points, D).

    - "greedy": one after the other, the row whose value is least known from those before it (see `greedy`);
    - "kmeans": centres of k-means clusters;
    - "random": rows drawn without replacement;
    - "first": the first rows, as in the paper.
    """
    n_points = min(n_points, len(rows))
    if method == "first":
        return np.array(rows[:n_points], dtype=float)
    if method == "greedy":
        return greedy(kernel, theta, _draw(rows, max(2000, 4 * n_points), rng), n_points)
    if method == "kmeans":
        return _centres(np.unique(_draw(rows, max(2000, 20 * n_points), rng), axis=0), n_points, rng)
    return _draw(rows, n_points, rng)


def _centres(rows: Array, n_points: int, rng: np.random.Generator) -> Array:
    """Centres of k-means clusters of distinct rows, (at most n_points, D): the rows themselves if they are not more."""
    if len(rows) <= n_points:
        return rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an empty cluster keeps its centre, which is a point like others
        centres, _ = kmeans2(rows, _draw(rows, n_points, rng), iter=KMEANS_ITERATIONS, minit="matrix")
    return np.unique(centres, axis=0)


def greedy(kernel: Kernel, theta: Array, rows: Array, n_points: int) -> Array:
    """The rows that a pivoted Cholesky factorisation takes first.

    Each step takes the row with the largest conditional variance given the rows taken so far. When that variance
    is down to the size of the jitter, further points would add nothing but bad conditioning: then fewer points
    than asked for are returned.
    """
    return np.array(rows[[pivot.row for pivot in islice(_pivots(kernel, theta, rows), n_points)]])


def enough(kernel: Kernel, theta: Array, noise_variance: Array, rows: Array, rng: np.random.Generator) -> Array:
    """Greedy points, as many as are worth their cost, best first.

    Parameters
    ----------
    noise_variance : (q,) array
    rows : (n, D) array
    """
    candidates = _draw(rows, 4 * MOST_POINTS, rng)
    in_nats = 0.5 * float(np.mean(1.0 / noise_variance))
    chosen: list[int] = []
    gap: list[float] = []
    for pivot in islice(_pivots(kernel, theta, candidates), 2 * MOST_POINTS + 1):
        n_points = len(chosen) // 2
        gap.append(in_nats * pivot.unexplained)
        if n_points >= FEWEST_POINTS and gap[n_points] - gap[2 * n_points] <= GAIN_PER_ROW:
            return np.array(candidates[chosen[:n_points]])
        chosen.append(pivot.row)
    return np.array(candidates[chosen[:MOST_POINTS]])


def affordable(seconds: float, n_rows: int) -> int:
    """The number of points with which a usual fit takes that long on one thread, by estimate: neither the clock nor the
    number of processors is asked, so that the same data give the same points.
    """
    m = np.arange(1, MOST_POINTS + 1)
    evaluation = n_rows * m * (ROW_SECONDS + PAIR_SECONDS * m) + POINT_SECONDS * m**3
    return max(FEWEST_POINTS, int(np.searchsorted(EVALUATIONS * evaluation, seconds, side="right")))


class _Pivot(NamedTuple):
    row: int
    unexplained: float  # mean variance of the rows that have not been taken before it, given those that have


def _pivots(kernel: Kernel, theta: Array, rows: Array) -> Iterator[_Pivot]:
    """Rows in the order of a pivoted Cholesky factorisation K ≈ LLᵀ of their kernel matrix, until its rank.

    With the row i as next pivot, the next column of L is (k_i − L l_i)/√v_i, where l_i is its line of L and v_i its
    conditional variance, and its squares are what the pivot explains of the variances of the others. Only the columns
    of K that belong to pivots are needed; of few rows all are made at once, which takes less time than some of them.
    """
    designs, variance = kernel.designs(rows), kernel.diagonal(theta, rows)
    lowest, n = 10.0 * BASE_JITTER * float(variance.max()), len(rows)
    matrix = kernel.matrix(theta, rows, rows) if n <= WHOLE_MATRIX_ROWS else None
    columns = np.empty((min(n, 64), n))
    for j in range(n):
        i = int(variance.argmax())
        if j and variance[i] <= lowest:
            return
        yield _Pivot(i, float(variance.sum()) / (n - j))
        if variance[i] <= 0.0:
            return
        if j == len(columns):
            columns = np.vstack([columns, np.empty_like(columns)])
        column = kernel.at(theta, rows[[i]]).matrix(designs)[0] if matrix is None else matrix[i]
        columns[j] = (column - columns[:j, i] @ columns[:j]) / np.sqrt(variance[i])
        variance = np.maximum(variance - columns[j] ** 2, 0.0)
        variance[i] = 0.0


def _draw(rows: Array, n_rows: int, rng: np.random.Generator) -> Array:
    if n_rows >= len(rows):
        return np.array(rows, dtype=float)
    return np.array(rows[np.sort(rng.choice(len(rows), n_rows, replace=False))], dtype=float)
