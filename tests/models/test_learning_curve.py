"""How much less a model errs than its clones."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

from rio_uq.models.fit_rows import FitRows
from rio_uq.models.learning_curve import LEAST_GAIN, gain_over_clones


class Learner(RegressorMixin, BaseEstimator):
    """Errs by n^−rate, and by nothing else."""

    def __init__(self, rate=0.5):
        self.rate = rate

    def fit(self, X, y):
        self.error_ = len(y) ** -self.rate
        return self

    def predict(self, X):
        return X[:, 0] + self.error_


def rows_of(X, y):
    return FitRows(X, y, None, X, None, None, None)


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("n_folds", [4, 5])
def test_errors_that_fall_with_a_power_of_rows(rate, n_folds, rng):
    X = rng.normal(size=(1000, 1))
    y = X[:, 0].copy()
    by_folds = (y + (1000 * (1.0 - 1.0 / n_folds)) ** -rate)[:, None]
    gain = gain_over_clones(Learner(rate), rows_of(X, y), by_folds, n_folds, rng)
    assert gain == pytest.approx(max((1.0 - 1.0 / n_folds) ** rate, LEAST_GAIN))


def test_nothing_is_gained_where_noise_is_all(rng):
    X, y = rng.normal(size=(4000, 2)), rng.normal(size=4000)
    gain = gain_over_clones(LinearRegression(), rows_of(X, y), np.zeros((4000, 1)), 5, rng)
    assert 0.99 < gain <= 1.0


def test_rows_without_a_prediction_and_models_without_errors(rng):
    X = rng.normal(size=(200, 1))
    y = 3.0 * X[:, 0]
    by_folds = y[:, None].copy()
    by_folds[:20] = np.nan
    assert LEAST_GAIN <= gain_over_clones(LinearRegression(), rows_of(X, y), by_folds, 5, rng) <= 1.0
