"""The measures of a method's answer: a row of the stored results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.runs import Rows
from lab.store import Store
from rio_uq import metrics


@dataclass(frozen=True)
class Answer:
    """A prediction of the test rows; ``std`` is None for a method without error bars."""

    mean: np.ndarray
    std: np.ndarray | None
    noise_variance: float | None
    seconds: float


@dataclass(frozen=True)
class Row:
    """The measures of one method in one run; None where a method has no such thing."""

    table: str
    dataset: str
    run: int
    method: str
    rmse: float
    mae: float
    nlpd: float | None
    crps: float | None
    noise_variance: float | None
    fit_seconds: float
    coverage_68: float | None
    coverage_90: float | None
    coverage_95: float | None
    improvement_ratio: float | None


def store_of(path: Path) -> Store:
    return Store(path, Row)


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
