"""Where does the model go wrong? By the size of its predictions, by feature, and in regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rio_uq._base.array import Array, Mask, evenly_by
from rio_uq.report.groups import mean_interval
from rio_uq.report.regions import Regions, find_regions
from rio_uq.report.reliability import grouped
from rio_uq.report.rows import ReportRows
from rio_uq.report.words import number, share
from rio_uq.summary import Summary

CURVE_POINTS, MOST_BARS = 200, 12


@dataclass(frozen=True)
class GroupError:
    """Errors of a group of rows.

    Attributes
    ----------
    label : str
    n_rows : int
    error, low, high : float
        Mean of outcome minus prediction with its 95 % interval.
    expected : float
        Mean of the part of the correction that belongs to the variable: the output part, or the input part.
    left : float
        Mean of outcome minus corrected prediction.
    """

    label: str
    n_rows: int
    error: float
    low: float
    high: float
    expected: float
    left: float


@dataclass(frozen=True)
class ErrorsBy:
    """Errors in groups of rows, by one variable."""

    variable: str
    groups: tuple[GroupError, ...]


@dataclass(frozen=True)
class Share:
    """A part of the variance of residuals, as RIO sees it."""

    name: str
    meaning: str
    value: float


@dataclass(frozen=True, eq=False)
class Errors:
    """The third section.

    Attributes
    ----------
    curve_x, curve_y : arrays
        Predictions, and the output part of their corrections.
    is_curve : bool
        Whether that is a function of the prediction.
    by : tuple of ErrorsBy
        By the prediction and by the most relevant features.
    relevance : tuple of pairs
        Names of features, and by how much the input part is expected to change when they move by one standard
        deviation; the largest first.
    n_features : int
    shares : tuple of Share
    trust, trust_std : float
    bias : tuple of float
        Mean of outcome minus prediction, with its 95 % interval.
    removed : float
        Share of the model's mean squared error that RIO takes away; less than zero where it adds to it.
    regions : Regions or None
    """

    curve_x: Array
    curve_y: Array
    is_curve: bool
    by: tuple[ErrorsBy, ...]
    relevance: tuple[tuple[str, float], ...]
    n_features: int
    shares: tuple[Share, ...]
    trust: float
    trust_std: float
    bias: tuple[float, float, float]
    removed: float
    regions: Regions | None

    @property
    def answer(self) -> str:
        mean, low, high = self.bias
        if low > 0.0 or high < 0.0:
            head = f"Over all rows its predictions are too {'low' if mean > 0 else 'high'} by {number(abs(mean))}"
        else:
            head = f"Over all rows its errors balance (mean {number(mean)})"
        removes = f"removes {share(self.removed, 0)} of" if self.removed >= 0.005 else "removes none of"
        answer = f"{head}, and RIO {removes} its mean squared error. "
        if self.regions is None:
            return answer + "There are too few rows here to name regions."
        if not self.regions.sentences:
            return answer + "No region of rows stands out."
        return answer + self.regions.sentences[0]

    @property
    def relevance_in_words(self) -> list[tuple[str, str]]:
        return [(name, number(value)) for name, value in self.relevance]

    @property
    def words_on_trust(self) -> str:
        if np.isnan(self.trust):
            return "The model's predictions are all the same, so there is no saying how much of them to keep."
        if self.trust_std == 0.0:
            return "The kernel does not look at the model's output, so nothing is learnt from its size."
        return (
            f"Trust in the model's output is {self.trust:.2f} ± {self.trust_std:.2f}: 1 keeps it as it is, 0 does "
            "without it."
        )


def measure_errors(rows: ReportRows, summary: Summary, output: int, rng: np.random.Generator) -> Errors:
    """Errors by prediction, by feature and in regions; the summary is of the same rows, or of some of them."""
    shown = evenly_by(rows.y_pred, CURVE_POINTS)
    _, first = np.unique(rows.y_pred[shown], return_index=True)
    shown = shown[first]
    by: list[ErrorsBy] = []
    for name, groups, _ in grouped(rows):
        part = rows.output_part if name == "prediction" and not by else rows.input_part
        by.append(ErrorsBy(name, tuple(_group_error(group.label, group.rows, rows, part) for group in groups)))
    relevance = list(zip(rows.names, rows.relevance.tolist(), strict=True))[:MOST_BARS]
    return Errors(
        rows.y_pred[shown],
        rows.output_part[shown],
        rows.is_curve,
        tuple(by),
        tuple(relevance),
        len(rows.names),
        shares_of(summary, output),
        float(np.atleast_1d(summary.trust)[output]),
        float(np.atleast_1d(summary.trust_std)[output]),
        mean_interval(rows.residual),
        share_removed(rows.residual, rows.residual_after),
        find_regions(rows, rng),
    )


def share_removed(before: Array, after: Array) -> float:
    """Of the mean squared error; 0 where there is none."""
    total = float(np.sum(before**2))
    return 1.0 - float(np.sum(after**2)) / total if total > 0.0 else 0.0


def shares_of(summary: Summary, output: int) -> tuple[Share, ...]:
    """The shares of a summary, with what they mean."""
    meanings = {
        "input": "learnt from the features",
        "output": "learnt from the model's output",
        "unsettled": "more rows would tell",
        "noise": "cannot be foreseen",
    }

    def of(value: Any) -> float:
        return float(np.atleast_1d(value)[output])

    return tuple(Share(name, words, of(getattr(summary.shares, name))) for name, words in meanings.items())


def _group_error(label: str, here: Mask, rows: ReportRows, part: Array) -> GroupError:
    return GroupError(
        label,
        int(here.sum()),
        *mean_interval(rows.residual[here]),
        float(part[here].mean()),
        float(rows.residual_after[here].mean()),
    )
