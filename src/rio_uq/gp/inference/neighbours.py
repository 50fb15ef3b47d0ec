"""The training rows nearest to a row, as a kernel measures it.

A sum of stationary terms v_t g_t(ρ_t) parts near c by Σ_t v_t ρ_t but for constants, so that rows are as far from each
other as

    s² = Σ_d a_d (c_d − c'_d)²        a_d = Σ_t v_t / l_td²

over the columns d of the terms t. Columns that hardly count are left out of the search, where few columns make it fast:
a tree of the rows then finds the nearest ones in little more than logarithmic time. It may pass over a row if another
one is at most twice as far, so that fewer branches are searched: neighbours are hardly farther by that, and predict as
well. Where columns are many, all distances are made by one matrix product for a block of rows. Its rounding depends on
the block, so it only chooses candidates, whose distances are computed once more, each for itself: what is nearest does
not depend on the block.
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

IRRELEVANT = 1e-3
"""Columns that have no more than this share of Σ a_d together are left out of the search."""

ROUNDING = 1e-10
"""Candidates may be farther than the k-th nearest row by this share of the largest squared norms."""

BLOCK_ROWS, BLOCK_DISTANCES = 64, 2**22
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
        return {name: value for name, value in self.__dict__.items() if name not in ("_tree", "_norms")}

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.scaled)

    @cached_property
    def _norms(self) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self.scaled, self.scaled))

    @property
    def block_rows(self) -> int:
        """Rows that can be asked for at once in little memory."""
        return int(np.clip(BLOCK_DISTANCES // max(len(self.scaled), 1), 1, BLOCK_ROWS))

    def path(self, rows: Array) -> Indices:
        """An order of rows (b, D) in which those that follow each other are near each other, that of the leaves of a
        tree: a search finds in the cache of the processor what the one before has left there.
        """
        if len(self.columns) > TREE_COLUMNS or not len(rows):
            return np.arange(len(rows))
        return np.asarray(cKDTree(rows[:, self.columns] * self.scale).indices, dtype=np.intp)

    def nearest(self, rows: Array, k: int) -> Indices:
        """The numbers of the k nearest rows to each of the rows (b, D), nearest first, or of all rows in their order;
        (b, k), with k at most n.
        """
        wanted = rows[:, self.columns] * self.scale
        if k == len(self.scaled):
            return np.tile(np.arange(k), (len(rows), 1))
        if len(self.columns) <= TREE_COLUMNS or not len(rows):
            _, numbers = self._tree.query(wanted, np.arange(1, k + 1), eps=FARTHER)
            return np.asarray(numbers, dtype=np.intp)
        starts = range(0, len(wanted), self.block_rows)
        return np.vstack([self._by_product(wanted[start : start + self.block_rows], k) for start in starts])

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
