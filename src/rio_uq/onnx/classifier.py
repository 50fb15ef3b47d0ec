"""A fitted classifier as an ONNX graph: error scores and corrected probabilities where there is no Python."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rio_uq._base.checks import check_choice
from rio_uq._base.extras import require
from rio_uq._base.files import written_in_one_step
from rio_uq._base.version import __version__
from rio_uq.classifier import RIOClassifier, check_fitted_classifier
from rio_uq.confidence import LARGEST_LOG_ODDS, MOST_SURE
from rio_uq.features.extractors import Columns
from rio_uq.fitted_classifier import FittedClassifier
from rio_uq.onnx.graph import moments_of_target
from rio_uq.onnx.nodes import Graph

OPSET, IR_VERSION = 17, 8


def export_classifier(rio: RIOClassifier, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64") -> Any:
    """A fitted `RIOClassifier` as an ONNX model (extra ``rio-uq[onnx]``), which runs in plain ONNX Runtime.

    Its inputs are ``X`` of shape (n, d) and the model's probabilities ``y_proba`` of shape (n, K), which have to sum to
    one. If ``features`` is more than columns of X, what it makes of X is the input ``features`` instead; without an
    input kernel there is none. Its outputs are ``error_score`` and ``std``, of shape (n, 1), and ``probabilities``,
    (n, K), as the methods of the classifier give them.

    Parameters
    ----------
    rio : RIOClassifier
    path : path, optional
        Where to write it, in one step.
    dtype : {"float64", "float32"}
        Of inputs and outputs; the work between them is in double precision.

    Returns
    -------
    onnx.ModelProto
    """
    check_fitted_classifier(rio)
    check_choice(dtype, "dtype", ("float64", "float32"))
    if not rio.fitted_.gp.posterior.predicts_from_points:
        raise ValueError(
            "this GP predicts each row from the training rows nearest to it, and an ONNX graph cannot search for "
            "these: fit with inference='sparse', or 'exact' up to some thousand rows, and export that"
        )
    model = _model(rio, require("onnx", "onnx", "rio_uq.onnx.export_classifier"), dtype)
    if path is not None:
        with written_in_one_step(path) as file:
            file.write(model.SerializeToString(deterministic=True))
    return model


def _model(rio: RIOClassifier, onnx: Any, dtype: str) -> Any:
    fitted, helper, double = rio.fitted_, onnx.helper, onnx.TensorProto.DOUBLE
    kind = double if dtype == "float64" else onnx.TensorProto.FLOAT
    graph = Graph(onnx, OPSET)
    inputs, features = [], None
    extract = fitted.errors.extract
    if extract is not None:
        is_columns = isinstance(extract, Columns)
        n_columns = rio.n_features_in_ if is_columns else fitted.errors.kept.features.shape[1]
        name = "X" if is_columns else "features"
        inputs.append(helper.make_tensor_value_info(name, kind, ["n", n_columns]))
        features = graph.cast(name, double)
        if isinstance(extract, Columns) and extract.columns is not None:
            features = graph.gather(features, _numbers(rio, extract.columns))
    inputs.append(helper.make_tensor_value_info("y_proba", kind, ["n", fitted.n_classes]))
    results = _answers(fitted, graph, features, graph.cast("y_proba", double))
    outputs = []
    for name, (value, n_columns) in results.items():
        graph.cast(value, kind, output=name)
        outputs.append(helper.make_tensor_value_info(name, kind, ["n", n_columns]))
    merged = helper.make_graph(graph.nodes, "rio_uq", inputs, outputs, graph.constants)
    model = helper.make_model(merged, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    model.producer_name, model.producer_version = "rio-uq", __version__
    model.doc_string = "How likely the labels of a classifier are wrong, and its probabilities, corrected."
    classes = ", ".join(map(str, fitted.classes.tolist()))
    helper.set_model_props(model, {"rio_uq_version": __version__, "classes": classes})
    onnx.checker.check_model(model, full_check=True)
    return model


def _numbers(rio: RIOClassifier, columns: list[Any]) -> list[int]:
    """Of columns of X that are named or numbered."""
    if all(isinstance(column, bool | np.bool_) for column in columns):
        return [int(number) for number in np.flatnonzero(columns)]
    names = list(getattr(rio, "feature_names_in_", ()))
    return [names.index(column) if isinstance(column, str) else int(column) for column in columns]


def _answers(fitted: FittedClassifier, graph: Graph, features: str | None, given: str) -> dict[str, tuple[str, int]]:
    """Tensors of the outputs and their columns, by name; see `rio_uq.confidence`."""
    n_classes, recalibration = fitted.n_classes, fitted.recalibration
    probabilities = graph.apply("Div", given, graph.row_sums(given))
    label = graph.apply("ArgMax", probabilities, axis=1, keepdims=1)
    is_label = graph.apply("Equal", label, graph.constant(np.arange(n_classes)[None], np.int64))
    ordered, _ = graph.largest(probabilities, n_classes)
    top, others = graph.gather(ordered, [0]), graph.row_sums(graph.gather(ordered, list(range(1, n_classes))))
    odds = [graph.apply("Log", graph.apply("Add", part, recalibration.floor)) for part in (top, others)]
    z = graph.apply("Mul", graph.apply("Sub", *odds), recalibration.slope)
    u = graph.apply("Clip", graph.apply("Add", z, recalibration.offset), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
    confidence = graph.apply("Sigmoid", u)
    inputs = None
    if features is not None:
        indicators = graph.cast(is_label, graph.onnx.TensorProto.DOUBLE)
        indicators = graph.gather(indicators, [1]) if n_classes == 2 else indicators
        inputs = graph.apply("Concat", features, indicators, axis=1)
    mean, variance = moments_of_target(fitted.gp, graph, inputs, ordered)
    moved = graph.apply("Add", confidence, graph.apply("Mul", mean, fitted.choice.share))
    rest = graph.apply("Sub", 1.0, confidence)
    lowest, highest = (graph.apply("Mul", part, MOST_SURE) for part in (confidence, rest))
    p = graph.apply("Min", graph.apply("Max", moved, lowest), graph.apply("Sub", 1.0, highest))
    error = graph.apply("Sub", 1.0, p)
    is_zero = graph.apply("LessOrEqual", others, 0.0)
    shares = graph.apply("Div", probabilities, graph.apply("Where", is_zero, 1.0, others))
    shares = graph.apply("Where", is_zero, 1.0 / (n_classes - 1), shares)
    corrected = graph.apply("Where", is_label, p, graph.apply("Mul", shares, error))
    std = graph.apply("Sqrt", variance)
    return {"error_score": (error, 1), "std": (std, 1), "probabilities": (corrected, n_classes)}
