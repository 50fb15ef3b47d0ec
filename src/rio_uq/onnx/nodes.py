"""Nodes and constants of an ONNX graph under construction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array

AXES_ARE_AN_INPUT = 18
"""The opset since which axes of ReduceMax and ReduceMean are an input, not an attribute."""


class Graph:
    """Nodes and constants under construction; every method returns the name of a tensor."""

    def __init__(self, onnx: Any, opset: int) -> None:
        self.onnx, self.opset = onnx, opset
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.sparse_constants: list[Any] = []

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

    def total(self, values: Iterable[str]) -> str:
        first, *others = values
        return self.apply("Sum", first, *others) if others else first

    def row_sums(self, value: str) -> str:
        return self.apply("ReduceSum", value, self.constant([1], np.int64), keepdims=1)

    def pooled(self, value: str, pool: str) -> str:
        """Over the last of three axes, which is dropped; NaN stays visible, which the largest value need not show."""
        name, axes = {"max": "ReduceMax", "mean": "ReduceMean"}[pool], self.constant([2], np.int64)
        if self.opset < AXES_ARE_AN_INPUT:
            pooled = self.apply(name, value, axes=[2], keepdims=0)
        else:
            pooled = self.apply(name, value, axes, keepdims=0)
        hidden = self.apply("Mul", self.apply("ReduceSum", value, axes, keepdims=0), 0.0)
        return self.apply("Add", pooled, hidden)

    def largest(self, value: str, k: int) -> tuple[str, str]:
        """The k largest of each row, in descending order, and their columns."""
        names = [f"rio_topk_{len(self.nodes)}", f"rio_topk_{len(self.nodes)}_columns"]
        self.nodes.append(self.onnx.helper.make_node("TopK", [value, self.constant([k], np.int64)], names, axis=1))
        return names[0], names[1]

    def gather(self, value: str, columns: list[int]) -> str:
        return self.apply("Gather", value, self.constant(columns, np.int64), axis=1)
