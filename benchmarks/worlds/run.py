"""Fit RIO and its peers to rows drawn from each world, and measure them on test rows; what is stored is left out.

The rows of a repetition follow from the name of the world and the number of the repetition alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.worlds.answers import Answer, measured, model_predictions, rio_answer
from benchmarks.worlds.peers import MOST_ROWS_OF_GP, gp_answer, mapie_answer
from benchmarks.worlds.world import N_TEST, Draw, World
from benchmarks.worlds.worlds import WORLDS
from lab.json_lines import Row, append_row, read_rows
from lab.options import at_least_one, names_among
from lab.tasks import Task, run_tasks

METHODS: dict[str, Callable[[World, Draw, int], Answer]] = {"RIO": rio_answer, "MAPIE": mapie_answer, "GP": gp_answer}

REPETITIONS = {30: 40, 100: 30, 300: 20, 1000: 10}
"""Repetitions up to so many rows; `FEWEST` above."""

FEWEST = 5


def repetitions(world: World) -> int:
    """As many as tell a standard error, and as can be paid for."""
    return next((number for n, number in REPETITIONS.items() if world.n <= n), FEWEST)


def applies(method: str, world: World, run: int) -> bool:
    """Whether a method is measured in a repetition: peers are in the first ones only."""
    return method == "RIO" or (run < FEWEST and (method != "GP" or world.n <= MOST_ROWS_OF_GP))


def measure(name: str, run: int, methods: tuple[str, ...] = ("RIO",), n_test: int = N_TEST) -> list[Row]:
    """All rows of one repetition of a world."""
    world = WORLDS[name]
    draw = world.draw(run, n_test)
    y_pred = model_predictions(world, draw, run)
    return [
        {"world": name, "run": run, "method": method, **row}
        for method in methods
        for row in measured(world, draw.test, y_pred, METHODS[method](world, draw, run))
    ]


def work(task: Task, path: Path) -> None:
    for row in measure(task.dataset, task.run, task.methods):
        append_row(path, row)


def missing_tasks(names: list[str], methods: list[str], most: int | None, path: Path, first: int = 0) -> list[Task]:
    """Tasks whose rows are not stored, repetition by repetition, so that every world gets its first ones first."""
    stored = {(row["world"], row["run"], row["method"]) for row in read_rows(path)}
    tasks = []
    for name in names:
        for run in range(first, first + (most or repetitions(WORLDS[name]))):
            wanted = [method for method in methods if applies(method, WORLDS[name], run)]
            missing = tuple(method for method in wanted if (name, run, method) not in stored)
            if missing:
                tasks.append(Task("worlds", name, run, missing))
    return sorted(tasks, key=lambda task: task.run)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--worlds", type=names_among(WORLDS), default=list(WORLDS), help="with commas (default: all)")
    parser.add_argument("--methods", type=names_among(METHODS), default=list(METHODS), help="(default: all)")
    parser.add_argument("--repetitions", type=at_least_one, help="of each world (default: 40 to 5, by its rows)")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first repetition: others have other rows (default: 0)"
    )
    parser.add_argument("--jobs", type=at_least_one, default=1, help="processes side by side (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    tasks = missing_tasks(options.worlds, options.methods, options.repetitions, options.results, options.first)
    print(f"{len(tasks)} repetitions are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results, work)
