"""Models of every kind: stored in the file where they can be, asked for again where not, never opened blindly."""

from importlib import import_module

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import rio_uq

FIT = ("fit", "train.csv", "--target", "price", "--inducing", 8, "-o", "price.rio")
PREDICT = ("predict", "new.csv", "--rio", "price.rio", "-o", "out.csv")


@pytest.fixture
def tables(run, train, fresh):
    """train.csv and new.csv without gaps, in the folder where commands run."""
    train, fresh = (table.fillna(0.5).drop(columns="yhat") for table in (train, fresh))
    train.to_csv("train.csv", index=False)
    fresh.to_csv("new.csv", index=False)
    return train, fresh


def dump(model, path):
    from skops.io import dump  # which imports all of scikit-learn, and PyTorch where it is installed

    dump(model, path)


def pipeline(train):
    """A model that asks for columns by name, text among them, and not for id."""
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["city"]), remainder="passthrough")
    return make_pipeline(encoder, Ridge()).fit(train[["city", "size", "age"]], train["price"])


def test_skops_inside(run, tables):
    train, fresh = tables
    model = pipeline(train)
    dump(model, "model.skops")
    said = run(*FIT, "--model", "model.skops")
    assert "give predict the same --model" not in said.stderr
    assert "residuals, rows " in said.stdout
    run(*PREDICT)
    found = pd.read_csv("out.csv")
    np.testing.assert_allclose(found["y_pred"], model.predict(fresh[["city", "size", "age"]]), rtol=1e-6)
    assert rio_uq.load("price.rio").feature_names_in_.tolist() == ["city", "size", "age"]
    assert "skops, inside the file" in run("info", "price.rio").stdout


def test_skops_with_types_that_are_not_known_to_be_safe(run, tables):
    train, _ = tables
    dump(ExtraTreesRegressor(5, random_state=0).fit(train[["size"]], train["price"]), "model.skops")
    types = import_module("skops.io").get_untrusted_types(file="model.skops")
    if not types:
        pytest.skip("this version of skops knows all types of a forest")
    (unknown,) = types
    refused = run(*FIT, "--model", "model.skops", code=1).stderr
    assert unknown in refused
    assert f"--trust-types {unknown}" in refused
    run(*FIT, "--model", "model.skops", "--trust-types", unknown)
    assert f"--trust-types {unknown}" in run(*PREDICT, code=1).stderr
    run(*PREDICT, "--trust-types", unknown)


def test_onnx_with_one_input(run, tables):
    skl2onnx = pytest.importorskip("skl2onnx")
    train, fresh = tables
    names = ["size", "age"]
    model = LinearRegression().fit(train[names].to_numpy(), train["price"])
    kind = skl2onnx.common.data_types.DoubleTensorType([None, 2])
    graph = skl2onnx.to_onnx(model, initial_types=[("X", kind)], target_opset=17)
    with open("model.onnx", "wb") as file:
        file.write(graph.SerializeToString())
    run(*FIT, "--model", "model.onnx", "--features", "size,age")
    run(*PREDICT)
    found = pd.read_csv("out.csv")
    np.testing.assert_allclose(found["y_pred"], model.predict(fresh[names].to_numpy()), rtol=1e-6)
    said = run("export", "price.rio", "-o", "price.onnx", "--level", "0.95").stdout
    assert "input  X" in said
    assert "y_pred" not in said  # the model is inside the graph
    import onnxruntime

    (mean, *_) = onnxruntime.InferenceSession("price.onnx").run(None, {"X": fresh[names].to_numpy()})
    np.testing.assert_allclose(mean[:, 0], found["mean"], rtol=1e-6)


def test_onnx_with_an_input_for_each_column(run, tables):
    skl2onnx = pytest.importorskip("skl2onnx")
    types = skl2onnx.common.data_types
    train, fresh = tables
    names = ["city", "size", "age"]
    model = pipeline(train)
    initial = [("city", types.StringTensorType([None, 1]))]
    initial += [(name, types.DoubleTensorType([None, 1])) for name in names[1:]]
    graph = skl2onnx.to_onnx(model, initial_types=initial, target_opset=17)
    with open("model.onnx", "wb") as file:
        file.write(graph.SerializeToString())
    run(*FIT, "--model", "model.onnx")
    run(*PREDICT)
    np.testing.assert_allclose(pd.read_csv("out.csv")["y_pred"], model.predict(fresh[names]), rtol=1e-5)


def test_a_function_by_its_name(run, tables, tmp_path):
    _, fresh = tables
    (tmp_path / "my_models_for_test.py").write_text("factor = 2\ndef predict(X):\n    return factor * X['size']\n")
    said = run(*FIT, "--model", "my_models_for_test:predict", "--drop", "id")
    assert "give predict the same --model again" in said.stderr
    refused = run(*PREDICT, code=1).stderr
    assert "it was my_models_for_test:predict in fit" in refused
    run(*PREDICT, "--model", "my_models_for_test:predict")
    np.testing.assert_allclose(pd.read_csv("out.csv")["y_pred"], 2 * fresh["size"], rtol=1e-6)
    assert "cannot be imported" in run(*PREDICT, "--force", "--model", "my_models_for_test:nobody", code=1).stderr
    assert "has to be a function" in run(*PREDICT, "--force", "--model", "my_models_for_test:factor", code=1).stderr
    assert "neither a file" in run(*PREDICT, "--force", "--model", "model.bin", code=2).stderr


def test_an_error_inside_a_function_names_itself(run, tables, tmp_path):
    (tmp_path / "my_broken_model.py").write_text("def predict(X):\n    return X['absent']\n")
    said = run(*FIT, "--model", "my_broken_model:predict", "--drop", "id", code=1).stderr
    assert "KeyError: 'absent'" in said
    assert "--debug" in said


def test_pickles_only_if_trusted(run, tables):
    train, fresh = tables
    model = pipeline(train)
    joblib.dump(model, "model.joblib")
    refused = run(*FIT, "--model", "model.joblib", code=2).stderr
    assert "can run any program" in " ".join(refused.replace("│", " ").split())
    run(*FIT, "--model", "model.joblib", "--trust-pickle")
    run(*PREDICT, "--model", "model.joblib", "--trust-pickle")
    np.testing.assert_allclose(
        pd.read_csv("out.csv")["y_pred"], model.predict(fresh[["city", "size", "age"]]), rtol=1e-6
    )
    joblib.dump(pipeline(train.assign(price=-train["price"])), "other.joblib")
    with open("broken.pkl", "wb") as file:
        file.write(b"no pickle")
    assert "cannot be opened" in run(*PREDICT, "--force", "--model", "broken.pkl", "--trust-pickle", code=1).stderr


def test_another_model_is_recognised(run, tables):
    train, _ = tables
    for name, sign in (("model.skops", 1.0), ("other.skops", -1.0)):
        dump(LinearRegression().fit(train[["size", "age"]], sign * train["price"]), name)
    run(*FIT, "--model", "model.skops", "--no-store-model")
    assert "not the one that was fitted" in run(*PREDICT, "--model", "other.skops", code=1).stderr
    run(*PREDICT, "--model", "model.skops")


def test_cross_fit_gives_residuals_that_tell_the_truth(run, tables):
    train, fresh = tables
    names = ["size", "age"]
    model = ExtraTreesRegressor(20, random_state=0).fit(train[names], train["price"])
    dump(model, "model.skops")
    given = ("--model", "model.skops", "--trust-types", "sklearn.tree._tree.Tree")
    run(*FIT, *given, "--rows", "new")
    in_sample = rio_uq.load("price.rio", estimator=None).summary().residual_std
    found_out = run(*FIT, *given, "--force")
    assert "out-of-fold residuals, rows seen" in found_out.stdout
    assert rio_uq.load("price.rio", estimator=None).summary().residual_std > 3 * max(in_sample, 1e-9)
    run(*FIT, *given, "--cross-fit", "--force")
    assert rio_uq.load("price.rio", estimator=None).summary().residual_std > 3 * max(in_sample, 1e-9)
    run(*PREDICT, *given[2:])
    np.testing.assert_allclose(pd.read_csv("out.csv")["y_pred"], model.predict(fresh[names]), rtol=1e-6)


def test_cross_fit_needs_a_model_that_can_be_cloned(run, tables, tmp_path):
    (tmp_path / "my_function_to_clone.py").write_text("def predict(X):\n    return X['size']\n")
    said = run(*FIT, "--model", "my_function_to_clone:predict", "--drop", "id", "--cross-fit", code=1).stderr
    assert "needs a scikit-learn model" in said


def test_a_model_that_is_not_fitted_is_fitted_and_stored(run, tables):
    dump(Ridge(), "model.skops")
    run(*FIT, "--model", "model.skops", "--features", "size,age")
    run(*PREDICT)
    train, fresh = tables
    expected = Ridge().fit(train[["size", "age"]], train["price"]).predict(fresh[["size", "age"]])
    np.testing.assert_allclose(pd.read_csv("out.csv")["y_pred"], expected, rtol=1e-6)


def test_a_model_that_is_fitted_here_is_never_lost(run, tables):
    joblib.dump(ExtraTreesRegressor(5, random_state=0), "model.joblib")
    given = ("--model", "model.joblib", "--trust-pickle", "--features", "size,age")
    assert "has to be stored" in run(*FIT, *given, "--no-store-model", code=2).stderr
    assert "--trust-types sklearn.tree._tree.Tree" in run(*FIT, *given).stderr
    run(*PREDICT, "--trust-types", "sklearn.tree._tree.Tree")
    train, fresh = tables
    expected = ExtraTreesRegressor(5, random_state=0).fit(train[["size", "age"]], train["price"])
    np.testing.assert_allclose(pd.read_csv("out.csv")["y_pred"], expected.predict(fresh[["size", "age"]]), rtol=1e-6)


def test_features_that_the_model_does_not_take(run, tables):
    train, _ = tables
    dump(LinearRegression().fit(train[["size"]], train["price"]), "model.skops")
    assert "does not take 'age'" in run(*FIT, "--model", "model.skops", "--features", "age,size", code=1).stderr
    train.drop(columns="size").to_csv("train.csv", index=False)
    assert "no column 'size' that the model asks for" in run(*FIT, "--model", "model.skops", code=1).stderr
