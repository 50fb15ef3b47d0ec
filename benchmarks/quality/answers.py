"""The answer of a method, and its measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from rio_uq import metrics

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.68, 0.8, 0.9, 0.95)
"""Confidence levels of the intervals of a method that gives intervals only."""

SHOWN_LEVELS = (0.68, 0.9, 0.95)

QUANTILES = tuple(sorted({round(0.5 + sign * level / 2, 4) for level in (0.0, *LEVELS) for sign in (-1, 1)}))
"""The bounds of those intervals and the median, as quantiles."""


@dataclass(frozen=True)
class Answer:
    """A prediction of the test rows.

    Attributes
    ----------
    mean : (n,) array
    seconds : float
        From the training rows to the answer, base models included.
    std : (n,) array or None
        Of a Gaussian predictive distribution.
    quantiles : (n, k) array or None
        At `QUANTILES`, of a method that gives intervals or quantiles and no density.
    distribution : object or None
        A predictive distribution that is not normal, of `RIORegressor.predict_dist`, say; it goes before ``std``.
    """

    mean: np.ndarray
    seconds: float
    std: np.ndarray | None = None
    quantiles: np.ndarray | None = None
    distribution: Any = None

    @property
    def density(self) -> Any:
        """The predictive distribution, None of a method that has no density."""
        if self.distribution is None and self.std is not None:
            return stats.norm(self.mean, self.std)
        return self.distribution


@dataclass(frozen=True)
class Row:
    """The measures of one method in one run; None where a method has no such thing. ``table`` is its group."""

    table: str
    dataset: str
    run: int
    method: str
    rmse: float
    nlpd: float | None
    crps: float | None
    coverage_68: float | None
    coverage_90: float | None
    coverage_95: float | None
    width_68: float | None
    width_90: float | None
    width_95: float | None
    seconds: float


def measured(table: str, dataset: str, run: int, method: str, y: np.ndarray, answer: Answer) -> Row:
    """The measures of an answer. There is no NLPD without a density: it would be that of a density made up here."""
    nlpd = crps = None
    coverages, widths = [None] * 3, [None] * 3
    if answer.density is not None:
        nlpd, crps = (metric(y, answer.density) for metric in (metrics.nlpd, metrics.crps))
    elif answer.quantiles is not None:
        crps = crps_of_quantiles(y, answer.quantiles)
    if crps is not None:
        lower, upper = _bounds(answer)
        coverages = ((lower <= y[:, None]) & (y[:, None] <= upper)).mean(axis=0).tolist()
        widths = (upper - lower).mean(axis=0).tolist()
    return Row(
        table, dataset, run, method, metrics.rmse(y, answer.mean), nlpd, crps, *coverages, *widths, answer.seconds
    )


def _bounds(answer: Answer) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds (n, 3) of the intervals at `SHOWN_LEVELS`."""
    levels = np.array(SHOWN_LEVELS)
    if answer.density is not None:
        lower, upper = zip(*(answer.density.interval(level) for level in levels), strict=True)
        return np.column_stack(lower), np.column_stack(upper)
    assert answer.quantiles is not None
    lower, upper = ([QUANTILES.index(round(0.5 + sign * level / 2, 4)) for level in levels] for sign in (-1, 1))
    return answer.quantiles[:, lower], answer.quantiles[:, upper]


def crps_of_quantiles(y: np.ndarray, quantiles: np.ndarray, levels: tuple[float, ...] = QUANTILES) -> float:
    """The CRPS of a distribution that is known by some of its quantiles.

    It is twice the integral of the pinball loss over all levels τ, here by the trapezoidal rule; the loss is nought at
    the levels 0 and 1.

    Parameters
    ----------
    y : (n,) array
    quantiles : (n, k) array
    levels : k floats, ascending
    """
    tau = np.array(levels)
    above = y[:, None] - quantiles
    pinball = np.maximum(tau * above, (tau - 1.0) * above).mean(axis=0)
    return float(2.0 * np.trapezoid(np.array([0.0, *pinball, 0.0]), np.array([0.0, *tau, 1.0])))


def quantiles_of_intervals(median: np.ndarray, intervals: np.ndarray) -> np.ndarray:
    """Quantiles (n, k) at `QUANTILES` from intervals (n, 2, l) at `LEVELS`."""
    return np.column_stack([intervals[:, 0, ::-1], median, intervals[:, 1]])


def variance_factor(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """The factor of all variances that makes outcomes most likely: the mean of their squared z-scores."""
    return float((((y - mean) / std) ** 2).mean())
