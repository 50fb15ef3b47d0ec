"""Predictions as data frames."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.linear_model import Ridge

from rio_uq import RIORegressor

pytestmark = pytest.mark.usefixtures("quick_fits")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["a", "b"], index=[f"row {i}" for i in range(60)])
    return X, X["a"] + np.sin(4 * X["b"]) + 0.1 * rng.normal(size=60)


@pytest.fixture(scope="module")
def rio(data):
    return RIORegressor(Ridge(), random_state=0, tol=1e-3).fit(*data)


def test_columns_are_those_of_the_other_methods_on_the_index_of_X(rio, data):
    X = data[0][:7]
    frame = rio.predict_frame(X, confidence_level=0.8)
    assert frame.columns.tolist() == ["mean", "std", "lower", "upper"]
    assert frame.index.equals(X.index)
    mean, std = rio.predict(X, return_std=True)
    np.testing.assert_array_equal(frame["mean"], mean)
    np.testing.assert_array_equal(frame["std"], std)
    np.testing.assert_array_equal(frame[["lower", "upper"]], rio.predict_interval(X, confidence_level=0.8))


def test_several_levels_have_columns_of_their_own(rio, data):
    frame = rio.predict_frame(data[0], confidence_level=[0.5, 0.95])
    assert frame.columns.tolist() == ["mean", "std", "lower_0.5", "upper_0.5", "lower_0.95", "upper_0.95"]
    band = rio.predict_interval(data[0], confidence_level=[0.5, 0.95])
    np.testing.assert_array_equal(frame[["lower_0.95", "upper_0.95"]], band[:, :, 1])


def test_several_outputs_are_numbered(data):
    X, y = data
    rio = RIORegressor(Ridge(), random_state=0, tol=1e-3).fit(X, np.column_stack([y, -y]))
    frame = rio.predict_frame(X)
    expected = ["mean_0", "mean_1", "std_0", "std_1", "lower_0", "lower_1", "upper_0", "upper_1"]
    assert frame.columns.tolist() == expected
    np.testing.assert_array_equal(frame[["lower_1", "upper_1"]], rio.predict_interval(X)[:, 1])
    assert "upper_1_0.9" in rio.predict_frame(X, confidence_level=[0.9]).columns


def test_the_library_is_that_of_X_or_of_the_configuration(rio, data):
    X, y = data
    polars = pl.from_pandas(X)
    frame = RIORegressor(Ridge(), random_state=0, tol=1e-3).fit(polars, y).predict_frame(polars)
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["mean", "std", "lower", "upper"]
    plain = RIORegressor(Ridge(), random_state=0, tol=1e-3).fit(X.to_numpy(), y)
    assert plain.predict_frame(X.to_numpy()).index.tolist() == list(range(60))
    with sklearn.config_context(transform_output="polars"):
        assert isinstance(rio.predict_frame(X), pl.DataFrame)


def test_groups_and_predictions_are_passed_on(data):
    X, y = data
    rio = RIORegressor(random_state=0, tol=1e-3).fit(X[:30], y[:30], y_pred=X["a"][:30])
    groups = np.where(X["a"] > 0.5, "high", "low")
    rio.calibrate(X[30:], y[30:], y_pred=X["a"][30:], groups=groups[30:], method="variance")
    frame = rio.predict_frame(X, y_pred=X["a"], groups=groups)
    np.testing.assert_array_equal(frame[["lower", "upper"]], rio.predict_interval(X, y_pred=X["a"], groups=groups))


def test_pandas_is_needed_only_here(data, monkeypatch):
    X, y = data[0].to_numpy(), data[1].to_numpy()
    rio = RIORegressor(Ridge(), random_state=0, tol=1e-3).fit(X, y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        rio.predict_frame(X)
