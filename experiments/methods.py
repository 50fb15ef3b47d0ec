"""The methods of the paper's tables, and ours: each takes the rows of a run and answers with a prediction."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments.store import Row
from rio_uq import RIORegressor, metrics
from rio_uq.options import PAPER_VARIANTS

ITERATIONS = 10_000
"""Of the table with more iterations."""


@dataclass(frozen=True)
class Rows:
    """The rows of one run, with the base model's predictions for them."""

    X_train: np.ndarray
    y_train: np.ndarray
    pred_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    pred_test: np.ndarray
    base_seconds: float
    validation: np.ndarray | None = None


@dataclass(frozen=True)
class Answer:
    """A prediction of the test rows; ``std`` is None for a method without error bars."""

    mean: np.ndarray
    std: np.ndarray | None
    noise_variance: float | None
    seconds: float


Method = Callable[[Rows, int], Answer]
"""From the rows of a run and a seed to an answer."""


def base_model(rows: Rows, seed: int) -> Answer:
    """The network or the forest alone."""
    return Answer(rows.pred_test, None, None, rows.base_seconds)


def rio_method(*, use_validation: bool = False, **options: Any) -> Method:
    """A method that is a RIORegressor: the paper's if ``variant`` is among the options, else our defaults.

    Parameters
    ----------
    use_validation : bool
        Tell it which training rows were the network's validation rows.
    **options
        Of RIORegressor.
    """

    def method(rows: Rows, seed: int) -> Answer:
        make = RIORegressor.paper if "variant" in options else RIORegressor
        rio = make(random_state=seed, n_jobs=1, **options)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the paper stops at its number of iterations
            held_out = rows.validation if use_validation else None
            rio.fit(rows.X_train, rows.y_train, y_pred=rows.pred_train, held_out=held_out)
        seconds = time.perf_counter() - began
        mean, std = rio.predict(rows.X_test, y_pred=rows.pred_test, return_std=True)
        return Answer(mean, std, rio.noise_variance_, seconds)

    return method


def paper_methods(**options: Any) -> dict[str, Method]:
    return {variant: rio_method(variant=variant, **options) for variant in PAPER_VARIANTS}


def cross_fitted(method: Method) -> Method:
    """The method on out-of-fold predictions; the time for the networks of the folds counts as its own."""

    def with_base_seconds(rows: Rows, seed: int) -> Answer:
        answer = method(rows, seed)
        return replace(answer, seconds=answer.seconds + rows.base_seconds)

    return with_base_seconds


def nngp(rows: Rows, seed: int) -> Answer:
    """See `experiments.nngp`."""
    from experiments import nngp

    return nngp.nngp(rows, seed)


def anp(rows: Rows, seed: int) -> Answer:
    """See `experiments.anp`."""
    from experiments import anp

    return anp.anp(rows, seed)


SMALLEST = ("yacht", "ENB/h", "ENB/c", "airfoil")
"""The data sets on which the paper tries NNGP and ANP."""

TABLES: dict[str, dict[str, Method]] = {
    "default": {"NN": base_model, **paper_methods(), "NNGP": nngp, "ANP": anp},
    "ard": {"NN": base_model, **paper_methods(ard=True)},
    "iterations": {"NN": base_model, **paper_methods(max_iter=ITERATIONS)},
    "random-forest": {"RF": base_model, **paper_methods(), "ours": rio_method()},
    "ours": {
        "NN": base_model,
        "ours": rio_method(use_validation=True),
        "ours+crossfit": cross_fitted(rio_method()),
    },
}


def applies(method: str, dataset: str) -> bool:
    """Whether a method is tried on a data set."""
    return method not in ("NNGP", "ANP") or dataset in SMALLEST


def base_model_of(table: str, method: str) -> str:
    """The kind of base model under a method, see `experiments.runs.rows_of`."""
    if method == "ours+crossfit":
        return "folds"
    return "forest" if table == "random-forest" else "network"


def measured(table: str, dataset: str, run: int, method: str, rows: Rows, answer: Answer) -> Row:
    """The measures of an answer."""
    y, mean, std = rows.y_test, answer.mean, answer.std
    is_base = mean is rows.pred_test
    coverage = [None] * 3 if std is None else metrics.coverage_curve(y, mean, std, confidence_levels=[0.68, 0.9, 0.95])
    return Row(
        table=table,
        dataset=dataset,
        run=run,
        method=method,
        rmse=metrics.rmse(y, mean),
        mae=metrics.mae(y, mean),
        nlpd=None if std is None else metrics.nlpd(y, mean, std),
        crps=None if std is None else metrics.crps(y, mean, std),
        noise_variance=answer.noise_variance,
        fit_seconds=answer.seconds,
        coverage_68=coverage[0],
        coverage_90=coverage[1],
        coverage_95=coverage[2],
        improvement_ratio=None if is_base else metrics.improvement_ratio(y, mean, rows.pred_test),
    )
