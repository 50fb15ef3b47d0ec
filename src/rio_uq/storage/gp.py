"""The trained GP as plain values and arrays, and back.

Each ``write_…`` puts arrays away under their names and returns what goes into the manifest; the ``read_…`` beside it
takes both and trusts neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.copies import WeightUnit
from rio_uq.gp.edges import Edges
from rio_uq.gp.noise import NOISES
from rio_uq.gp.noise.constant import Constant
from rio_uq.gp.noise.contract import Noise
from rio_uq.gp.noise.growth import Growth
from rio_uq.gp.noise.several import Several
from rio_uq.gp.noise.student import Student
from rio_uq.gp.noise.varying import Varying
from rio_uq.gp.residual import ResidualGP
from rio_uq.gp.scaling import Scaling
from rio_uq.storage.fields import Arrays, Fields, Put, member
from rio_uq.storage.posterior import (
    read_gp_posterior,
    read_posterior,
    write_average,
    write_posterior,
    write_statistics,
)


def write_gp(gp: ResidualGP, put: Put) -> dict[str, Any]:
    for name in ("inputs", "outputs", "targets"):
        scaling: Scaling = getattr(gp, name)
        put(f"gp/{name}", np.stack([scaling.offset, scaling.scale]))
    if len(gp.posterior.members) > 1:
        write_average(gp.posterior, put)
    put("gp/slope_at", gp.slope_at)
    put("gp/correction", np.stack([gp.correction, gp.constant]))
    if not gp.growth.is_none:
        put("gp/growth", np.stack([gp.growth.slope, gp.growth.reach]))
    if gp.edges is not None:
        put("gp/edges", np.stack([gp.edges.lowest, gp.edges.highest]))
        if gp.edges.open_slope.any():
            put("gp/open_slope", gp.edges.open_slope)
    return {
        **({} if gp.n_predictions == gp.n_outputs else {"n_predictions": gp.n_predictions}),
        "posterior": write_posterior("gp/posterior", gp.posterior, put),
        "evidence": None if gp.posterior.statistics is None else write_statistics(gp.posterior.statistics, put),
        "noise": gp.noise_choice,
        "field": _write_noise(gp.noise, put),
        "limits": {name: _limit(getattr(gp, name)) for name in ("inputs", "outputs", "targets")},
        "bound": float(gp.bound),
        "n_iter": int(gp.n_iter),
        "converged": bool(gp.converged),
        "message": str(gp.message),
        "is_residual": bool(gp.is_residual),
        "weight_unit": {"value": float(gp.weight_unit.value), "are_counts": bool(gp.weight_unit.are_counts)},
    }


def read_gp(
    fields: Fields, arrays: Arrays, n_features: int, n_outputs: int, noise_choice: str | None = None
) -> ResidualGP:
    """The noise that was asked for is given where the file does not say: in those of format 1."""
    n_predictions = fields.count("n_predictions", 1) if "n_predictions" in fields.left else n_outputs
    limits = fields.child("limits")
    sizes = {"inputs": n_features, "outputs": n_predictions, "targets": n_outputs}
    scalings = {name: _read_scaling(name, size, limits, arrays) for name, size in sizes.items()}
    limits.finish()
    n_columns = n_features + n_predictions
    posterior = read_gp_posterior(fields, arrays, n_columns, n_outputs)
    noise = _read_noise(fields.optional_child("field"), arrays, n_columns, n_outputs)
    correction, constant = _read_correction(arrays, scalings["targets"])
    gp = ResidualGP(
        posterior=posterior,
        noise_choice=fields.text("noise", tuple(NOISES)) if noise_choice is None else noise_choice,
        noise=noise,
        inputs=scalings["inputs"],
        outputs=scalings["outputs"],
        targets=scalings["targets"],
        bound=fields.number("bound"),
        n_iter=fields.count("n_iter"),
        converged=fields.flag("converged"),
        message=fields.text("message"),
        is_residual=fields.flag("is_residual"),
        slope_at=arrays.floats("gp/slope_at", None, n_predictions),
        correction=correction,
        constant=constant,
        growth=_read_growth(arrays, n_outputs),
        weight_unit=_read_weight_unit(fields.child("weight_unit") if noise_choice is None else None),
        edges=_read_edges(arrays, n_predictions),
    )
    if gp.edges is not None and not gp.is_residual:
        arrays.fail("gp/edges", "belongs to a GP on residuals")
    if gp.is_residual and n_predictions != n_outputs:
        fields.fail("has to be the number of outputs where targets are residuals", "n_predictions")
    fields.finish()
    return gp


def _read_correction(arrays: Arrays, targets: Scaling) -> tuple[Array, Array]:
    """The share of corrections and their constant part: all of it in files of format 1, which do not say."""
    if member("gp/correction") not in arrays.left:
        return np.ones_like(targets.offset), targets.offset
    correction, constant = arrays.floats("gp/correction", 2, len(targets.offset))
    if not ((correction >= 0.0) & (correction <= 1.0)).all():
        arrays.fail("gp/correction", "shares have to be between 0 and 1")
    return correction, constant


def _read_growth(arrays: Arrays, n_outputs: int) -> Growth:
    if member("gp/growth") not in arrays.left:
        return Growth.none(n_outputs)
    slope, reach = arrays.floats("gp/growth", 2, n_outputs)
    if not ((slope >= 0.0) & (reach > 0.0)).all():
        arrays.fail("gp/growth", "slopes have to be zero or more, and reaches more than zero")
    return Growth(slope, reach)


def _read_edges(arrays: Arrays, n_predictions: int) -> Edges | None:
    if member("gp/edges") not in arrays.left:
        return None
    lowest, highest = arrays.floats("gp/edges", 2, n_predictions)
    edges = Edges(lowest, highest, np.zeros(n_predictions))
    if member("gp/open_slope") in arrays.left:
        edges = edges._replace(open_slope=arrays.floats("gp/open_slope", n_predictions))
    if not (edges.lowest <= edges.highest).all():
        arrays.fail("gp/edges", "the first line has to be no larger than the second")
    return edges


def _read_weight_unit(fields: Fields | None) -> WeightUnit:
    """Weights are numbers of measurements in files of format 1, which do not say."""
    if fields is None:
        return WeightUnit()
    unit = WeightUnit(fields.positive("value"), fields.flag("are_counts"))
    fields.finish()
    return unit


def _limit(scaling: Scaling) -> float | None:
    return float(scaling.limit) if np.isfinite(scaling.limit) else None


def _read_scaling(name: str, size: int, limits: Fields, arrays: Arrays) -> Scaling:
    offset, scale = arrays.floats(f"gp/{name}", 2, size)
    if not (scale > 0.0).all():
        arrays.fail(f"gp/{name}", "scales have to be more than zero")
    limit = np.inf if limits.left.get(name, ...) is None else limits.number(name)
    limits.left.pop(name, None)
    return Scaling(offset, scale, limit)


def _write_noise(noise: Noise, put: Put, prefix: str = "gp/field") -> dict[str, Any] | None:
    """None for constant noise, of which there is nothing to be said; its variance is in the posterior."""
    if type(noise) is Constant:
        return None
    if type(noise) is Varying:
        return _write_varying(noise, put, prefix)
    if type(noise) is Student:
        return {"degrees": float(noise.degrees), "scatter": _write_noise(noise.scatter, put, prefix)}
    if type(noise) is Several:
        return {"outputs": [_write_noise(one, put, f"{prefix}/{n}") for n, one in enumerate(noise.models)]}
    raise TypeError(f"noise of class {type(noise).__name__} has no form in a file: write one in {__name__}")


def _read_noise(fields: Fields | None, arrays: Arrays, n_columns: int, n_outputs: int) -> Noise:
    """In files of earlier versions several outputs share one field."""
    if fields is None:
        return Constant()
    if "degrees" in fields.left:
        student = Student(
            _read_noise(fields.optional_child("scatter"), arrays, n_columns, n_outputs), fields.positive("degrees")
        )
        fields.finish()
        return student
    if "outputs" not in fields.left:
        return _read_varying(fields, arrays, n_columns)
    outputs = fields.optional_children("outputs")
    if len(outputs) != n_outputs:
        fields.fail(f"has to have an entry for each of the {n_outputs} outputs", "outputs")
    fields.finish()
    return Several(
        tuple(
            Constant() if one is None else _read_varying(one, arrays, n_columns, f"gp/field/{n}")
            for n, one in enumerate(outputs)
        )
    )


def _write_varying(field: Varying, put: Put, prefix: str) -> dict[str, Any]:
    return {
        "posterior": write_posterior(prefix, field.posterior, put),
        "offset": float(field.offset),
        "lowest": float(field.lowest),
        "highest": float(field.highest),
    }


def _read_varying(fields: Fields, arrays: Arrays, n_columns: int, prefix: str = "gp/field") -> Varying:
    posterior = read_posterior(prefix, fields.child("posterior"), arrays, n_columns, 1)
    field = Varying(posterior, *(fields.number(name) for name in ("offset", "lowest", "highest")))
    fields.finish()
    return field
