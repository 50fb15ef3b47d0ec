"""A row of the results: what is measured of intervals and predictions, the same for RIO and for MAPIE."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from benchmarks.quality.answers import crps_of_quantiles

LEVELS = (0.5, 0.68, 0.8, 0.9, 0.95, 0.99)
QUANTILES = tuple(sorted({round(0.5 + sign * level / 2, 4) for level in (0.0, *LEVELS) for sign in (-1, 1)}))
"""The bounds of the intervals at `LEVELS`, and the median."""

CASES = ("seen", "new", "half")
"""Of the rows given to RIO: the model was trained on all of them, on none of them, on half of them."""

PEERS = ("CV+", "CQR")
"""MAPIE's, on the rows of the first case."""


@dataclass(frozen=True)
class Row:
    """One fit; None where there is no such measure.

    Attributes
    ----------
    table : str
        One of `CASES` for RIO, or one of `PEERS`.
    dataset, run, method
        ``method`` is the model, and ``run`` the number of the split.
    n, n_test, n_all : int
        Rows given, test rows, and rows of the data set.
    coverage_50, ... : float
        Share of the test rows in the interval.
    score : float
        CRPS from the quantiles at `QUANTILES` alone, which all methods have.
    rmse, crps, nlpd : float
        Of RIO, or of the peer's point prediction; on test rows, as all of these.
    model_rmse : float
        Of the model under RIO.
    training_rmse : float
        Of the model on its own training rows; of CV+, the same by models that have not seen the row.
    kind, rows : str
        Residuals that RIO has taken, and what it believes of the rows: see `RIORegressor.residuals_`.
    copies : int
        Rows given to RIO that have a copy, of equal inputs and outcome, among the training rows of the model.
    seconds : float
        Of the processor, to the answer for all test rows: for RIO from the fitted model on, for peers from nothing.
    """

    table: str
    dataset: str
    run: int
    method: str
    n: int
    n_test: int
    n_all: int
    coverage_50: float
    coverage_68: float
    coverage_80: float
    coverage_90: float
    coverage_95: float
    coverage_99: float
    score: float
    rmse: float
    crps: float | None
    nlpd: float | None
    model_rmse: float | None
    training_rmse: float | None
    kind: str | None
    rows: str | None
    copies: int | None
    seconds: float


COVERAGES = [field.name for field in fields(Row) if field.name.startswith("coverage")]


def of_quantiles(y: np.ndarray, quantiles: np.ndarray) -> dict[str, float]:
    """Coverage and score of quantiles (n, k) at `QUANTILES`."""
    k = len(LEVELS)
    lower, upper = quantiles[:, :k][:, ::-1], quantiles[:, k + 1 :]
    covered = ((lower <= y[:, None]) & (y[:, None] <= upper)).mean(axis=0)
    return dict(zip(COVERAGES, covered, strict=True)) | {"score": crps_of_quantiles(y, quantiles, QUANTILES)}


def root_mean_square(residual: np.ndarray) -> float:
    return float(np.sqrt(np.mean(residual**2)))


def row(**values: Any) -> Row:
    """A row whose numbers have five digits, so that thousands of rows stay small."""
    given = {name: float(f"{value:.5g}") if isinstance(value, float) else value for name, value in values.items()}
    return Row(**{field.name: given.get(field.name) for field in fields(Row)})
