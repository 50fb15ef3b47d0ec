"""Models of other libraries need no adapter where they have a predict method that takes X.

Each is fitted for real: a fitted one is used as it is, an unfitted one is cross-fitted.
"""

import os
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rio_uq import RIORegressor
from rio_uq.models.base import needs_fit
from rio_uq.models.cross_fitting import FoldAverage

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("quick_fits")]

os.environ.setdefault("KERAS_BACKEND", "torch")

QUICK = {"training": {"starts": "rio"}, "noise": "constant", "max_iter": 50, "tol": 1e-3, "cv": 2, "random_state": 0}


def xgboost_regressor():
    return pytest.importorskip("xgboost").XGBRegressor(n_estimators=20, n_jobs=1)


def xgboost_forest():
    return pytest.importorskip("xgboost").XGBRFRegressor(n_estimators=20, n_jobs=1)


def lightgbm_regressor():
    return pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1)


def catboost_regressor():
    return pytest.importorskip("catboost").CatBoostRegressor(
        n_estimators=20, thread_count=1, verbose=0, allow_writing_files=False
    )


def catboost_native():
    return pytest.importorskip("catboost").CatBoost(
        {"iterations": 20, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "loss_function": "RMSE"}
    )


def skorch_regressor():
    torch, skorch = pytest.importorskip("torch"), pytest.importorskip("skorch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1), torch.nn.Flatten(0)
    ).double()
    return skorch.NeuralNetRegressor(
        module, max_epochs=30, lr=0.05, optimizer=torch.optim.Adam, verbose=0, train_split=None
    )


def keras_model(X, y):
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    layers = [keras.Input(X.shape[1:]), keras.layers.Dense(16, "tanh", name="hidden"), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile(loss="mse", optimizer=keras.optimizers.Adam(0.05))
    return model


def keras_regressor():
    keras = pytest.importorskip("keras")
    return keras.wrappers.SKLearnRegressor(keras_model, fit_kwargs={"epochs": 10, "verbose": 0})


estimators = pytest.mark.parametrize(
    "make",
    [
        xgboost_regressor,
        xgboost_forest,
        lightgbm_regressor,
        catboost_regressor,
        catboost_native,
        skorch_regressor,
        keras_regressor,
    ],
)
keras_on_new_numpy = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy")


@estimators
@keras_on_new_numpy
def test_a_fitted_estimator_is_used_as_it_is(make, friedman, monkeypatch):
    X, y = friedman
    model = make().fit(X, y)
    assert not needs_fit(model)
    alone = np.ravel(model.predict(X))

    def refuse(*_, **__):
        raise AssertionError("refitted")

    with monkeypatch.context() as patched:
        patched.setattr(type(model), "fit", refuse)
        rio = RIORegressor(model, **QUICK).fit(X, y)
        assert rio.estimator_ is model
        assert clone(rio).estimator is model
    np.testing.assert_array_equal(np.ravel(model.predict(X)), alone)
    assert np.mean((y - rio.predict(X)) ** 2) < np.mean((y - alone) ** 2)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(rio)).predict(X), rio.predict(X))


@estimators
@keras_on_new_numpy
def test_an_unfitted_estimator_is_cross_fitted(make, friedman):
    X, y = friedman
    model = make()
    assert needs_fit(model)
    rio = RIORegressor(model, **QUICK).fit(X, y)
    assert isinstance(rio.estimator_, FoldAverage)
    assert len(rio.estimator_.models) == 2
    assert needs_fit(model)
    assert rio.score(X, y) > 0.5


def test_loaded_weights_make_a_skorch_network_fitted(friedman):
    """It is initialised and not fitted: its weights came from elsewhere."""
    X, y = friedman
    model = skorch_regressor().initialize()
    rio = RIORegressor(model, **QUICK).fit(X, y)
    assert rio.estimator_ is model


def test_the_booster_of_xgboost_by_its_method(friedman):
    xgboost = pytest.importorskip("xgboost")
    X, y = friedman
    booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(X, y), 10)
    rio = RIORegressor(booster.inplace_predict, **QUICK).fit(X, y)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(rio)).predict(X), rio.predict(X))
    with pytest.raises(TypeError, match=r"Booster takes a DMatrix.*inplace_predict"):
        RIORegressor(booster).fit(X, y)


def test_the_booster_of_lightgbm(friedman):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = friedman
    booster = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(X, y), 10)
    rio = RIORegressor(booster, **QUICK).fit(X, y)
    assert rio.estimator_ is booster
    np.testing.assert_allclose(pickle.loads(pickle.dumps(rio)).predict(X), rio.predict(X))


@pytest.fixture
def flats(rng):
    """Numbers, a category and text: X and the price."""
    size, town = rng.uniform(20, 100, 150), rng.choice(["Ulm", "Bonn", "Kiel"], 150)
    text = rng.choice(["bright and quiet", "dark cellar", "bright and loud", "quiet garden"], 150)
    price = size * (5 + 2 * (town == "Bonn")) + 60 * pd.Series(text).str.contains("bright") + rng.normal(size=150)
    return pd.DataFrame({"size": size, "town": pd.Categorical(town), "text": text}), price.to_numpy()


def encoder():
    return make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(), ["town"]), (TfidfVectorizer(), "text"), sparse_threshold=1.0
    )


def test_a_pipeline_with_text_and_categories(flats):
    X, y = flats
    model = make_pipeline(encoder(), Ridge())
    rio = RIORegressor(model, features=encoder(), **QUICK).fit(X, y)
    assert rio.score(X, y) > model.fit(X, y).score(X, y)
    with pytest.raises(ValueError, match="do not hold numbers"):
        RIORegressor(model, features=None, **QUICK).fit(X, y)
    assert RIORegressor(model, **QUICK).fit(X, y).score(X, y) > 0.0


def xgboost_with_categories():
    return xgboost_regressor().set_params(enable_categorical=True)


def catboost_with_categories():
    return catboost_regressor().set_params(cat_features=["town"])


def catboost_in_a_pipeline():
    return make_pipeline("passthrough", catboost_with_categories())


def boosting_of_scikit_learn():
    return HistGradientBoostingRegressor(max_iter=20)


@pytest.mark.parametrize(
    "make",
    [
        boosting_of_scikit_learn,
        xgboost_with_categories,
        lightgbm_regressor,
        catboost_with_categories,
        catboost_in_a_pipeline,
    ],
)
def test_models_that_take_categories_themselves(make, flats):
    X, y = flats
    X = X[["size", "town"]]
    features = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["town"]))
    for model in (make(), make().fit(X, y)):
        rio = RIORegressor(model, features=features, **QUICK).fit(X, y)
        assert rio.score(X, y) > 0.8


@keras_on_new_numpy
class TestKeras:
    @pytest.fixture
    def model(self, friedman):
        model = keras_model(*friedman)
        model.fit(*friedman, epochs=20, verbose=0)
        return model

    def test_as_it_is(self, model, friedman):
        X, y = friedman
        weights = [weight.copy() for weight in model.get_weights()]
        rio = RIORegressor(model, **QUICK).fit(X, y)
        assert rio.estimator_ is model
        assert all((a == b).all() for a, b in zip(weights, model.get_weights(), strict=True))
        np.testing.assert_allclose(pickle.loads(pickle.dumps(rio)).predict(X), rio.predict(X), rtol=1e-6)

    def test_quietly_and_with_a_layer(self, model, friedman, capsys):
        import keras

        X, y = friedman
        hidden = keras.Model(model.inputs, model.get_layer("hidden").output)
        features = partial(hidden.predict, verbose=0)
        rio = RIORegressor(partial(model.predict, verbose=0), features=features, **QUICK).fit(X, y)
        assert capsys.readouterr().out == ""
        assert rio.score(X, y) > 0.5
        assert clone(rio).fit(X, y).score(X, y) == pytest.approx(rio.score(X, y))


class TestStatsmodels:
    def test_results_take_the_design_matrix(self, friedman):
        api = pytest.importorskip("statsmodels.api")
        X, y = friedman
        design = api.add_constant(X)
        results = api.OLS(y, design).fit()
        rio = RIORegressor(results, **QUICK).fit(design, y)
        assert rio.estimator_ is results
        assert rio.score(design, y) > results.rsquared
        np.testing.assert_allclose(pickle.loads(pickle.dumps(rio)).predict(design), rio.predict(design))

    def test_a_formula_takes_the_frame(self, friedman):
        formula = pytest.importorskip("statsmodels.formula.api")
        X, y = friedman
        frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, kind=np.where(X[:, 3] > 0.5, "x", "z"))
        results = formula.ols("y ~ a * b + c + C(kind)", frame).fit()
        rio = RIORegressor(results, features=list("abcd"), **QUICK).fit(frame, y)
        assert rio.score(frame, y) > results.rsquared


def test_a_function(friedman):
    X, y = friedman

    def formula(X):
        return 10 * np.sin(np.pi * X[:, 0] * X[:, 1])

    rio = RIORegressor(formula, **QUICK).fit(X, y)
    assert np.mean((y - rio.predict(X)) ** 2) < np.mean((y - formula(X)) ** 2)


def test_a_column_of_predictions(friedman):
    X, y = friedman
    table = pd.DataFrame(X, columns=list("abcd")).assign(forecast=10 * X[:, 0] * X[:, 1] + 2)
    rio = RIORegressor(features=list("abcd"), **QUICK).fit(table, y, y_pred=table["forecast"])
    corrected = rio.predict(table, y_pred=table["forecast"])
    assert np.mean((y - corrected) ** 2) < np.mean((y - table["forecast"]) ** 2)
