"""The shape of the predictive distribution as plain values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.calibration.normal import ScaledNormal
from rio_uq.calibration.scores import Density, normal_nodes
from rio_uq.calibration.shape import Shape
from rio_uq.calibration.skewed import SkewedStudent
from rio_uq.calibration.student import Student
from rio_uq.calibration.tails import NormalTails
from rio_uq.storage.fields import Fields

MOST_BINS = 1000


def write_shape(shape: Shape) -> dict[str, Any]:
    """A distribution for each output, with how much likelier it makes left-out rows than a normal one."""
    outputs = zip(shape.scores, shape.gains, strict=True)
    nodes = {} if shape.nodes is None else {"nodes": shape.nodes.tolist()}
    return {"outputs": [{**_write_density(score), "gain": float(gain)} for score, gain in outputs], **nodes}


def _write_density(score: Density) -> dict[str, Any]:
    plain: dict[str, Any] = {"kind": score.kind, "n_rows": int(score.n_rows)}
    if isinstance(score, Student):
        edges = {} if score.edges is None else {"edges": score.edges.tolist()}
        return {**plain, "degrees": score.degrees, "scale": score.scale, "heights": score.heights.tolist(), **edges}
    if isinstance(score, NormalTails):
        return {**_write_density(score.inner), "tails": [score.lowest, score.highest]}
    if isinstance(score, SkewedStudent):
        sides = {**plain, "degrees": score.degrees, "lower": score.lower, "upper": score.upper}
        if not len(score.edges):
            return sides
        below, above = score.heights.tolist()
        return {**sides, "below": below, "above": above, "edges": score.edges.tolist()}
    return plain


def read_shape(fields: Fields, n_outputs: int) -> Shape:
    outputs = fields.children("outputs")
    if len(outputs) != n_outputs:
        fields.fail(f"has to have one distribution for each of {n_outputs} outputs", "outputs")
    scores, gains = [], []
    for output in outputs:
        gains.append(output.number("gain"))
        scores.append(_read_density(output))
        output.finish()
    nodes = _read_nodes(fields, n_outputs) if "nodes" in fields.left else None
    fields.finish()
    return Shape(tuple(scores), tuple(gains), nodes)


def _read_nodes(fields: Fields, n_outputs: int) -> Array:
    columns, n_nodes = fields.items("nodes"), len(normal_nodes()[0])
    is_table = len(columns) == n_outputs and all(isinstance(column, list) for column in columns)
    if not is_table or not all(len(column) == n_nodes and all(map(_is_number, column)) for column in columns):
        fields.fail(f"has to be a list of {n_nodes} numbers for each output", "nodes")
    return np.array(columns, dtype=float)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isfinite(value))


def _read_density(fields: Fields) -> Density:
    tails = fields.items("tails") if "tails" in fields.left else None
    density = _read_inner(fields)
    if tails is None:
        return density
    is_pair = len(tails) == 2 and all(isinstance(end, float) for end in tails) and tails[0] < 0.0 < tails[1]
    if not is_pair or not np.isfinite(tails).all() or density.is_normal:
        fields.fail("has to be a negative and a positive number, of a distribution that is not normal", "tails")
    return NormalTails(density, *tails)


def _read_inner(fields: Fields) -> Density:
    kind, n_rows = fields.text("kind", (ScaledNormal.kind, Student.kind, SkewedStudent.kind)), fields.count("n_rows")
    if kind == ScaledNormal.kind:
        return ScaledNormal(n_rows, 1.0)
    degrees = fields.number("degrees")
    if degrees <= 2.0:
        fields.fail("has to be more than two", "degrees")
    if kind == SkewedStudent.kind:
        sides = fields.positive("lower"), fields.positive("upper")
        if "edges" not in fields.left:
            return SkewedStudent(n_rows, degrees, *sides)
        below = _read_heights(fields, "below")
        above, edges = _read_heights(fields, "above"), _read_edges(fields, len(below))
        if len(above) != len(below):
            fields.fail("has to have as many numbers as below", "above")
        skewed = SkewedStudent(n_rows, degrees, *sides, np.stack([below, above]), edges)
        return _with_mass_one(skewed, fields, "above")
    scale, heights = fields.positive("scale"), _read_heights(fields, "heights")
    edges_or_none = _read_edges(fields, len(heights)) if "edges" in fields.left else None
    return _with_mass_one(Student(n_rows, degrees, scale, heights, edges_or_none), fields, "heights")


def _with_mass_one(density: Student | SkewedStudent, fields: Fields, key: str) -> Density:
    if abs(density.total - 1.0) > 1e-6:
        fields.fail("has to be a list of positive numbers whose mean is one, weighted by the masses of bins", key)
    return density


def _read_heights(fields: Fields, key: str) -> Array:
    heights = fields.items(key)
    if not 0 < len(heights) <= MOST_BINS or not all(map(_is_number, heights)) or min(heights) <= 0.0:
        fields.fail(f"has to be a list of at most {MOST_BINS} positive numbers whose mean is one", key)
    return np.array(heights)


def _read_edges(fields: Fields, n_bins: int) -> Array:
    """In files of earlier versions bins are of equal width."""
    edges = fields.items("edges")
    if len(edges) != n_bins - 1 or not all(map(_is_number, edges)) or (np.diff([1.0, *edges, 0.0]) >= 0.0).any():
        fields.fail(f"has to be a list of {n_bins - 1} numbers that descend between one and zero", "edges")
    return np.array(edges)
