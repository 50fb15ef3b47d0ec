"""The trained GP and the calibration as plain values and arrays, and back.

Each ``write_…`` puts arrays away under their names and returns what goes into the manifest; the ``read_…`` beside it
takes both and trusts neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.calibration.calibration import METHODS, Calibration
from rio_uq.calibration.scores import Recalibrated, ScaledNormal, Scores, SymmetricConformal, TwoSidedConformal
from rio_uq.gp.inference.statistics import Evidence, ExactEvidence, SparseEvidence, Statistics
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.terms import FAMILIES, Term
from rio_uq.gp.noise.varying import NoiseField
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.residual import ResidualGP
from rio_uq.gp.scaling import Scaling
from rio_uq.storage.fields import Arrays, Fields

Put = Callable[[str, NDArray[Any]], None]

LARGEST_LOG = 700.0
"""Logarithms beyond this overflow."""


def write_gp(gp: ResidualGP, put: Put) -> dict[str, Any]:
    for name in ("inputs", "outputs", "targets"):
        scaling: Scaling = getattr(gp, name)
        put(f"gp/{name}", np.stack([scaling.offset, scaling.scale]))
    put("gp/slope_at", gp.slope_at)
    return {
        "posterior": _write_posterior("gp/posterior", gp.posterior, put),
        "evidence": None if gp.posterior.evidence is None else _write_evidence(gp.posterior.evidence, put),
        "field": None if gp.field is None else _write_field(gp.field, put),
        "limits": {name: _limit(getattr(gp, name)) for name in ("inputs", "outputs", "targets")},
        "bound": float(gp.bound),
        "n_iter": int(gp.n_iter),
        "converged": bool(gp.converged),
        "message": str(gp.message),
        "is_residual": bool(gp.is_residual),
    }


def read_gp(fields: Fields, arrays: Arrays, n_features: int, n_outputs: int) -> ResidualGP:
    limits = fields.child("limits")
    sizes = {"inputs": n_features, "outputs": n_outputs, "targets": n_outputs}
    scalings = {name: _read_scaling(name, size, limits, arrays) for name, size in sizes.items()}
    limits.finish()
    n_columns = n_features + n_outputs
    posterior = _read_posterior("gp/posterior", fields.child("posterior"), arrays, n_columns, n_outputs)
    evidence = fields.optional_child("evidence")
    if evidence is not None:
        posterior = replace(posterior, evidence=_read_evidence(evidence, arrays, *posterior.weights.shape))
    field = fields.optional_child("field")
    gp = ResidualGP(
        posterior=posterior,
        field=None if field is None else _read_field(field, arrays, n_columns),
        **scalings,
        bound=fields.number("bound"),
        n_iter=fields.count("n_iter"),
        converged=fields.flag("converged"),
        message=fields.text("message"),
        is_residual=fields.flag("is_residual"),
        slope_at=arrays.floats("gp/slope_at", None, n_outputs),
    )
    fields.finish()
    return gp


def _limit(scaling: Scaling) -> float | None:
    return float(scaling.limit) if np.isfinite(scaling.limit) else None


def _read_scaling(name: str, size: int, limits: Fields, arrays: Arrays) -> Scaling:
    offset, scale = arrays.floats(f"gp/{name}", 2, size)
    if not (scale > 0.0).all():
        arrays.fail(f"gp/{name}", "scales have to be more than zero")
    limit = np.inf if limits.left.get(name, ...) is None else limits.number(name)
    limits.left.pop(name, None)
    return Scaling(offset, scale, limit)


def _write_field(field: NoiseField, put: Put) -> dict[str, Any]:
    return {
        "posterior": _write_posterior("gp/field", field.posterior, put),
        "offset": float(field.offset),
        "lowest": float(field.lowest),
        "highest": float(field.highest),
    }


def _read_field(fields: Fields, arrays: Arrays, n_columns: int) -> NoiseField:
    posterior = _read_posterior("gp/field", fields.child("posterior"), arrays, n_columns, 1)
    field = NoiseField(posterior, *(fields.number(name) for name in ("offset", "lowest", "highest")))
    fields.finish()
    return field


def _write_posterior(prefix: str, posterior: Posterior, put: Put) -> dict[str, Any]:
    """A lower triangular R, as that of the exact GP, is stored without its zeros, line by line."""
    for name in ("theta", "noise_variance", "points", "weights"):
        put(f"{prefix}/{name}", getattr(posterior, name))
    reducers = np.stack(posterior.reducers)
    is_lower = reducers.shape[1] == reducers.shape[2] and not np.triu(reducers, 1).any()
    put(f"{prefix}/reducers", reducers[:, *np.tril_indices(reducers.shape[1])] if is_lower else reducers)
    return {
        "terms": [asdict(term) for term in posterior.kernel.terms],
        "reducers": "lower" if is_lower else "full",
        "order": "C" if posterior.reducers[0].flags.c_contiguous else "F",
    }


def _read_posterior(prefix: str, fields: Fields, arrays: Arrays, n_columns: int, n_outputs: int) -> Posterior:
    terms = [_read_term(term, n_columns) for term in fields.children("terms")]
    if not terms:
        fields.fail("has to name at least one term", "terms")
    kernel = Kernel(tuple(terms))
    theta = arrays.floats(f"{prefix}/theta", kernel.n_parameters)
    if np.abs(theta).max() > LARGEST_LOG:
        arrays.fail(f"{prefix}/theta", f"logarithms have to be between ±{LARGEST_LOG:g}")
    noise_variance = arrays.floats(f"{prefix}/noise_variance", n_outputs)
    if not (noise_variance >= 0.0).all():
        arrays.fail(f"{prefix}/noise_variance", "variances have to be zero or more")
    points = arrays.floats(f"{prefix}/points", None, n_columns)
    m = len(points)
    weights = arrays.floats(f"{prefix}/weights", m, n_outputs)
    order: Any = fields.text("order", ("C", "F"))
    if fields.text("reducers", ("lower", "full")) == "full":
        stacked = arrays.floats(f"{prefix}/reducers", n_outputs, None, m)
    else:
        packed = arrays.floats(f"{prefix}/reducers", n_outputs, m * (m + 1) // 2)
        stacked = np.zeros((n_outputs, m, m))
        stacked[:, *np.tril_indices(m)] = packed
    fields.finish()
    reducers = tuple(np.asarray(matrix, order=order) for matrix in stacked)
    return Posterior(kernel, theta, noise_variance, points, weights, reducers)


def _write_evidence(evidence: Evidence, put: Put) -> dict[str, Any]:
    """What it takes to add rows."""
    put("gp/evidence/noise_variance", evidence.noise_variance)
    if isinstance(evidence, ExactEvidence):
        put("gp/evidence/targets", evidence.targets)
        put("gp/evidence/pull", evidence.pull)
        numbers = {"total_weight": evidence.total_weight, "log_precision": evidence.log_precision}
        return {"kind": "exact", **{name: float(value) for name, value in numbers.items()}}
    sums = evidence.sums
    for name in ("phi", "b", "s"):
        put(f"gp/evidence/{name}", getattr(sums, name))
    numbers = {"t": sums.t, "n": sums.n, "log_precision": sums.log_precision, "jitter": evidence.jitter}
    return {"kind": "sparse", **{name: float(value) for name, value in numbers.items()}}


def _read_evidence(fields: Fields, arrays: Arrays, m: int, q: int) -> Evidence:
    """Of a posterior with m points and q outputs."""
    noise_variance = _positive(arrays, "gp/evidence/noise_variance", q)
    found: Evidence
    if fields.text("kind", ("exact", "sparse")) == "exact":
        targets, pull = arrays.floats("gp/evidence/targets", m, q), _positive(arrays, "gp/evidence/pull", m)
        total_weight, log_precision = fields.positive("total_weight"), fields.number("log_precision")
        found = ExactEvidence(noise_variance, targets, pull, total_weight, log_precision)
    else:
        phi, b = arrays.floats("gp/evidence/phi", m, m), arrays.floats("gp/evidence/b", m, q)
        s = arrays.floats("gp/evidence/s", q)
        sums = Statistics(phi, b, s, fields.number("t"), fields.positive("n"), fields.number("log_precision"))
        found = SparseEvidence(noise_variance, sums, fields.positive("jitter", or_zero=True))
    fields.finish()
    return found


def _read_term(fields: Fields, n_columns: int) -> Term:
    start = fields.count("start", 0, n_columns - 1)
    term = Term(
        family=fields.text("family", FAMILIES),
        part=fields.text("part", ("input", "output")),
        start=start,
        stop=fields.count("stop", start + 1, n_columns),
        ard=fields.flag("ard"),
    )
    fields.finish()
    return term


def write_calibration(calibration: Calibration, put: Put) -> dict[str, Any]:
    """Scores of all groups and outputs in one array, group after group and in it output after output."""
    flat: list[Any] = [score for outputs in calibration.scores for score in outputs]
    put("calibration/n_rows", np.array(calibration.n_rows, dtype=np.int64))
    if calibration.method == "variance":
        put("calibration/std", np.array([score.std for score in flat]))
    elif calibration.method == "conformal":
        put("calibration/sizes", np.concatenate([score.factors[1:-1] for score in flat]))
    elif calibration.method == "conformal-asymmetric":
        put("calibration/scores", np.concatenate([score.ordered[1:-1] for score in flat]))
    else:
        put("calibration/n_points", np.array([len(score.points) for score in flat], dtype=np.int64))
        put("calibration/points", np.concatenate([score.points for score in flat]))
        put("calibration/probabilities", np.concatenate([score.probabilities for score in flat]))
        put("calibration/scale", np.array([score.scale for score in flat]))
    groups = calibration.groups
    return {"method": calibration.method, "groups": None if groups is None else [_label(group) for group in groups]}


def _label(group: Any) -> Any:
    value = group.item() if isinstance(group, np.generic) else group
    if isinstance(value, str | int | float):
        return value
    raise ValueError(
        f"the group {group!r} of the calibration cannot be stored: use strings or numbers as labels of groups"
    )


def read_calibration(fields: Fields, arrays: Arrays, n_outputs: int) -> Calibration:
    method = fields.text("method", tuple(METHODS))
    groups: tuple[Any, ...] | None = None
    if fields.left.get("groups", ...) is None:
        fields.take("groups")
    else:
        groups = tuple(fields.items("groups"))
        if not groups or not all(isinstance(label, str | int | float) for label in groups):
            fields.fail("has to be a list of strings or numbers", "groups")
        if len(set(groups)) != len(groups):
            fields.fail("has to hold each label once", "groups")
    fields.finish()
    n_groups = 1 if groups is None else len(groups)
    n_rows = arrays.counts("calibration/n_rows", n_groups, least=METHODS[method].least_rows)
    if n_groups * n_outputs > max((array.size for array in arrays.left.values()), default=0):
        arrays.fail(
            "calibration/n_rows", f"{n_groups} groups of {n_outputs} outputs are more than there are scores for"
        )
    flat = _READERS[method](arrays, np.repeat(n_rows, n_outputs).tolist())
    scores = [tuple(flat[start : start + n_outputs]) for start in range(0, len(flat), n_outputs)]
    return Calibration(method, groups, tuple(scores))


def _read_normal(arrays: Arrays, n_rows: list[int]) -> list[Scores]:
    std = _positive(arrays, "calibration/std", len(n_rows))
    return [ScaledNormal(n, float(value)) for n, value in zip(n_rows, std, strict=True)]


def _read_symmetric(arrays: Arrays, n_rows: list[int]) -> list[Scores]:
    sizes = _sorted_pieces(arrays, "calibration/sizes", n_rows)
    if any(piece[0] < 0.0 for piece in sizes):
        arrays.fail("calibration/sizes", "sizes have to be zero or more")
    return [SymmetricConformal(np.concatenate([[0.0], piece, [np.inf]])) for piece in sizes]


def _read_two_sided(arrays: Arrays, n_rows: list[int]) -> list[Scores]:
    scores = _sorted_pieces(arrays, "calibration/scores", n_rows)
    return [TwoSidedConformal(np.concatenate([[-np.inf], piece, [np.inf]])) for piece in scores]


def _read_isotonic(arrays: Arrays, n_rows: list[int]) -> list[Scores]:
    lengths = arrays.counts("calibration/n_points", len(n_rows), least=1).tolist()
    points = _sorted_pieces(arrays, "calibration/points", lengths)
    probabilities = _sorted_pieces(arrays, "calibration/probabilities", lengths)
    if any(piece[0] <= 0.0 or piece[-1] >= 1.0 for piece in probabilities):
        arrays.fail("calibration/probabilities", "probabilities have to be between 0 and 1")
    scale = _positive(arrays, "calibration/scale", len(n_rows)).tolist()
    return [Recalibrated(*of_one) for of_one in zip(n_rows, points, probabilities, scale, strict=True)]


_READERS: dict[str, Callable[[Arrays, list[int]], list[Scores]]] = {
    "variance": _read_normal,
    "conformal": _read_symmetric,
    "conformal-asymmetric": _read_two_sided,
    "isotonic": _read_isotonic,
}


def _positive(arrays: Arrays, name: str, size: int) -> Array:
    values = arrays.floats(name, size)
    if not (values > 0.0).all():
        arrays.fail(name, "values have to be more than zero")
    return values


def _sorted_pieces(arrays: Arrays, name: str, lengths: list[int]) -> list[Array]:
    values = arrays.floats(name, sum(lengths))
    pieces = np.split(values, np.cumsum(lengths)[:-1])
    if any((np.diff(piece) < 0.0).any() for piece in pieces):
        arrays.fail(name, "values have to be in ascending order")
    return pieces
