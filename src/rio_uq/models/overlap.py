"""The share of the given rows that a model was trained on, from means over training rows that it keeps.

Trees count the training rows in each leaf; a scaler keeps the mean and the variance of each column. Let φ be such an
indicator or column, v its variance, φ̄ its mean over the n given rows and μ that over the N training rows. If all rows
are from one source, and S of the given ones are among the training rows,

    E (φ̄ − μ)² = v (1/n + 1/N − 2 S / (n N)) = v (1/n + 1/N) (1 − 2 S / (n + N)),

so that Q, the sum of (φ̄ − μ)² over many φ in units of Σ v (1/n + 1/N), tells the share of seen rows,

    S / n = (1 − Q) (n + N) / (2 n).

Q has the variance 2 / ν, where ν = (Σ v)² / Σ cov² is the number of means that are as good as independent. Where each
tree has a sample of the training rows, a share q of them, S is q times as large. Nothing is fitted for it, and how much
a model memorises makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.models.leaves import TREES, leaves_of_trees, share_drawn

SMALLEST_CELL = 5.0
"""Training rows in a cell: leaves with fewer are put together."""

MOST_COMPARED = 500
"""Rows by which ν is estimated."""

ELSEWHERE = 3.0
"""Standard errors below 0 from which on the rows are not from the source of the training rows."""


CONTRADICTION = 4.0
"""Standard errors by which two estimates of one share do not differ by chance."""


@dataclass(frozen=True)
class Share:
    """An estimated share of seen rows, and its standard error; the estimate may lie outside of 0 to 1."""

    value: float
    error: float


class KeptMeans(NamedTuple):
    """Means over training rows, compared with those over the given rows.

    Attributes
    ----------
    square : float
        Σ (φ̄ − μ)² in units of 1/n + 1/N.
    variance : float
        Σ v.
    products : (m, m) array
        φ(x)ᵀ φ(x') of some of the given rows, each φ less μ.
    n_trained : float
    """

    square: float
    variance: float
    products: Array
    n_trained: float


def mean_share(shares: list[Share]) -> Share | None:
    """Independent estimates as one: the mean with inverse variances for weights; None where there is none, or where
    they contradict each other.
    """
    if not shares or any(_contradict(one, other) for one, other in combinations(shares, 2)):
        return None
    precision = np.array([share.error**-2 for share in shares])
    value = float(precision @ [share.value for share in shares] / precision.sum())
    return Share(value, float(precision.sum() ** -0.5))


def _contradict(one: Share, other: Share) -> bool:
    return abs(one.value - other.value) > CONTRADICTION * float(np.hypot(one.error, other.error))


def seen_share(steps: list[tuple[Any, Array]]) -> Share | None:
    """The share of seen rows by what the steps of a model keep; None where they keep nothing of use.

    Parameters
    ----------
    steps : list of (fitted transformer or estimator, rows (n, d) as it takes them)
    """
    shares = []
    for step, X in steps:
        if means := list(_kept(step, X)):
            shares.append(share_of(means, len(X), drawn=share_drawn(step, means[0].n_trained)))
    # Those of one pipeline are of the same rows, and not independent.
    best = min(shares, key=lambda share: share.error, default=None)
    return None if best is None or best.value < -ELSEWHERE * best.error else best


def share_of(means: list[KeptMeans], n: int, *, drawn: float = 1.0) -> Share:
    """The share S / n, where the means are of a share ``drawn`` of the training rows each."""
    total = sum_of(means)
    factor = (n + total.n_trained) / (2.0 * drawn * n)
    error = float(np.sqrt(2.0 / independent_means(total)))
    return Share((1.0 - total.square / total.variance) * factor, error * factor)


def sum_of(means: Iterable[KeptMeans]) -> KeptMeans:
    """All means as one; the number of training rows is their mean."""
    square, variance, products, n_trained = zip(*means, strict=True)
    return KeptMeans(sum(square), sum(variance), reduce(np.add, products), float(np.mean(n_trained)))


def independent_means(means: KeptMeans) -> float:
    """ν, no more than there are means."""
    m = len(means.products)
    products = means.products * ~np.eye(m, dtype=bool)  # what is left has the expectation Σ cov²
    squared_covariances = max(float((products**2).sum()) / (m * (m - 1)), np.finfo(float).tiny)
    return min(means.variance**2 / squared_covariances, means.variance)


def _kept(step: Any, X: Array) -> Iterator[KeptMeans]:
    if hasattr(step, "n_samples_seen_") and getattr(step, "mean_", None) is not None:
        yield from _of_scaler(step, X)
        return
    for place, leaves, trained in islice(leaves_of_trees(step, X), TREES):
        counts = np.asarray(trained, dtype=float)
        if not np.array_equal(counts, np.round(counts)):
            return  # sums of weights or of second derivatives
        cell = _cells(counts)
        if cell.max() > 0:
            yield of_cells(cell[np.searchsorted(leaves, place)], np.bincount(cell, counts).astype(float))


def of_cells(cell_of_row: Any, trained: Array) -> KeptMeans:
    """Of the indicators of cells, in units of the root of their probability; ``trained`` are training rows in each."""
    n, n_trained = len(cell_of_row), float(trained.sum())
    probability = trained / n_trained
    counts = np.bincount(cell_of_row, minlength=len(trained))
    square = float(((counts / n - probability) ** 2 / probability).sum()) / (1.0 / n + 1.0 / n_trained)
    some = cell_of_row[:MOST_COMPARED]
    products = (some[:, None] == some) / probability[some] - 1.0
    return KeptMeans(square, len(trained) - 1.0, products, n_trained)


def _of_scaler(scaler: Any, X: Array) -> Iterator[KeptMeans]:
    """Of columns and of their squares."""
    n, n_trained = len(X), float(np.max(scaler.n_samples_seen_))
    columns = X - scaler.mean_
    if getattr(scaler, "var_", None) is not None:
        columns = np.hstack([columns, columns**2 - scaler.var_])
    spread = columns.std(axis=0)
    columns = columns[:, spread > 0.0] / spread[spread > 0.0]
    if columns.size and np.isfinite(columns).all():
        square = float((columns.mean(axis=0) ** 2).sum()) / (1.0 / n + 1.0 / n_trained)
        some = columns[:MOST_COMPARED]
        yield KeptMeans(square, float(columns.shape[1]), some @ some.T, n_trained)


def _cells(trained: Array) -> Any:
    """The cell of each leaf: neighbours are put together until each cell has enough training rows."""
    cells, cell, rows = np.zeros(len(trained), dtype=int), 0, 0.0
    for leaf, count in enumerate(trained):
        cells[leaf] = cell
        rows += count
        if rows >= SMALLEST_CELL:
            cell, rows = cell + 1, 0.0
    if rows < SMALLEST_CELL and cell:
        cells[cells == cell] = cell - 1
    return cells
