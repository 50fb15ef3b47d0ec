"""Error bars of constant width around the paper's network, from its validation rows."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from benchmarks.quality.answers import LEVELS, Answer, quantiles_of_intervals
from benchmarks.quality.protocol import Run


def constant_variance(run: Run) -> Answer:
    """The network's mean squared residual on its validation rows."""
    rows = run.with_network("network")
    assert rows.validation is not None
    residual = (rows.y_train - rows.pred_train)[rows.validation]
    std = np.full(len(rows.y_test), np.sqrt((residual**2).mean()))
    return Answer(rows.pred_test, rows.base_seconds, std)


class Known(RegressorMixin, BaseEstimator):
    """A fitted model whose input is its prediction: how MAPIE is given predictions that are known already."""

    def __init__(self) -> None:
        self.fitted_ = True

    def fit(self, X: np.ndarray, y: np.ndarray) -> Known:
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]


def split_conformal(run: Run) -> Answer:
    """MAPIE's split conformal intervals, with the absolute residuals of the network's validation rows."""
    from mapie.regression import SplitConformalRegressor

    rows = run.with_network("network")
    assert rows.validation is not None
    began = time.perf_counter()
    regressor = SplitConformalRegressor(Known(), confidence_level=list(LEVELS), prefit=True)
    regressor.conformalize(rows.pred_train[rows.validation, None], rows.y_train[rows.validation])
    mean, intervals = regressor.predict_interval(rows.pred_test[:, None])
    seconds = rows.base_seconds + time.perf_counter() - began
    return Answer(mean, seconds, quantiles=quantiles_of_intervals(mean, intervals))
