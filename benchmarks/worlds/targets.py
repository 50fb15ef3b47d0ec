"""The targets of every world, and whether they are reached, within two standard errors of the simulation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.worlds.answers import LEVELS
from benchmarks.worlds.world import N_TEST, World
from benchmarks.worlds.worlds import WORLDS
from lab.json_lines import Row

RATIO_OF_ANY_FIT, SHARE_OF_FITS = 1.1, 0.99
"""Error of RIO divided by that of the model: at most so much in such a share of all fits."""

MOST_COVERAGE = 99.0
"""In per cent of 95 % intervals, where outcomes are continuous."""

N_ERRORS = 2.0

OUT_OF_REACH = {
    "zeros-n30": "three of thirty rows are all that is seen of the tenth of outcomes that are not zero",
}
"""Worlds whose targets are not reached, and why."""


def most_ratio(world: World) -> float:
    """Error of RIO divided by that of the model, in the mean of a world."""
    return 1.02 if world.n >= 30 else 1.05


def least_coverage(world: World) -> float:
    """Of 95 % intervals, in per cent."""
    if world.n >= 30:
        return 92.0
    return 88.0 if world.n >= 10 else 0.0


@dataclass(frozen=True)
class Verdict:
    """A world, or an output or group of it, over its repetitions.

    Attributes
    ----------
    world : World
    part : str
        Output or group, "" if there is one only.
    n_fits : int
    ratio, ratio_error, worst_ratio : float
        Mean, its standard error, and largest of RIO's error divided by the model's, see `ratio_of`.
    coverage, coverage_error : float
        Of 95 % intervals, in per cent.
    """

    world: World
    part: str
    n_fits: int
    ratio: float
    ratio_error: float
    worst_ratio: float
    coverage: float
    coverage_error: float

    @property
    def name(self) -> str:
        return f"{self.world.name}, {self.part}" if self.part else self.world.name

    @property
    def misses(self) -> list[str]:
        """Targets that are missed; there are none after a far shift."""
        return self._beyond(N_ERRORS)

    @property
    def doubts(self) -> list[str]:
        """Targets that the mean misses by less than two standard errors: more repetitions will tell."""
        return [name for name in self._beyond(0.0) if name not in self.misses]

    def _beyond(self, n_errors: float) -> list[str]:
        if self.world.shift == "far":
            return []
        error = n_errors * self.coverage_error
        missed = {
            "error": not self.ratio - n_errors * self.ratio_error <= most_ratio(self.world),
            "coverage": not self.coverage + error >= least_coverage(self.world),
            "too wide": self.world.noise.is_continuous and self.coverage - error > MOST_COVERAGE,
        }
        return [name for name, is_missed in missed.items() if is_missed]

    @property
    def badness(self) -> float:
        """How far beyond the worse of its targets a world is; a tenth of the error is as bad as ten points."""
        below = least_coverage(self.world) - self.coverage
        above = self.coverage - MOST_COVERAGE if self.world.noise.is_continuous else -np.inf
        return float(np.nanmax([np.log(self.ratio / most_ratio(self.world) + 1e-300), below / 100.0, above / 100.0]))


def verdicts(rows: Iterable[Row]) -> list[Verdict]:
    """A verdict on each world and part from the rows of RIO, the worst first."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["method"] == "RIO":
            parts.setdefault((row["world"], row.get("part", "")), []).append(row)
    found = [_verdict(WORLDS[name], part, members) for (name, part), members in parts.items()]
    return sorted(found, key=lambda verdict: -verdict.badness)


def ratio_of(row: Row) -> float:
    """In units of that of the truth where the model beats the truth on the test rows, which is their chance; infinite
    where predictions were not finite.
    """
    return np.inf if row["ratio"] is None else float(row["ratio"]) / max(1.0, float(row["floor"]))


def _verdict(world: World, part: str, rows: list[Row]) -> Verdict:
    ratio = np.array([ratio_of(row) for row in rows])
    covered = np.array([row["coverage"][LEVELS.index(0.95)] for row in rows])
    # Coverage of a single fit is known as well as its test rows tell it; more rarely does it vary less.
    least_error = np.sqrt(95.0 * 5.0 / (N_TEST * len(rows)))
    return Verdict(
        world,
        part,
        len(rows),
        float(ratio.mean()),
        _standard_error(ratio),
        float(ratio.max()),
        float(covered.mean()),
        max(_standard_error(covered), float(least_error)),
    )


def _standard_error(values: np.ndarray) -> float:
    if len(values) < 2 or not np.isfinite(values).all():
        return 0.0
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def share_of_good_fits(rows: Iterable[Row]) -> tuple[float, bool]:
    """The share of fits without a far shift that are at most `RATIO_OF_ANY_FIT` worse, and whether it is enough."""
    near = [ratio_of(row) for row in rows if row["method"] == "RIO" and WORLDS[row["world"]].shift != "far"]
    share = float(np.mean(np.array(near) <= RATIO_OF_ANY_FIT))
    error = np.sqrt(SHARE_OF_FITS * (1.0 - SHARE_OF_FITS) / len(near))
    return share, bool(share + N_ERRORS * error >= SHARE_OF_FITS)
