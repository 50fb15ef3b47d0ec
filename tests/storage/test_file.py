"""Saved and loaded: the same regressor, with everything that it can say."""

import io
import json
import os
import pickle
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold

import rio_uq
from rio_uq import FormatError, NotStoredWarning, RIORegressor, Training
from rio_uq.gp.inference import nearest
from rio_uq.gp.kernels.terms import FAMILIES
from rio_uq.storage import archive

GOLDEN = Path(__file__).parent / "golden"


def linear(X):
    return 3.0 * np.asarray(X)[:, 0] + 1.0


def halves(X):
    return 0.5 * np.asarray(X)[:, :2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rio"


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(60, 3))
    return X, np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=60)


def regressor(**options):
    return RIORegressor(linear, **{"random_state": 0, "max_iter": 100, "noise": "constant", "tol": 1e-3, **options})


def answers(rio, X, **given):
    """All that a regressor says of rows."""
    mean, std = rio.predict(X, return_std=True, **given)
    _, latent = rio.predict(X, return_std=True, include_noise=False, **given)
    return [mean, std, latent, rio.predict_interval(X, confidence_level=[0.5, 0.7], **given)]


def assert_same(rio, other, X, **given):
    for expected, found in zip(answers(rio, X, **given), answers(other, X, **given), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert set(vars(other)) == set(vars(rio))
    for name in ("bound_", "n_iter_", "converged_", "noise_variance_", "trust_", "trust_std_", "hyperparameters_"):
        np.testing.assert_equal(getattr(other, name), getattr(rio, name))
    assert repr(other.summary()) == repr(rio.summary())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"inference": "sparse", "n_inducing": 15},
        {"inference": "nearest", "training": {"n_neighbors": 20}},
        {"inference": "sparse", "training": {"inducing": np.eye(4)[:2]}},
        {"kernel": "output", "training": {"standardize_output": False}},
        {"kernel": "input", "ard": False, "features": [2, 0]},
        {"target": "outcome", "input_kernel": "+".join(FAMILIES)},
        {"output_kernel": "rational_quadratic", "cv": KFold(3), "random_state": np.random.RandomState(0)},
    ],
)
def test_loaded_regressor_says_the_same(options, data, path):
    X, y = data
    rio = regressor(**options).fit(X, y)
    rio.save(path)
    assert_same(rio, rio_uq.load(path, estimator=linear), X + 0.01)


@pytest.mark.parametrize("inference", ["exact", "sparse", "svgp", "nearest"])
def test_a_loaded_regressor_learns_on(inference, data, path):
    X, y = data
    rio = regressor(inference=inference, n_inducing=10, max_iter=200, tol=0.1).fit(X[:40], y[:40])
    rio.save(path)
    other = rio_uq.load(path, estimator=linear)
    for rows in (slice(40, 50), slice(50, 60)):
        rio.partial_fit(X[rows], y[rows])
        other.partial_fit(X[rows], y[rows])
        other.save(path)
        other = rio_uq.load(path, estimator=linear)
    assert_same(rio, other, X + 0.01)
    assert other.summary().n_rows == 60


def test_parameters_are_kept(data, path):
    rio = regressor(
        features=np.array([0, 2]), cv=3, n_jobs=1, training={"inducing": np.eye(3)}, inference="sparse"
    ).fit(*data)
    rio.save(path)
    other = rio_uq.load(path, estimator=linear)
    parameters, expected = other.get_params(deep=False), rio.get_params(deep=False)
    training = parameters.pop("training")
    np.testing.assert_equal(training.get_params(), Training(**expected.pop("training")).get_params())
    np.testing.assert_equal(parameters, expected)
    assert other.features_ == [0, 2]
    other.fit(*data)
    np.testing.assert_array_equal(other.predict(data[0]), rio.predict(data[0]))


def test_noise_that_grows_with_the_prediction(rng, path):
    X, y_pred = rng.uniform(size=(200, 1)), rng.uniform(1.0, 10.0, size=200)
    rio = RIORegressor(random_state=0, max_iter=30, tol=1e-2, scale="identity")
    rio.fit(X, y_pred * (1.0 + 0.2 * rng.normal(size=200)), y_pred=y_pred, held_out=True)
    assert not rio.fitted_.gp.growth.is_none
    rio.save(path)
    assert_same(rio, rio_uq.load(path), X[:3], y_pred=np.array([1.0, 20.0, 1e4]))


def test_varying_noise_and_several_outputs(rng, path):
    X = rng.uniform(size=(120, 1))
    y = np.hstack([X, -X]) + np.where(X > 0.5, 1.0, 0.01) * rng.normal(size=(120, 2))
    rio = RIORegressor(random_state=0, max_iter=30, tol=1e-3, n_inducing=20, inference="sparse")
    rio.fit(X, y, y_pred=np.zeros((120, 2)))
    assert rio.summary().noise == "varying"
    rio.save(path)
    assert_same(rio, rio_uq.load(path), X[:20], y_pred=np.zeros((20, 2)))


@pytest.mark.parametrize(("inference", "n_outputs"), [("exact", 1), ("sparse", 2), ("nearest", 2)])
def test_a_student_likelihood_weighs_further_rows_as_before(inference, n_outputs, rng, path):
    X = rng.uniform(size=(90, 1))
    y = np.where(X > 0.5, 1.0, 0.01) * rng.standard_t(2, size=(90, n_outputs))
    rio = RIORegressor(random_state=0, max_iter=30, tol=1e-2, n_inducing=20, inference=inference, noise="student")
    rio.fit(X[:60], y[:60].squeeze(), y_pred=np.zeros_like(y[:60]).squeeze())
    assert rio.summary().tails == rio.fitted_.gp.noise.degrees
    rio.save(path)
    loaded = rio_uq.load(path)
    assert_same(rio, loaded, X[:20], y_pred=np.zeros_like(y[:20]).squeeze())
    for one in (rio, loaded):
        one.partial_fit(X[60:], y[60:].squeeze(), y_pred=np.zeros_like(y[60:]).squeeze())
    assert_same(rio, loaded, X[:20], y_pred=np.zeros_like(y[:20]).squeeze())


def test_features_that_rows_share_are_kept(data, path, monkeypatch):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 20)
    step = nearest.NearestObjective.at_full_density
    monkeypatch.setattr(nearest.NearestObjective, "at_full_density", lambda self, x, *_: (8, step(self, x)[1]))
    X, y = data
    rio = regressor(inference="nearest").fit(X, y)
    assert len(rio.fitted_.gp.posterior.local.parts.points) == 8
    rio.save(path)
    assert_same(rio, rio_uq.load(path, estimator=linear), X)


@pytest.mark.parametrize("method", ["conformal", "conformal-asymmetric", "variance", "isotonic"])
@pytest.mark.parametrize("groups", [None, ["a", "b", "c"], [1, 2, 3], [0.5, 1.5, 2.5], [np.int64(3), 2, 1]])
def test_calibration_is_kept(method, groups, data, path):
    X, y = data
    rio = regressor().fit(X[:30], y[:30])
    labels = None if groups is None else np.array(groups, dtype=object)[np.arange(30) % 3]
    rio.calibrate(X[30:], y[30:], method=method, groups=labels)
    rio.save(path)
    given = {} if groups is None else {"groups": labels}
    other = rio_uq.load(path, estimator=linear)
    assert_same(rio, other, X[30:], **given)
    assert (other.calibration_.method, other.calibration_.groups) == (method, rio.calibration_.groups)


def test_calibration_of_several_outputs(data, path):
    X, y = data
    Y, given = np.column_stack([y, y**2]), {"y_pred": np.column_stack([X[:, 0], X[:, 1]])}
    rio = regressor().set_params(estimator=None).fit(X, Y, **given)
    for method in ("isotonic", "conformal", "variance"):
        rio.calibrate(X, Y, method=method, **given)
        rio.save(path)
        assert_same(rio, rio_uq.load(path), X, **given)


def test_groups_that_cannot_be_stored_are_named(data, path):
    labels = np.array([pd.Timestamp("2020-01-01")] * 60, dtype=object)
    rio = regressor().fit(*data).calibrate(*data, groups=labels)
    with pytest.raises(ValueError, match=r"Timestamp.*use strings or numbers"):
        rio.save(path)
    assert not path.exists()


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_and_their_names(library, data, path):
    X, y = data
    frame = library.DataFrame(dict(zip("abc", X.T, strict=True)))
    model = LinearRegression().fit(frame, y)
    rio = regressor(features=["a", "c"]).set_params(estimator=model).fit(frame, y)
    rio.save(path)
    other = rio_uq.load(path, estimator=model)
    assert_same(rio, other, frame)
    with pytest.raises(ValueError, match="feature names"):
        other.predict(pd.DataFrame(X, columns=["a", "c", "b"]))


def test_text_columns_have_no_fingerprint(data, path):
    X, y = data
    frame = pd.DataFrame({"number": X[:, 0], "text": "a"})
    rio = regressor(features=["number"]).set_params(estimator=lambda X: np.zeros(len(X))).fit(frame, y)
    rio.save(path)
    assert_same(rio, rio_uq.load(path, estimator=rio.estimator), frame)


def test_another_model_is_refused(data, path):
    X, y = data
    model = Ridge().fit(X, y)
    regressor().set_params(estimator=model).fit(X, y).save(path)
    with pytest.raises(ValueError, match=r"model\.rio: the model is not the one .* where .* was stored"):
        rio_uq.load(path, estimator=Ridge(alpha=0.5).fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        rio_uq.load(path, estimator=Ridge())
    with pytest.raises(TypeError, match="model with a predict method"):
        rio_uq.load(path, estimator=3)
    single = Ridge().fit(X.astype(np.float32), y)
    assert rio_uq.load(path, estimator=single).estimator_ is single


def test_without_a_model_predictions_have_to_be_given(data, path):
    X, y = data
    rio = regressor().fit(X, y)
    rio.save(path)
    for other in (rio_uq.load(path), rio_uq.load(path, estimator=None)):
        np.testing.assert_array_equal(other.predict(X, y_pred=linear(X)), rio.predict(X))
        with pytest.raises(ValueError, match="give this method y_pred"):
            other.predict(X)


def test_saving_says_what_is_not_in_the_file_and_how_it_is_given_again(data, path, tmp_path):
    X, y = data
    rio = regressor().fit(X, y)
    with pytest.warns(NotStoredWarning, match=r"does not hold the model \(linear\).*load\(path, estimator=model\); or"):
        rio.save(path)
    with pytest.raises(ValueError, match=r"does not hold it: give it to load, load\(path, estimator=model\)"):
        rio_uq.load(path).predict(X)
    rio = regressor(features=PCA(2)).set_params(estimator=Ridge()).fit(X, y)
    said = (
        r"the model \(Ridge, as it was fitted here\) and what makes the features \(PCA\): keep them.*"
        r"load\(path, estimator=rio.estimator_, features=rio.features_\)"
    )
    with pytest.warns(NotStoredWarning, match=said):
        rio.save(path)
    assert_same(rio, rio_uq.load(path, estimator=rio.estimator_, features=rio.features_), X)
    with pytest.raises(ValueError, match=r"not fitted: give the fitted one, rio.estimator_"):
        rio_uq.load(path, estimator=Ridge(), features=rio.features_)


def test_saving_says_nothing_where_nothing_is_missing(data, path):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regressor().fit(X, y, held_out=True).save(path, estimator=linear)
        regressor().set_params(estimator=None).fit(X, y, y_pred=linear(X), held_out=True).save(path)


def test_model_of_a_regressor_that_was_fitted_with_predictions(data, path):
    X, y = data
    rio = regressor().set_params(estimator=None).fit(X, y, y_pred=linear(X))
    rio.save(path, estimator=linear)
    np.testing.assert_array_equal(rio_uq.load(path, estimator=linear).predict(X), rio.predict(X, y_pred=linear(X)))
    with pytest.raises(ValueError, match="not the one"):
        rio_uq.load(path, estimator=lambda X: linear(X) + 0.01)


def test_transformers_and_functions_are_given_at_load(data, path):
    X, y = data
    for features in (PCA(2), halves):
        rio = regressor(features=features).fit(X, y)
        rio.save(path)
        assert_same(rio, rio_uq.load(path, estimator=linear, features=rio.features_), X)
        with pytest.raises(TypeError, match=r"give it as features="):
            rio_uq.load(path, estimator=linear)
        with pytest.raises(ValueError, match="not those of fit"):
            rio_uq.load(path, estimator=linear, features=lambda X: np.asarray(X)[:, 1:])
        with pytest.raises(ValueError, match="is not fitted"):
            rio_uq.load(path, estimator=linear, features=PCA(2))
    regressor().fit(X, y).save(path)
    with pytest.raises(TypeError, match="the file holds it already"):
        rio_uq.load(path, features=halves)


def test_skops_model_inside(data, path, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    X, y = data
    rio = regressor().set_params(estimator=Ridge()).fit(X, y)  # cross-fitted: five models
    skops_io.dump(rio.estimator_, tmp_path / "model.skops")
    rio.save(path, model_file=tmp_path / "model.skops")
    assert_same(rio, rio_uq.load(path), X)
    assert rio_uq.load(path, estimator=None).estimator_ is None
    skops_io.dump(Ridge(alpha=3.0).fit(X, y), tmp_path / "other.skops")
    with pytest.raises(ValueError, match=r"other\.skops: the model is not the one"):
        rio.save(path, model_file=tmp_path / "other.skops")
    assert_same(rio, rio_uq.load(path), X)


class Unknown(Ridge):
    """A type that skops has no reason to trust."""


def test_skops_types_have_to_be_trusted(data, path, tmp_path, monkeypatch):
    skops_io = pytest.importorskip("skops.io")
    X, y = data
    Unknown.__module__ = "unknown_models"
    module = type(os)("unknown_models")
    module.Unknown = Unknown
    monkeypatch.setitem(__import__("sys").modules, "unknown_models", module)
    model = Unknown().fit(X, y)
    skops_io.dump(model, tmp_path / "model.skops")
    rio = regressor().set_params(estimator=model).fit(X, y)
    with pytest.raises(ValueError, match=r"unknown_models\.Unknown.*trusted="):
        rio.save(path, model_file=tmp_path / "model.skops")
    rio.save(path, model_file=tmp_path / "model.skops", trusted=["unknown_models.Unknown"])
    with pytest.raises(FormatError, match=r"member model\.skops: .*unknown_models\.Unknown"):
        rio_uq.load(path)
    assert_same(rio, rio_uq.load(path, trusted=["unknown_models.Unknown"]), X)


def onnx_linear(coefficients, intercept):
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    weights = numpy_helper.from_array(np.asarray(coefficients, dtype=np.float32)[:, None], "w")
    offset = numpy_helper.from_array(np.array([intercept], dtype=np.float32), "b")
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["X", "w", "b"], ["y"])],
        "linear",
        [helper.make_tensor_value_info("X", kind, [None, len(coefficients)])],
        [helper.make_tensor_value_info("y", kind, [None, 1])],
        [weights, offset],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def test_onnx_model_inside(data, path, tmp_path):
    pytest.importorskip("onnxruntime")
    X, y = data
    (tmp_path / "model.onnx").write_bytes(onnx_linear([3.0, 0.0, 0.0], 1.0))
    rio = regressor().fit(X, y)
    rio.save(path, model_file=tmp_path / "model.onnx")
    other = rio_uq.load(path)
    np.testing.assert_allclose(other.predict(X), rio.predict(X), rtol=1e-5, atol=1e-5)
    copy = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(copy.predict(X), other.predict(X))
    (tmp_path / "wrong.onnx").write_bytes(onnx_linear([3.0, 0.0, 0.1], 1.0))
    with pytest.raises(ValueError, match=r"wrong\.onnx: the model is not the one"):
        rio.save(path, model_file=tmp_path / "wrong.onnx")
    with pytest.raises(ValueError, match=r"\.onnx or \.skops"):
        rio.save(path, model_file=tmp_path / "model.pt")
    (tmp_path / "no.onnx").write_bytes(b"garbage")
    with pytest.raises(FormatError, match=r"no\.onnx: the model cannot be loaded"):
        rio.save(path, model_file=tmp_path / "no.onnx")


def test_weights_outside_of_the_folder_are_never_read(data, path, tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    X, y = data
    model = onnx.load_model_from_string(onnx_linear([3.0, 0.0, 0.0], 1.0))
    weights = model.graph.initializer[0]
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="../../secret")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    rio = regressor().fit(X, y)
    with pytest.raises(FormatError, match=r"model\.onnx: the model cannot be loaded"):
        rio.save(path, model_file=tmp_path / "model.onnx")
    with pytest.raises(FormatError, match="base: the model cannot be loaded"):
        rio_uq.onnx.export(rio, tmp_path / "rio.onnx", base=model.SerializeToString())
    assert sorted(os.listdir(tmp_path)) == ["model.onnx"]


def test_weights_in_a_file_beside_are_taken_in(data, path, tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    X, y = data
    model = onnx.load_model_from_string(onnx_linear([3.0, 0.0, 0.0], 1.0))
    beside = {"save_as_external_data": True, "location": "weights", "size_threshold": 0}
    onnx.save_model(model, tmp_path / "model.onnx", **beside)
    rio = regressor().fit(X, y)
    rio.save(path, model_file=tmp_path / "model.onnx")
    (tmp_path / "weights").unlink()
    np.testing.assert_allclose(rio_uq.load(path).predict(X), rio.predict(X), rtol=1e-5, atol=1e-5)


def test_names_that_cannot_be_written_to_are_said(data, tmp_path):
    rio = regressor().fit(*data)
    for write in (rio.save, lambda path: rio_uq.onnx.export(rio, path)):
        with pytest.raises(IsADirectoryError, match="is a folder: give the name of a file in it"):
            write(tmp_path)
        with pytest.raises(FileNotFoundError, match=r"no folder .*missing to write model\.rio to"):
            write(tmp_path / "missing" / "model.rio")
    assert not os.listdir(tmp_path)
    with pytest.raises(TypeError, match="a fitted RIORegressor is needed; got Ridge"):
        rio_uq.onnx.export(Ridge().fit(*data))


@pytest.mark.parametrize(("kind", "package"), [("onnx", "onnxruntime"), ("skops", "skops")])
def test_missing_package_is_named(kind, package, data, path, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    (tmp_path / f"model.{kind}").write_bytes(b"anything")
    with pytest.raises(ImportError, match=rf"rio-uq\[{kind}\]"):
        regressor().fit(*data).save(path, model_file=tmp_path / f"model.{kind}")


def test_an_error_while_writing_leaves_the_old_file(data, path, monkeypatch):
    rio = regressor().fit(*data)
    rio.save(path)
    before = path.read_bytes()

    def full_disk(file, *rest):
        file.write(b"PK")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(archive, "_write_members", full_disk)
        with pytest.raises(OSError, match="No space"):
            rio.save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["model.rio"]
    with pytest.raises(FileExistsError, match="overwrite=True"):
        rio.save(path, overwrite=False)
    rio.save(path)
    assert path.read_bytes() == before, "the same regressor gives the same bytes"


def test_a_link_is_followed_and_rights_are_those_of_new_files(data, path, tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "target.rio"
    path.symlink_to(target)
    regressor().fit(*data).save(path)
    assert path.is_symlink()
    (tmp_path / "plain").touch()
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_unfitted_regressors_and_missing_files(path):
    with pytest.raises(NotFittedError):
        RIORegressor().save(path)
    with pytest.raises(FileNotFoundError):
        rio_uq.load(path)


def test_golden_file_of_the_first_format():
    """Written by `python -m tests.storage.golden.make`; a file of this format has to load for ever."""
    expected = json.loads((GOLDEN / "format-1.json").read_text())
    rio = rio_uq.load(GOLDEN / "format-1.rio")
    X, y_pred = pd.DataFrame(expected["X"], columns=expected["names"]), np.array(expected["y_pred"])
    mean, std = rio.predict(X, y_pred=y_pred, return_std=True)
    band = rio.predict_interval(X, y_pred=y_pred, confidence_level=0.8)
    np.testing.assert_allclose(mean, expected["mean"], rtol=1e-9)
    np.testing.assert_allclose(std, expected["std"], rtol=1e-9)
    np.testing.assert_allclose(band, expected["band"], rtol=1e-9)
    assert rio.summary().noise == "varying"
    more = expected["more"]
    with pytest.warns(UserWarning, match="calibration is dropped"):
        rio.partial_fit(pd.DataFrame(more["X"], columns=expected["names"]), more["y"], y_pred=more["y_pred"])
    np.testing.assert_allclose(rio.predict(X, y_pred=y_pred), expected["mean_with_more"], rtol=1e-6)


def test_pickle_and_joblib_still_work(data):
    X, y = data
    rio = regressor().fit(X, y).calibrate(X, y)
    buffer = io.BytesIO()
    joblib.dump(rio, buffer)
    buffer.seek(0)
    for other in (pickle.loads(pickle.dumps(rio)), joblib.load(buffer)):
        assert_same(rio, other, X)


def colour_model(X):
    return np.where(np.asarray(X["colour"], dtype=object) == "red", 1.0, 0.0)


def always_two(X):
    return np.full(len(X), 2.0)


def gappy(X, n_gaps):
    X = X.copy()
    X[:n_gaps, 2] = np.nan
    return X


@pytest.mark.parametrize("n_gaps", [1, 58, 60])
def test_a_wrong_model_is_found_out_where_rows_have_gaps(n_gaps, data, path):
    X, y = gappy(data[0], n_gaps), data[1]
    rio = regressor(features=[0, 1]).fit(X, y)
    assert np.isnan(rio.fitted_.example.values).any() == (n_gaps > 52)
    rio.save(path)
    assert_same(rio, rio_uq.load(path, estimator=linear), X)
    with pytest.raises(ValueError, match="not the one that was fitted"):
        rio_uq.load(path, estimator=halves)


def table_of(kind, X):
    text = np.where(X[:, 1] > 0.5, "red", "blue").astype(object)
    frame = {"size": X[:, 0], "number": np.arange(len(X)), "colour": text, "new": X[:, 2] > 0.5}
    if kind.startswith("polars"):
        table = pl.DataFrame({**frame, "colour": [None, *text[1:].tolist()]})
        return table.with_columns(pl.col("colour").cast(pl.Categorical)) if kind == "polars categories" else table
    frame = pd.DataFrame(frame)
    frame.loc[0, "colour"] = None
    if kind == "objects":
        frame["colour"] = pd.Series([np.nan, None, *text[2:]], dtype=object)
    if kind == "categories":
        frame["colour"] = pd.Categorical(text, categories=["red", "green", "blue"], ordered=True)
        frame["number"] = frame["number"].astype("category")
    if kind == "nullable":
        frame["number"] = frame["number"].astype("Int64").where(frame["number"] > 3)
    return frame.set_index(frame.index + 7)


@pytest.mark.parametrize("kind", ["text", "objects", "categories", "nullable", "polars", "polars categories"])
def test_a_wrong_model_is_found_out_where_columns_are_text(kind, data, path):
    X, y = table_of(kind, data[0]), data[1]
    rio = regressor(features=["size"]).set_params(estimator=colour_model).fit(X, y)
    rio.save(path)
    other = rio_uq.load(path, estimator=colour_model)
    assert other.fitted_.example.rebuilt().equals(rio.fitted_.example.rebuilt())
    assert list(other.fitted_.example.rebuilt().dtypes) == list(X.dtypes)
    with pytest.raises(ValueError, match="not the one that was fitted"):
        rio_uq.load(path, estimator=always_two)
    before = path.read_bytes()
    other.save(path)
    assert path.read_bytes() == before


def test_a_model_that_cannot_be_checked_is_said(data, path):
    X = pd.DataFrame({"size": data[0][:, 0], "day": pd.date_range("2024", periods=60)})
    rio = regressor(features=["size"]).set_params(estimator=always_two).fit(X, data[1])
    rio.save(path)
    with pytest.warns(UserWarning, match="the model given to load could not be checked"):
        rio_uq.load(path, estimator=always_two)
    rio_uq.load(path, estimator=None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dtype", "datetime64[ns]"),
        ("values", []),
        ("values", [[1]] * 8),
        ("values", ["a"] * 8),
        ("values", [1.0]),
        ("values", [1.0] * 9),
        ("nan", [8]),
        ("nan", ["a"]),
        ("categories", ["a"]),
        ("ordered", 1),
        ("name", "colour"),
        ("more", 1),
    ],
)
def test_altered_tables_of_the_check_are_refused(key, value, data, path):
    rio = regressor(features=["size"]).set_params(estimator=colour_model)
    rio.fit(table_of("text", data[0]), data[1]).save(path)
    content = archive.read_archive(path)
    content.manifest["check"]["table"][0][key] = value
    arrays = dict(content.arrays)
    manifest = {name: part for name, part in content.manifest.items() if name != "arrays"}
    archive.write_archive(path, manifest, arrays, {}, overwrite=True)
    with pytest.raises(FormatError, match="check"):
        rio_uq.load(path, estimator=colour_model)


@pytest.mark.parametrize("noise", ["constant", "io", "student"])
def test_a_file_knows_which_noise_was_asked_for(data, path, noise):
    X, y = data
    rio = regressor(noise=noise).fit(X, y).set_params(noise="io" if noise == "constant" else "constant")
    rio.save(path)
    loaded = rio_uq.load(path, estimator=linear)
    assert loaded.fitted_.gp.noise_choice == noise
    assert str(loaded.summary()) == str(rio.summary())


def test_flags_of_numpy_are_flags(data, path):
    X, y = data
    rio = regressor(ard=np.bool_(True)).fit(X, y)
    rio.save(path)
    assert_same(rio, rio_uq.load(path, estimator=linear), X)


def test_a_model_file_where_the_rows_cannot_be_rebuilt(data, path, tmp_path, monkeypatch):
    """As those of a table of a library that is not installed."""
    skops_io = pytest.importorskip("skops.io")
    X, y = data
    rio = regressor().set_params(estimator=Ridge().fit(X, y)).fit(X, y, held_out=True)
    skops_io.dump(rio.estimator_, tmp_path / "model.skops")
    monkeypatch.setattr(type(rio.fitted_.example), "can_be_rebuilt", False)
    rio.save(path, model_file=tmp_path / "model.skops")
    np.testing.assert_array_equal(rio_uq.load(path).predict(X), rio.predict(X))
