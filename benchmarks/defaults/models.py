"""Models as they come, with hardly an option set, in the pipelines that people write for tables with categories."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVR

FUNCTION = "a function"
"""A forest behind a function: RIO cannot look into it, so it has to be said that rows are new."""


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns")


def _columns(categories: Any, numbers: Any) -> ColumnTransformer:
    is_category = make_column_selector(dtype_include="category")
    is_number = make_column_selector(dtype_include="number")
    return ColumnTransformer([("categories", categories, is_category), ("numbers", numbers, is_number)])


def _one_hot(X: Any, model: Any, *, scaled: bool) -> Any:
    """Categories as zeros and ones, missing numbers filled in; arrays scaled where the model asks for it."""
    if is_frame(X):
        numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        return make_pipeline(_columns(OneHotEncoder(handle_unknown="ignore", sparse_output=False), numbers), model)
    return make_pipeline(StandardScaler(), model) if scaled else model


def _ordinal(X: Any, model: Any) -> Any:
    """Categories as numbers, as trees take them; missing numbers are left to the trees."""
    if not is_frame(X):
        return model
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    return make_pipeline(_columns(encoder, "passthrough"), model)


def _network(X: Any, seed: int, **options: Any) -> Any:
    return _one_hot(X, MLPRegressor(max_iter=500, random_state=seed, **options), scaled=True)


def _xgboost(X: Any, seed: int) -> Any:
    from xgboost import XGBRegressor

    return _ordinal(X, XGBRegressor(n_jobs=1, random_state=seed))


def _lightgbm(X: Any, seed: int) -> Any:
    """It takes categories as they are."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_jobs=1, verbose=-1, random_state=seed)


def _catboost(X: Any, seed: int) -> Any:
    """With numbers for categories: by its own treatment of 43 of them a single fit takes 20 seconds."""
    from catboost import CatBoostRegressor

    return _ordinal(X, CatBoostRegressor(verbose=0, thread_count=1, allow_writing_files=False, random_seed=seed))


def _forest(X: Any, seed: int) -> Any:
    return _ordinal(X, RandomForestRegressor(random_state=seed))


ALL: dict[str, Callable[[Any, int], Any]] = {
    "linear": lambda X, seed: _one_hot(X, LinearRegression(), scaled=False),
    "ridge": lambda X, seed: _one_hot(X, Ridge(), scaled=False),
    "forest": _forest,
    "extra trees": lambda X, seed: _ordinal(X, ExtraTreesRegressor(random_state=seed)),
    "histogram boosting": lambda X, seed: HistGradientBoostingRegressor(random_state=seed),
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "1 neighbour": lambda X, seed: _one_hot(X, KNeighborsRegressor(1), scaled=True),
    "5 neighbours": lambda X, seed: _one_hot(X, KNeighborsRegressor(5), scaled=True),
    "network": _network,
    "network, stopped early": lambda X, seed: _network(X, seed, early_stopping=True),
    "support vectors": lambda X, seed: _one_hot(X, SVR(), scaled=True),
    FUNCTION: _forest,
}
PACKAGES = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}

MODELS = {name: make for name, make in ALL.items() if name not in PACKAGES or find_spec(PACKAGES[name])}
"""Those whose package is installed, each made for a table from a seed."""


QUANTILE_MODELS: dict[str, dict[str, Any]] = {
    "histogram boosting": {"loss": "quantile", "quantile": 0.5},
    "LightGBM": {"objective": "quantile", "alpha": 0.5},
}
"""Options that make a model one for the median; MAPIE sets other quantiles."""


def quantile_model(name: str, X: Any, seed: int) -> Any:
    """One of `QUANTILE_MODELS`, for the median."""
    return MODELS[name](X, seed).set_params(**QUANTILE_MODELS[name])


def as_function(model: Any) -> Callable[[Any], np.ndarray]:
    return lambda X: model.predict(X)
