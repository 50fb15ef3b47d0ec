"""Choosing inducing points among the rows, and how many of them.

More points make the collapsed bound tighter. What they can still gain is in its trace term tr(K − Q)/2σ² (see
`rio_uq.gp.sparse`): half the variance of the rows that the points leave unexplained, in units of the noise. Points are
worth their cost while twice as many would take a noticeable part of it away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from sklearn.cluster import KMeans

from rio_uq.gp.kernels import Kernel
from rio_uq.gp.linalg import BASE_JITTER
from rio_uq.gp.typing import Array

METHODS = ("greedy", "kmeans", "random", "first")

FEWEST_POINTS, MOST_POINTS = 10, 1000
"""Of those that are chosen by what they gain."""

GAIN_PER_ROW = 0.01
"""In nats: points are added while twice as many would gain more for a row than this."""

EVALUATIONS = 100
"""Of the bound, in a usual fit."""

ROW_SECONDS, PAIR_SECONDS, POINT_SECONDS = 4e-8, 7e-11, 3e-9
"""Of one evaluation on an ordinary processor: for each row and point, for each row and pair of points, and for each
three points. See benchmarks/engine.md."""


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
        sample = np.unique(_draw(rows, max(2000, 20 * n_points), rng), axis=0)
        clusters = KMeans(min(n_points, len(sample)), n_init=1, random_state=int(rng.integers(2**31)))
        return np.asarray(clusters.fit(sample).cluster_centers_)
    return _draw(rows, n_points, rng)


def greedy(kernel: Kernel, theta: Array, rows: Array, n_points: int) -> Array:
    """The rows that a pivoted Cholesky factorisation takes first.

    Each step takes the row with the largest conditional variance given the rows taken so far. When that variance
    is down to the size of the jitter, further points would add nothing but bad conditioning: then fewer points
    than asked for are returned.
    """
    factor, pivots = _pivoted_cholesky(kernel.matrix(theta, rows, rows))
    return np.array(rows[pivots[: max(1, min(n_points, factor.shape[1]))]])


def enough(kernel: Kernel, theta: Array, noise_variance: Array, rows: Array, rng: np.random.Generator) -> Array:
    """Greedy points, as many as are worth their cost, best first.

    Parameters
    ----------
    noise_variance : (q,) array
    rows : (n, D) array
    """
    candidates = _draw(rows, 4 * MOST_POINTS, rng)
    factor, pivots = _pivoted_cholesky(kernel.matrix(theta, candidates, candidates))
    unexplained = _unexplained(factor, kernel.diagonal(theta, candidates)[pivots])
    gap = 0.5 * float(np.mean(1.0 / noise_variance)) * unexplained
    last = len(gap) - 1
    n_points = min(FEWEST_POINTS, last)
    while n_points < min(MOST_POINTS, last) and gap[n_points] - gap[min(2 * n_points, last)] > GAIN_PER_ROW:
        n_points += 1
    return np.array(candidates[pivots[: max(1, n_points)]])


def affordable(seconds: float, n_rows: int, n_jobs: int) -> int:
    """The number of points with which a usual fit takes that long, by estimate: the clock is not asked, so that the
    same data give the same points.
    """
    m = np.arange(1, MOST_POINTS + 1)
    evaluation = n_rows * m * (ROW_SECONDS + PAIR_SECONDS * m) / n_jobs + POINT_SECONDS * m**3
    return max(FEWEST_POINTS, int(np.searchsorted(EVALUATIONS * evaluation, seconds, side="right")))


def _pivoted_cholesky(matrix: Array) -> tuple[Array, NDArray[np.intp]]:
    """L of shape (n, rank) with its lines in the order of the pivots, and the pivots."""
    tolerance = 10.0 * BASE_JITTER * float(matrix.diagonal().max())
    factor, pivots, rank, _ = lapack.dpstrf(matrix, tol=tolerance, lower=1)
    return np.tril(factor)[:, :rank], pivots - 1


def _unexplained(factor: Array, diagonal: Array) -> Array:
    """Mean variance of the other rows given the first m pivots, for m from 0 to the rank or until no row is left."""
    n, rank = factor.shape
    left = diagonal[:, None] - np.hstack([np.zeros((n, 1)), np.cumsum(factor**2, axis=1)])
    m = np.arange(min(rank, n - 1) + 1)
    return np.array([np.maximum(left[k:, k], 0.0).mean() for k in m])


def _draw(rows: Array, n_rows: int, rng: np.random.Generator) -> Array:
    if n_rows >= len(rows):
        return np.array(rows, dtype=float)
    return np.array(rows[np.sort(rng.choice(len(rows), n_rows, replace=False))], dtype=float)
