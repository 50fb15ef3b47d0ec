"""The training rows nearest to a row, as a kernel measures it.

A sum of stationary terms v_t g_t(ρ_t) parts near c by Σ_t v_t ρ_t but for constants, so that rows are as far from each
other as

    s² = Σ_d a_d (c_d − c'_d)²        a_d = Σ_t v_t / l_td²

over the columns d of the terms t. Columns that hardly count are left out of the search, where few columns make it fast:
a tree of the rows then finds the nearest ones in little more than logarithmic time. It may pass over a row if another
one is at most twice as far, so that fewer branches are searched: neighbours are hardly farther by that, and predict as
well. Where columns are many, the tree is one of the rows' principal components, if a few of these hold most of the
spread. It finds candidates, several times as many as are asked for, of which the nearest are taken. Otherwise all
distances are made by one matrix product for a block of rows. Its rounding depends on the block, so it only chooses
candidates, whose distances are computed once more, each for itself: what is nearest does not depend on the block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from rio_uq._base.array import Array
from rio_uq.gp.kernels.io import Kernel

Indices = NDArray[np.intp]

TREE_COLUMNS = 10
"""Up to this many columns rows are searched by a tree."""

FARTHER = 1.0
"""Share by which a neighbour may be farther than the nearest row that a tree has passed over."""

CANDIDATES, LEAST_SPREAD, FEWEST_ROWS = 4, 0.8, 10_000
"""Candidates for each neighbour where rows are searched by components, and the share of the spread that these have
to hold; of no more than so many rows all distances are made as fast."""

IRRELEVANT = 1e-3
"""Columns that have no more than this share of Σ a_d together are left out of the search."""

ROUNDING = 1e-10
"""Candidates may be farther than the k-th nearest row by this share of the largest squared norms."""

CACHED = ("_tree", "_norms", "_directions")
"""Of `Neighbours`."""

BLOCK_ROWS, BLOCK_DISTANCES = 256, 2**22
"""Rows that are asked for at once, at most, and distances of a block."""


def metric(kernel: Kernel, theta: Array, n_columns: int) -> tuple[Indices, Array]:
    """The columns that the search looks at, and √a of each."""
    roughness = np.zeros(n_columns)
    for term, part in zip(kernel.terms, kernel.split(theta), strict=True):
        roughness[term.start : term.stop] += term.roughness(part)
    if not roughness.any():
        return np.arange(n_columns), np.ones(n_columns)
    order = np.argsort(roughness, kind="stable")
    is_relevant = np.cumsum(roughness[order]) > IRRELEVANT * roughness.sum()
    columns = np.sort(order[is_relevant])
    return columns, np.sqrt(roughness[columns])


@dataclass(frozen=True)
class Neighbours:
    """Rows that can be searched.

    Attributes
    ----------
    columns : (c,) array of int
        That count.
    scale : (c,) array
        √a of each.
    scaled : (n, c) array
        The rows in these units.
    """

    columns: Indices
    scale: Array
    scaled: Array

    @classmethod
    def of(cls, kernel: Kernel, theta: Array, rows: Array) -> Neighbours:
        columns, scale = metric(kernel, theta, rows.shape[1])
        return cls(columns, scale, np.ascontiguousarray(rows[:, columns] * scale))

    def first(self, n_rows: int) -> Neighbours:
        """The first ones of the rows alone."""
        return Neighbours(self.columns, self.scale, self.scaled[:n_rows])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in CACHED}

    @cached_property
    def _directions(self) -> Array | None:
        """Of principal components, (c, `TREE_COLUMNS`), by which rows are searched where columns are many; None where
        they are few, or components do not hold the spread.
        """
        if len(self.columns) <= TREE_COLUMNS or len(self.scaled) <= FEWEST_ROWS:
            return None
        spread, directions = np.linalg.eigh(np.cov(self.scaled.T))
        is_enough = spread[-TREE_COLUMNS:].sum() >= LEAST_SPREAD * spread.sum()
        return np.ascontiguousarray(directions[:, -TREE_COLUMNS:]) if is_enough else None

    @property
    def _has_tree(self) -> bool:
        return len(self.columns) <= TREE_COLUMNS or self._directions is not None

    @cached_property
    def _tree(self) -> tuple[cKDTree, Indices]:
        """A tree of the rows in the order of its own leaves, whose rows are then side by side in memory, and their
        numbers.
        """
        searched = self._searched(self.scaled)
        order = np.array(cKDTree(searched).indices, dtype=np.intp)
        return cKDTree(searched[order]), order

    def _searched(self, scaled: Array) -> Array:
        """What the tree has of scaled rows (b, c): one by one, since the rounding of a product depends on the block."""
        return scaled if self._directions is None else np.matmul(scaled[:, None, :], self._directions)[:, 0]

    @cached_property
    def _norms(self) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self.scaled, self.scaled))

    @property
    def block_rows(self) -> int:
        """Rows that can be asked for at once in little memory."""
        if self._has_tree:
            return BLOCK_ROWS
        return int(np.clip(BLOCK_DISTANCES // max(len(self.scaled), 1), 1, BLOCK_ROWS))

    def path(self, rows: Array) -> Indices:
        """An order of rows (b, D) in which those that follow each other are near each other, that of the leaves of a
        tree: a search finds in the cache of the processor what the one before has left there.
        """
        if not self._has_tree or not len(rows):
            return np.arange(len(rows))
        return np.asarray(cKDTree(self._searched(rows[:, self.columns] * self.scale)).indices, dtype=np.intp)

    def nearest(self, rows: Array, k: int) -> Indices:
        """The numbers of the k nearest rows to each of the rows (b, D), nearest first, or of all rows in their order;
        (b, k), with k at most n.
        """
        wanted = rows[:, self.columns] * self.scale
        if k == len(self.scaled):
            return np.tile(np.arange(k), (len(rows), 1))
        if self._has_tree or not len(rows):
            n_found = k if self._directions is None else min(CANDIDATES * k, len(self.scaled))
            tree, order = self._tree
            numbers = order[tree.query(self._searched(wanted), np.arange(1, n_found + 1), eps=FARTHER)[1]]
            return numbers if n_found == k else self._nearest_of(numbers, wanted, k)
        starts = range(0, len(wanted), self.block_rows)
        return np.vstack([self._by_product(wanted[start : start + self.block_rows], k) for start in starts])

    def _nearest_of(self, candidates: Indices, wanted: Array, k: int) -> Indices:
        """The k nearest ones of candidates (b, m) of scaled rows (b, c)."""
        apart = ((self.scaled[candidates] - wanted[:, None]) ** 2).sum(axis=2)
        return np.take_along_axis(candidates, np.argsort(apart, axis=1, kind="stable")[:, :k], axis=1)

    def _by_product(self, wanted: Array, k: int) -> Indices:
        """Of a block of scaled rows (b, c)."""
        squares = np.einsum("ij,ij->i", wanted, wanted)
        distances = np.matmul(wanted, -2.0 * self.scaled.T)
        distances += self._norms
        farthest = np.partition(distances, k - 1, axis=1)[:, k - 1]
        farthest += ROUNDING * (squares + float(self._norms.max()))
        numbers = np.empty((len(wanted), k), dtype=np.intp)
        for number, (row, limit) in enumerate(zip(distances, farthest, strict=True)):
            candidates = np.flatnonzero(row <= limit)
            apart = ((self.scaled[candidates] - wanted[number]) ** 2).sum(axis=1)
            numbers[number] = candidates[np.argsort(apart, kind="stable")[:k]]
        return numbers

    def nearest_others(self, numbers: Indices, rows: Array, k: int) -> Indices:
        """The k nearest rows to rows that are among them under these numbers (b,), without themselves."""
        nearest = self.nearest(rows, k + 1)
        is_own = nearest == numbers[:, None]
        is_own[~is_own.any(axis=1), -1] = True  # among many equal rows it may not be found
        return np.asarray(nearest[~is_own].reshape(len(rows), k))
