"""At home in scikit-learn: its own checks, cloning, pipelines, searches, frames, frozen and foreign models."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from rio_uq import RIOClassifier, RIORegressor, Training, metrics

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("quick_fits")]


def checks():
    options = {"training": {"starts": "rio"}, "tol": 1e-3, "cv": 2}
    for rio in (RIORegressor(Ridge(), noise="constant", **options), RIOClassifier(LogisticRegression(), **options)):
        for estimator, check in estimator_checks_generator(rio):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{type(rio).__name__}-{name}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def frame(friedman):
    X, y = friedman
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    table["city"] = np.where(X[:, 0] > 0.5, "Oslo", "Lima")
    return table, y


@pytest.fixture
def text_model(frame):
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    return make_pipeline(encode, LinearRegression()).fit(*frame)


def test_a_fitted_model_is_never_touched(friedman):
    model = Ridge().fit(*friedman)
    before = pickle.dumps(model)
    rio = RIORegressor(model, random_state=0).fit(*friedman)
    rio.predict(friedman[0], return_std=True)
    clone(rio).fit(*friedman)
    assert rio.estimator_ is model
    assert pickle.dumps(model) == before


def test_an_unfitted_model_is_cloned_and_fitted(friedman):
    model = Ridge()
    rio = RIORegressor(model, combine="refit", random_state=0).fit(*friedman)
    assert not hasattr(model, "coef_")
    np.testing.assert_array_equal(rio.estimator_.coef_, Ridge().fit(*friedman).coef_)


def test_a_clone_keeps_a_fitted_model_and_copies_the_rest(friedman):
    fitted, unfitted = Ridge().fit(*friedman), Ridge()
    assert clone(RIORegressor(fitted)).estimator is fitted
    assert clone(RIORegressor(unfitted)).estimator is not unfitted
    assert clone(RIORegressor(len)).estimator is len
    copy = clone(RIORegressor(unfitted, kernel="input", n_inducing=7))
    assert (copy.kernel, copy.n_inducing) == ("input", 7)


def test_a_frozen_model_is_honoured(friedman):
    frozen = FrozenEstimator(Ridge().fit(*friedman))
    rio = RIORegressor(frozen, random_state=0).fit(*friedman)
    assert rio.estimator_ is frozen
    scores = cross_val_score(RIORegressor(frozen, random_state=0), *friedman, cv=2)
    assert (scores > 0.9).all()


def test_pickle_gives_the_same_predictions(friedman):
    rio = RIORegressor(Ridge(), random_state=0).fit(*friedman)
    other = pickle.loads(pickle.dumps(rio))
    np.testing.assert_array_equal(other.predict(friedman[0]), rio.predict(friedman[0]))


def test_pipeline(friedman):
    X, y = friedman
    pipeline = make_pipeline(StandardScaler(), RIORegressor(Ridge(), random_state=0)).fit(X, y)
    mean, std = pipeline.predict(X, return_std=True)
    assert mean.shape == std.shape == y.shape
    assert pipeline.score(X, y) > 0.98


def test_cross_validation_and_grid_search(friedman):
    rio = RIORegressor(Ridge(), noise="constant", cv=2, tol=1e-3, random_state=0)
    scores = cross_val_score(rio, *friedman, cv=3, scoring=metrics.scorer(metrics.nlpd))
    assert scores.shape == (3,)
    search = GridSearchCV(rio, {"kernel": ["input", "output"], "estimator__alpha": [0.1, 10.0]}, cv=3).fit(*friedman)
    assert search.best_params_["kernel"] == "input"
    assert search.best_score_ > 0.95


def test_a_search_over_how_the_gp_is_trained(friedman):
    rio = RIORegressor(lambda X: 10.0 * X[:, 0], residuals="in-sample", noise="constant", random_state=0)
    search = GridSearchCV(rio, {"training__starts": ["rio", "unit"]}, cv=2).fit(*friedman)
    assert search.best_estimator_.training.starts == search.best_params_["training__starts"]
    assert rio.training is None


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_feature_names(library, friedman):
    X, y = friedman
    frame = library(dict(zip("abcd", X.T, strict=True)))
    rio = RIORegressor(Ridge(), random_state=0).fit(frame, y)
    assert list(rio.feature_names_in_) == ["a", "b", "c", "d"]
    assert rio.n_features_in_ == 4
    expected = RIORegressor(Ridge(), random_state=0).fit(X, y).predict(X)
    np.testing.assert_allclose(rio.predict(frame), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="feature names"):
        rio.predict(frame.rename(columns={"a": "z"}) if library is pd.DataFrame else frame.rename({"a": "z"}))


@pytest.mark.parametrize(
    "features",
    [
        ["a", "b", "c"],
        make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough", sparse_threshold=1.0),
        lambda X: X[["a", "b", "c"]].to_numpy(),
    ],
    ids=["columns", "transformer", "function"],
)
def test_the_model_gets_the_frame_as_it_is(features, frame, text_model):
    X, y = frame
    rio = RIORegressor(text_model, features=features, random_state=0).fit(X, y)
    assert metrics.rmse(y, rio.predict(X)) < 0.5 * metrics.rmse(y, text_model.predict(X))
    assert list(rio.feature_names_in_) == list(X.columns)


def test_polars_columns_by_name(friedman):
    X, y = friedman
    frame = pl.DataFrame(dict(zip("abcd", X.T, strict=True))).with_columns(pl.lit("x").alias("text"))
    rio = RIORegressor(lambda X: X["a"].to_numpy() * 10, features=["a", "b", "c"], random_state=0).fit(frame, y)
    assert rio.score(frame, y) > 0.95


def test_columns_by_number_and_a_fitted_transformer(friedman):
    X, y = friedman
    rio = RIORegressor(Ridge().fit(X, y), features=[0, 1, 2], random_state=0).fit(X, y)
    assert rio.hyperparameters_["input:matern52"]["lengthscale"].shape == (3,)
    scaler = StandardScaler().fit(X)
    other = RIORegressor(Ridge().fit(X, y), features=scaler, random_state=0).fit(X, y)
    assert other.fitted_.extract.transform is scaler


def test_a_function_is_a_model(friedman):
    X, y = friedman
    rio = RIORegressor(lambda X: 10 * X[:, 0], random_state=0).fit(X, y)
    assert rio.score(X, y) > 0.95


def test_a_model_of_another_library_is_used_as_it_is(friedman):
    class Network:
        """Has fit and predict, returns a column, knows nothing of scikit-learn."""

        def fit(self, X, y):
            raise AssertionError("must not be fitted")

        def predict(self, X):
            return 10 * X[:, :1].astype(np.float32)

    X, y = friedman
    network = Network()
    rio = RIORegressor(network, random_state=0).fit(X, y)
    assert rio.estimator_ is network
    assert rio.predict(X).shape == (120,)


def test_a_model_that_knows_whether_it_is_fitted(friedman):
    class Boosted(Ridge):
        def is_fitted(self):
            return True

        def predict(self, X):
            return np.zeros(len(X))

    model = Boosted()
    assert RIORegressor(model, random_state=0).fit(*friedman).estimator_ is model


def test_predictions_alone_are_enough(friedman):
    X, y = friedman
    y_pred = 10 * X[:, 0]
    rio = RIORegressor(random_state=0).fit(X, y, y_pred=y_pred)
    expected = RIORegressor(lambda X: 10 * X[:, 0], random_state=0).fit(X, y)
    np.testing.assert_array_equal(rio.predict(X, y_pred=y_pred), expected.predict(X))


def test_given_predictions_come_before_the_models(friedman):
    X, y = friedman
    rio = RIORegressor(Ridge(), random_state=0).fit(X, y, y_pred=np.zeros(120))
    assert rio.estimator_.coef_.shape == (4,)
    assert rio.predict(X, y_pred=np.zeros(120)).shape == (120,)


def test_the_output_kernel_does_not_look_at_x(frame, text_model):
    X, y = frame
    rio = RIORegressor(text_model, kernel="output", random_state=0).fit(X, y)
    assert rio.predict(X).shape == (120,)


def test_texts_or_images_as_input(rng):
    images = rng.uniform(size=(80, 5, 5))
    y = images.mean(axis=(1, 2)) * 10 + images[:, 0, 0]
    rio = RIORegressor(
        lambda images: images.mean(axis=(1, 2)) * 10,
        features=lambda images: images[:, 0, :2],
        random_state=0,
    ).fit(images, y)
    assert rio.score(images, y) > 0.9


def test_html_representation_names_the_model_and_the_training(friedman):
    shown = RIORegressor(Ridge(), training=Training(starts="unit")).fit(*friedman)._repr_html_()
    for name in ("RIORegressor", "Ridge", "Training", "unit"):
        assert name in shown


@pytest.mark.parametrize("combine", ["average", "refit"])
def test_an_ensemble_that_has_no_predict_before_it_is_fitted(combine, friedman):
    stack = StackingRegressor([("ridge", Ridge()), ("plain", LinearRegression())])
    assert not hasattr(stack, "predict")
    rio = RIORegressor(stack, combine=combine, noise="constant", max_iter=20, tol=1e-2).fit(*friedman)
    assert rio.predict(friedman[0]).shape == (120,)
    assert not hasattr(stack, "predict")
