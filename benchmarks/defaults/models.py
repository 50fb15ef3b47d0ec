"""Models as they come, with hardly an option set."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR


def _network(seed: int, **options: Any) -> Any:
    return make_pipeline(StandardScaler(), MLPRegressor(max_iter=500, random_state=seed, **options))


def _xgboost(seed: int) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_jobs=1, random_state=seed)


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_jobs=1, verbose=-1, random_state=seed)


def _catboost(seed: int) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(verbose=0, thread_count=1, allow_writing_files=False, random_seed=seed)


ALL: dict[str, Callable[[int], Any]] = {
    "linear": lambda seed: LinearRegression(),
    "ridge": lambda seed: Ridge(),
    "forest": lambda seed: RandomForestRegressor(random_state=seed),
    "extra trees": lambda seed: ExtraTreesRegressor(random_state=seed),
    "histogram boosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "1 neighbour": lambda seed: make_pipeline(StandardScaler(), KNeighborsRegressor(1)),
    "5 neighbours": lambda seed: make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
    "network": _network,
    "network, stopped early": lambda seed: _network(seed, early_stopping=True),
    "support vectors": lambda seed: make_pipeline(StandardScaler(), SVR()),
}
PACKAGES = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}

MODELS = {name: make for name, make in ALL.items() if name not in PACKAGES or find_spec(PACKAGES[name])}
"""Those whose package is installed, each made from a seed."""
