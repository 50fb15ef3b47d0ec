"""Means and standard errors over splits, paired tests over shared splits, and targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.standard.methods import COLUMNS, RIO
from lab.datasets.standard import STANDARD
from lab.significance import SIGNIFICANCE, corrected_p_value, holm

MEASURES = {"rmse": "RMSE", "nlpd": "NLPD", "crps": "CRPS"}
TEST_SHARE = 0.1
"""Of the rows of a data set, in each standard split."""

LEAST = 7
"""Data sets of nine on which RIO is to be the best."""


def by_split(
    rows: pd.DataFrame, measure: str, datasets: Iterable[str] = tuple(STANDARD), methods: Sequence[str] = COLUMNS
) -> dict[str, pd.DataFrame]:
    """For each data set, a row for each standard split and a column for each method that has the measure."""
    standard = rows[rows["table"] == "standard"]
    frames = {}
    for name in datasets:
        frame = standard[standard["dataset"] == name].pivot(index="run", columns="method", values=measure)
        frame = frame.reindex(columns=[method for method in methods if method in frame]).dropna(axis=1, how="all")
        if frame.shape[1]:
            frames[name] = frame
    return frames


def complete(frame: pd.DataFrame) -> pd.DataFrame:
    """Without methods that lack splits: to compare means they would have to be over the same splits."""
    return frame.dropna(axis=1)


def p_value(one: pd.Series, other: pd.Series) -> float:
    """Of the paired test over the splits that both have, two-sided; 1 where a difference is not finite."""
    differences = (one - other).dropna().to_numpy()
    if not np.isfinite(differences).all():
        return 1.0
    return corrected_p_value(differences, TEST_SHARE, two_sided=True)


def beaten(frames: dict[str, pd.DataFrame]) -> set[tuple[str, str]]:
    """Pairs of data set and method with a larger mean than the best one, by tests that are corrected for all cells."""
    cells, p_values = [], []
    for name, frame in frames.items():
        whole = complete(frame)
        if not whole.shape[1]:
            continue
        best = whole.mean().idxmin()
        for method in frame.columns.drop(best):
            cells.append((name, str(method)))
            is_larger = (frame[method] - frame[best]).mean() > 0.0
            p_values.append(p_value(frame[method], frame[best]) if is_larger else 1.0)
    adjusted = holm(np.array(p_values))
    return {cell for cell, p in zip(cells, adjusted, strict=True) if p < SIGNIFICANCE}


class Duel(NamedTuple):
    """On how many data sets a method is better and worse than another, and on how many of these by the test."""

    better: int
    worse: int
    surely_better: int
    surely_worse: int


def duels(frames: dict[str, pd.DataFrame], method: str) -> dict[str, Duel]:
    """A method beside each of the others, over the splits that both have; p-values are Holm's over all pairs."""
    pairs = []
    for frame in frames.values():
        if method in frame:
            for other in frame.columns.drop(method):
                difference = (frame[method] - frame[other]).dropna()
                if len(difference):
                    pairs.append((str(other), difference.mean(), p_value(frame[method], frame[other])))
    table = pd.DataFrame(pairs, columns=["method", "difference", "p"])
    table["sure"] = holm(table["p"].to_numpy()) < SIGNIFICANCE
    results = {}
    for other, part in table.groupby("method", sort=False):
        better, worse = part["difference"] < 0.0, part["difference"] > 0.0
        counts = (better, worse, better & part["sure"], worse & part["sure"])
        results[str(other)] = Duel(*(int(count.sum()) for count in counts))
    return results


class Target(NamedTuple):
    what: str
    target: str
    reached: str
    is_reached: bool | None
    """None where there are too few data sets to tell."""


def targets(rows: pd.DataFrame, untouched: list[str]) -> Iterator[Target]:
    """On how many data sets RIO has the best mean of all methods but the other RIOs, by its model."""
    for method in RIO:
        for measure in ("nlpd", "rmse"):
            won = best_datasets(by_split(rows, measure), method)
            count = sum(won.values())
            open_ones = len(STANDARD) - len(won)
            is_reached = True if count >= LEAST else None if count + open_ones >= LEAST else False
            yield Target(
                f"{method}: best mean {MEASURES[measure]}",
                f"{LEAST} of {len(STANDARD)}",
                _counted(won),
                is_reached,
            )
            if kept := {name: is_best for name, is_best in won.items() if name in untouched}:
                what = f"the same on data sets that defaults were not chosen on ({', '.join(untouched)})"
                yield Target(what, "told, no target", _counted(kept), None)


def best_datasets(frames: dict[str, pd.DataFrame], method: str) -> dict[str, bool]:
    """Whether no other method but RIO on other models has a smaller mean, over the splits that it has.

    Where RIO has chosen the plain GP on every split, both are the best.
    Data sets where it has not been run, or nothing else on all of these splits, are left out.
    """
    won = {}
    for name, frame in frames.items():
        if method not in frame:
            continue
        shared = complete(frame[frame[method].notna()])
        rivals = shared.columns.drop([other for other in RIO if other in shared])
        if len(rivals):
            means = shared.mean()
            won[name] = bool(means[method] <= means[rivals].min())
    return won


def _counted(won: dict[str, bool]) -> str:
    if not won:
        return "not run yet"
    lost = [name for name, is_best in won.items() if not is_best]
    return f"{sum(won.values())} of {len(won)}" + (f" (not {', '.join(lost)})" if lost else "")
