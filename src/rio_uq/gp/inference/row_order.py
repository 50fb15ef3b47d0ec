"""An order of rows that does not depend on how they came: that of a hash of their values.

Its first m rows are a random subset, and those of two sets of rows are the first m of both subsets' rows: further rows,
and rows that come in parts, give what all rows give at once. Equal rows may become one with the weight of all, since
among the rows nearest to another each copy would take the place of one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rio_uq.gp.inference.neighbours import Indices
from rio_uq.gp.observations import Observations

EQUAL_DIGITS = 7
"""Scaled rows are equal if they are in this many decimals. Copies that come later may differ in the tenth, to which
`rio_uq.gp.copies` rounds, and a model may give equal rows predictions that differ in the last digits."""


def _order(data: Observations) -> Indices:
    """The numbers of the rows in the order of their hashes; of equal ones by their weights."""
    weight = np.zeros(len(data)) if data.effective_weight is None else data.effective_weight
    return np.lexsort((weight, hashes(data)))


def hashes(data: Observations) -> NDArray[np.uint64]:
    """Hashes of the values and targets of each row, but for rounding, which depends on the rows that a model predicts
    at once: the last digit of a prediction would put another row in its place, and other rows into the subset.
    """
    values = np.ascontiguousarray(np.hstack([data.rows, data.targets]), dtype=float).round(EQUAL_DIGITS)
    values += 0.0  # −0.0 is 0.0
    mixed = np.zeros(len(data), dtype=np.uint64)
    for column in values.view(np.uint64).T:
        mixed = _mixed(mixed ^ column)
    return mixed


def ordered(data: Observations) -> Observations:
    """The rows in that order, in arrays of their own."""
    data = data.subset(_order(data))
    return replace(data, rows=np.array(data.rows, dtype=float), targets=np.array(data.targets, dtype=float))


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: every bit depends on all bits of x."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def distinct(data: Observations) -> Observations:
    """Equal rows as one, with the weight of all."""
    _, first, cell = np.unique(hashes(data), return_index=True, return_inverse=True)
    if len(first) == len(data):
        return data
    weight = np.bincount(cell, weights=data.weight).astype(float)
    precision = data.precision
    if precision is not None:
        precision = np.bincount(cell, weights=data.effective_weight) / weight
    return replace(data.subset(first), weight=weight, precision=precision)
