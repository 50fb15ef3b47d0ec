"""Choosing inducing points among the rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from sklearn.cluster import KMeans

from rio_uq.gp.kernels import Kernel
from rio_uq.gp.linalg import BASE_JITTER
from rio_uq.gp.typing import Array

METHODS = ("greedy", "kmeans", "random", "first")


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
    matrix = kernel.matrix(theta, rows, rows)
    tolerance = 10.0 * BASE_JITTER * float(matrix.diagonal().max())
    _, pivots, rank, _ = lapack.dpstrf(matrix, tol=tolerance, lower=1)
    return np.array(rows[pivots[: max(1, min(n_points, rank))] - 1])


def _draw(rows: Array, n_rows: int, rng: np.random.Generator) -> Array:
    if n_rows >= len(rows):
        return np.array(rows, dtype=float)
    return np.array(rows[np.sort(rng.choice(len(rows), n_rows, replace=False))], dtype=float)
