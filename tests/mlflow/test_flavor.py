"""Regressors in MLflow: logged, loaded and served, they say what `predict` says."""

from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import rio_uq
from rio_uq import RIORegressor, metrics
from rio_uq.features import TableEncoder, onnx_tensor
from rio_uq.mlflow import flavor
from rio_uq.models import onnx_model

pytestmark = [
    pytest.mark.usefixtures("mlflow"),
    pytest.mark.filterwarnings("ignore::Warning:mlflow", "ignore:.*Hint. Inferred schema contains integer"),
]

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(90, 3))
    return X, np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=90)


@pytest.fixture(scope="module")
def ridge(data):
    """For tests that only store it."""
    return quick(Ridge()).fit(*data)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "model"


def quick(estimator=None, **options):
    settings = {"random_state": 0, "max_iter": 30, "tol": 1e-2, "noise": "constant"}
    return RIORegressor(estimator, **{**settings, **options})


def expected(rio, X, level=0.95, **given):
    """The table that a pyfunc has to return."""
    mean, std = rio.predict(X, return_std=True, **given)
    band = rio.predict_interval(X, confidence_level=level, **given)
    return pd.DataFrame({"mean": mean, "std": std, "lower": band[:, 0], "upper": band[:, 1]})


def saved(rio, folder, **options):
    from mlflow import pyfunc

    rio_uq.mlflow.save_model(rio, folder, **options)
    return pyfunc.load_model(str(folder))


def assert_same(found, wanted, tolerance=1e-12):
    pd.testing.assert_frame_equal(found, wanted, rtol=tolerance, atol=tolerance)


def double_rows(X):
    return 2.0 * X


def double(X):
    return 2.0 * np.asarray(X)[:, 0]


def test_frames(data, folder):
    X, y = pd.DataFrame(data[0], columns=NAMES), data[1]
    rio = quick(Ridge()).fit(X[:60], y[:60])
    function = saved(rio, folder)
    assert_same(function.predict(X[60:]), expected(rio, X[60:]))
    assert_same(function.predict(X[60:][["c", "a", "b"]]), expected(rio, X[60:]))
    assert_same(function.predict(X[60:], params={"confidence_level": 0.5}), expected(rio, X[60:], 0.5))
    assert function.metadata.signature.inputs.input_names() == NAMES
    assert function.metadata.signature.outputs.input_names() == ["mean", "std", "lower", "upper"]
    assert len(function.input_example) == 8
    loaded = rio_uq.mlflow.load_model(folder)
    np.testing.assert_array_equal(loaded.predict(X), rio.predict(X))
    assert not list(folder.rglob("*.pkl"))


def test_arrays(data, folder):
    X, y = data
    rio = quick(Ridge().fit(X, y)).fit(X[:60], y[:60])
    function = saved(rio, folder, confidence_level=0.8)
    assert_same(function.predict(X[60:]), expected(rio, X[60:], 0.8))
    assert_same(function.predict(X[60:61]), expected(rio, X[60:61], 0.8))


def test_polars(data, folder):
    X, y = pl.DataFrame(data[0], schema=NAMES), data[1]
    rio = quick(LinearRegression().fit(X, y)).fit(X, y)
    assert_same(saved(rio, folder).predict(X.to_pandas()), expected(rio, X))


def test_several_outputs(data, folder):
    X, y = data
    Y = np.column_stack([y, -y])
    rio = quick(LinearRegression()).fit(X, Y)
    found = saved(rio, folder).predict(X)
    mean, std = rio.predict(X, return_std=True)
    assert list(found) == [f"{name}_{output}" for output in (0, 1) for name in ("mean", "std", "lower", "upper")]
    np.testing.assert_allclose(found[["mean_0", "mean_1"]], mean, rtol=1e-12)
    np.testing.assert_allclose(found[["std_0", "std_1"]], std, rtol=1e-12)
    np.testing.assert_allclose(found["upper_1"], rio.predict_interval(X)[:, 1, 1], rtol=1e-12)


@pytest.mark.parametrize("is_frame", [True, False])
def test_without_a_model_predictions_come_with_the_rows(is_frame, data, folder, mlflow):
    X, y = data
    rows = pd.DataFrame(X, columns=NAMES if is_frame else ["x0", "x1", "x2"])
    given = rows if is_frame else X
    rio = quick().fit(given[:60], y[:60], y_pred=double(X[:60]))
    function = saved(rio, folder)
    assert_same(function.predict(rows.assign(y_pred=double(X))), expected(rio, given, y_pred=double(X)))
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"missing inputs \['y_pred'\]"):
        function.predict(rows)


def test_a_model_that_is_left_out_is_given_again(data, folder):
    X, y = data
    rio = quick(lambda X: double(X)).fit(X, y)
    function = saved(rio, folder, base=False)
    rows = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(y_pred=double(X))
    assert_same(function.predict(rows), expected(rio, X))
    np.testing.assert_array_equal(rio_uq.mlflow.load_model(folder, estimator=double).predict(X), rio.predict(X))
    with pytest.raises(ValueError, match="is not the one"):
        rio_uq.mlflow.load_model(folder, estimator=lambda X: 1.01 * double(X))


@pytest.mark.parametrize("labels", [["north", "south"], [3, 4]])
def test_groups_are_a_column(labels, data, folder, mlflow):
    X, y = pd.DataFrame(data[0], columns=NAMES), data[1]
    groups = np.array(labels)[np.arange(90) % 2]
    rio = quick(Ridge()).fit(X[:30], y[:30]).calibrate(X[30:], y[30:], groups=groups[30:])
    function = saved(rio, folder, confidence_level=0.8)
    rows = X.assign(group=groups)
    assert_same(function.predict(rows), expected(rio, X, 0.8, groups=groups))
    with pytest.raises(mlflow.exceptions.MlflowException, match="of which there were no calibration rows"):
        function.predict(rows.assign(group=type(labels[0])(7)))
    with pytest.raises(mlflow.exceptions.MlflowException, match="needs at least 99 calibration rows"):
        function.predict(rows, params={"confidence_level": 0.99})
    with pytest.raises(ValueError, match="give the groups of X too"):
        rio_uq.mlflow.save_model(rio, folder / "other", X=X)


def test_text_columns_by_a_pipeline(data, folder, mlflow):
    X, y = data
    rows = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0.5, "red", "blue"), "number": np.arange(90)})
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough")
    rio = quick(make_pipeline(encode, Ridge()), features=encode).fit(rows[:60], y[:60])
    function = saved(rio, folder, X=rows[60:])
    assert_same(function.predict(rows[60:]), expected(rio, rows[60:]))
    with pytest.raises(mlflow.exceptions.MlflowException, match="unknown categories"):
        function.predict(rows[60:].assign(colour="green"))


def test_an_encoder_of_tables_needs_no_pickle(data, folder):
    X, y = data
    rows = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0.5, "red", "blue")})
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough")
    rio = quick(make_pipeline(encode, Ridge()), features=TableEncoder()).fit(rows[:60], y[:60])
    function = saved(rio, folder, X=rows[60:])
    assert_same(function.predict(rows[60:]), expected(rio, rows[60:]))
    assert not list(folder.rglob("*.pkl"))


def make_model(name):
    if name == "forest":
        return RandomForestRegressor(5, random_state=0)
    module = pytest.importorskip(name)
    if name == "catboost":
        return module.CatBoostRegressor(iterations=5, verbose=0, allow_writing_files=False)
    return (
        module.XGBRegressor(n_estimators=5) if name == "xgboost" else module.LGBMRegressor(n_estimators=5, verbose=-1)
    )


@pytest.mark.parametrize("name", ["forest", "xgboost", "lightgbm", "catboost"])
def test_trees_of_every_library_need_nothing_said(name, data, folder):
    X, y = data
    for place, model in (("unfitted", make_model(name)), ("fitted", make_model(name).fit(X[:30], y[:30]))):
        rio = quick(model, cv=2).fit(X[30:], y[30:])
        assert_same(saved(rio, folder / place).predict(X), expected(rio, X))
        library = "scikit-learn" if name == "forest" else name
        assert f"\n{library}==" in (folder / place / "requirements.txt").read_text()


def test_an_xgboost_model_stored_by_its_own_flavor(data, folder, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, y = pd.DataFrame(data[0], columns=NAMES), data[1]
    booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(X, y), num_boost_round=5)
    import_module("mlflow.xgboost").save_model(
        booster, tmp_path / "booster", pip_requirements=[f"xgboost=={xgboost.__version__}"]
    )
    rio = quick(booster.inplace_predict).fit(X, y)
    assert_same(saved(rio, folder, base=tmp_path / "booster").predict(X), expected(rio, X))
    assert f"xgboost=={xgboost.__version__}" in (folder / "requirements.txt").read_text()


def onnx_linear():
    """ŷ = 2 x₀, in single precision, with the tensor ``hidden`` = 2 X before it."""
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    constants = [
        onnx.numpy_helper.from_array(np.eye(3, dtype=np.float32) * 2.0, "w"),
        onnx.numpy_helper.from_array(np.array([[1.0], [0.0], [0.0]], dtype=np.float32), "v"),
    ]
    nodes = [helper.make_node("MatMul", ["X", "w"], ["hidden"]), helper.make_node("MatMul", ["hidden", "v"], ["y"])]
    ends = [helper.make_tensor_value_info(*one) for one in (("X", kind, [None, 3]), ("y", kind, [None, 1]))]
    graph = helper.make_graph(nodes, "linear", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def test_onnx_models_and_layers_stay_what_they_are(data, folder):
    X, y = data
    content = onnx_linear()
    rio = quick(onnx_model(content), features=onnx_tensor(content, "hidden")).fit(X, y)
    assert_same(saved(rio, folder).predict(X), expected(rio, X))
    assert "onnxruntime==" in (folder / "requirements.txt").read_text()
    assert "skops" not in (folder / "requirements.txt").read_text()


def test_an_onnx_file_of_the_model(data, folder, tmp_path):
    X, y = data
    (tmp_path / "model.onnx").write_bytes(onnx_linear())
    rio = quick(lambda X: double(X)).fit(X, y)
    assert_same(saved(rio, folder, base=tmp_path / "model.onnx").predict(X), expected(rio, X), tolerance=1e-5)
    fitted_without = quick().fit(X, y, y_pred=double(X))
    function = saved(fitted_without, folder.with_name("other"), base=tmp_path / "model.onnx")
    assert_same(function.predict(X), expected(fitted_without, X, y_pred=double(X)), tolerance=1e-5)


def test_a_model_stored_by_another_flavor(data, folder, tmp_path, mlflow):
    X, y = pd.DataFrame(data[0], columns=NAMES), data[1]
    model = Ridge().fit(X, y)
    requirements = ["scikit-learn==1.0", "some-package==2"]
    mlflow.sklearn.save_model(model, tmp_path / "ridge", pip_requirements=requirements, serialization_format="skops")
    rio = quick(model).fit(X, y)
    assert_same(saved(rio, folder, base=tmp_path / "ridge").predict(X), expected(rio, X))
    lines = (folder / "requirements.txt").read_text().split()
    assert "some-package==2" in lines
    assert "scikit-learn==1.0" not in lines
    other = tmp_path / "other"
    mlflow.sklearn.save_model(Ridge(9.0).fit(X, y), other, pip_requirements=[], serialization_format="skops")
    with pytest.raises(ValueError, match=r"^base: the model is not the one that was fitted or saved"):
        rio_uq.mlflow.save_model(rio, tmp_path / "wrong", base=other)
    assert not (tmp_path / "wrong").exists()


def test_pickle_if_asked_for(data, folder):
    X, y = data
    rio = quick(lambda X: 2.0 * X[:, 0], features=lambda X: X[:, :2]).fit(X, y)
    with pytest.raises(ValueError, match=r"what makes the features.*cannot be stored by skops.*pickle=True"):
        rio_uq.mlflow.save_model(rio, folder)
    assert not folder.exists()
    assert_same(saved(rio, folder, pickle=True).predict(X), expected(rio, X))
    required = (folder / "requirements.txt").read_text()
    assert "cloudpickle==" in required
    assert "skops" not in required
    np.testing.assert_array_equal(rio_uq.mlflow.load_model(folder).predict(X), rio.predict(X))
    replaced = rio_uq.mlflow.load_model(folder, estimator=double)
    np.testing.assert_array_equal(replaced.predict(X), rio.predict(X))


def test_types_that_skops_does_not_know(data, folder):
    X, y = data
    rio = quick(double).fit(X, y)
    name = f"{double.__module__}.{double.__qualname__}"
    with pytest.raises(
        ValueError, match=r"the model, a function, cannot be stored by skops .*trusted=.*base="
    ) as caught:
        rio_uq.mlflow.save_model(rio, folder)
    assert name in str(caught.value)
    rio = quick(Ridge(), features=double_rows).fit(X, y)
    with pytest.raises(
        ValueError, match=r"what makes the features, a function, .*types of your own in it with trusted"
    ):
        rio_uq.mlflow.save_model(rio, folder)
    saved(rio, folder, trusted=[f"{double_rows.__module__}.{double_rows.__qualname__}"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"confidence_level": 95}, ValueError, "confidence_level has to be between 0 and 1"),
        ({"confidence_level": [0.5, 0.9]}, ValueError, "has to be one number"),
        ({"pickle": "yes"}, ValueError, "pickle has to be True or False"),
        ({"base": "no/such/folder"}, ValueError, "base: no/such/folder is not to be found"),
        ({"base": "no/such/model.onnx"}, FileNotFoundError, "no/such/model.onnx"),
        ({"base": "."}, ValueError, "is no model of MLflow"),
        ({"X": np.zeros((5, 2))}, ValueError, "2 features"),
        ({"X": np.full((5, 3), np.nan)}, ValueError, "contains NaN"),
        ({"X": np.zeros((0, 3))}, ValueError, "0 sample"),
        ({"no_such_option": 1}, TypeError, "no_such_option"),
        ({"code_paths": ["no/such/file.py"]}, Exception, "no/such"),
        ({"pickle": True, "base": "model.onnx"}, ValueError, "pickle=True holds the model as well"),
        ({"X": np.ones((5, 3)), "y_pred": np.zeros(3)}, ValueError, r"y_pred should have shape \(5,\)"),
        ({"X": np.ones((5, 3)), "groups": ["a"]}, ValueError, r"groups has to have shape \(5,\)"),
    ],
)
def test_errors_leave_nothing_behind(options, error, message, ridge, folder, monkeypatch, tmp_path):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(error, match=message):
        rio_uq.mlflow.save_model(ridge, folder, **options)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty"]
    assert not list((tmp_path / "empty").iterdir())


def test_a_folder_that_is_not_empty_stays(data, ridge, folder):
    folder.mkdir()
    assert_same(saved(ridge, folder).predict(data[0]), expected(ridge, data[0]))
    with pytest.raises(FileExistsError, match="is no empty folder"):
        rio_uq.mlflow.save_model(ridge, folder)
    saved(ridge, folder.parent / "new" / "deep" / "model")


@pytest.mark.parametrize("levels", [["red", "blue", "green"], [3, 1, 2]])
def test_categories_stay_categories(levels, data, folder):
    X, y = data
    rows = pd.DataFrame({"size": X[:, 0], "kind": pd.Categorical(np.array(levels)[np.arange(90) % 2], levels)})
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=5).fit(rows, y)
    rio = quick(model, features=TableEncoder()).fit(rows[:60], y[:60])
    function = saved(rio, folder, X=rows[60:], pickle=True)
    plain = rows[60:].assign(kind=rows["kind"].astype(type(levels[0]))).reset_index(drop=True)
    assert_same(function.predict(plain), expected(rio, rows[60:]))


def test_what_cannot_be_saved_is_said(data, ridge, folder, mlflow):
    X, y = data
    with pytest.raises(NotFittedError):
        rio_uq.mlflow.save_model(quick(), folder)
    rows = pd.DataFrame({"size": X[:, 0], "day": pd.date_range("2024", periods=90)})
    with pytest.raises(ValueError, match="give some rows as X="):
        rio_uq.mlflow.save_model(quick(features=["size"]).fit(rows, y, y_pred=y), folder)
    rows = pd.DataFrame({"a": X[:, 0], "y_pred": X[:, 1]})
    with pytest.raises(ValueError, match=r"column 'y_pred', which is the name of one beside X"):
        rio_uq.mlflow.save_model(quick().fit(rows, y, y_pred=y), folder)
    images = X.reshape(90, 3, 1)
    rio = quick(features=lambda X: X[:, :, 0]).fit(images, y, y_pred=y)
    with pytest.raises(ValueError, match=r"table or an array of shape \(n, d\)"):
        rio_uq.mlflow.save_model(rio, folder, pickle=True)
    with pytest.raises(ValueError, match="y was given without X"):
        rio_uq.mlflow.log_model(ridge, y=y)
    mlflow.sklearn.save_model(Ridge().fit(X, y), folder, pip_requirements=[], serialization_format="skops")
    with pytest.raises(ValueError, match="no regressor of rio-uq: its flavors are"):
        rio_uq.mlflow.load_model(folder)


def test_missing_package_is_named(ridge, folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"rio-uq\[mlflow\]"):
        rio_uq.mlflow.save_model(ridge, folder)


def test_measures_before_and_after(data):
    X, y = data
    Y = np.column_stack([y, y**2])
    rio = quick(LinearRegression()).fit(X[:60], Y[:60])
    found = flavor._measures(rio, X[60:], Y[60:], None, None, 0.9)
    mean, std = rio.predict(X[60:], return_std=True)
    assert found["before_rmse_1"] == metrics.rmse(Y[60:, 1], rio.estimator_.predict(X[60:])[:, 1])
    assert found["after_rmse_1"] == metrics.rmse(Y[60:, 1], mean[:, 1])
    assert found["after_nlpd_0"] == metrics.nlpd(Y[60:, 0], mean[:, 0], std[:, 0])
    assert found["after_coverage_0"] == metrics.coverage(Y[60:, 0], mean[:, 0], std[:, 0], confidence_level=0.9)
    rio.calibrate(X[60:], Y[60:])
    assert "after_nlpd_0" not in flavor._measures(rio, X[60:], Y[60:], None, None, 0.9)


def test_metrics_of_rows_of_fit_are_noticed(data):
    X, y = data
    rio = quick(LinearRegression()).fit(X[:60], y[:60])
    with pytest.warns(rio_uq.ReusedRowsWarning, match="75% of these rows were fitted to: metrics of the run"):
        flavor._measures(rio, X[:80], y[:80], None, None, 0.9)


def test_densities_are_those_of_the_distribution_that_is_predicted(data):
    X, y = data
    rio = quick(LinearRegression(), distribution="student").fit(X[:60], y[:60])
    found = flavor._measures(rio, X[60:], y[60:], None, None, 0.9)
    distribution = rio.predict_dist(X[60:])
    assert found["after_nlpd"] == pytest.approx(metrics.nlpd(y[60:], distribution))
    assert found["after_crps"] == pytest.approx(metrics.crps(y[60:], distribution))
    assert found["after_coverage"] == pytest.approx(metrics.coverage(y[60:], distribution, confidence_level=0.9))
