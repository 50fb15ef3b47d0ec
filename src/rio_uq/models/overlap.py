"""The share of the given rows that a model was trained on, from means over training rows that it keeps.

Trees count the training rows in each leaf; a scaler keeps the mean and the variance of each column. Let φ be such an
indicator or column, v its variance, φ̄ its mean over the n given rows and μ that over the N training rows. If all rows
are from one source, and S of the given ones are among the training rows,

    E (φ̄ − μ)² = v (1/n + 1/N − 2 S / (n N)) = v (1/n + 1/N) (1 − 2 S / (n + N)),

so that Q, a sum of such squares over many φ in units of what it is for new rows, tells the share of seen rows,

    S / n = (1 − Q) (n + N) / (2 n).

How these are added up, and the variance of Q, is in `rio_uq.models.kept_means`. Where each tree has a sample of the
training rows, a share q of them, S is q times as large. Nothing is fitted for it, and how much a model memorises makes
no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from rio_uq._base.array import Array
from rio_uq.models.kept_means import KeptMeans, compared, some_rows, sum_of
from rio_uq.models.leaves import leaves_of_trees, share_drawn

TREES = 100
"""Trees that are looked at."""

SMALLEST_CELL = 5.0
"""Training rows in a cell: leaves with fewer are put together."""

FEWEST_IN_VARIANCE, SHARE_IN_VARIANCE = 20.0, 0.2
"""Rows that the variance of a column of a scaler has to come from, (Σ d²)² / Σ d⁴ with deviations d: so many, or that
share of few rows. Where it is made by fewer, other rows may have a much larger one, of which those given say nothing.
"""

ELSEWHERE = 3.0
"""Standard errors below 0 from which on the rows are not from the source of the training rows."""


CONTRADICTION = 4.0
"""Standard errors by which two estimates of one share do not differ by chance."""


@dataclass(frozen=True)
class Share:
    """An estimated share of seen rows, and its standard error; the estimate may lie outside of 0 to 1."""

    value: float
    error: float


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


def seen_share(steps: list[tuple[Any, Any]]) -> Share | None:
    """The share of seen rows by what the steps of a model keep; None where they keep nothing of use.

    Parameters
    ----------
    steps : list of (fitted transformer or estimator, rows as it takes them)
    """
    shares = []
    for part, X in chain.from_iterable(_parts(*step) for step in steps):
        if means := list(_kept(part, X)):
            shares.append(share_of(means, len(X), drawn=share_drawn(part, means[0].n_trained)))
    # Those of one pipeline are of the same rows, and not independent.
    best = min((share for share in shares if share is not None), key=lambda share: share.error, default=None)
    return None if best is None or best.value < -ELSEWHERE * best.error else best


def share_of(means: list[KeptMeans], n: int, *, drawn: float = 1.0) -> Share | None:
    """The share S / n, where the means are of a share ``drawn`` of the training rows each."""
    total = sum_of(means)
    comparison = compared(total, is_whitened=drawn == 1.0)
    if comparison is None:
        return None
    factor = (n + total.n_trained) / (2.0 * drawn * n)
    return Share((1.0 - comparison.ratio) * factor, float(np.sqrt(2.0 / comparison.n_independent)) * factor)


def _parts(step: Any, X: Any) -> Iterator[tuple[Any, Any]]:
    """A step, or those inside of pipelines and of transformers of columns, with the rows that each of them takes."""
    if hasattr(step, "transformers_"):
        for _, part, columns in step.transformers_:
            if hasattr(part, "transform"):
                yield from _parts(part, _safe_indexing(X, columns, axis=1))
    elif hasattr(step, "steps"):
        for _, part in step.steps:
            if hasattr(part, "transform"):
                yield from _parts(part, X)
                X = part.transform(X)
    else:
        yield step, X


def _kept(step: Any, X: Any) -> Iterator[KeptMeans]:
    if hasattr(step, "n_samples_seen_") and getattr(step, "mean_", None) is not None:
        yield from _of_scaler(step, X)
        return
    for place, leaves, trained in islice(leaves_of_trees(step, X, TREES), TREES):
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
    deviation = np.bincount(cell_of_row, minlength=len(trained)) / n / probability - 1.0
    unit = 1.0 / n + 1.0 / n_trained
    some = cell_of_row[some_rows(n)]
    products = (some[:, None] == some) / probability[some] - 1.0
    return KeptMeans(float(probability @ deviation**2) / unit, deviation[some] / np.sqrt(unit), products, n_trained)


def _of_scaler(scaler: Any, X: Any) -> Iterator[KeptMeans]:
    """Of columns and of their squares."""
    n, n_trained = len(X), float(np.max(scaler.n_samples_seen_))
    columns = np.asarray(X, dtype=float) - scaler.mean_
    if getattr(scaler, "var_", None) is not None:
        columns = np.hstack([columns, columns**2 - scaler.var_])
    squares = (columns - columns.mean(axis=0)) ** 2
    spread = np.sqrt(squares.mean(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        n_behind = squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0)
    is_used = (spread > 0.0) & (n_behind >= min(FEWEST_IN_VARIANCE, SHARE_IN_VARIANCE * n))
    columns = columns[:, is_used] / spread[is_used]
    if columns.size and np.isfinite(columns).all():
        difference = columns.mean(axis=0) / np.sqrt(1.0 / n + 1.0 / n_trained)
        some = columns[some_rows(n)]
        yield KeptMeans(float(difference @ difference), some @ difference, some @ some.T, n_trained)


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
