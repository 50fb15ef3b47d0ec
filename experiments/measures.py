"""The measures of a method's answer: a row of the stored results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from lab.runs import Rows
from lab.store import Store
from rio_uq import metrics

LARGEST_NLPD = -np.log(np.finfo(float).eps)
"""Of a row in the paper: its densities are those of the test outcomes plus rounding, 36.04 nats."""


@dataclass(frozen=True)
class Answer:
    """A prediction of the test rows; ``std`` is None for a method without error bars.

    ``distribution`` is that of the outcomes, as `rio_uq.RIORegressor.predict_dist` returns it; None where it is normal.
    """

    mean: np.ndarray
    std: np.ndarray | None
    noise_variance: float | None
    seconds: float
    distribution: Any = None


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
    nlpd_capped: float | None
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
    y, mean = rows.y_test, answer.mean
    is_base = mean is rows.pred_test
    nlpd = nlpd_capped = crps = None
    coverage = [None] * 3
    if answer.std is not None:
        distribution = answer.distribution or stats.norm(mean, answer.std)
        nlpd, nlpd_capped = metrics.nlpd(y, distribution), capped_nlpd(y, distribution)
        crps = metrics.crps(y, distribution)
        coverage = list(metrics.coverage_curve(y, distribution, confidence_levels=[0.68, 0.9, 0.95]))
    return Row(
        table=table,
        dataset=dataset,
        run=run,
        method=method,
        rmse=metrics.rmse(y, mean),
        mae=metrics.mae(y, mean),
        nlpd=nlpd,
        nlpd_capped=nlpd_capped,
        crps=crps,
        noise_variance=answer.noise_variance,
        fit_seconds=answer.seconds,
        coverage_68=coverage[0],
        coverage_90=coverage[1],
        coverage_95=coverage[2],
        improvement_ratio=None if is_base else metrics.improvement_ratio(y, mean, rows.pred_test),
    )


def capped_nlpd(y: np.ndarray, distribution: Any) -> float:
    """Mean negative log density as the paper's tables have it: no row counts for more than `LARGEST_NLPD`."""
    return float(np.mean(np.minimum(-distribution.logpdf(y), LARGEST_NLPD)))
