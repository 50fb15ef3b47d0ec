"""The five sweeps: which problems, how many rows, and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from experiments.when import simulators, stand_ins, tables
from experiments.when.problem import Problem

PROBLEMS: dict[str, Callable[[int, int], Problem]] = {
    "protein": tables.protein,
    "smooth": tables.smooth,
    **{f"wide {d}": tables.wide(d) for d in (2, 8, 32, 128, 384)},
    "like SC": stand_ins.superconductivity,
    "like CT": stand_ins.slices,
    "Friedman": tables.friedman,
    "oscillator": simulators.beyond(
        "oscillator",
        simulators.oscillator(simulators.DAMPING),
        simulators.oscillator(simulators.WRONG_DAMPING),
        simulators.OSCILLATOR,
        simulators.OSCILLATOR_NOISE,
    ),
    "power": simulators.beyond(
        "power",
        simulators.power(simulators.DRAG),
        simulators.power(simulators.WRONG_DRAG),
        simulators.POWER,
        simulators.POWER_NOISE,
    ),
    "borehole": simulators.measured(simulators.borehole, simulators.cheap_borehole, simulators.BOREHOLE),
    "wing weight": simulators.measured(simulators.wing_weight, simulators.cheap_wing_weight, simulators.WING),
}
"""From the number of training rows and that of the repetition."""

WIDE = tuple(name for name in PROBLEMS if name.startswith(("wide", "like")))

SWEEPS: dict[str, tuple[tuple[tuple[str, ...], tuple[int, ...]], ...]] = {
    "n": ((("protein", "smooth"), (50, 150, 500, 1500, 5000, 20_000)),),
    "d": ((WIDE, (1000,)),),
    "quality": ((("Friedman",), (300,)),),
    "extrapolation": ((("oscillator", "power"), (100,)),),
    "labels": ((("borehole", "wing weight"), (10, 20, 50, 100)),),
}
"""Problems of each sweep and their numbers of training rows."""

REPETITIONS = {250: 5, 300: 3, 500: 5, 1500: 2}
"""Up to so many rows; more of them are dear, and have a single one. At 300 rows there are eleven models."""


@dataclass(frozen=True)
class Case:
    """One repetition of a problem in a sweep; all its models share the plain GP."""

    sweep: str
    world: str
    n: int
    run: int


def cases(sweeps: list[str] | None = None, most_rows: int | None = None) -> list[Case]:
    """All of them, few rows first, so that what is dear comes last."""
    found = [
        Case(sweep, world, n, run)
        for sweep in sweeps or SWEEPS
        for worlds, sizes in SWEEPS[sweep]
        for n in sizes
        for world in worlds
        for run in range(repetitions(n))
        if most_rows is None or n <= most_rows
    ]
    return sorted(found, key=lambda case: (case.n, case.run))


def repetitions(n: int) -> int:
    return next((number for most, number in REPETITIONS.items() if n <= most), 1)
