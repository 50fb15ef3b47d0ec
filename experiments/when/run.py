"""Fits the model alone, a plain GP and RIO to every case, by defaults, and stores how good each is on test rows."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.when.problem import Candidate, Problem, Rows
from experiments.when.sweeps import PROBLEMS, Case, cases
from lab.datasets import DataNotFoundError
from lab.json_lines import Row, append_row, read_rows
from rio_uq import RIORegressor, metrics

Key = tuple[Any, ...]
KEY = ("sweep", "world", "n", "run", "model", "level")
"""Columns that name a fit; it has a row for each set of test rows."""


def run(path: Path, sweeps: list[str] | None = None, most_rows: int | None = None) -> None:
    """Measure what is not stored yet.

    Parameters
    ----------
    path : Path
        JSON lines, to which rows are added one by one.
    sweeps : list of str or None
        All by default.
    most_rows : int or None
        Leave out cases with more training rows.
    """
    stored = {tuple(row[name] for name in KEY) for row in read_rows(path)}
    left_out: set[str] = set()
    for case in cases(sweeps, most_rows):
        if case.world in left_out:
            continue
        began = time.monotonic()
        try:
            problem = PROBLEMS[case.world](case.n, case.run)
        except DataNotFoundError as error:
            print(f"when: {case.world} is left out: {error}", file=sys.stderr)
            left_out.add(case.world)
            continue
        missing = [candidate for candidate in problem.candidates if key_of(case, candidate) not in stored]
        for row in rows_of(case, problem, missing):
            append_row(path, row)
        if missing:
            print(f"when: {case} measured ({time.monotonic() - began:.0f} s)", file=sys.stderr)


def key_of(case: Case, candidate: Candidate) -> Key:
    return case.sweep, case.world, case.n, case.run, candidate.name, candidate.level


def rows_of(case: Case, problem: Problem, candidates: list[Candidate]) -> Iterator[Row]:
    """The rows of some models of a case; the plain GP, which knows no model, is fitted once."""
    if not candidates:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gp, gp_seconds = plain_gp(problem.train, case.run)
        of_gp = {place: gp_measures(gp, test) for place, test in problem.tests.items()}
        for candidate in candidates:
            model, rio, seconds = rio_on(candidate, problem.train, case.run)
            for place, test in problem.tests.items():
                predict = model if callable(model) else model.predict
                measured = {
                    "model_rmse": metrics.rmse(test.y, predict(test.X)),
                    **prefixed("gp", of_gp[place]),
                    **prefixed("rio", measures(test.y, rio.predict(test.X), rio.predict_dist(test.X))),
                    "gp_seconds": gp_seconds,
                    "rio_seconds": seconds,
                }
                yield {
                    **dict(zip(KEY, key_of(case, candidate), strict=True)),
                    "value": place if candidate.level is None else candidate.level,
                    "d": problem.train.X.shape[1],
                    "std": rounded(np.std(test.y)),
                    "uses_model": uses_model(rio),
                    **{name: rounded(value) for name, value in measured.items()},
                }


def plain_gp(train: Rows, seed: int) -> tuple[RIORegressor, float]:
    """RIO's input kernel on the outcomes, and its processor seconds."""
    began = time.process_time()
    gp = RIORegressor(target="outcome", kernel="input", random_state=seed, n_jobs=1)
    gp.fit(train.X, train.y, y_pred=np.zeros(len(train.y)))
    return gp, time.process_time() - began


def gp_measures(gp: RIORegressor, test: Rows) -> dict[str, float]:
    nothing = np.zeros(len(test.y))
    return measures(test.y, gp.predict(test.X, y_pred=nothing), gp.predict_dist(test.X, y_pred=nothing))


def rio_on(candidate: Candidate, train: Rows, seed: int) -> tuple[Any, RIORegressor, float]:
    """The fitted model, RIO on it by its defaults and given the same rows, and the processor seconds of RIO.

    A formula has seen no row, and RIO is told so, as it asks to be.
    """
    model = candidate.make(seed)
    if candidate.is_trained:
        model.fit(train.X, train.y)
    began = time.process_time()
    rio = RIORegressor(model, random_state=seed, n_jobs=1)
    rio.fit(train.X, train.y, **({} if candidate.is_trained else {"held_out": True}))
    return model, rio, time.process_time() - began


def measures(y: np.ndarray, mean: np.ndarray, distribution: Any) -> dict[str, float]:
    return {
        "rmse": metrics.rmse(y, mean),
        "nlpd": metrics.nlpd(y, distribution),
        "crps": metrics.crps(y, distribution),
        "coverage": metrics.coverage(y, distribution, confidence_level=0.95),
    }


def uses_model(rio: RIORegressor) -> bool:
    """Whether RIO has not put the model aside for a plain GP."""
    return rio.model_choice_ is None or bool(rio.model_choice_.uses_model)


def prefixed(name: str, values: dict[str, float]) -> dict[str, float]:
    return {f"{name}_{measure}": value for measure, value in values.items()}


def rounded(value: float) -> float:
    """To six digits, which keeps the file of rows small."""
    return float(f"{value:.6g}")
