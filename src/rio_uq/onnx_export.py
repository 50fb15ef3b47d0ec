"""A fitted regressor as an ONNX graph: error bars where there is no Python.

The graph does what `RIORegressor.predict` does, operation by operation, in double precision whatever the type of its
inputs and outputs: a variance is the small difference of large numbers, of which single precision leaves nothing.

No number multiplies the inputs or the output of a matrix product: ONNX Runtime would make an attribute of the product
of it, and those are in single precision. Scales are therefore parts of the matrices, and variances of the exponents.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rio_uq.archive import written_in_one_step
from rio_uq.calibration import Calibration
from rio_uq.features import Columns
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.terms import Term
from rio_uq.residual_gp import ResidualGP
from rio_uq.scaling import Scaling
from rio_uq.table_encoder import TableEncoder
from rio_uq.validation import check_choice, check_levels

Array = NDArray[np.float64]

OPSET, OLDEST_OPSET, IR_VERSION = 17, 13, 8


class OnnxMixin:
    """``to_onnx`` for RIORegressor."""

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        dtype: str = "float64",
        levels: Any = (0.9,),
        base_model: Any = None,
    ) -> Any:
        """The regressor as an ONNX model (extra ``rio-uq[onnx]``).

        Its inputs are ``X`` of shape (n, d) and the model's predictions ``y_pred`` of shape (n, q), with q = 1 for a
        single output; ``X`` alone if the model is merged in, ``y_pred`` alone if ``kernel="output"``. Its outputs, all
        of shape (n, q), are ``mean`` and ``std`` as `predict` gives them, and ``lower_0.9`` and ``upper_0.9`` for each
        level as `predict_interval` does. Rows with NaN or infinite values, which `predict` refuses, give NaN.

        Parameters
        ----------
        path : path, optional
            Where to write it.
        dtype : {"float64", "float32"}
            Of inputs and outputs; the work between them is in double precision.
        levels : sequence of float
            Confidence levels of the intervals.
        base_model : path, bytes or onnx.ModelProto, optional
            The model itself in ONNX, with one input of shape (n, d), to be merged in; its first output is the
            prediction.

        Returns
        -------
        onnx.ModelProto
        """
        check_is_fitted(self)
        check_choice(dtype, "dtype", ("float64", "float32"))
        chosen = np.atleast_1d(check_levels(levels, "levels"))
        if len(set(chosen.tolist())) != len(chosen):
            raise ValueError(f"levels has to name each level once; got {levels!r}")
        _check_supported(self)
        model = _build(self, _import_onnx(), dtype, chosen.tolist(), base_model)
        if path is not None:
            with written_in_one_step(path) as file:
                file.write(model.SerializeToString(deterministic=True))
        return model


def _import_onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'rio-uq[onnx]'") from error
    return onnx


def _check_supported(rio: Any) -> None:
    if rio._extract is not None and not isinstance(rio._extract, Columns) and _encoder(rio) is None:
        raise ValueError(
            "features is a transformer or a function, which has no form in ONNX: export a regressor whose features are "
            "columns of X, or made by a TableEncoder"
        )
    if rio._calibration.groups is not None:
        raise ValueError(
            "error bars were calibrated by group, which the ONNX graph has no input for: calibrate without groups, or "
            "export a regressor for each group"
        )


def _encoder(rio: Any) -> TableEncoder | None:
    made_by = getattr(rio._extract, "transform", None)
    return made_by if isinstance(made_by, TableEncoder) else None


def _columns_of_X(rio: Any) -> list[str] | None:
    """The names of the graph's columns of X: those that an encoder makes, otherwise the regressor's."""
    encoder, names = _encoder(rio), getattr(rio, "feature_names_in_", None)
    if encoder is not None:
        return encoder.feature_names_out_
    return None if names is None else [str(name) for name in names]


def _check_mergeable(rio: Any) -> None:
    encoder = _encoder(rio)
    if encoder is not None and not (encoder.is_plain and encoder.feature_names_out_ == list(rio.feature_names_in_)):
        raise ValueError(
            "base_model cannot be merged in: the graph's X are encoded features "
            f"({', '.join(encoder.feature_names_out_)}), and the model takes the columns "
            f"{', '.join(map(str, rio.feature_names_in_))}; export without it, and give the graph y_pred"
        )


class Graph:
    """Nodes and constants under construction; every method returns the name of a tensor."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: type = np.float64) -> str:
        name = f"rio_constant_{len(self.constants)}"
        array: NDArray[Any] = np.array(value, dtype=dtype, order="C")
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def apply(self, operation: str, *inputs: str | float | Array, output: str | None = None, **attributes: Any) -> str:
        """One node; numbers and arrays become constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        name = output or f"rio_{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operation, names, [name], **attributes))
        return name

    def cast(self, value: str, kind: Any, output: str | None = None) -> str:
        return self.apply("Cast", value, to=kind, output=output)

    def row_sums(self, value: str) -> str:
        return self.apply("ReduceSum", value, self.constant([1], np.int64), keepdims=1)


def _build(rio: Any, onnx: Any, dtype: str, levels: list[float], base_model: Any) -> Any:
    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    kind = double if dtype == "float64" else onnx.TensorProto.FLOAT
    graph, q = Graph(onnx), rio._n_outputs
    if base_model is not None:
        _check_mergeable(rio)
    base = None if base_model is None else _open_base(onnx, base_model)
    inputs = []
    if rio._extract is not None or base is not None:
        names = _columns_of_X(rio)
        described = "features" if names is None else f"features: {', '.join(names)}"
        inputs.append(_described(onnx, "X", kind, rio.n_features_in_ if names is None else len(names), described))
    if base is None:
        inputs.append(_described(onnx, "y_pred", kind, q, "predictions of the model"))
        y_pred = graph.cast("y_pred", double)
    else:
        y_pred = _merge(graph, base, q)
    results = _predict(rio, graph, y_pred, levels)
    outputs = []
    for name, (value, described) in results.items():
        graph.cast(value, kind, output=name)
        outputs.append(_described(onnx, name, kind, q, described))
    made = helper.make_graph(graph.nodes, "rio_uq", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET)] if base is None else base.opset_import
    model = helper.make_model(made, opset_imports=opsets, functions=[] if base is None else base.functions)
    model.ir_version = IR_VERSION if base is None else max(base.ir_version, IR_VERSION)
    _describe(model, onnx, inputs, outputs, levels)
    onnx.checker.check_model(model, full_check=True)
    return model


def _described(onnx: Any, name: str, kind: Any, n_columns: int, description: str) -> Any:
    return onnx.helper.make_tensor_value_info(name, kind, ["n", n_columns], doc_string=description)


def _describe(model: Any, onnx: Any, inputs: list[Any], outputs: list[Any], levels: list[float]) -> None:
    from rio_uq import __version__

    model.producer_name, model.producer_version = "rio-uq", __version__
    model.doc_string = "Corrected predictions of a regression model, with error bars."
    properties = {
        "rio_uq_version": __version__,
        "inputs": ", ".join(value.name for value in inputs),
        "outputs": ", ".join(value.name for value in outputs),
        "levels": ", ".join(f"{level:g}" for level in levels),
    }
    onnx.helper.set_model_props(model, properties)


def _predict(rio: Any, graph: Graph, y_pred: str, levels: Sequence[float]) -> dict[str, tuple[str, str]]:
    """Tensors and descriptions of the outputs, by name."""
    gp: ResidualGP = rio._gp
    calibration: Calibration = rio._calibration
    rows = _scaled(graph, y_pred, gp.outputs)
    if rio._extract is not None:
        rows = graph.apply("Concat", _scaled(graph, _features(rio, graph), gp.inputs), rows, axis=1)
    cross = _cross(graph, rows, gp.posterior)
    mean = graph.apply("Add", graph.apply("MatMul", cross, gp.posterior.weights * gp.targets.scale), gp.targets.offset)
    if rio._is_residual:
        mean = graph.apply("Add", y_pred, mean)
    variance = graph.apply("Mul", _latent_variance(graph, rows, cross, gp.posterior), gp.targets.scale[None] ** 2)
    std = graph.apply("Sqrt", graph.apply("Add", variance, _noise(graph, rows, gp)))
    results = {
        "mean": (mean, "corrected predictions"),
        "std": (graph.apply("Mul", std, calibration.std_factor), "standard deviations of outcomes"),
    }
    for level in levels:
        for name, probability in (("lower", 0.5 - 0.5 * level), ("upper", 0.5 + 0.5 * level)):
            score = calibration.quantiles(np.array(probability))  # (1, q)
            end = graph.apply("Add", mean, graph.apply("Mul", std, score))
            results[f"{name}_{level:.12g}"] = end, f"{name} ends of intervals of level {level:.12g}"
    return results


def _features(rio: Any, graph: Graph) -> str:
    X = graph.cast("X", graph.onnx.TensorProto.DOUBLE)
    columns = None if _encoder(rio) is not None else rio._extract.columns
    if columns is None:
        return X
    names = list(getattr(rio, "feature_names_in_", ()))
    if all(isinstance(column, bool | np.bool_) for column in columns):
        columns = np.flatnonzero(columns).tolist()
    numbers = [names.index(column) if isinstance(column, str) else int(column) for column in columns]
    return graph.apply("Gather", X, graph.constant(numbers, np.int64), axis=1)


def _scaled(graph: Graph, values: str, scaling: Scaling) -> str:
    """Cut off as in `Scaling`; but NaN and infinity stay visible, since 0 · NaN = 0 · ∞ = NaN."""
    moved = graph.apply("Div", graph.apply("Sub", values, scaling.offset[None]), scaling.scale[None])
    has_limit = np.isfinite(scaling.limit)
    cut = graph.apply("Clip", moved, -scaling.limit, scaling.limit) if has_limit else moved
    return graph.apply("Add", cut, graph.apply("Mul", moved, 0.0))


def _cross(graph: Graph, rows: str, posterior: Posterior) -> str:
    """k(c, Z), shape (n, m)."""
    parts = zip(posterior.kernel.terms, posterior.kernel.split(posterior.theta), strict=True)
    values = [_term(graph, _columns(graph, rows, term), term, theta, posterior.points) for term, theta in parts]
    total = values[0]
    for value in values[1:]:
        total = graph.apply("Add", total, value)
    return total


def _columns(graph: Graph, rows: str, term: Term) -> str:
    bounds = (graph.constant([bound], np.int64) for bound in (term.start, term.stop, 1))
    return graph.apply("Slice", rows, *bounds)


def _term(graph: Graph, x: str, term: Term, theta: Any, points: Any) -> str:
    """As in `rio_uq.gp.terms`: ρ = |z/l|² + |x/l|² − 2 z·x/l² and k = v g(ρ), with ρ = 0 where it is but rounding."""
    z = np.asarray(points[:, term.start : term.stop], dtype=float)
    if term.family == "linear":
        return graph.apply("MatMul", x, (z * np.exp(theta)).T)
    inverse_squares = np.broadcast_to(np.exp(-2.0 * theta[1 : 1 + term.n_scales]), z.shape[1])
    z_norms = (z**2 @ inverse_squares)[None]
    x_norms = graph.apply("MatMul", graph.apply("Mul", x, x), inverse_squares[:, None])
    norms = graph.apply("Add", x_norms, z_norms)
    rho = graph.apply("Add", norms, graph.apply("MatMul", x, (-2.0 * inverse_squares * z).T))
    if term.family == "rbf":
        return _exp_minus(graph, theta, graph.apply("Mul", rho, 0.5))
    is_more = graph.apply("Greater", rho, graph.apply("Mul", norms, 8.0 * np.finfo(float).eps))
    rho = graph.apply("Mul", rho, graph.cast(is_more, graph.onnx.TensorProto.DOUBLE))
    return _of_distance(graph, rho, term.family, theta)


def _exp_minus(graph: Graph, theta: Any, exponent: str) -> str:
    """v exp(−exponent)."""
    return graph.apply("Exp", graph.apply("Sub", float(theta[0]), exponent))


def _of_distance(graph: Graph, rho: str, family: str, theta: Any) -> str:
    """v g(ρ), see `rio_uq.gp.profiles`."""
    if family == "rational_quadratic":
        shape = float(np.exp(theta[-1]))
        logarithm = _log1p(graph, graph.apply("Mul", rho, 0.5 / shape))
        return _exp_minus(graph, theta, graph.apply("Mul", logarithm, shape))
    distance = graph.apply("Sqrt", graph.apply("Mul", rho, {"matern12": 1.0, "matern32": 3.0, "matern52": 5.0}[family]))
    decay = _exp_minus(graph, theta, distance)
    if family == "matern12":
        return decay
    growth = graph.apply("Add", distance, 1.0)
    if family == "matern52":
        growth = graph.apply("Add", growth, graph.apply("Mul", rho, 5.0 / 3.0))
    return graph.apply("Mul", growth, decay)


def _log1p(graph: Graph, u: str) -> str:
    """log(1 + u) to all digits: with w = 1 + u rounded, it is log w · u/(w − 1), and u where w = 1."""
    w = graph.apply("Add", u, 1.0)
    excess = graph.apply("Sub", w, 1.0)
    is_one = graph.apply("Equal", excess, 0.0)
    divisor = graph.apply("Where", is_one, 1.0, excess)
    return graph.apply("Where", is_one, u, graph.apply("Mul", graph.apply("Log", w), graph.apply("Div", u, divisor)))


def _latent_variance(graph: Graph, rows: str, cross: str, posterior: Posterior) -> str:
    """k(c, c) − |R k|² for each output, (n, q), not below zero."""
    told = []
    for reducer in posterior.reducers:
        part = graph.apply("MatMul", cross, np.asarray(reducer, dtype=float).T)
        told.append(graph.row_sums(graph.apply("Mul", part, part)))
    all_told = told[0] if len(told) == 1 else graph.apply("Concat", *told, axis=1)
    variance = graph.apply("Sub", _diagonal(graph, rows, posterior), all_told)
    return graph.apply("Where", graph.apply("Less", variance, 0.0), 0.0, variance)


def _diagonal(graph: Graph, rows: str, posterior: Posterior) -> str:
    """k(c, c): a number, or of shape (n, 1) where there are linear terms."""
    constant, linear = 0.0, []
    for term, theta in zip(posterior.kernel.terms, posterior.kernel.split(posterior.theta), strict=True):
        if term.family != "linear":
            constant += float(np.exp(theta[0]))
            continue
        x = _columns(graph, rows, term)
        variances = np.broadcast_to(np.exp(theta), term.stop - term.start)[:, None]
        linear.append(graph.apply("MatMul", graph.apply("Mul", x, x), variances))
    total = graph.constant(constant)
    for value in linear:
        total = graph.apply("Add", total, value)
    return total


def _noise(graph: Graph, rows: str, gp: ResidualGP) -> str:
    """Noise variances, (1, q) or (n, q)."""
    if gp.field is None:
        return graph.constant(gp.noise_variance[None])
    posterior = gp.field.posterior
    g = graph.apply("MatMul", _cross(graph, rows, posterior), np.asarray(posterior.weights, dtype=float))
    within = graph.apply("Min", graph.apply("Max", g, gp.field.lowest), gp.field.highest)
    factor = graph.apply("Exp", graph.apply("Add", within, gp.field.offset))
    return graph.apply("Mul", factor, gp.noise_variance[None])


def _open_base(onnx: Any, source: Any) -> Any:
    """The base model with a prefix before all of its names, checked for what merging needs."""
    if isinstance(source, bytes):
        model = onnx.load_model_from_string(source)
    else:
        model = source if isinstance(source, onnx.ModelProto) else onnx.load(source)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value.name for value in model.graph.input if value.name not in constants]
    if len(inputs) != 1:
        raise ValueError(f"base_model has to have one input, the features; it has {len(inputs)}: {', '.join(inputs)}")
    versions = [opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")]
    if not versions or max(versions) < OLDEST_OPSET:
        raise ValueError(
            f"base_model uses opset {max(versions, default=0)}, and at least {OLDEST_OPSET} is needed: convert it with "
            "onnx.version_converter first"
        )
    return onnx.compose.add_prefix(model, "model/")


def _merge(graph: Graph, base: Any, n_outputs: int) -> str:
    """Put the base model into the graph; its predictions as (n, q)."""
    graph.constants.extend(base.graph.initializer)
    known = {tensor.name for tensor in base.graph.initializer}
    (given,) = (value for value in base.graph.input if value.name not in known)
    graph.cast("X", given.type.tensor_type.elem_type, output=given.name)
    graph.nodes.extend(base.graph.node)
    prediction = graph.cast(base.graph.output[0].name, graph.onnx.TensorProto.DOUBLE)
    return graph.apply("Reshape", prediction, graph.constant([-1, n_outputs], np.int64))
