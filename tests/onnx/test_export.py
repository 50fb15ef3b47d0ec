"""The ONNX graph says what the regressor says."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

import rio_uq
from rio_uq import RIORegressor
from rio_uq.features import onnx_tensor
from rio_uq.gp.kernels.terms import FAMILIES
from rio_uq.gp.noise.constant import Constant
from rio_uq.models import onnx_model

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
export = rio_uq.onnx.export


def run(model, **inputs):
    """The outputs of a model, by name."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def fitted(X, y, y_pred, **options):
    quick = {"random_state": 0, "max_iter": 30, "tol": 1e-2, "noise": "constant"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return RIORegressor(**{**quick, **options}).fit(X, y, y_pred=y_pred)


def assert_agree(rio, X, y_pred, levels=(0.5, 0.9), *, dtype="float64"):
    """Means by their size, variances by the prior variance that they are differences of."""
    tolerance = {"float64": 1e-9, "float32": 1e-6}[dtype]
    found = run(export(rio, levels=levels, dtype=dtype), **inputs_of(rio, X, y_pred, dtype))
    found = {name: value.astype(float) for name, value in found.items()}
    mean, std = (as_columns(value) for value in rio.predict(X, y_pred=y_pred, return_std=True))
    band = rio.predict_interval(X, y_pred=y_pred, confidence_level=list(levels)).reshape(*mean.shape, 2, len(levels))
    prior = prior_std(rio, X, y_pred)
    allowed = tolerance * (np.abs(mean) + prior)
    assert (np.abs(found["mean"] - mean) <= allowed).all()
    assert (np.abs(found["std"] ** 2 - std**2) <= tolerance * prior**2).all()
    for number, level in enumerate(levels):
        for side, name in enumerate(("lower", "upper")):
            end = band[:, :, side, number]
            of_width = tolerance * np.abs(end - mean) * (prior / std) ** 2
            assert (np.abs(found[f"{name}_{level:g}"] - end) <= allowed + of_width).all()


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_beyond_the_range_of_predictions(n_outputs, rng):
    X = rng.normal(size=(40, 2))
    y_pred = rng.normal(size=(40, n_outputs))
    rio = fitted(X, 2.0 * y_pred + 0.1 * rng.normal(size=y_pred.shape), y_pred, scale="identity")
    far = np.array([-30.0, -4.0, 0.0, 6.0])[:, None] * np.ones(n_outputs)
    assert_agree(rio, X[:4], far)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_beyond_the_range_without_a_correction(n_outputs, rng):
    X = rng.normal(size=(40, 2))
    y_pred = rng.normal(size=(40, n_outputs))
    rio = fitted(X, y_pred + rng.normal(size=y_pred.shape), y_pred, scale="identity", training={"guard": True})
    assert rio.fitted_.gp.edges.open_slope.all()
    far = np.array([-30.0, -4.0, 0.0, 6.0])[:, None] * np.ones(n_outputs)
    assert_agree(rio, X[:4], far)


def prior_std(rio, X, y_pred):
    """Of an outcome, times its calibration: what variances are differences of."""
    gp = rio.fitted_.gp
    features = rio.fitted_.features(X)
    prior = gp.posterior.kernel.diagonal(gp.posterior.theta, gp._rows(features, as_columns(y_pred)))
    noise = gp.noise_at(features, as_columns(y_pred), 1)
    return np.sqrt(prior[:, None] * gp.targets.scale**2 + noise) * rio.fitted_.scores.std_factor


def as_columns(values):
    return values[:, None] if np.ndim(values) == 1 else values


def inputs_of(rio, X, y_pred, dtype=float):
    given = {"X": np.asarray(X, dtype=dtype), "y_pred": as_columns(y_pred).astype(dtype)}
    return given if rio.kernel != "output" else {"y_pred": given["y_pred"]}


def problem(seed, q, n=25, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.stack([np.sin((k + 2.0) * X[:, 0]) + X[:, 1] * X[:, 0] for k in range(q)], axis=1)
    y_pred = X[:, :1] + 0.5 * rng.normal(size=(n, q))
    return X, y + 0.1 * rng.normal(size=(n, q)), y_pred, rng


@settings(max_examples=20, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
@given(
    seed=st.integers(0, 10**6),
    q=st.integers(1, 2),
    input_kernel=st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=3).map("+".join),
    output_kernel=st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=2).map("+".join),
    options=st.fixed_dictionaries(
        {
            "ard": st.booleans(),
            "kernel": st.sampled_from(["io", "input", "output"]),
            "target": st.sampled_from(["residual", "outcome"]),
            "inference": st.sampled_from(["exact", "sparse"]),
            "n_inducing": st.integers(1, 12),
        }
    ),
    method=st.sampled_from([None, "variance", "conformal", "conformal-asymmetric", "isotonic"]),
    x_scale=st.integers(-8, 8),
    y_scale=st.integers(-8, 8),
    offset=st.sampled_from([0.0, 3.0, -100.0]),
)
def test_graph_agrees_with_predict(seed, q, input_kernel, output_kernel, options, method, x_scale, y_scale, offset):
    X, y, y_pred, rng = problem(seed, q)
    X, y, y_pred = (X + offset) * 10.0**x_scale, (y + offset) * 10.0**y_scale, (y_pred + offset) * 10.0**y_scale
    rio = fitted(X, y, y_pred, input_kernel=input_kernel, output_kernel=output_kernel, **options)
    if method is not None:
        shift = 0.3 * 10.0**y_scale * rng.normal(size=y.shape)
        rio.calibrate(X, y + shift, y_pred=y_pred, method=method)
    new = (rng.normal(size=(15, 2), scale=2.0) + offset) * 10.0**x_scale
    new_pred = (rng.normal(size=(15, q)) + offset) * 10.0**y_scale
    far = np.vstack([new, X[:5], 1e9 * new[:2]]), np.vstack([new_pred, y_pred[:5], 1e3 * new_pred[:2]])
    single = [values.astype(np.float32).astype(float) for values in far]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a predicted variance was", RuntimeWarning)
        assert_agree(rio, *far)
        assert_agree(rio, *single, dtype="float32")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_every_kernel(family, inference):
    X, y, y_pred, rng = problem(3, 1)
    y, y_pred = y[:, 0], y_pred[:, 0]
    options = {"input_kernel": family, "output_kernel": family, "inference": inference, "n_inducing": 8}
    rio = fitted(X, y, y_pred, **options)
    new, new_pred = rng.normal(size=(30, 2)), rng.normal(size=30)
    assert_agree(rio, new, new_pred)


def test_single_precision_in_and_out():
    for seed in range(5):
        X, y, y_pred, rng = problem(seed, 2)
        rio = fitted(X, y, y_pred)
        new, new_pred = rng.normal(size=(50, 2)).astype(np.float32), rng.normal(size=(50, 2)).astype(np.float32)
        found = run(export(rio, dtype="float32", levels=0.9), X=new, y_pred=new_pred)
        mean, std = rio.predict(new, y_pred=new_pred, return_std=True)
        assert {value.dtype for value in found.values()} == {np.dtype(np.float32)}
        np.testing.assert_allclose(found["mean"], mean, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found["std"], std, rtol=1e-4)
        band = rio.predict_interval(new, y_pred=new_pred, confidence_level=0.9)
        np.testing.assert_allclose(found["lower_0.9"], band[:, :, 0], rtol=1e-4, atol=1e-6)


def test_noise_that_depends_on_the_row(rng):
    X = rng.uniform(size=(150, 1))
    y = X[:, 0] + np.where(X[:, 0] > 0.5, 1.0, 0.01) * rng.normal(size=150)
    rio = fitted(X, y, np.zeros(150), noise="io", tol=1e-3)
    assert rio.summary().noise == "varying"
    new = rng.uniform(size=(40, 1))
    assert_agree(rio, new, np.zeros(40))
    std = run(export(rio), X=new, y_pred=np.zeros((40, 1)))["std"]
    assert std.max() > 5.0 * std.min()


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_student_likelihood(n_outputs, rng):
    X = rng.uniform(size=(120, 1))
    y = np.where(X > 0.5, 1.0, 0.01) * rng.standard_t(4, size=(120, n_outputs))
    rio = fitted(X, y, np.zeros_like(y), noise="student", tol=1e-2)
    assert rio.summary().tails is not None
    assert_agree(rio, X[:20], np.zeros((20, n_outputs)))


def test_noise_that_grows_with_the_prediction(rng):
    X, y_pred = rng.uniform(size=(200, 1)), rng.uniform(1.0, 10.0, size=200)
    rio = fitted(X, y_pred * (1.0 + 0.2 * rng.normal(size=200)), y_pred, noise="io", tol=1e-3, scale="identity")
    assert not rio.fitted_.gp.growth.is_none
    assert_agree(rio, X[:5], np.array([1.0, 10.0, 20.0, 100.0, 1e4]))


@pytest.mark.parametrize("features", [["c", "a"], [2, 0], [True, False, True]])
def test_columns_are_chosen_in_the_graph(features):
    X, y, y_pred, rng = problem(0, 1, d=3)
    frame = pd.DataFrame(X, columns=list("abc"))
    rio = fitted(frame, y[:, 0], y_pred[:, 0], features=features)
    new = pd.DataFrame(rng.normal(size=(10, 3)), columns=list("abc"))
    mean = rio.predict(new, y_pred=np.ones(10))
    model = export(rio)
    np.testing.assert_allclose(run(model, X=new.to_numpy(), y_pred=np.ones((10, 1)))["mean"][:, 0], mean, rtol=1e-9)
    assert "a, b, c" in model.graph.input[0].doc_string


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("target", ["residual", "outcome"])
@pytest.mark.parametrize("kernel", ["io", "input", "output"])
def test_predictions_that_are_no_numbers_give_none(kernel, target, bad):
    """Also where the kernel does not look at them: `predict` raises an error then."""
    X = np.random.default_rng(0).uniform(size=(40, 2))
    rio = RIORegressor(None, kernel=kernel, target=target, noise="constant", tol=0.1, random_state=0)
    rio.fit(X, np.sin(6.0 * X[:, 0]), y_pred=X[:, 1])
    y_pred = X[:3, 1:].copy()
    given = {} if kernel == "output" else {"X": X[:3]}
    sound = run(export(rio), **given, y_pred=y_pred)
    mean, std = rio.predict(X[:3], y_pred=y_pred[:, 0], return_std=True)
    np.testing.assert_allclose(np.hstack([sound["mean"], sound["std"]]), np.column_stack([mean, std]), rtol=1e-8)
    y_pred[1] = bad
    with pytest.raises(ValueError, match="y_pred contains"):
        rio.predict(X[:3], y_pred=y_pred[:, 0])
    for name, values in run(export(rio), **given, y_pred=y_pred).items():
        np.testing.assert_array_equal(np.isnan(values[:, 0]), [False, True, False], err_msg=name)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("family", FAMILIES)
def test_missing_values_are_never_hidden(bad, family):
    X, y, y_pred, _ = problem(0, 1)
    rio = fitted(X, y, y_pred, input_kernel=family, output_kernel=family)
    model = export(rio)
    X, y_pred = X[:3].copy(), y_pred[:3].copy()
    X[0, 1], y_pred[2] = bad, bad
    found = run(model, X=X, y_pred=y_pred)
    for values in found.values():
        np.testing.assert_array_equal(np.isnan(values[:, 0]), [True, False, True])


def test_no_rows_give_no_rows():
    X, y, y_pred, _ = problem(0, 2)
    found = run(export(fitted(X, y, y_pred)), X=X[:0], y_pred=y_pred[:0])
    assert {value.shape for value in found.values()} == {(0, 2)}


def test_the_model_describes_itself(tmp_path):
    X, y, y_pred, _ = problem(0, 1)
    rio = fitted(X, y, y_pred)
    path = tmp_path / "error_bars.onnx"
    made = export(rio, path, levels=[0.5, 0.99])
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert model == made
    assert (model.producer_name, model.producer_version) == ("rio-uq", rio_uq.__version__)
    assert {entry.key: entry.value for entry in model.metadata_props} == {
        "rio_uq_version": rio_uq.__version__,
        "inputs": "X, y_pred",
        "outputs": "mean, std, lower_0.5, upper_0.5, lower_0.99, upper_0.99",
        "levels": "0.5, 0.99",
    }


def base_model(opset=17, *, rows="n", n_outputs=1):
    """ŷ = 2 x₀ − x₁ in single precision, with an opset of its own and a name that clashes with ours."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    weights = helper.make_tensor("rio_constant_0", kind, [2, n_outputs], [2.0, -1.0] * n_outputs)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["X", "rio_constant_0"], ["mean"])],
        "base",
        [helper.make_tensor_value_info("X", kind, [rows, 2])],
        [helper.make_tensor_value_info("mean", kind, [rows, n_outputs])],
        [weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize("opset", [13, 17, 21])
def test_base_model_merged_in(opset, tmp_path):
    X, y, _, rng = problem(0, 1)
    model = base_model(opset)
    predictor = onnx_model(model.SerializeToString())
    for kernel in ("io", "output"):
        rio = fitted(X, y[:, 0], None, estimator=predictor, kernel=kernel, residuals="in-sample")
        new = rng.normal(size=(20, 2))
        mean, std = rio.predict(new, return_std=True)
        onnx.save(model, tmp_path / "base.onnx")
        for source in (model, model.SerializeToString(), tmp_path / "base.onnx"):
            found = run(export(rio, base=source), X=new)
            np.testing.assert_allclose(found["mean"][:, 0], mean, rtol=1e-9)
            np.testing.assert_allclose(found["std"][:, 0], std, rtol=1e-9)


def test_another_base_than_the_model_is_refused(tmp_path):
    X, y, _, _ = problem(0, 1)
    rio = fitted(X, y[:, 0], None, estimator=lambda X: 2.0 * X[:, 0] - 0.99 * X[:, 1])
    with pytest.raises(ValueError, match=r"base: the model is not the one that was fitted .* where .* was stored"):
        export(rio, tmp_path / "rio.onnx", base=base_model())
    with pytest.raises(ValueError, match=r"base: the model is not the one .* cannot predict the rows"):
        export(fitted(X[:, :1], y[:, 0], None, estimator=lambda X: X[:, 0]), tmp_path / "rio.onnx", base=base_model())
    assert not list(tmp_path.iterdir())


def test_output_of_a_transformer_is_an_input():
    X, y, y_pred, rng = problem(0, 1, d=4)
    rio = fitted(X, y[:, 0], y_pred[:, 0], features=PCA(2))
    model = export(rio)
    assert [value.name for value in model.graph.input] == ["features", "y_pred"]
    new, new_pred = rng.normal(size=(10, 4)), rng.normal(size=10)
    found = run(model, features=rio.features_.transform(new), y_pred=new_pred[:, None])
    mean, std = rio.predict(new, y_pred=new_pred, return_std=True)
    np.testing.assert_allclose(found["mean"][:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(found["std"][:, 0], std, rtol=1e-9)


def convolution(opset=17):
    """A network of images (n, 2, 4, 4): three channels, then their mean, then a weighted sum."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(0)
    constants = [
        onnx.numpy_helper.from_array(rng.normal(size=size).astype(np.float32), name)
        for name, size in (("filters", (3, 2, 3, 3)), ("weights", (3, 1)))
    ]
    nodes = [
        helper.make_node("Conv", ["images", "filters"], ["channels"]),
        helper.make_node("GlobalAveragePool", ["channels"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("images", kind, [None, 2, 4, 4])]
    outputs = [helper.make_tensor_value_info("y", kind, [None, 1])]
    graph = helper.make_graph(nodes, "network", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("pool", ["max", "mean", None])
@pytest.mark.parametrize("opset", [13, 18])
def test_a_layer_of_the_model_is_part_of_one_file(pool, opset):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(40, 2, 4, 4)).astype(np.float32)
    content = convolution(opset)
    model = onnx_model(content)
    y = model.predict(images) + np.sin(3.0 * images.mean(axis=(1, 2, 3)))
    rio = fitted(images, y, None, estimator=model, features=onnx_tensor(content, "channels", pool=pool))
    made = export(rio, base=content)
    assert [value.name for value in made.graph.input] == ["X"]
    new = rng.normal(size=(10, 2, 4, 4))
    found = run(made, X=new)
    mean, std = rio.predict(new, return_std=True)
    np.testing.assert_allclose(found["mean"][:, 0], mean, rtol=1e-5, atol=1e-5)  # a convolution in single precision
    np.testing.assert_allclose(found["std"][:, 0], std, rtol=1e-4)
    alone = run(export(rio), X=new, y_pred=model.predict(new)[:, None])
    np.testing.assert_allclose(alone["std"], found["std"], rtol=1e-4)
    new[3, 1, 2, 2] = np.nan
    assert np.isnan(run(export(rio), X=new, y_pred=np.zeros((10, 1)))["mean"]).ravel().tolist() == [
        row == 3 for row in range(10)
    ]


def test_a_layer_and_a_base_of_two_opsets_are_refused():
    images = np.random.default_rng(0).normal(size=(20, 2, 4, 4)).astype(np.float32)
    rio = fitted(
        images, images[:, 0, 0, 0], np.zeros(20), features=onnx_tensor(convolution(13), "channels", pool="max")
    )
    with pytest.raises(ValueError, match=r"base and features use opsets 17 and 13 of ai\.onnx: convert one of them"):
        export(rio, base=convolution(17))


@pytest.mark.parametrize(
    ("nodes", "inputs", "message"),
    [
        ([("Constant", [], ["y"], {"value_floats": [1.0]})], [], "a graph with an input and an output"),
        ([("SequenceConstruct", ["X"], ["y"], {})], ["X"], "'y' of base is no tensor"),
    ],
)
def test_graphs_that_are_no_models_are_refused(nodes, inputs, message):
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    tensor = helper.make_tensor_type_proto(kind, None)
    output = tensor if not inputs else helper.make_sequence_type_proto(tensor)
    graph = helper.make_graph(
        [helper.make_node(operation, given, made, **attributes) for operation, given, made, attributes in nodes],
        "odd",
        [helper.make_tensor_value_info(name, kind, None) for name in inputs],
        [helper.make_value_info("y", output)],
    )
    X, y, y_pred, _ = problem(0, 1)
    with pytest.raises(ValueError, match=message):
        export(fitted(X, y, y_pred), base=helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def by_column(names):
    """ŷ = 2 a ± 1: a model with an input for each column, one of them text."""
    helper, kind = onnx.helper, onnx.TensorProto
    two = onnx.numpy_helper.from_array(np.array([[2.0]], dtype=np.float32), "two")
    nodes = [
        helper.make_node("Mul", [names[0], "two"], ["double"]),
        helper.make_node(
            "LabelEncoder",
            ["colour"],
            ["code"],
            domain="ai.onnx.ml",
            keys_strings=["red", "blue"],
            values_floats=[1.0, -1.0],
            default_float=0.0,
        ),
        helper.make_node("Add", ["double", "code"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info(name, kind.FLOAT, [None, 1]) for name in names]
    inputs.append(helper.make_tensor_value_info("colour", kind.STRING, [None, 1]))
    outputs = [helper.make_tensor_value_info("y", kind.FLOAT, [None, 1])]
    graph = helper.make_graph(nodes, "columns", inputs, outputs, [two])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def test_a_base_with_an_input_for_each_column():
    rng = np.random.default_rng(0)

    def frame(n):
        colour = rng.choice(["red", "blue"], n)
        return pd.DataFrame({"a": rng.normal(size=n), "colour": colour, "b": rng.normal(size=n)})

    train, new = frame(40), frame(10)
    model = onnx_model(by_column(["a", "b"]))
    y = model.predict(train) + np.sin(3.0 * train["b"].to_numpy())
    rio = fitted(train, y, None, estimator=model, features=["b", "a"])
    with pytest.raises(ValueError, match="base: the model is not the one"):
        export(rio, base=by_column(["b", "a"]))
    made = export(rio, base=by_column(["a", "b"]))
    assert [value.name for value in made.graph.input] == ["a", "b", "colour"]
    found = run(made, **{name: new[[name]].to_numpy() for name in ("a", "b", "colour")})
    mean, std = rio.predict(new, return_std=True)
    np.testing.assert_allclose(found["mean"][:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(found["std"][:, 0], std, rtol=1e-9)
    with pytest.raises(ValueError, match="the GP needs b too"):
        export(rio, base=by_column(["a"]))
    with pytest.raises(ValueError, match="'mean', which is the name of a tensor of the regressor"):
        export(fitted(train, y, y, features=["a"]), base=by_column(["a", "mean"]))


def test_what_is_not_supported_is_said():
    X, y, y_pred, _ = problem(0, 1)
    y, y_pred = y[:, 0], y_pred[:, 0]
    rio = fitted(X, y, y_pred)
    with pytest.raises(ValueError, match="dtype has to be one of"):
        export(rio, dtype="float16")
    with pytest.raises(ValueError, match="levels has to be between 0 and 1"):
        export(rio, levels=[90])
    with pytest.raises(ValueError, match="each level once"):
        export(rio, levels=[0.9, 0.9])
    with pytest.raises(ValueError, match="uses opset 11"):
        export(rio, base=base_model(11))
    with pytest.raises(TypeError, match="base has to be a path, bytes or"):
        export(rio, base=3)
    with pytest.raises(ValueError, match="base is not an ONNX file"):
        export(rio, base=b"no graph")
    with pytest.raises(FileNotFoundError, match=r"missing\.onnx"):
        export(rio, base="missing.onnx")
    with pytest.raises(
        ValueError, match=r"first output of base, 'mean', has shape \('n', 2\), and has to have \(n, 1\)"
    ):
        export(rio, base=base_model(n_outputs=2))
    with pytest.raises(ValueError, match="base was made for 4 rows at a time"):
        export(rio, base=base_model(rows=4))
    with pytest.raises(ValueError, match="needs at least 99 calibration rows"):
        export(rio.calibrate(X, y, y_pred=y_pred), levels=[0.99])
    rio.calibrate(X, y, y_pred=y_pred, groups=np.arange(25) % 2)
    with pytest.raises(ValueError, match="calibrated by group"):
        export(rio)
    with pytest.raises(ValueError, match="cannot search for these: fit with inference='sparse'"):
        export(fitted(X, y, y_pred, inference="nearest"))


def test_missing_package_is_named(monkeypatch):
    X, y, y_pred, _ = problem(0, 1)
    rio = fitted(X, y, y_pred)
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"rio-uq\[onnx\]"):
        export(rio)


def test_noise_without_nodes_is_refused(friedman):
    class Other(Constant):
        """Noise that the export does not know."""

    X, y = friedman
    rio = fitted(X, y, X[:, 0])
    rio.fitted_ = replace(rio.fitted_, gp=replace(rio.fitted_.gp, noise=Other()))
    with pytest.raises(TypeError, match="noise of class Other cannot be exported"):
        export(rio)
