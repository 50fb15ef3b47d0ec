"""MAPIE with the same model, on the rows that the model was trained on: CV+ and conformalised quantiles."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.defaults.measures import LEVELS, of_quantiles, root_mean_square
from benchmarks.defaults.models import MODELS, QUANTILE_MODELS, quantile_model
from benchmarks.defaults.tables import rows_of_table
from lab.splits import held_out_rows

Split = tuple[Any, np.ndarray, Any, np.ndarray]
"""X and y for training, X and y for testing."""


def applies(peer: str, model: str) -> bool:
    """CQR is for models with a form for quantiles."""
    return peer != "CQR" or model in QUANTILE_MODELS


def measure(peer: str, model: str, split: Split, run: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"CV+": cross_conformal, "CQR": conformal_quantiles}[peer](model, split, run)


def cross_conformal(model: str, split: Split, run: int) -> dict[str, Any]:
    """CV+ as MAPIE has it: five folds, absolute residuals, the mean of the folds' models in the middle."""
    from mapie.regression import CrossConformalRegressor

    X, y, X_test, y_test = split
    began = time.process_time()
    regressor = CrossConformalRegressor(MODELS[model](X, run), confidence_level=list(LEVELS), random_state=run)
    mean, intervals = regressor.fit_conformalize(X, y).predict_interval(X_test)
    seconds = time.process_time() - began
    return of_quantiles(y_test, _quantiles(mean, intervals)) | {
        "rmse": root_mean_square(y_test - mean),
        "training_rmse": root_mean_square(regressor.conformity_scores),
        "seconds": seconds,
    }


def conformal_quantiles(model: str, split: Split, run: int) -> dict[str, Any]:
    """CQR as MAPIE has it: models for the bounds of each level, conformalised on a fifth of the rows.

    A level for which these are too few is answered by the interval of the widest level for which they are not.
    """
    from mapie.regression import ConformalizedQuantileRegressor

    X, y, X_test, y_test = split
    began = time.process_time()
    held = held_out_rows(len(y), run)
    X_fit, X_held = (rows_of_table(X, np.flatnonzero(part)) for part in (~held, held))
    intervals: list[np.ndarray] = []
    for level in LEVELS:
        if 2.0 / (1.0 - level) > held.sum():
            intervals.append(intervals[-1])
            continue
        regressor = ConformalizedQuantileRegressor(quantile_model(model, X, run), confidence_level=level)
        regressor.fit(X_fit, y[~held]).conformalize(X_held, y[held])
        median, interval = regressor.predict_interval(X_test)
        intervals.append(interval[:, :, 0])
    seconds = time.process_time() - began
    quantiles = _quantiles(median, np.stack(intervals, axis=-1))
    return of_quantiles(y_test, quantiles) | {"rmse": root_mean_square(y_test - median), "seconds": seconds}


def _quantiles(middle: np.ndarray, intervals: np.ndarray) -> np.ndarray:
    """Quantiles (n, k) at `QUANTILES` from intervals (n, 2, l) at `LEVELS`."""
    return np.column_stack([intervals[:, 0, ::-1], middle, intervals[:, 1]])
