"""How many rows a fitted model was trained on, beside a clone of all rows given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Ridge, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from rio_uq.models.training_size import relative_size

MODELS = {
    "tree": DecisionTreeRegressor(),
    "extra trees": ExtraTreesRegressor(n_estimators=3, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=3, subsample=0.7, random_state=0),
    "histograms": HistGradientBoostingRegressor(max_iter=3),
    "stopped early": HistGradientBoostingRegressor(max_iter=5, early_stopping=True, random_state=0),
    "adaptive boosting": AdaBoostRegressor(n_estimators=3, random_state=0),
    "gradients": SGDRegressor(random_state=0),
    "scaled": make_pipeline(StandardScaler(), SVR()),
    "support vectors": SVR(),
    "neighbours": KNeighborsRegressor(3),
    "kernel ridge": KernelRidge(),
    "Gaussian process": GaussianProcessRegressor(alpha=1.0),
    "searched": GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0, 2.0]}, cv=2),
    "network": MLPRegressor(hidden_layer_sizes=4, early_stopping=True, max_iter=30, random_state=0),
}


def rows_and_outcomes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] + rng.normal(size=200)


def sizes_of(model: Any) -> float | None:
    X, y = rows_and_outcomes()
    return relative_size(clone(model).fit(X[:120], y[:120]), clone(model).fit(X, y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_three_fifths_of_the_rows_says_so(name: str) -> None:
    assert sizes_of(MODELS[name]) == pytest.approx(0.6, abs=0.001)


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("xgboost.XGBRegressor", {}),
        ("lightgbm.LGBMRegressor", {"verbose": -1}),
        ("catboost.CatBoostRegressor", {"verbose": 0}),
    ],
)
def test_boosting_of_other_libraries_says_so_too(module: str, options: dict[str, Any]) -> None:
    package, name = module.split(".")
    model = getattr(pytest.importorskip(package), name)(n_estimators=3, **options)
    assert sizes_of(model) == pytest.approx(0.6, abs=0.001)


def test_weights_have_no_unit() -> None:
    X, y = rows_and_outcomes()
    xgboost = pytest.importorskip("xgboost")
    part, whole = (
        xgboost.XGBRegressor(n_estimators=2).fit(X[:n], y[:n], sample_weight=np.full(n, 7.0)) for n in (100, 200)
    )
    assert relative_size(part, whole) == pytest.approx(0.5)


@pytest.mark.parametrize("model", [Ridge(), HuberRegressor()])
def test_a_model_that_keeps_no_count_says_nothing(model: Any) -> None:
    assert sizes_of(model) is None
