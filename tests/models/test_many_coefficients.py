"""Linear models with nearly as many coefficients as rows, whose clones of few folds are nothing like them."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from rio_uq import RIORegressor, metrics
from rio_uq.models.many_coefficients import MOST_FOLDS, enough_folds, n_coefficients


def least_squares(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.linspace(-3.0, 3.0, d) + rng.normal(size=n)


@pytest.mark.parametrize(
    ("model", "n_outputs", "expected"),
    [
        (LinearRegression(), 1, 4),
        (LinearRegression(), 2, 4),
        (make_pipeline(StandardScaler(), Ridge()), 1, 4),
        (make_pipeline(PolynomialFeatures(2), LinearRegression()), 1, 15),
        (TransformedTargetRegressor(make_pipeline(StandardScaler(), Ridge())), 1, 4),
        (GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=2), 1, 4),
        (DecisionTreeRegressor(max_depth=2), 1, None),
        (SVR(), 1, None),
    ],
)
def test_coefficients_are_counted(model, n_outputs, expected):
    X, y = least_squares(30, 4)
    model.fit(X, np.column_stack([y] * n_outputs) if n_outputs > 1 else y)
    assert n_coefficients(model) == expected


@pytest.mark.parametrize(("n", "d", "expected"), [(100, 3, 5), (100, 80, 20), (100, 100, MOST_FOLDS), (100, 300, 5)])
def test_a_fold_is_small_beside_what_rows_have_more_than_coefficients(n, d, expected):
    assert enough_folds(LinearRegression().fit(*least_squares(n, d)), n, at_least=5) == expected


def test_fewer_folds_than_usual_are_for_whoever_asks_for_them():
    assert enough_folds(LinearRegression().fit(*least_squares(60, 2)), 60, at_least=3) == 3


def test_models_of_other_kinds_have_the_folds_that_were_asked_for():
    assert enough_folds(DecisionTreeRegressor().fit(*least_squares(20, 19)), 20, at_least=3) == 3


@pytest.mark.parametrize("is_fitted", [True, False])
def test_errors_that_only_clones_make_are_not_corrected(is_fitted):
    X, y = least_squares(360, 45)
    train, test = slice(0, 60), slice(60, None)
    model = LinearRegression().fit(X[train], y[train])
    rio = RIORegressor(model if is_fitted else LinearRegression(), random_state=0).fit(X[train], y[train])
    assert metrics.rmse(y[test], rio.predict(X[test])) < 1.1 * metrics.rmse(y[test], model.predict(X[test]))
    _, std = rio.predict(X[test], return_std=True)
    assert 0.5 < np.median(std) / metrics.rmse(y[test], model.predict(X[test])) < 2.5
