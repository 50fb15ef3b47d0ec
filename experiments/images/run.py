"""Trains the networks of each run, fits every method, and stores how good it is on test and other images."""

from __future__ import annotations

import os
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from experiments.images.data import TEST, Images, Problem, problem
from experiments.images.methods import METHODS, SLOWEST, Answer, Networks, networks_of
from experiments.images.network import AngleNetwork
from experiments.images.page import frame_of, section
from experiments.runner import FOLDER
from lab.files import whole_file
from lab.json_lines import Row, append_row, read_rows
from lab.tasks import Task, run_tasks
from rio_uq import metrics

NAME = "images"
FIGURE = "images.png"
LEVELS = (0.68, 0.9, 0.95)


def open_tasks(runs: int, path: Path) -> list[Task]:
    """A task for each method of each run that has no row yet, every run of a method before the next method."""
    stored = {(row["run"], row["method"]) for row in read_rows(path)}
    methods = [*(method for method in METHODS if method not in SLOWEST), *SLOWEST]
    wanted = product(methods, range(runs))
    return [Task(NAME, NAME, run, (method,)) for method, run in wanted if (run, method) not in stored]


def measure(runs: int, jobs: int, path: Path, cache: Path) -> None:
    """Measure what is not stored yet.

    Parameters
    ----------
    runs : int
        Number of splits.
    jobs : int
        Processes side by side.
    path : Path
        JSON lines, a line for each run and method.
    cache : Path
        Folder where networks are kept.
    """
    run_tasks(open_tasks(runs, path), jobs, path, partial(work, cache=cache))


def write(runs: int, path: Path, folder: Path) -> str:
    """Draw the figure, and tell the results in a section whose link is right in the folder of the experiments."""
    from experiments.images.figure import draw

    rows = [row for row in read_rows(path) if row["run"] < runs]
    draw(frame_of(rows), problem(0), folder / FIGURE)
    return section(rows, Path(os.path.relpath(folder / FIGURE, FOLDER)).as_posix())


def work(task: Task, path: Path, *, cache: Path) -> None:
    """The methods of a task, in a process of its own; rows are stored one by one."""
    torch.set_num_threads(1)
    given = problem(task.run)
    networks = kept_networks(given, task.run, cache)
    for method in task.methods:
        append_row(path, row_of(given, networks, task.run, method))


def kept_networks(given: Problem, run: int, cache: Path) -> Networks:
    """The networks of a run, trained unless they were before."""
    path = cache / f"{run}.pt"
    if not path.exists():
        networks = networks_of(given, run)
        states = {"of_part": networks.of_part.state_dict(), "of_all": networks.of_all.state_dict()}
        with whole_file(path) as unfinished:
            torch.save(states, unfinished)
    states = torch.load(path, weights_only=True)
    return Networks(**{name: _network(state) for name, state in states.items()})


def _network(state: dict[str, Any]) -> AngleNetwork:
    network = AngleNetwork()
    network.load_state_dict(state)
    return network.eval()


def row_of(given: Problem, networks: Networks, run: int, method: str) -> Row:
    """How good a method is, on the test images and on those of each other kind."""
    began = time.perf_counter()
    fit = METHODS[method](given, networks, run)
    seconds = time.perf_counter() - began
    on_test = fit.answer(given.test.X)
    kinds = {TEST: measures(given.test, on_test)}
    for kind, images in given.unlike.items():
        answer = fit.answer(images.X)
        kinds[kind] = measures(images, answer) | told_apart(on_test, answer)
    return {"run": run, "method": method, "seconds": round(seconds, 1), "warned": fit.warned, "kinds": kinds}


def measures(images: Images, answer: Answer) -> dict[str, float]:
    """Errors, and of a method with error bars what these are worth."""
    y, mean = images.y, answer.mean
    values = {"rmse": metrics.rmse(y, mean), "mae": metrics.mae(y, mean)}
    if answer.distribution is not None:
        levels = list(LEVELS)
        shares = metrics.coverage_curve(y, answer.distribution, confidence_levels=levels)
        values |= {"nlpd": metrics.nlpd(y, answer.distribution), "crps": metrics.crps(y, answer.distribution)}
        values |= {f"coverage_{100 * level:.0f}": share for level, share in zip(LEVELS, shares, strict=True)}
        values |= {"std": np.mean(answer.std), "unknown_std": np.mean(answer.unknown_std)}
    return {name: float(f"{value:.6g}") for name, value in values.items()}


def told_apart(test: Answer, unlike: Answer) -> dict[str, float]:
    """The share of pairs in which the image unlike those of training has the larger error bar."""
    if test.std is None or unlike.std is None:
        return {}
    is_unlike = np.repeat([0, 1], [len(test.mean), len(unlike.mean)])
    pairs = {
        "larger": roc_auc_score(is_unlike, np.concatenate([test.std, unlike.std])),
        "larger_unknown": roc_auc_score(is_unlike, np.concatenate([test.unknown_std, unlike.unknown_std])),
    }
    return {name: float(f"{value:.4g}") for name, value in pairs.items()}
