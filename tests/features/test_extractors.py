"""features="auto": X itself, the steps of a pipeline, or an encoded table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, TargetEncoder

import rio_uq
from rio_uq import RIORegressor
from rio_uq.features import TableEncoder

OPTIONS = {"random_state": 0, "noise": "constant", "tol": 1e-3}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(120, 2)), columns=["size", "age"])
    y = 3.0 * frame["size"] + frame["age"]
    frame.loc[::7, "age"] = np.nan
    frame["city"] = np.array(["Oslo", "Rome", "Kyiv"])[rng.integers(0, 3, 120)]
    frame["day"] = pd.date_range("2024-01-01", periods=120)
    return frame, y + (frame["city"] == "Rome") + 0.05 * rng.normal(size=120)


def steps():
    return make_column_transformer(
        (SimpleImputer(add_indicator=True), ["size", "age"]), (OneHotEncoder(sparse_output=False), ["city"])
    )


def size_of(X):
    return X["size"].to_numpy()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_table_is_encoded(library, table):
    X, y = table
    frame = X if library is pd.DataFrame else pl.from_pandas(X)
    rio = RIORegressor(size_of, **OPTIONS).fit(frame, y)
    assert isinstance(rio.features_, TableEncoder)
    expected = RIORegressor(size_of, features=TableEncoder(), **OPTIONS).fit(frame, y)
    np.testing.assert_array_equal(rio.predict(frame), expected.predict(frame))


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_numbers_are_taken_as_they_are(make, table):
    X, y = make(table[0][["size"]].to_numpy()), table[1]
    rio = RIORegressor(Ridge(), **OPTIONS).fit(X, y)
    assert rio.features_ is None
    expected = RIORegressor(Ridge(), features=None, **OPTIONS).fit(X, y)
    np.testing.assert_array_equal(rio.predict(X), expected.predict(X))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas])
def test_all_columns_without_numbers_are_named_at_once(make, table):
    X, y = table
    with pytest.raises(ValueError, match=r"columns 'city' \(.*\), 'day' \(.*\) of X do not hold numbers"):
        RIORegressor(size_of, features=None, **OPTIONS).fit(make(X), y)


def test_truth_values_beside_numbers_are_zeros_and_ones(table):
    X, y = table[0][["size"]].assign(new=table[0]["age"] > 0.5), table[1]
    rio = RIORegressor(size_of, **OPTIONS).fit(X, y)
    assert rio.features_ is None
    assert rio.fitted_.kept.features.shape == (len(X), 2)


def test_a_category_of_numbers_is_a_category(table):
    X, y = table[0][["size"]].assign(code=pd.Categorical(np.arange(120) % 3)), table[1]
    rio = RIORegressor(size_of, **OPTIONS).fit(X, y)
    assert rio.features_.feature_names_out_ == ["size", "code=0", "code=1", "code=2"]


@pytest.mark.parametrize("is_fitted", [True, False])
def test_the_steps_of_a_pipeline_are_taken(is_fitted, table):
    X, y = table
    pipeline = make_pipeline(steps(), Ridge())
    model = pipeline.fit(X, y) if is_fitted else pipeline
    rio = RIORegressor(model, **OPTIONS).fit(X, y)
    assert type(rio.features_) is type(pipeline)
    np.testing.assert_allclose(rio.fitted_.features(X), steps().fit_transform(X))
    assert np.isfinite(rio.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize(
    "first",
    [
        FunctionTransformer(),  # hands text and missing values on
        make_column_transformer((TargetEncoder(), ["city"]), remainder="drop"),  # would tell the GP the outcomes
        make_column_transformer((FunctionTransformer(lambda X: np.ones((len(X), 500))), ["size"])),  # too many
    ],
    ids=["no numbers", "wants y", "too many"],
)
def test_steps_that_are_not_for_the_gp(first, table):
    X, y = table
    X = X.astype({"city": "category"}).drop(columns="day")
    model = make_pipeline(first, HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=5))
    rio = RIORegressor(model, cv=2, **OPTIONS).fit(X, y)
    assert isinstance(rio.features_, TableEncoder)


def test_files_hold_the_encoder_and_ask_for_the_steps(table, tmp_path):
    X, y = table
    X = X.drop(columns="day")
    rio = RIORegressor(size_of, **OPTIONS).fit(X, y)
    rio.save(tmp_path / "table.rio")
    again = rio_uq.load(tmp_path / "table.rio", estimator=size_of)
    assert again.features == "auto"
    np.testing.assert_array_equal(again.predict(X), rio.predict(X))
    model = make_pipeline(steps(), Ridge()).fit(X, y)
    rio = RIORegressor(model, **OPTIONS).fit(X, y)
    rio.save(tmp_path / "steps.rio")
    with pytest.raises(TypeError, match=r"give it as features="):
        rio_uq.load(tmp_path / "steps.rio", estimator=model)
    again = rio_uq.load(tmp_path / "steps.rio", estimator=model, features=model[:-1])
    np.testing.assert_array_equal(again.predict(X), rio.predict(X))


class TestImages:
    @pytest.fixture
    def images(self, rng):
        X = rng.normal(size=(40, 1, 4, 4))
        return X, X.mean(axis=(1, 2, 3)) + 0.1 * rng.normal(size=40)

    @pytest.mark.parametrize("features", ["auto", None, [0, 1]])
    def test_a_stack_of_images_is_no_table(self, features, images):
        rio = RIORegressor(brightness, features=features, **OPTIONS)
        message = r"X has shape \(40, 1, 4, 4\), .* features=, a layer .*, or use kernel='output', which needs none"
        with pytest.raises(ValueError, match=message):
            rio.fit(*images, held_out=True)

    def test_values_that_are_no_table_are_to_be_flattened(self, images):
        with pytest.raises(ValueError, match=r"got \(40, 1, 4, 4\): flatten or pool the rest"):
            RIORegressor(brightness, features=lambda X: X, **OPTIONS).fit(*images, held_out=True)

    def test_one_image_is_still_a_stack(self, images):
        X, y = images
        rio = RIORegressor(brightness, kernel="output", **OPTIONS).fit(X, y, held_out=True)
        assert rio.predict(X[:1]).shape == (1,)
        with pytest.raises(ValueError, match=r"X has shape \(1, 4, 4\), .* 1 as in fit: .* is X\[:1\], and not X\[0\]"):
            rio.predict(X[0])


def brightness(X):
    return 0.9 * X.mean(axis=(1, 2, 3))


class Doubled(TransformerMixin, BaseEstimator):
    """A transformer of somebody's own, which has to be told the names of its input."""

    def fit(self, X, y=None):
        self.n_ = len(X)
        return self

    def transform(self, X):
        return 2.0 * np.asarray(X)

    def get_feature_names_out(self, input_features):
        return [f"twice {name}" for name in input_features]


def test_a_summary_has_the_names_that_transformers_give_their_features(table):
    X, y = table
    rio = RIORegressor(size_of, features=steps(), **OPTIONS).fit(X, y, held_out=True)
    names = {feature.name for feature in rio.summary().features}
    assert {"simpleimputer__size", "onehotencoder__city_Oslo"} < names
    rio = RIORegressor(size_of, features=Doubled(), **OPTIONS).fit(X[["size"]], y, held_out=True)
    assert [feature.name for feature in rio.summary().features] == ["twice size"]
