"""A regressor in a folder with all that it needs, and the table that it answers with."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import OneHotEncoder

from rio_uq import FormatError, RIORegressor
from rio_uq.features import TableEncoder
from rio_uq.mlflow.folder import has_model, read_folder, requirements, write_folder
from rio_uq.mlflow.serving import ErrorBarService, InputForm

pytest.importorskip("skops")

NAMES = ["a", "b", "c"]


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(60, 3))
    return X, np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=60)


def quick(estimator=None, **options):
    return RIORegressor(estimator, random_state=0, max_iter=30, tol=1e-2, noise="constant", **options)


def through_a_folder(rio, folder, **options):
    write_folder(rio, folder, **{"base": None, "trusted": (), "pickle": False, **options})
    return read_folder(folder)


@pytest.mark.parametrize("model", [Ridge(), RandomForestRegressor(5, random_state=0)])
def test_models_and_transformers_by_skops(model, data, tmp_path):
    X, y = data
    rio = quick(model, features=PCA(2)).fit(X, y)
    other = through_a_folder(rio, tmp_path)
    np.testing.assert_array_equal(other.predict(X, return_std=True), rio.predict(X, return_std=True))
    assert has_model(tmp_path)
    assert {line.split("==")[0] for line in requirements(rio, tmp_path)} >= {"rio-uq", "numpy", "scikit-learn", "skops"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["features.skops", "model.rio", "parcel.json"]


def test_the_encoder_of_a_table_is_in_the_file_of_the_regressor(data, tmp_path):
    X, y = data
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0.5, "red", "blue")})
    rio = quick(features=TableEncoder()).fit(frame, y, y_pred=y)
    other = through_a_folder(rio, tmp_path)
    np.testing.assert_array_equal(other.predict(frame, y_pred=y), rio.predict(frame, y_pred=y))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.rio", "parcel.json"]


def test_damaged_features_are_named(data, tmp_path):
    X, y = data
    write_folder(quick(Ridge(), features=PCA(2)).fit(X, y), tmp_path, base=None, trusted=(), pickle=False)
    path = tmp_path / "features.skops"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FormatError, match=r"features\.skops: the model cannot be loaded"):
        read_folder(tmp_path)


def test_what_skops_cannot_store_is_refused_with_what_to_do(data, tmp_path):
    X, y = data
    with pytest.raises(ValueError, match=r"the model, a function, cannot be stored by skops.*base=.*pickle=True"):
        through_a_folder(quick(lambda X: X[:, 0]).fit(X, y), tmp_path)
    rio = quick(lambda X: X[:, 0]).fit(X, y)
    other = through_a_folder(rio, tmp_path, base=False)
    assert not has_model(tmp_path)
    np.testing.assert_array_equal(other.predict(X, y_pred=X[:, 0]), rio.predict(X))


def first_column(X):
    return np.asarray(X)[:, 0]


def test_functions_of_your_own_have_to_be_named(data, tmp_path, monkeypatch):
    X, y = data
    module = type(np)("own_models")
    module.first_column = first_column
    monkeypatch.setitem(sys.modules, "own_models", module)
    monkeypatch.setattr(first_column, "__module__", "own_models")
    rio = quick(first_column).fit(X, y)
    with pytest.raises(ValueError, match=r"own_models\.first_column.*trusted="):
        through_a_folder(rio, tmp_path)
    other = through_a_folder(rio, tmp_path, trusted=["own_models.first_column"])
    np.testing.assert_array_equal(other.predict(X), rio.predict(X))


def answers(rio, X, rows, *, has_model=True, **given):
    """The table for rows in their form, and what `predict` and `predict_interval` say."""
    form = InputForm.from_dict(InputForm.of(rio, X, has_model=has_model).to_dict())
    mean, std = rio.predict(X, return_std=True, **given)
    band = rio.predict_interval(X, confidence_level=0.8, **given)
    return ErrorBarService(rio, form, 0.8).table(rows), np.column_stack([mean, std, band])


def test_tables_of_frames_and_arrays(data):
    X, y = data
    rio = quick(Ridge()).fit(X, y)
    found, expected = answers(rio, X, X)
    assert list(found) == ["mean", "std", "lower", "upper"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    frame = pd.DataFrame(X, columns=NAMES)
    found, expected = answers(quick(Ridge()).fit(frame, y), frame, frame[["b", "c", "a"]])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    frame = pl.DataFrame(X, schema=NAMES)
    found, expected = answers(quick(Ridge()).fit(frame, y), frame, frame.to_pandas())
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_predictions_and_groups_are_columns(data):
    X, y = data
    groups = np.array(["left", "right"])[np.arange(60) % 2]
    rio = quick().fit(X[:30], y[:30], y_pred=X[:30, 0]).calibrate(X, y, y_pred=X[:, 0], groups=groups)
    form = InputForm.of(rio, X, has_model=False)
    rows = form.joined(X, X[:, 0], groups)
    assert list(rows) == ["x0", "x1", "x2", "y_pred", "group"]
    found, expected = answers(rio, X, rows, has_model=False, y_pred=X[:, 0], groups=groups)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="columns are missing: group; there are x0, x1, x2, y_pred"):
        ErrorBarService(rio, form, 0.8).table(rows.drop(columns="group"))
    with pytest.raises(TypeError, match="a table with the columns x0, x1, x2, y_pred, group"):
        ErrorBarService(rio, form, 0.8).table(X)
    with pytest.raises(ValueError, match="confidence_level has to be one number"):
        ErrorBarService(rio, form, 0.8).table(rows, [0.5, 0.9])


def test_several_outputs_have_columns_of_their_own(data):
    X, y = data
    Y = np.column_stack([y, -y])
    rio = quick(LinearRegression()).fit(X, Y)
    form = InputForm.of(rio, X, has_model=False)
    assert form.y_pred == ["y_pred_0", "y_pred_1"]
    rows = form.joined(X, rio.estimator_.predict(X), None)
    found = ErrorBarService(rio, form, 0.8).table(rows)
    np.testing.assert_allclose(found[["mean_0", "mean_1"]], rio.predict(X), rtol=1e-12)
    np.testing.assert_allclose(found["upper_1"], rio.predict_interval(X, confidence_level=0.8)[:, 1, 1], rtol=1e-12)


def test_text_columns_stay_what_they_are(data):
    X, y = data
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0.5, "red", "blue")})
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough")
    rio = quick(lambda X: X["size"].to_numpy(), features=encode).fit(frame, y)
    found, expected = answers(rio, frame, frame)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
