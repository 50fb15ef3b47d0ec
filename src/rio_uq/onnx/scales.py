"""Scales of outcomes as nodes of an ONNX graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array
from rio_uq.calibration.scores import normal_nodes
from rio_uq.onnx.nodes import Graph
from rio_uq.scales.contract import Scale
from rio_uq.scales.named import NamedScale


@dataclass(frozen=True)
class OnnxScales:
    """The scales of q outputs; tensors have them along their second axis."""

    graph: Graph
    scales: Sequence[Scale]

    def forward_prediction(self, y_pred: str) -> str:
        return self._each(y_pred, self._forward_one)

    def inverse(self, u: str) -> str:
        return self._each(u, self._inverse_one)

    def moments(self, mean: str, std: str, nodes: Array) -> tuple[str, str]:
        """Mean and standard deviation of outcomes, see `rio_uq.calibration.moments`; nodes are (1, q or 1, k)."""
        graph, (_, weight) = self.graph, normal_nodes()
        last = graph.constant([2], np.int64)
        scores = np.broadcast_to(nodes, (1, len(self.scales), len(weight)))
        centre, spread = (graph.apply("Unsqueeze", value, last) for value in (mean, std))
        outcome = self.inverse(graph.apply("Add", centre, graph.apply("Mul", spread, np.array(scores))))
        weights = np.array(weight)[None, None]

        def average(values: str, *, keep: bool) -> str:
            return graph.apply("ReduceSum", graph.apply("Mul", values, weights), last, keepdims=int(keep))

        away = graph.apply("Sub", outcome, average(outcome, keep=True))
        variance = average(graph.apply("Mul", away, away), keep=False)
        return average(outcome, keep=False), graph.apply("Sqrt", variance)

    def _each(self, values: str, of_one: Callable[[NamedScale, str], str]) -> str:
        if all(scale.is_identity for scale in self.scales):
            return values
        columns = []
        for number, scale in enumerate(self.scales):
            if not isinstance(scale, NamedScale):
                raise TypeError(
                    f"the scale is made by {scale.in_words()}, which has no form in ONNX: fit with a scale by its name"
                )
            columns.append(of_one(scale, self.graph.gather(values, [number])))
        return columns[0] if len(columns) == 1 else self.graph.apply("Concat", *columns, axis=1)

    def _forward_one(self, scale: NamedScale, y_pred: str) -> str:
        if scale.kind == "identity":
            return y_pred
        graph = self.graph
        inside = self._clip(y_pred, *scale.range_of_predictions)
        if scale.kind == "logit":
            above, below = graph.apply("Sub", inside, scale.lower), graph.apply("Sub", scale.upper, inside)
            return graph.apply("Log", graph.apply("Div", above, below))
        sign, bound = (-1.0, scale.upper) if np.isinf(scale.lower) else (1.0, scale.lower)
        distance = graph.apply("Mul", graph.apply("Sub", inside, bound), sign)
        operation = {"log": "Log", "sqrt": "Sqrt"}[scale.kind]
        return graph.apply("Mul", graph.apply(operation, graph.apply("Add", distance, scale.offset)), sign)

    def _inverse_one(self, scale: NamedScale, u: str) -> str:
        graph = self.graph
        if scale.kind == "identity":
            return self._clip(u, scale.lower, scale.upper)
        if scale.kind == "logit":
            # 1/(1 + exp(−u)) instead of Sigmoid, which ONNX Runtime has in single precision only
            share = graph.apply("Div", 1.0, graph.apply("Add", graph.apply("Exp", graph.apply("Neg", u)), 1.0))
            return graph.apply("Add", graph.apply("Mul", share, scale.upper - scale.lower), scale.lower)
        sign, bound = (-1.0, scale.upper) if np.isinf(scale.lower) else (1.0, scale.lower)
        signed = graph.apply("Mul", u, sign)
        if scale.kind == "log":
            distance = graph.apply("Exp", signed)
        else:
            positive = self._clip(signed, 0.0, np.inf)
            distance = graph.apply("Sub", graph.apply("Mul", positive, positive), scale.offset)
        return self._clip(graph.apply("Add", graph.apply("Mul", distance, sign), bound), scale.lower, scale.upper)

    def _clip(self, values: str, low: float, high: float) -> str:
        """Within the bounds that are finite; NaN and infinity stay visible as NaN, since 0 · NaN = 0 · ∞ = NaN."""
        if not (np.isfinite(low) or np.isfinite(high)):
            return values
        cut = self.graph.apply("Clip", values, float(max(low, -1e300)), float(min(high, 1e300)))
        return self.graph.apply("Add", cut, self.graph.apply("Mul", values, 0.0))
