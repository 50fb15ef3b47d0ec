"""Mean residuals in the leaves of boosted trees tell how many of the given rows these were grown on."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor

from rio_uq.models.boosted_means import boosted_means, boosted_share

MODELS = [
    HistGradientBoostingRegressor(max_iter=40, random_state=0),
    HistGradientBoostingRegressor(max_iter=40, l2_regularization=5.0, random_state=0),
    GradientBoostingRegressor(n_estimators=40, random_state=0),
]


@pytest.fixture(params=[*MODELS, "lightgbm"], ids=["histogram", "penalised", "scikit-learn", "LightGBM"])
def model(request):
    if request.param != "lightgbm":
        return clone(request.param)
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMRegressor(n_estimators=40, reg_lambda=1.0, n_jobs=1, verbose=-1)


def rows_of_a_noisy_curve(rng, n):
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] * X[:, 1] + rng.normal(size=n)


def test_means_over_the_training_rows_are_those_that_are_kept(model, rng):
    X, y = rows_of_a_noisy_curve(rng, 300)
    means = boosted_means(model.fit(X, y), X, y)
    assert means.square < 1e-9
    assert means.n_trained == 300


@pytest.mark.parametrize("n_both", [0, 150, 300])
def test_the_share_of_seen_rows_is_found(model, n_both, rng):
    values = []
    for _ in range(4):
        X, y = rows_of_a_noisy_curve(rng, 600)
        given, trained = np.arange(300), np.arange(300 - n_both, 600 - n_both)
        means = boosted_means(clone(model).fit(X[trained], y[trained]), X[given], y[given])
        halves = [given[::2], given[1::2]]
        of_new = [
            boosted_means(clone(model).fit(X[half], y[half]), X[other], y[other])
            for half, other in (halves, halves[::-1])
        ]
        values.append(boosted_share(means, of_new, len(given)))
    error = np.sqrt(np.mean([share.error**2 for share in values]) / len(values))
    assert np.mean([share.value for share in values]) == pytest.approx(n_both / 300, abs=2.5 * error)
    assert values[0].error < 0.6


@pytest.mark.parametrize(
    "other",
    [
        RandomForestRegressor(5),
        HistGradientBoostingRegressor(loss="absolute_error", max_iter=5),
        HistGradientBoostingRegressor(monotonic_cst=[1, 0, 0, 0, 0], max_iter=5),
        GradientBoostingRegressor(n_estimators=5, subsample=0.5),
    ],
)
def test_other_models_tell_nothing(other, rng):
    X, y = rows_of_a_noisy_curve(rng, 60)
    assert boosted_means(other.fit(X, y), X, y) is None


def test_weighed_rows_tell_nothing(model, rng):
    X, y = rows_of_a_noisy_curve(rng, 100)
    assert boosted_means(model.fit(X, y, sample_weight=rng.uniform(size=100)), X, y) is None


@pytest.mark.parametrize(
    "options",
    [
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"boosting": "dart"},
        {"lambda_l1": 1.0},
        {"mc": [1, 0, 0, 0, 0]},
        {"objective": "quantile"},
    ],
    ids=str,
)
def test_lightgbm_of_another_kind_tells_nothing(options, rng):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = rows_of_a_noisy_curve(rng, 100)
    model = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1, **options).fit(X, y)
    assert boosted_means(model, X, y) is None


def test_lightgbm_has_other_names_for_its_options(rng):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = rows_of_a_noisy_curve(rng, 300)
    model = lightgbm.LGBMRegressor(n_estimators=30, n_jobs=1, verbose=-1, lambda_l2=20.0, eta=0.05).fit(X, y)
    means = boosted_means(model, X, y)
    assert means.square < 1e-9
