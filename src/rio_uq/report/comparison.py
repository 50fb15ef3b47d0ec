"""Is the model better with RIO? Measures before and after, with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.metrics import improvement_ratio, normal_intervals, one_error_bar, row_scores
from rio_uq.report.rows import SHOWN, ReportRows
from rio_uq.report.words import counted, listed, measured, share

N_RESAMPLES = 1000


class Estimate(NamedTuple):
    """A measure with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


INFINITE = Estimate(np.inf, np.inf, np.inf)


@dataclass(frozen=True)
class Measure:
    """One measure before and after.

    Attributes
    ----------
    name, meaning : str
    before, after : Estimate
    change : Estimate
        After minus before; of coverage, by how much its distance from the level has changed. Less than zero is better.
    level : float or None
        What coverage should be.
    """

    name: str
    meaning: str
    before: Estimate
    after: Estimate
    change: Estimate
    level: float | None = None

    @property
    def verdict(self) -> str:
        """ "better", "worse" or "no clear difference": whether the interval of the change leaves zero out."""
        if self.change.high < 0.0:
            return "better"
        return "worse" if self.change.low > 0.0 else "no clear difference"

    def in_words(self, value: float) -> str:
        return measured(value) if self.level is None else share(value)


@dataclass(frozen=True)
class Comparison:
    """The first section.

    Attributes
    ----------
    measures : tuple of Measure
        RMSE, MAE, NLPD and coverage.
    improved : float
        Share of predictions that RIO has brought nearer to the outcome.
    before_std : float
        The error bar of the model alone.
    n_beyond : int
        Outcomes without a density, beyond the range of the scale of `fit`.
    """

    measures: tuple[Measure, ...]
    improved: float
    before_std: float
    n_beyond: int = 0

    @property
    def answer(self) -> str:
        rmse, nlpd = self.measures[0], self.measures[2]
        verdicts = {"predictions": rmse.verdict, "error bars": nlpd.verdict}
        words = self._words_on_infinity() if self.n_beyond else _moves(nlpd)
        return f"{_head(verdicts)}: {_moves(rmse)}; {words}{self._words_on_coverage()}."

    def _words_on_infinity(self) -> str:
        outcomes = counted(self.n_beyond, "outcome is", "outcomes are")
        return f"NLPD is infinite, for {outcomes} beyond the range that the scale of fit allows, and in no interval"

    def _words_on_coverage(self) -> str:
        levels = [measure for measure in self.measures if measure.level is not None]
        if not levels:
            return ""
        top = levels[-1]
        name, before, after = share(top.level or 0.0, 0), share(top.before.value), share(top.after.value)
        return f"; {name} intervals hold {after} of outcomes (before: {before})"


def _head(verdicts: dict[str, str]) -> str:
    better, worse = ([name for name, verdict in verdicts.items() if verdict == kind] for kind in ("better", "worse"))
    if better and worse:
        return f"Partly: {better[0]} are better and {worse[0]} are worse"
    if better:
        return "Yes" if len(better) == 2 else f"Yes, its {better[0]} are better"
    return f"No, {listed(worse)} are worse" if worse else "It makes no clear difference"


def _moves(measure: Measure) -> str:
    before, after, change = measure.before, measure.after, measure.change
    if np.isnan(change.value):
        return f"{measure.name} is {measured(after.value)}"
    ends = f"from {measured(before.value)} to {measured(after.value)}"
    small, large = sorted((abs(change.low), abs(change.high)))
    if measure.verdict == "no clear difference":
        return f"{measure.name} goes {ends} (change {measured(change.low)} to {measured(change.high)})"
    verb = "falls" if measure.verdict == "better" else "rises"
    return f"{measure.name} {verb} {ends} (by {measured(small)} to {measured(large)})"


def compare(rows: ReportRows, rng: np.random.Generator, n_resamples: int = N_RESAMPLES) -> Comparison:
    """All measures before and after.

    Before is the model with one error bar for all rows, see `rio_uq.metrics.before_after`.
    """
    std = one_error_bar(rows.residual)
    shown = [level for level in SHOWN if rows.inside_of(level) is not None]
    before: list[NDArray[Any]] = list(row_scores(rows.outcome, rows.y_pred, std)[:3])
    after: list[NDArray[Any]] = list(row_scores(rows.outcome, rows.mean, rows.std, rows.losses)[:3])
    for level, (low, high) in normal_intervals(rows.y_pred, std, shown).items():
        before.append((low <= rows.outcome) & (rows.outcome <= high))
        after.append(np.asarray(rows.inside_of(level)))
    n_beyond = int(np.isinf(after[2]).sum())
    if n_beyond:
        after[2] = np.full(len(rows), np.nan)  # a mean over other rows would hide the worst
    values = np.column_stack([*before, *after]).astype(float)
    # The first line is the estimate, the others are its resamples.
    means = np.vstack([values.mean(axis=0), resampled_means(values, n_resamples, rng)])
    means[:, [0, len(before)]] = np.sqrt(means[:, [0, len(before)]])
    pairs = list(zip(means[:, : len(before)].T, means[:, len(before) :].T, strict=True))
    kinds = (
        ("RMSE", "root mean squared error"),
        ("MAE", "mean absolute error"),
        ("NLPD", "negative log predictive density: small where error bars fit"),
    )
    measures = [
        Measure(name, meaning, _estimate(old), _estimate(new), _estimate(new - old))
        for (name, meaning), (old, new) in zip(kinds, pairs[:3], strict=True)
    ]
    if n_beyond:
        measures[2] = replace(measures[2], after=INFINITE, change=INFINITE)
    measures += [
        Measure(
            f"{share(level, 0)} coverage",
            "share of outcomes inside the interval",
            _estimate(old),
            _estimate(new),
            _estimate(np.abs(new - level) - np.abs(old - level)),
            level,
        )
        for level, (old, new) in zip(shown, pairs[3:], strict=True)
    ]
    improved = improvement_ratio(rows.outcome, rows.mean, rows.y_pred)
    return Comparison(tuple(measures), improved, float(std[0]), n_beyond)


def resampled_means(values: Array, n_resamples: int, rng: np.random.Generator) -> Array:
    """Means of the columns of values (n, m) over rows drawn with replacement: (n_resamples, m)."""
    n_rows = len(values)
    counts = (np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows) for _ in range(n_resamples))
    return np.array([count @ values for count in counts]) / n_rows


def _estimate(values: Array) -> Estimate:
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return Estimate(float(values[0]), float(low), float(high))
