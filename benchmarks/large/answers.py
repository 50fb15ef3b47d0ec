"""What a method answers, measured on the test rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks.defaults.measures import QUANTILES, of_quantiles, root_mean_square


class Answer(NamedTuple):
    """What is measured of a method, and processor seconds until it can predict and for the test rows.

    ``gib`` is the peak of memory of a method that works in another process.
    """

    measured: dict[str, float]
    seconds: float
    seconds_predicting: float
    kind: str | None = None
    gib: float | None = None


def of_gaussians(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> dict[str, float]:
    """All that the page has, of Gaussian predictions."""
    quantiles = mean[:, None] + std[:, None] * stats.norm.ppf(QUANTILES)
    return of_quantiles(y, quantiles) | {
        "rmse": root_mean_square(y - mean),
        "nlpd": float(-stats.norm.logpdf(y, mean, std).mean()),
    }
