"""Graphs of others inside ours: the model under the regressor, and the layer of it that the GP sees."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rio_uq.features.layers import OnnxTensor
from rio_uq.models.onnx import onnx_bytes
from rio_uq.onnx.nodes import Graph

OLDEST_OPSET = 13


class GraphPart:
    """A graph to be merged in, with a prefix before all of its names.

    Parameters
    ----------
    onnx : module
    source : path, bytes or onnx.ModelProto
    name : str
        What it is, for messages, and the prefix.
    """

    def __init__(self, onnx: Any, source: Any, name: str) -> None:
        self.onnx, self.name = onnx, name
        self.plain = _parsed(onnx, source, name)
        constants = {tensor.name for tensor in self.plain.graph.initializer}
        self.inputs = [value for value in self.plain.graph.input if value.name not in constants]
        self._check()
        self.model = onnx.compose.add_prefix(self.plain, f"{name}/")

    def _check(self) -> None:
        if not self.inputs or not self.plain.graph.output:
            raise ValueError(f"{self.name} has to be a graph with an input and an output")
        for value in (*self.inputs, self.plain.graph.output[0]):
            if not value.type.HasField("tensor_type"):
                raise ValueError(f"{value.name!r} of {self.name} is no tensor, and has to be one")
        rows = [dims[0] for dims in (shape(value) for value in self.inputs) if dims and isinstance(dims[0], int)]
        if rows:
            raise ValueError(
                f"{self.name} was made for {rows[0]} rows at a time, and has to take any number: export it with a "
                "dynamic first axis"
            )
        versions = [opset.version for opset in self.plain.opset_import if opset.domain in ("", "ai.onnx")]
        if not versions or max(versions) < OLDEST_OPSET:
            raise ValueError(
                f"{self.name} uses opset {max(versions, default=0)}, and at least {OLDEST_OPSET} is needed: convert it "
                "with onnx.version_converter first"
            )

    def merge(self, graph: Graph, tensors: dict[str, str], output: str) -> str:
        """Put it into the graph; returns its output.

        Parameters
        ----------
        graph : Graph
        tensors : dict
            The tensor for each of its inputs.
        output : str
        """
        graph.constants.extend(self.model.graph.initializer)
        graph.sparse_constants.extend(self.model.graph.sparse_initializer)
        for value in self.inputs:
            graph.cast(tensors[value.name], value.type.tensor_type.elem_type, output=f"{self.name}/{value.name}")
        graph.nodes.extend(self.model.graph.node)
        return f"{self.name}/{output}"

    def prediction(self, graph: Graph, tensors: dict[str, str], n_columns: int) -> str:
        """The first output as predictions of shape (n, p)."""
        first = self.plain.graph.output[0]
        dims = shape(first)
        columns = (dims[1] if len(dims) > 1 else 1) if dims else n_columns
        if (dims and len(dims) > 2) or (isinstance(columns, int) and columns != n_columns):
            raise ValueError(
                f"the first output of {self.name}, {first.name!r}, has shape {tuple(dims or ())}, and has to have "
                f"(n, {n_columns})"
            )
        double = graph.cast(self.merge(graph, tensors, first.name), self.onnx.TensorProto.DOUBLE)
        return graph.apply("Reshape", double, graph.constant([-1, n_columns], np.int64))

    def features(self, graph: Graph, tensors: dict[str, str], tensor: OnnxTensor, n_features: int) -> str:
        """Features as `rio_uq.features.onnx_tensor` makes them of X, shape (n, d)."""
        double = graph.cast(self.merge(graph, tensors, tensor.network.name), self.onnx.TensorProto.DOUBLE)
        if tensor.pool is not None:
            # One axis for all positions: the number of them need not be known here.
            flat = graph.apply("Reshape", double, graph.constant([0, n_features, -1], np.int64))
            return graph.pooled(flat, tensor.pool)
        return graph.apply("Reshape", double, graph.constant([-1, n_features], np.int64))


def _parsed(onnx: Any, source: Any, name: str) -> Any:
    if isinstance(source, onnx.ModelProto):
        return source
    if not isinstance(source, bytes | str | os.PathLike):
        raise TypeError(f"{name} has to be a path, bytes or an onnx.ModelProto; got {source!r}")
    try:
        return onnx.load_model_from_string(onnx_bytes(source))
    except OSError:
        raise
    except Exception as error:  # protobuf has errors of its own
        where = name if isinstance(source, bytes) else os.fspath(source)
        raise ValueError(f"{where} is not an ONNX file: {error}") from error


def shape(value: Any) -> list[int | str | None] | None:
    """Of a tensor, where names and None stand for lengths that are not fixed; None if nothing is known of it."""
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in kind.shape.dim]


def common_opsets(parts: list[GraphPart]) -> list[Any]:
    """Of all parts, which have to use the same."""
    opsets: dict[str, Any] = {}
    for part in parts:
        for opset in part.model.opset_import:
            first = opsets.setdefault("" if opset.domain == "ai.onnx" else opset.domain, opset)
            if first.version != opset.version:
                raise ValueError(
                    f"{' and '.join(part.name for part in parts)} use opsets {first.version} and {opset.version} of "
                    f"{opset.domain or 'ai.onnx'}: convert one of them with onnx.version_converter first"
                )
    return list(opsets.values())
