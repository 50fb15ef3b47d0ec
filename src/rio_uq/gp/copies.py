"""How many measurements rows are: copies among them, and the unit of their weights.

Weights say how much rows count beside each other. A GP needs to know as well how many measurements there are: taken for
ten, one measurement that was copied ten times shows that there is no noise. So weights are divided by a unit:

- Rows of equal (x, ŷ, y) are copies of one measurement where that is implausible by chance, and so are rows that are
  nearly equal (`rio_uq.gp.near_copies`). They become one row with the weight of all, and the mean of these weights is
  the unit.
- Where features are coarse and outcomes discrete, equal rows are measurements of their own: ninety zeros and ten ones
  at one x are a hundred. The mean weight of the rows as they were given is the unit.
- Weights that are counts have the unit one.

Unless weights are counts, no measurement is more than one: its noise is not smaller because it matters more, and the GP
would take what is left of it for something to be learnt.

Equal rows are plausible by chance if both of their halves recur without the other: most outcomes are found at several
places (x, ŷ), and places with several rows have several outcomes, not much more rarely than if these were drawn at
random.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp.near_copies import near_copies
from rio_uq.gp.problem import Problem

Numbers = NDArray[np.intp]

RECURRING = 0.5
"""Share of outcomes that have to be found at several places."""

DISAGREEING = 0.1
"""Of places with several rows, how many have to have several outcomes, as a share of what chance would have. Where y
follows from x they are fewer than by chance, and among copies they are accidents."""

MOST_SHARES = 10
"""Equal measurements are kept in so many rows at most, which share their weight: enough to leave out some of them."""


class WeightUnit(NamedTuple):
    """How many measurements the weights of rows are.

    Attributes
    ----------
    value : float
        The weight that is one measurement.
    are_counts : bool
        Whether a weight above it is more than one.
    """

    value: float = 1.0
    are_counts: bool = True

    def measurements(self, weight: Array | None, n_rows: int) -> Array | None:
        """How many measurements each row is, (n,); None if all are one."""
        number: Array = (np.ones(n_rows) if weight is None else weight) / self.value
        if not self.are_counts:
            number = np.minimum(number, 1.0)
        return None if np.allclose(number, 1.0, rtol=0.0, atol=1e-12) else number


class Measurements(NamedTuple):
    """Rows as measurements.

    Attributes
    ----------
    problem : Problem
        Its weights are numbers of measurements.
    place : (n,) array of int or None
        Which of its rows each of the given ones has become; None where they are the same.
    unit : WeightUnit
        Of the given rows.
    """

    problem: Problem
    place: Numbers | None
    unit: WeightUnit


def as_measurements(problem: Problem, *, are_counts: bool = False, is_sorted: bool = False) -> Measurements:
    """The rows of a problem as measurements.

    Parameters
    ----------
    are_counts : bool
        Whether weights are numbers of measurements.
    is_sorted : bool
        Whether rows come in an order of their own, so that what is learnt does not depend on that of the data; and
        equal measurements in few rows.
    """
    n = len(problem.features)
    if is_sorted:
        problem = replace(problem, y_pred=rounded(problem.y_pred), targets=rounded(problem.targets))
    elif are_counts:
        return _as_they_come(problem, WeightUnit())
    first, cell = np.arange(n), np.arange(n)
    if is_sorted or _may_have_copies(problem):
        first, cell = _cells(problem, is_sorted=is_sorted)
    if are_counts or (len(first) < n and is_by_chance(problem)):
        unit = WeightUnit() if are_counts else WeightUnit(_mean(problem.weight), False)
        return _in_shares(problem, unit, first, cell) if is_sorted else _as_they_come(problem, unit)
    first, cell = _with_near_copies(problem, first, cell)
    if not is_sorted and len(first) == n:
        return _as_they_come(problem, WeightUnit(_mean(problem.weight), False))
    unit = WeightUnit(_mean(problem.weight) * n / len(first), False)
    weight = np.bincount(cell, weights=problem.weight).astype(float)
    merged = replace(problem.subset(first), weight=unit.measurements(weight, len(first)))
    return Measurements(merged, cell, unit)


def _as_they_come(problem: Problem, unit: WeightUnit) -> Measurements:
    weight = unit.measurements(problem.weight, len(problem.features))
    return Measurements(replace(problem, weight=weight), None, unit)


def _in_shares(problem: Problem, unit: WeightUnit, first: Numbers, cell: Numbers) -> Measurements:
    """Equal measurements as a few rows that have the same share of them."""
    total = np.bincount(cell, weights=unit.measurements(problem.weight, len(cell))).astype(float)
    n_shares = np.clip(np.ceil(total - 1e-9), 1, MOST_SHARES).astype(np.intp)
    place = (np.cumsum(n_shares) - n_shares)[cell] + _rank(cell) % n_shares[cell]
    weight = np.repeat(total / n_shares, n_shares)
    shared = replace(problem.subset(np.repeat(first, n_shares)), weight=WeightUnit().measurements(weight, len(weight)))
    return Measurements(shared, place, unit)


def is_by_chance(problem: Problem) -> bool:
    """Whether equal rows are plausible by chance: see the top of this module."""
    where = _numbers(np.hstack([problem.features, rounded(problem.y_pred)]))
    which = _numbers(rounded(_outcome(problem)))
    cells = np.unique(np.column_stack([where, which]), axis=0)
    n_places = int(where.max()) + 1
    if n_places > 1 and np.mean(np.bincount(cells[:, 1])[cells[:, 1]] > 1) < RECURRING:
        return False
    n_rows, n_outcomes = np.bincount(where), np.bincount(cells[:, 0])
    sizes, n_of_size = np.unique(n_rows[n_rows > 1], return_counts=True)
    probability = np.bincount(which) / len(which)
    expected = sum(k * (1.0 - np.sum(probability**size)) for size, k in zip(sizes, n_of_size, strict=True))
    disagreeing = np.count_nonzero(n_outcomes > 1)
    return bool(disagreeing > 0 and disagreeing >= DISAGREEING * expected)


def are_counts_of_copies(outcome: Array, weight: Array | None) -> bool:
    """Whether numbers of measurements (n,) above one are implausible: measurements of an outcome (n, q) that varies
    continuously do not agree in all digits. It does where most outcomes are found in one row only.
    """
    if weight is None or not (several := weight > 1.0).any():
        return False
    which = _numbers(rounded(outcome))
    return bool(np.mean(np.bincount(which)[which[several]] > 1) < RECURRING)


def unit_of_all_rows(sample: Problem, n_rows: int) -> WeightUnit:
    """The unit of n_rows rows from a random sample of them, in which most copies are not together.

    With the share π of equal pairs in the sample a row has 1 + π (n − 1) copies among all rows, itself included: by
    that n rows are worth (Σ k)²/Σ k² for measurements that were copied k times.
    """
    n, unit = len(sample.features), _mean(sample.weight)
    if n < 2 or not _may_have_copies(sample):
        return WeightUnit(unit, False)
    first, cell = _cells(sample, is_sorted=False)
    if len(first) == n or is_by_chance(sample):
        return WeightUnit(unit, False)
    counts = np.bincount(cell).astype(float)
    return WeightUnit(unit * (1.0 + float(counts @ (counts - 1.0)) / (n * (n - 1.0)) * (n_rows - 1.0)), False)


def rounded(values: Array) -> Array:
    """To ten digits of the spread of each column: a model may give equal rows predictions that differ in the last."""
    spread = np.ptp(values, axis=0)
    with np.errstate(divide="ignore"):
        decimals = np.clip(10 - np.floor(np.log10(spread)), -200, 200)
    columns = [
        column if width == 0.0 else np.round(column, int(places))
        for column, width, places in zip(values.T, spread, decimals, strict=True)
    ]
    return np.stack(columns, axis=1)


def _outcome(problem: Problem) -> Array:
    return problem.targets + problem.y_pred if problem.is_residual else problem.targets


def _may_have_copies(problem: Problem) -> bool:
    """False if all targets differ, which is soon found out."""
    return len(np.unique(rounded(problem.targets)[:, 0])) < len(problem.targets)


def _cells(problem: Problem, *, is_sorted: bool) -> tuple[Numbers, Numbers]:
    """The first of each set of equal rows, sorted by their values or by its place among the rows, and the set of each
    row.
    """
    marks = [mark[:, None].astype(float) for mark in (problem.held_out, problem.fold) if mark is not None]
    keys = np.hstack([problem.features, rounded(problem.y_pred), rounded(problem.targets), *marks])
    if not is_sorted:
        return _in_order_of_first(keys)
    _, first, cell = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, cell.ravel()


def _with_near_copies(problem: Problem, first: Numbers, cell: Numbers) -> tuple[Numbers, Numbers]:
    """The first row of each set of equal rows and the set of each row, where sets are joined that are nearly equal."""
    distinct = problem.subset(first)
    near = near_copies(distinct.features, _outcome(distinct), distinct.targets)
    if near is None:
        return first, cell
    marks = [mark for mark in (distinct.held_out, distinct.fold) if mark is not None]
    leading, joined = _in_order_of_first(np.column_stack([near, *marks]))
    return first[leading], joined[cell]


def _in_order_of_first(keys: NDArray[Any]) -> tuple[Numbers, Numbers]:
    """The first of each set of equal keys (n, k), by its place among the rows, and the set of each row."""
    _, first, cell = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[cell.ravel()]


def measurement_of(features: Array, outcome: Array) -> Numbers:
    """The measurement that each row is a record of, (n,): the same number for rows whose features and outcomes, (n, d)
    and (n, q), are equal or nearly so. Without features all are measurements of their own.
    """
    if not features.shape[1]:  # equal outcomes alone are no copies
        return np.arange(len(features))
    _, first, cell = np.unique(np.hstack([features, outcome]), axis=0, return_index=True, return_inverse=True)
    near = near_copies(features[first], outcome[first], outcome[first])
    return np.asarray(cell.ravel() if near is None else near[cell.ravel()])


def _numbers(keys: Array) -> Numbers:
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()


def _rank(cell: Numbers) -> Numbers:
    """The number of each row among those of its cell."""
    order = np.argsort(cell, kind="stable")
    counts = np.bincount(cell)
    rank = np.empty_like(cell)
    rank[order] = np.arange(len(cell)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def _mean(weight: Array | None) -> float:
    if weight is None:
        return 1.0
    largest = float(weight.max())
    return largest * float(np.mean(weight / largest))  # the sum of large weights may overflow
