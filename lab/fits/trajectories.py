"""Fits with their trajectories, and how long one engine takes to get where another one ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.json_lines import Row

ROUNDING = 1e-5
"""Of the values of stored trajectories: without it, an engine might never reach its own end."""


def first_time(seconds: list[float], values: list[float], level: float, *, lower_is_better: bool = False) -> float:
    """When a trajectory first reaches a level; infinite if it never does.

    Examples
    --------
    >>> first_time([0.1, 0.2, 0.3], [-9.0, -5.0, -4.0], -5.0)
    0.2
    >>> first_time([0.1, 0.2], [3.0, 2.0], 1.0, lower_is_better=True)
    inf
    """
    for second, value in zip(seconds, values, strict=True):
        if (value <= level + ROUNDING) if lower_is_better else (value >= level - ROUNDING):
            return second
    return float("inf")


@dataclass(frozen=True)
class Fits:
    """The fits of an engine on a data set, one for each round: times are medians over them.

    A median over rounds of which half or more never got there is infinite.
    """

    rounds: tuple[Row, ...]

    def median(self, name: str) -> float:
        return float(np.median([row[name] for row in self.rounds]))

    @property
    def stopped(self) -> str:
        """The reasons why fits ended, if it was not the optimiser."""
        return "; ".join(dict.fromkeys(row["stopped"] for row in self.rounds if row["stopped"]))

    @property
    def has_comparable_bound(self) -> bool:
        """Whether the bound is one of what the other engines' bounds are of."""
        return all(row["has_comparable_bound"] for row in self.rounds)

    def time_to_bound(self, level: float) -> float:
        times = [first_time(row["trace"]["seconds"], row["trace"]["bound"], level) for row in self.rounds]
        return float(np.median(times))

    def time_to_nlpd(self, level: float) -> float:
        looks = (row["looks"] for row in self.rounds)
        times = [first_time(look["seconds"], look["nlpd"], level, lower_is_better=True) for look in looks]
        return float(np.median(times))


def grouped(rows: list[Row]) -> dict[str, dict[str, Fits]]:
    """Fits by data set and engine; of a fit that was done again, the last counts. What failed is left out."""
    latest = {(row["dataset"], row["engine"], row["round"]): row for row in rows}
    groups: dict[str, dict[str, list[Row]]] = {}
    for (dataset, engine, _), row in latest.items():
        if "error" not in row:
            groups.setdefault(dataset, {}).setdefault(engine, []).append(row)
    return {
        dataset: {engine: Fits(tuple(rounds)) for engine, rounds in engines.items()}
        for dataset, engines in groups.items()
    }
