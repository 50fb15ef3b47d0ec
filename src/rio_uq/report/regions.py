"""Regions of rows where a model errs most, found by a small tree and described in words.

Regions are found on one half of the rows and measured on the other: numbers of a region that was picked because it
looks bad would be too bad.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from rio_uq._base.array import Array, Mask
from rio_uq.report.groups import mean_interval
from rio_uq.report.reliability import relevant_features
from rio_uq.report.rows import ReportRows
from rio_uq.report.words import counted, listed, measured, number, share

LEAST_ROWS, MOST_SEARCHED = 100, 20_000
"""Rows without which no regions are looked for, and rows that they are looked for in at most."""

MOST_VARIABLES, MOST_REGIONS, MOST_LEAVES = 20, 3, 8
WORTH_A_SPLIT = 15.0
"""How much a split has to gain, in units of what a split at random gains: the best of many splits gains several."""

STANDS_OUT = 1.2
"""Errors in a region that is worth a sentence are this much larger than those of all rows."""


@dataclass(frozen=True)
class Region:
    """Rows with some values of some variables, as the half of the rows that was not searched sees them.

    Attributes
    ----------
    where : str
        In words.
    n_rows : int
    share : float
        Of the rows measured.
    bias, bias_low, bias_high : float
        Mean of outcome minus prediction, positive where predictions are too low, with an interval that makes up for
        the number of regions looked at.
    bias_after : float
        The same for corrected predictions.
    rmse, rmse_after : float
    members : frozenset of int
        The rows.
    """

    where: str
    n_rows: int
    share: float
    bias: float
    bias_low: float
    bias_high: float
    bias_after: float
    rmse: float
    rmse_after: float
    members: frozenset[int] = field(repr=False)

    @property
    def is_biased(self) -> bool:
        return self.bias_low > 0.0 or self.bias_high < 0.0

    def on_bias(self) -> str:
        """A sentence on too high or too low predictions."""
        return (
            f"Where {self.where}, predictions are too {_side(self.bias)} by {measured(abs(self.bias))} on average; "
            f"with RIO they are too {_side(self.bias_after)} by {measured(abs(self.bias_after))} "
            f"({counted(self.n_rows, 'row')}, {share(self.share, 0)})."
        )

    def on_size(self, of_all: float) -> str:
        """A sentence on large errors."""
        return (
            f"Where {self.where}, the model's RMSE is {measured(self.rmse)}, against {measured(of_all)} over all rows; "
            f"with RIO it is {measured(self.rmse_after)} ({counted(self.n_rows, 'row')}, {share(self.share, 0)})."
        )


@dataclass(frozen=True)
class Regions:
    """Attributes
    ----------
    biased : tuple of Region
        Where predictions are too high or too low, the worst first.
    large : tuple of Region
        Where errors are large, the worst first.
    rmse : float
        Of the model, over all rows measured.
    n_measured : int
    """

    biased: tuple[Region, ...]
    large: tuple[Region, ...]
    rmse: float
    n_measured: int

    @property
    def sentences(self) -> list[str]:
        return [region.on_bias() for region in self.biased] + [region.on_size(self.rmse) for region in self.large]


def _side(bias: float) -> str:
    return "low" if bias > 0.0 else "high"


def find_regions(rows: ReportRows, rng: np.random.Generator) -> Regions | None:
    """The worst regions; None if there are too few rows to tell."""
    if len(rows) < LEAST_ROWS:
        return None
    order = rng.permutation(len(rows))
    searched, judged = order[: len(rows) // 2][:MOST_SEARCHED], order[len(rows) // 2 :]
    variables = [("the prediction", rows.y_pred), *relevant_features(rows, MOST_VARIABLES)]
    names, values = [name for name, _ in variables], np.column_stack([column for _, column in variables])
    of_features = rows.categories or (None,) * len(rows.names)
    categories = [None, *of_features[: len(variables) - 1]]
    seed = int(rng.integers(2**31 - 1))

    def regions(target: Array) -> list[Region]:
        tree = DecisionTreeRegressor(
            max_leaf_nodes=MOST_LEAVES,
            max_depth=3,
            min_samples_leaf=max(LEAST_ROWS // 5, len(searched) // 20),
            min_impurity_decrease=WORTH_A_SPLIT / len(searched) * float(np.var(target[searched])),
            random_state=seed,
        ).fit(values[searched], target[searched])
        candidates = []
        for bounds in _leaves(tree.tree_):
            here = judged[_within(values[judged], bounds)]
            if bounds and len(here) >= 2:
                candidates.append(_measure(rows, here, len(judged), _in_words(bounds, names, values, categories)))
        return candidates

    rmse = _root_mean_square(rows.residual[judged])
    biased = [region for region in regions(rows.residual) if region.is_biased and abs(region.bias) > 0.1 * rmse]
    large = [region for region in regions(np.abs(rows.residual)) if region.rmse > STANDS_OUT * rmse]
    biased = sorted(biased, key=lambda region: -abs(region.bias))[:MOST_REGIONS]
    told: set[int] = set().union(*(region.members for region in biased))
    large = [
        region
        for region in sorted(large, key=lambda region: -region.rmse)
        if len(region.members & told) < 0.5 * region.n_rows
    ]
    return Regions(tuple(biased), tuple(large[:MOST_REGIONS]), rmse, len(judged))


Bounds = dict[int, tuple[float, float]]
"""Of some columns: above the first, and up to the second."""


def _leaves(tree: object, node: int = 0, bounds: Bounds | None = None) -> list[Bounds]:
    left, right = tree.children_left[node], tree.children_right[node]  # type: ignore[attr-defined]
    bounds = bounds or {}
    if left == right:
        return [bounds]
    column, threshold = int(tree.feature[node]), float(tree.threshold[node])  # type: ignore[attr-defined]
    low, high = bounds.get(column, (-math.inf, math.inf))
    below, above = {**bounds, column: (low, min(high, threshold))}, {**bounds, column: (max(low, threshold), high)}
    return _leaves(tree, left, below) + _leaves(tree, right, above)


def _within(values: Array, bounds: Bounds) -> Mask:
    inside = np.ones(len(values), dtype=bool)
    for column, (low, high) in bounds.items():
        inside &= (values[:, column] > low) & (values[:, column] <= high)
    return inside


def _measure(rows: ReportRows, here: NDArray[np.intp], n_measured: int, where: str) -> Region:
    before, after = rows.residual[here], rows.residual_after[here]
    return Region(
        where,
        len(here),
        len(here) / n_measured,
        *mean_interval(before, 1.0 - 0.05 / MOST_LEAVES),
        float(after.mean()),
        _root_mean_square(before),
        _root_mean_square(after),
        frozenset(here.tolist()),
    )


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _in_words(bounds: Bounds, names: list[str], values: Array, categories: Sequence[tuple[str, str] | None]) -> str:
    def one(column: int, low: float, high: float) -> str:
        category = categories[column]
        if category is None:
            return f"{names[column]} is {_range(low, high, values[:, column])}"
        return f"{category[0]} is {category[1]}" if high >= 1.0 else f"{category[0]} is not {category[1]}"

    return listed([one(column, low, high) for column, (low, high) in bounds.items()])


def _range(low: float, high: float, values: Array) -> str:
    """The values of a column above ``low`` and up to ``high``, as briefly as they can be named."""
    distinct = np.unique(values)
    inside = distinct[(distinct > low) & (distinct <= high)]
    if len(inside) == 1:
        return number(float(inside[0]), 4)
    if (distinct == np.round(distinct)).all():
        low, high = float(inside[0]), float(inside[-1])
        first, last = number(low, 4), number(high, 4)
        if inside[0] == distinct[0]:
            return f"{last} or less"
        return f"{first} or more" if inside[-1] == distinct[-1] else f"from {first} to {last}"
    first, last = number(low, 4), number(high, 4)
    if math.isinf(low):
        return f"up to {last}"
    return f"above {first}" if math.isinf(high) else f"between {first} and {last}"
