"""A fitted regressor as an ONNX graph: error bars where there is no Python."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rio_uq._base.checks import check_choice, check_levels, repeated
from rio_uq._base.extras import require
from rio_uq._base.files import written_in_one_step
from rio_uq._base.version import __version__
from rio_uq._base.warnings import warn_user
from rio_uq.features.extractors import Columns, Extractor, Transformed
from rio_uq.features.layers import OnnxTensor
from rio_uq.features.table_encoder import TableEncoder
from rio_uq.models.files import open_model
from rio_uq.models.identity import check_same_model, predictions_for
from rio_uq.onnx.graph import predict
from rio_uq.onnx.merge import GraphPart, common_opsets, shape
from rio_uq.onnx.nodes import Graph
from rio_uq.regressor import RIORegressor, check_regressor

OPSET, IR_VERSION = 17, 8


def export(
    rio: RIORegressor,
    path: str | os.PathLike[str] | None = None,
    *,
    levels: Any = (0.95,),
    dtype: str = "float64",
    base: Any = None,
) -> Any:
    """A fitted `RIORegressor` as an ONNX model (extra ``rio-uq[onnx]``), which runs in plain ONNX Runtime.

    Its inputs are ``X`` of shape (n, d) and the model's predictions ``y_pred`` of shape (n, q), with q = 1 for a
    single output. With ``base`` the model is merged in, and ``y_pred`` is not needed. If ``kernel="output"``, X is
    needed by the model only. If ``features`` is a transformer or a function, what it makes of X is an input of its own,
    ``features``, but a tensor of an ONNX graph (`rio_uq.features.onnx_tensor`) is merged in.

    Its outputs, all of shape (n, q), are ``mean`` and ``std`` as ``predict`` gives them, and ``lower_0.95`` and
    ``upper_0.95`` for each level as ``predict_interval`` does. Rows with NaN or infinite values, which ``predict``
    refuses, give NaN.

    Parameters
    ----------
    rio : RIORegressor
    path : path, optional
        Where to write it, in one step.
    levels : float or sequence of float
        Confidence levels of the intervals.
    dtype : {"float64", "float32"}
        Of inputs and outputs; the work between them is in double precision.
    base : path, bytes or onnx.ModelProto, optional
        The model under the regressor in ONNX; its first output is the prediction. A model with an input for each
        column, as made of a pipeline on a frame, gives a graph with these inputs instead of ``X``.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> import numpy as np, rio_uq
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> y = np.sin(6.0 * X[:, 0])
    >>> rio = rio_uq.RIORegressor(lambda X: X[:, 0], random_state=0).fit(X, y)
    >>> model = rio_uq.onnx.export(rio, levels=[0.5, 0.9])
    >>> [value.name for value in model.graph.input], [value.name for value in model.graph.output]
    (['X', 'y_pred'], ['mean', 'std', 'lower_0.5', 'upper_0.5', 'lower_0.9', 'upper_0.9'])
    """
    check_regressor(rio)
    check_choice(dtype, "dtype", ("float64", "float32"))
    chosen = np.atleast_1d(check_levels(levels, "levels")).tolist()
    if len({f"{level:.12g}" for level in chosen}) != len(chosen):
        raise ValueError(f"levels has to name each level once; got {levels!r}")
    if rio.fitted_.scores.groups is not None:
        raise ValueError(
            "error bars were calibrated by group, which the ONNX graph has no input for: calibrate without groups, or "
            "export a regressor for each group"
        )
    if not rio.fitted_.gp.posterior.predicts_from_points:
        raise ValueError(
            f"this GP predicts each row from the training rows nearest to it (inference={rio.inference!r}), and an "
            "ONNX graph cannot search for these: fit with inference='sparse', or 'exact' up to some thousand rows, and "
            "export that"
        )
    model = _Export(rio, require("onnx", "onnx", "rio_uq.onnx.export"), dtype, base).build(chosen)
    if path is not None:
        with written_in_one_step(path) as file:
            file.write(model.SerializeToString(deterministic=True))
    return model


class _Export:
    """One export: which inputs there are, and what is made of them."""

    def __init__(self, rio: RIORegressor, onnx: Any, dtype: str, base: Any) -> None:
        self.rio, self.onnx = rio, onnx
        self.kind = onnx.TensorProto.DOUBLE if dtype == "float64" else onnx.TensorProto.FLOAT
        self.inputs: list[Any] = []
        self.base = None if base is None else GraphPart(onnx, base, "base")
        if self.base is not None:
            _check_base(rio, self.base)
        self.extract = _columns_if_plain(rio.fitted_.extract)
        made_by = self.extract.transform if isinstance(self.extract, Transformed) else None
        self.tensor = made_by if isinstance(made_by, OnnxTensor) else None
        self.layer = None if self.tensor is None else GraphPart(onnx, self.tensor.network.graph, "features")
        self.parts = [part for part in (self.base, self.layer) if part is not None]
        self.opsets = common_opsets(self.parts) or [onnx.helper.make_opsetid("", OPSET)]
        self.graph = Graph(onnx, next(opset.version for opset in self.opsets if opset.domain in ("", "ai.onnx")))

    def build(self, levels: list[float]) -> Any:
        helper, p, q = self.onnx.helper, self.rio.fitted_.n_predictions, self.rio.fitted_.n_outputs
        tensors = self._raw_inputs()
        features = self._features(tensors)
        if self.base is None:
            y_pred = self._double(self._input("y_pred", ["n", p], "predictions of the model"))
        else:
            y_pred = self.base.prediction(self.graph, tensors[self.base.name], p)
        outputs = []
        for name, (value, described) in predict(self.rio.fitted_, self.graph, features, y_pred, levels).items():
            self.graph.cast(value, self.kind, output=name)
            outputs.append(self._value(name, self.kind, ["n", q], described))
        self._check_names(outputs)
        graph, functions = self.graph, [function for part in self.parts for function in part.model.functions]
        merged = helper.make_graph(graph.nodes, "rio_uq", self.inputs, outputs, graph.constants)
        merged.sparse_initializer.extend(graph.sparse_constants)
        model = helper.make_model(merged, opset_imports=self.opsets, functions=functions)
        model.ir_version = max([IR_VERSION, *(part.model.ir_version for part in self.parts)])
        _describe(model, self.onnx, self.inputs, outputs, levels)
        self.onnx.checker.check_model(model, full_check=True)
        return model

    def _raw_inputs(self) -> dict[str, dict[str, str]]:
        """The inputs that X consists of, and for each part the tensor of each of its inputs."""
        raw = {value.name: value for part in self.parts for value in part.inputs}
        if all(len(part.inputs) == 1 for part in self.parts):
            self._single_input(next(iter(raw.values()), None))
            return {part.name: {part.inputs[0].name: "X"} for part in self.parts}
        for name, value in raw.items():
            self._input(name, ["n", *(shape(value) or [None, 1])[1:]], "a column of X", value)
        return {part.name: {value.name: value.name for value in part.inputs} for part in self.parts}

    def _single_input(self, value: Any) -> None:
        """X as the GP or a part takes it, if one does."""
        if isinstance(self.extract, Columns):
            self._input("X", ["n", self.rio.n_features_in_], f"features{_names(self.rio)}")
        elif value is not None:
            dims = shape(value) or ["n", getattr(self.rio, "n_features_in_", None)]
            self._input("X", ["n", *dims[1:]], "rows of X", value)

    def _features(self, tensors: dict[str, dict[str, str]]) -> str | None:
        """The GP's features of X, (n, d); None if it does not look at X."""
        extract = self.extract
        if extract is None:
            return None
        n_features = len(self.rio.fitted_.gp.inputs.scale)
        if self.layer is not None and self.tensor is not None:
            return self.layer.features(self.graph, tensors[self.layer.name], self.tensor, n_features)
        if isinstance(extract, Columns):
            return self._columns(extract.columns)
        encoded = getattr(getattr(extract, "transform", None), "feature_names_out_", None)
        described = (
            "X as `features` of the regressor transforms it" if encoded is None else f"features: {', '.join(encoded)}"
        )
        return self._double(self._input("features", ["n", n_features], described))

    def _columns(self, columns: list[Any] | None) -> str:
        """Columns of X, or of the inputs that have their names."""
        names = list(getattr(self.rio, "feature_names_in_", ()))
        chosen = list(range(self.rio.n_features_in_)) if columns is None else columns
        if all(isinstance(column, bool | np.bool_) for column in chosen):
            chosen = np.flatnonzero(chosen).tolist()
        numbers = [names.index(column) if isinstance(column, str) else int(column) for column in chosen]
        if any(value.name == "X" for value in self.inputs):
            X = self._double("X")
            return X if columns is None else self.graph.gather(X, numbers)
        there = {value.name for value in self.inputs}
        wanted = [str(names[number]) if names else f"column {number}" for number in numbers]
        missing = [name for name in wanted if name not in there]
        if missing:
            raise ValueError(
                f"base has the inputs {', '.join(sorted(there))}, and the GP needs {', '.join(missing)} too: choose "
                "features among them, or make a base with one input"
            )
        return self.graph.apply("Concat", *(self._double(name) for name in wanted), axis=1)

    def _double(self, name: str) -> str:
        return self.graph.cast(name, self.onnx.TensorProto.DOUBLE)

    def _input(self, name: str, dims: list[Any], described: str, like: Any = None) -> str:
        """A new input; numbers come in the type that was asked for, others as ``like`` takes them."""
        kind = self.kind
        if like is not None and like.type.tensor_type.elem_type == self.onnx.TensorProto.STRING:
            kind = self.onnx.TensorProto.STRING
        self.inputs.append(self._value(name, kind, dims, described))
        return name

    def _value(self, name: str, kind: Any, dims: list[Any], described: str) -> Any:
        return self.onnx.helper.make_tensor_value_info(name, kind, dims, doc_string=described)

    def _check_names(self, outputs: list[Any]) -> None:
        for name in repeated(value.name for value in (*self.inputs, *outputs)):
            raise ValueError(f"base has an input {name!r}, which is the name of a tensor of the regressor: rename it")


def _columns_if_plain(extract: Extractor | None) -> Extractor | None:
    """The columns that a `TableEncoder` leaves as they are, if it has no others."""
    encoder = getattr(extract, "transform", None)
    if isinstance(encoder, TableEncoder) and encoder.is_plain:
        return Columns(list(encoder.feature_names_out_))
    return extract


def _check_base(rio: RIORegressor, base: GraphPart) -> None:
    """Raise unless the base predicts what the model does, where there is a model to ask."""
    if rio.estimator_ is None:
        return
    fitted = rio.fitted_
    if fitted.example is None or not fitted.example.can_be_rebuilt:
        warn_user(
            "base could not be compared with the model, for the regressor keeps no rows to ask them for: "
            "make sure that it is the same"
        )
        return
    rows = fitted.example.rebuilt()
    expected = predictions_for(fitted.model, rows, fitted.n_predictions)
    model = open_model("base", "onnx", base.plain.SerializeToString())
    check_same_model(model, rows, expected, fitted.kept.y_pred.std(axis=0), "base")


def _names(rio: RIORegressor) -> str:
    names = getattr(rio, "feature_names_in_", None)
    return "" if names is None else ": " + ", ".join(map(str, names))


def _describe(model: Any, onnx: Any, inputs: list[Any], outputs: list[Any], levels: list[float]) -> None:
    model.producer_name, model.producer_version = "rio-uq", __version__
    model.doc_string = "Corrected predictions of a regression model, with error bars."
    properties = {
        "rio_uq_version": __version__,
        "inputs": ", ".join(value.name for value in inputs),
        "outputs": ", ".join(value.name for value in outputs),
        "levels": ", ".join(f"{level:.12g}" for level in levels),
    }
    onnx.helper.set_model_props(model, properties)
