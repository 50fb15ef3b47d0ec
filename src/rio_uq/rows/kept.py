"""A sample of the training rows that stays with a fitted regressor, for summaries and for what new rows add."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, row_keys

MOST_ROWS, FEWEST_ROWS, MOST_NUMBERS = 2000, 100, 1_000_000
"""So many rows are kept at most: fewer, down to 100, where they would be more numbers than that."""

DISTINCT = 0.9
"""Rows can be recognised if at least this share of them has features and outcomes of its own."""

REUSED = 0.05
"""A share of rows that were fitted to which is worth a warning."""


@dataclass(frozen=True)
class KeptRows:
    """Some of the rows that the GP was fitted to.

    Attributes
    ----------
    features, y_pred, outcome : (n, d), (n, p), (n, q) arrays
        Outcomes are NaN in files of earlier versions.
    weight : (n,) array
    n_fitted : int
        How many rows there were.
    """

    features: Array
    y_pred: Array
    outcome: Array
    weight: Array
    n_fitted: int

    @property
    def n_columns(self) -> int:
        return int(self.features.shape[1] + self.y_pred.shape[1])

    @property
    def is_everything(self) -> bool:
        return len(self.weight) >= self.n_fitted

    def reused(self, features: Array, y_pred: Array, outcome: Array) -> float:
        """The share of other rows that were fitted to, by estimate: features and outcomes are equal, and not by chance,
        as those of the rows kept are among themselves.

        Where there are no features, predictions stand for them; they are not compared otherwise, since those of fit may
        be out-of-fold. 0 where rows cannot be told apart.
        """
        own, other = (
            row_keys(np.column_stack([by if by.shape[1] else prediction, truth]))
            for by, prediction, truth in (
                (self.features, self.y_pred, self.outcome),
                (features, y_pred, outcome),
            )
        )
        if np.isnan(self.outcome).any() or len(set(own)) < DISTINCT * len(own):
            return 0.0
        n_equal = len(set(own) & set(other)) * self.n_fitted / len(own)
        by_chance = 1.0 - list(Counter(own).values()).count(1) / len(own)
        return max(min(n_equal / len(other), 1.0) - by_chance, 0.0) / (1.0 - by_chance)

    def drawn(self, n_rows: int, rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
        """Features, predictions, outcomes and weights of rows drawn without replacement, in their order."""
        rows = np.sort(rng.choice(len(self.weight), n_rows, replace=False))
        return self.features[rows], self.y_pred[rows], self.outcome[rows], self.weight[rows]

    @property
    def residual(self) -> Array | None:
        """Outcomes minus predictions, (n, q); None where they are not known."""
        if self.y_pred.shape != self.outcome.shape or np.isnan(self.outcome).any():
            return None
        return self.outcome - self.y_pred

    def residual_std(self) -> Array | None:
        """The standard deviation of residuals, (q,); None where they are not known."""
        residual = self.residual
        if residual is None:
            return None
        mean = np.average(residual, axis=0, weights=self.weight)
        return np.asarray(np.sqrt(np.average((residual - mean) ** 2, axis=0, weights=self.weight)))


def keep_rows(
    features: Array,
    y_pred: Array,
    outcome: Array,
    weight: Array | None,
    rows: NDArray[np.intp],
    rng: np.random.Generator,
) -> KeptRows:
    """A random sample of the rows with the given numbers, small enough to be kept."""
    n_fitted = len(rows)
    n_kept = min(n_fitted, _most_rows(features.shape[1] + y_pred.shape[1]))
    if n_kept < n_fitted:
        rows = np.sort(rng.choice(rows, n_kept, replace=False))
    weights = np.ones(n_kept) if weight is None else weight[rows]
    return KeptRows(features[rows], y_pred[rows], outcome[rows], weights, n_fitted)


def keep_more(old: KeptRows, new: KeptRows, seed: int) -> KeptRows:
    """A random sample of all rows, from samples of old and new ones: as many of each as chance would have drawn."""
    n_fitted = old.n_fitted + new.n_fitted
    if not len(new.weight):  # none of those that were drawn counts
        return replace(old, n_fitted=n_fitted)
    n_kept = min(len(old.weight) + len(new.weight), _most_rows(old.n_columns))
    for rows in (old, new):
        if not rows.is_everything:  # no larger a share of all rows than the sample is of its own
            n_kept = min(n_kept, len(rows.weight) * n_fitted // rows.n_fitted)
    rng = np.random.default_rng([seed, old.n_fitted])  # another draw for each batch of a stream
    n_old = _share(old.n_fitted, new.n_fitted, n_kept, rng)
    n_old = min(max(n_old, n_kept - len(new.weight)), len(old.weight))
    features, y_pred, outcome, weight = zip(old.drawn(n_old, rng), new.drawn(n_kept - n_old, rng), strict=True)
    return KeptRows(np.vstack(features), np.vstack(y_pred), np.vstack(outcome), np.concatenate(weight), n_fitted)


def _share(n_one: int, n_other: int, n_drawn: int, rng: np.random.Generator) -> int:
    """How many rows of the first set chance draws from both."""
    if n_one + n_other < 10**9:
        return int(rng.hypergeometric(n_one, n_other, n_drawn))
    return int(rng.binomial(n_drawn, n_one / (n_one + n_other)))  # NumPy has no larger urns


def _most_rows(n_columns: int) -> int:
    return min(MOST_ROWS, max(FEWEST_ROWS, MOST_NUMBERS // n_columns))
