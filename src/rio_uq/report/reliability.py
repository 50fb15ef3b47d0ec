"""Can the intervals be trusted? How often they hold the outcome, over all rows and in groups of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rio_uq._base.array import Array, Mask
from rio_uq.metrics import normal_intervals, one_error_bar
from rio_uq.report.groups import LEAST_ROWS, Group, binomial_interval, groups_by
from rio_uq.report.rows import SHOWN, ReportRows
from rio_uq.report.words import number, share

MOST_GROUPS, MOST_FEATURES, MOST_LABELS = 8, 3, 12

TOLERANCE = 0.02
"""Coverage that is nearer to its level than this is good enough for anybody."""

EVEN = 1.5
"""Groups are of about the same size if the largest has at most so many times the rows of the smallest."""

FAR_TOO_NARROW = 2.0
"""Intervals that miss at least so many times the outcomes that they may miss cannot be trusted at all."""

MEMORISED = 1.3
"""A model that errs so many times as much as on the rows of fit had an easier time there."""

BY_HEART = 100.0
"""A ratio of errors above which digits say nothing."""

WIDEST = 0.25
"""With a wider binomial interval there is no saying whether coverage is right."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """Shares of outcomes inside intervals, with their 95 % binomial intervals.

    Attributes
    ----------
    label : str
        Which rows.
    n_rows : int
    levels, coverage, low, high : (k,) arrays
    """

    label: str
    n_rows: int
    levels: Array
    coverage: Array
    low: Array
    high: Array

    def at(self, level: float) -> tuple[float, float, float]:
        """Coverage, low and high of one level."""
        (place,) = np.flatnonzero(np.isclose(self.levels, level))
        return float(self.coverage[place]), float(self.low[place]), float(self.high[place])

    @property
    def off(self) -> NDArray[np.intp]:
        """−1 where intervals of a level are clearly too narrow, 1 where they are clearly too wide, 0 elsewhere.

        Clearly: by more than two points, and by more than chance allows.
        """
        is_far = np.abs(self.coverage - self.levels) > TOLERANCE
        return np.where(is_far & (self.high < self.levels), -1, np.where(is_far & (self.low > self.levels), 1, 0))

    def is_surely_off(self, level: float, n_groups: int) -> bool:
        """Clearly off, and by more than chance allows in any of so many groups."""
        held = np.round(self.coverage * self.n_rows)
        low, high = binomial_interval(held, np.full(len(held), self.n_rows), 1.0 - 0.05 / n_groups)
        outside = (high < self.levels) | (low > self.levels)
        return bool((outside & (self.off != 0))[np.isclose(self.levels, level)][0])

    def off_at(self, level: float) -> int:
        return int(self.off[np.isclose(self.levels, level)][0])


@dataclass(frozen=True, eq=False)
class CoverageBy:
    """Coverage in groups of rows, by one variable.

    Attributes
    ----------
    variable : str
    groups : tuple of Coverage
        At the levels that numbers are given for.
    is_category : bool
        Whether groups are the levels of a category.
    """

    variable: str
    groups: tuple[Coverage, ...]
    is_category: bool = False

    def where(self, group: Coverage) -> str:
        """Which rows, in words."""
        is_ = f"where {self.variable} is" if self.is_category else f"with {self.variable}"
        return f"rows {is_} {group.label}"


@dataclass(frozen=True, eq=False)
class Reliability:
    """The second section.

    Attributes
    ----------
    overall : Coverage
        Of all levels.
    before : (k,) array
        Coverage of the model with one error bar for all rows.
    by : tuple of CoverageBy
        By the prediction and by the most relevant features.
    level : float
        That of the answer.
    error_ratio : float or None
        Root mean squared error of the model here, over that of the residuals that RIO was fitted to; None where these
        are not known; infinite where they are zero.
    is_cross_fit : bool
        Whether those residuals are of rows that their models had not seen, or did not remember.
    """

    overall: Coverage
    before: Array
    by: tuple[CoverageBy, ...]
    level: float
    error_ratio: float | None = None
    is_cross_fit: bool = False

    @property
    def off_by(self) -> float:
        """Mean distance between coverage and level."""
        return float(np.abs(self.overall.coverage - self.overall.levels).mean())

    @property
    def exceptions(self) -> list[tuple[CoverageBy, Coverage]]:
        """Groups, and what they are by, whose coverage is clearly off: those with too narrow intervals first, and the
        farthest of each kind.
        """
        groups = [(part, group) for part in self.by for group in part.groups if group.off_at(self.level)]
        return sorted(groups, key=lambda item: (item[1].off_at(self.level), -abs(self._distance(item[1]))))

    def _distance(self, group: Coverage) -> float:
        return group.at(self.level)[0] - self.level

    @property
    def is_even_sized(self) -> bool:
        """Whether the groups by each variable have about the same number of rows."""
        sizes = [[group.n_rows for group in part.groups] for part in self.by]
        return all(max(of_part) <= EVEN * min(of_part) for of_part in sizes)

    @property
    def n_groups(self) -> int:
        return sum(len(part.groups) for part in self.by)

    @property
    def is_uneven(self) -> bool:
        """Whether chance would have it: each group is clearly off with a probability of 5 % at most.

        More groups are off than that allows, or one is by so much that not even the worst of all groups would be.
        """
        if any(group.is_surely_off(self.level, self.n_groups) for _, group in self.exceptions):
            return True
        return len(self.exceptions) > int(stats.binom.ppf(0.975, self.n_groups, 0.05))

    @property
    def is_far_too_narrow(self) -> bool:
        coverage, _, high = self.overall.at(self.level)
        return high < self.level and 1.0 - coverage >= FAR_TOO_NARROW * (1.0 - self.level)

    @property
    def is_narrow_in_groups(self) -> bool:
        """As `is_uneven`, of groups with too narrow intervals alone: 2.5 % of them at most, if it were chance."""
        narrow = [group for _, group in self.exceptions if group.off_at(self.level) < 0]
        if any(group.is_surely_off(self.level, self.n_groups) for group in narrow):
            return True
        return len(narrow) > int(stats.binom.ppf(0.975, self.n_groups, 0.025))

    @property
    def _off(self) -> set[int]:
        return {self.overall.off_at(level) for level in self.overall.levels if level in SHOWN or level == self.level}

    @property
    def verdict(self) -> str:
        """From the levels that numbers are given for: too narrow intervals first, of all rows and then of groups."""
        off = self._off
        _, low, high = self.overall.at(self.level)
        if self.is_far_too_narrow:
            return "No, they are far too narrow"
        if high - low > WIDEST:
            return "There are too few rows to tell"
        if {-1, 1} <= off:
            return "Not quite, some are too narrow and some too wide"
        if -1 in off:
            return "Not quite, they are too narrow"
        if self.is_narrow_in_groups:
            return "Not for all rows, they are too narrow in some groups"
        if 1 in off:
            return "Yes, but they are wider than they need to be"
        return "On the whole, but not in every group of rows" if self.is_uneven else "Yes"

    @property
    def answer(self) -> str:
        coverage, low, high = self.overall.at(self.level)
        return (
            f"{self.verdict}: {share(self.level, 0)} intervals hold {share(coverage)} of outcomes (95 % interval "
            f"{share(low)} to {share(high)}), and over all levels coverage is off by {share(self.off_by)} on average"
            f"{self._words_on_groups()}.{self._cause_and_remedy()}"
        )

    def _cause_and_remedy(self) -> str:
        """Why intervals are too narrow, as far as errors tell, and what to do; nothing where they are not."""
        if self.is_far_too_narrow or (-1 in self._off and 1 not in self._off):
            remedy = " Calibrate the error bars on rows that were used for nothing else: rio.calibrate(X, y)."
            if self.error_ratio is None:
                return remedy
            if self.error_ratio < MEMORISED:
                errs = f" The model errs about as much here as on the rows of fit ({self.error_ratio:.2f} times)"
                return f"{errs}: it is the error bars that do not suit it.{remedy}"
            cause = f" The model's errors are {number(self.error_ratio, 2)} times as large here as on the rows of fit"
            if self.error_ratio > BY_HEART:
                cause = " The model has next to no errors on the rows of fit"
            if self.is_cross_fit:
                return f"{cause}, which it did not know by heart: these are of another kind. Fit on rows like these."
            return (
                f"{cause}: so it is with a model that has seen those in training. Give fit rows that are new to the "
                "model, name those that are by held_out=, or use residuals='cross-fit'."
            )
        if self.verdict.startswith("Not for all rows"):
            return " Calibration by group sets each of them right: rio.calibrate(X, y, groups=...)."
        return ""

    def _words_on_groups(self) -> str:
        if not self.by:
            return ""
        if not self.exceptions:
            return f"; in none of {self.n_groups} groups of rows is it clearly off"
        part, worst = self.exceptions[0]
        verb = "is" if len(self.exceptions) == 1 else "are"
        return (
            f"; {len(self.exceptions)} of {self.n_groups} groups of rows {verb} clearly off, most of all "
            f"{part.where(worst)} ({share(worst.at(self.level)[0])})"
        )


def measure_reliability(
    rows: ReportRows, fitted_error: float | None = None, *, is_cross_fit: bool = False
) -> Reliability:
    """Coverage of all rows, and in groups by the prediction and by the most relevant features.

    Parameters
    ----------
    rows : ReportRows
    fitted_error : float, optional
        Root mean square of the residuals that RIO was fitted to.
    is_cross_fit : bool
        Whether they are of rows that their models had not seen, or did not remember.
    """
    shown = [level for level in SHOWN if rows.inside_of(level) is not None]
    levels = np.array(sorted({*shown, rows.level}))
    inside = np.column_stack([np.asarray(rows.inside_of(level)) for level in levels])
    by = [
        CoverageBy(name, tuple(_coverage(group.label, inside[group.rows], levels) for group in groups), is_category)
        for name, groups, is_category in grouped(rows)
    ]
    if rows.groups is not None:
        labelled = [(label, rows.groups == label) for label in most_frequent(rows.groups, MOST_LABELS)]
        parts = tuple(_coverage(label, inside[here], levels) for label, here in labelled)
        by.append(CoverageBy("group of the calibration", parts))
    intervals = normal_intervals(rows.y_pred, one_error_bar(rows.residual), rows.levels.tolist()).values()
    before = np.array([np.mean((low <= rows.outcome) & (rows.outcome <= high)) for low, high in intervals])
    error = float(np.sqrt(np.mean(rows.residual**2)))
    ratio = None if fitted_error is None or error == 0.0 else error / fitted_error if fitted_error > 0.0 else np.inf
    return Reliability(
        _coverage("all rows", rows.inside, rows.levels), before, tuple(by), rows.level, ratio, is_cross_fit
    )


def most_frequent(labels: NDArray[np.str_], most: int) -> list[str]:
    """At most so many of the labels, those with the most rows, in their own order."""
    distinct, counts = np.unique(labels, return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:most])
    return [str(label) for label in distinct[kept]]


def grouped(rows: ReportRows) -> list[tuple[str, list[Group], bool]]:
    """Variables with groups of rows: the prediction, and the columns that matter most; and which are categories."""
    variables = [("prediction", groups_by(rows.y_pred, MOST_GROUPS), False)]
    columns: set[str] = set()
    for i, (name, values) in enumerate(relevant_features(rows, len(rows.names))):
        category = rows.categories[i] if rows.categories else None
        column = name if category is None else category[0]
        if len(columns) == MOST_FEATURES or (category is not None and column in columns):
            continue
        columns.add(column)
        groups = groups_by(values, MOST_GROUPS) if category is None else _levels(rows, column)
        variables.append((column, groups, category is not None))
    return [entry for entry in variables if entry[1]]


def _levels(rows: ReportRows, column: str) -> list[Group]:
    """The most frequent levels of a category, each a group; none where fewer than two have enough rows."""
    groups = [
        Group(category[1], rows.features[:, i] > 0.5)
        for i, category in enumerate(rows.categories)
        if category is not None and category[0] == column
    ]
    frequent = sorted(groups, key=lambda group: -int(group.rows.sum()))[:MOST_GROUPS]
    kept = sorted((group for group in frequent if group.rows.sum() >= LEAST_ROWS), key=lambda group: group.label)
    return kept if len(kept) > 1 else []


def relevant_features(rows: ReportRows, most: int) -> list[tuple[str, Array]]:
    """Names and values of the features with the largest relevance that is more than zero."""
    return [
        (name, rows.features[:, i])
        for i, name in enumerate(rows.names[:most])
        if rows.relevance[i] > 1e-6 * rows.relevance[0]
    ]


def _coverage(label: str, inside: Mask, levels: Array) -> Coverage:
    held, n_rows = inside.sum(axis=0), len(inside)
    low, high = binomial_interval(held, np.full(len(levels), n_rows))
    return Coverage(label, n_rows, levels, held / n_rows, low, high)
