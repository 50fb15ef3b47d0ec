"""A posterior with the statistics of its rows, or the members of an average, as plain values and arrays, and back."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.averaged import average_of
from rio_uq.gp.inference import nearest
from rio_uq.gp.inference.collapsed import Sums
from rio_uq.gp.inference.contract import Statistics
from rio_uq.gp.inference.exact import ExactStatistics
from rio_uq.gp.inference.local import Weights
from rio_uq.gp.inference.nearest import NearestStatistics
from rio_uq.gp.inference.sparse import SparseStatistics
from rio_uq.gp.inference.two_parts import TwoParts
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.terms import FAMILIES, Term
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior
from rio_uq.storage.fields import Arrays, Fields, Put, member

LARGEST_LOG = 700.0
"""Logarithms beyond this overflow."""


def write_average(posterior: Posterior, put: Put) -> None:
    """Of an average: shares and hyperparameters; the rest follows from these and the rows."""
    shares, posteriors = zip(*posterior.members, strict=True)
    put("gp/members/share", np.array(shares))
    put("gp/members/theta", np.stack([one.theta for one in posteriors]))
    put("gp/members/noise_variance", np.stack([one.likelihood_noise for one in posteriors]))


def _read_average(optimum: Posterior, statistics: ExactStatistics, arrays: Arrays) -> Posterior:
    shares = arrays.positive("gp/members/share", None)
    if not np.isclose(shares.sum(), 1.0):
        arrays.fail("gp/members/share", "shares have to add up to one")
    theta = arrays.floats("gp/members/theta", len(shares), optimum.kernel.n_parameters)
    noise_variance = arrays.positive("gp/members/noise_variance", len(shares), optimum.n_outputs)
    _check_logarithms("gp/members/theta", theta, arrays)
    try:
        posteriors = [
            statistics._replace(noise_variance=noise).posterior(optimum.kernel, x, optimum.points)
            for x, noise in zip(theta, noise_variance, strict=True)
        ]
    except np.linalg.LinAlgError:
        arrays.fail("gp/members/theta", "does not belong to the rows")
    return average_of(optimum, shares, posteriors)


def write_posterior(prefix: str, posterior: Posterior, put: Put) -> dict[str, Any]:
    """A lower triangular R, as that of the exact GP, is stored without its zeros, line by line."""
    terms = [asdict(term) for term in posterior.kernel.terms]
    if not posterior.predicts_from_points:
        for name in ("theta", "noise_variance"):
            put(f"{prefix}/{name}", getattr(posterior, name))
        return {"terms": terms}
    for name in ("theta", "noise_variance", "points", "weights"):
        put(f"{prefix}/{name}", getattr(posterior, name))
    factors = np.stack(posterior.variance_factors)
    is_lower = factors.shape[1] == factors.shape[2] and not np.triu(factors, 1).any()
    put(f"{prefix}/reducers", factors[:, *np.tril_indices(factors.shape[1])] if is_lower else factors)
    return {
        "terms": terms,
        "reducers": "lower" if is_lower else "full",
        "order": "C" if posterior.variance_factors[0].flags.c_contiguous else "F",
    }


def read_gp_posterior(fields: Fields, arrays: Arrays, n_columns: int, n_outputs: int) -> Posterior:
    """With the sufficient statistics of its rows, if the file has them."""
    of_posterior, statistics = fields.child("posterior"), fields.optional_child("evidence")
    if statistics is not None and statistics.left.get("kind") == "nearest":
        return _read_nearest(of_posterior, statistics, arrays, n_columns, n_outputs)
    posterior = read_posterior("gp/posterior", of_posterior, arrays, n_columns, n_outputs)
    if statistics is None:
        return posterior
    of_rows = _read_statistics(statistics, arrays, *posterior.weights.shape)
    posterior = replace(posterior, statistics=of_rows)
    if isinstance(of_rows, ExactStatistics) and member("gp/members/share") in arrays.left:
        return _read_average(posterior, of_rows, arrays)
    return posterior


def _read_hyperparameters(
    prefix: str, fields: Fields, arrays: Arrays, n_columns: int, n_outputs: int
) -> tuple[Kernel, Array, Array]:
    """Kernel, its log-parameters, and noise variances."""
    terms = [_read_term(term, n_columns) for term in fields.children("terms")]
    if not terms:
        fields.fail("has to name at least one term", "terms")
    kernel = Kernel(tuple(terms))
    theta = arrays.floats(f"{prefix}/theta", kernel.n_parameters)
    _check_logarithms(f"{prefix}/theta", theta, arrays)
    noise_variance = arrays.floats(f"{prefix}/noise_variance", n_outputs)
    if not (noise_variance >= 0.0).all():
        arrays.fail(f"{prefix}/noise_variance", "variances have to be zero or more")
    return kernel, theta, noise_variance


def _check_logarithms(name: str, theta: Array, arrays: Arrays) -> None:
    if np.abs(theta).max() > LARGEST_LOG:
        arrays.fail(name, f"logarithms have to be between ±{LARGEST_LOG:g}")


def _read_nearest(
    of_posterior: Fields, statistics: Fields, arrays: Arrays, n_columns: int, n_outputs: int
) -> Posterior:
    """Made anew from its rows, and from what these tell of the features that they share."""
    kernel, theta, noise_variance = _read_hyperparameters("gp/posterior", of_posterior, arrays, n_columns, n_outputs)
    of_posterior.finish()
    statistics.text("kind", ("nearest",))
    n_neighbors, n_points = statistics.count("n_neighbors", 1), statistics.count("n_points", 0)
    statistics.finish()
    rows = arrays.floats("gp/evidence/rows", None, n_columns)
    if not len(rows):
        arrays.fail("gp/evidence/rows", "has to have one row at least")
    targets, noise = (
        arrays.floats("gp/evidence/targets", len(rows), n_outputs),
        arrays.positive("gp/evidence/noise_variance", n_outputs),
    )
    weight, precision = (
        arrays.positive(name, len(rows)) if member(name) in arrays.left else None
        for name in ("gp/evidence/weight", "gp/evidence/precision")
    )
    data, points = Observations(rows, targets, weight, precision), rows[:0]
    if member("gp/evidence/shared") in arrays.left:
        points = arrays.floats("gp/evidence/shared", None, n_columns)
    weights = _read_weights(TwoParts(kernel, theta, points).n_features, arrays, n_outputs)
    posterior = nearest.posterior_of(kernel, theta, noise, data, n_neighbors, n_points, (points, weights))
    return replace(posterior, noise_variance=noise_variance)


def _read_weights(n_features: int, arrays: Arrays, n_outputs: int) -> Weights:
    """Of features that rows share."""
    if not n_features:
        return Weights.zero(0, n_outputs)
    name = "gp/evidence/feature_covariance"
    mean = arrays.floats("gp/evidence/feature_weights", n_features, n_outputs)
    covariance = arrays.floats(name, n_outputs, n_features, n_features)
    if not (np.diagonal(covariance, axis1=1, axis2=2) >= 0.0).all():
        arrays.fail(name, "variances have to be zero or more")
    return Weights(mean, covariance)


def read_posterior(prefix: str, fields: Fields, arrays: Arrays, n_columns: int, n_outputs: int) -> Posterior:
    kernel, theta, noise_variance = _read_hyperparameters(prefix, fields, arrays, n_columns, n_outputs)
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
    factors = tuple(np.asarray(matrix, order=order) for matrix in stacked)
    return Posterior(kernel, theta, noise_variance, points, weights, factors)


def write_statistics(statistics: Statistics, put: Put) -> dict[str, Any]:
    """The sufficient statistics of the rows."""
    if not isinstance(statistics, ExactStatistics | SparseStatistics | NearestStatistics):
        raise TypeError(
            f"statistics of class {type(statistics).__name__} have no form in a file: write one in {__name__}"
        )
    put("gp/evidence/noise_variance", statistics.noise_variance)
    if isinstance(statistics, NearestStatistics):
        data, weights = statistics.local.data, statistics.local.weights
        if len(statistics.local.parts.points):
            put("gp/evidence/shared", statistics.local.parts.points)
        if len(weights.mean):
            put("gp/evidence/feature_weights", weights.mean)
            put("gp/evidence/feature_covariance", weights.covariance)
        for name in ("rows", "targets", "weight", "precision"):
            if (values := getattr(data, name)) is not None:
                put(f"gp/evidence/{name}", values)
        numbers = {"n_neighbors": statistics.local.n_neighbors, "n_points": statistics.n_points}
        return {"kind": statistics.kind, **numbers}
    if isinstance(statistics, ExactStatistics):
        put("gp/evidence/targets", statistics.targets)
        put("gp/evidence/pull", statistics.effective_weight)
        sizes = {"total_weight": statistics.total_weight, "log_precision": statistics.log_precision}
        return {"kind": statistics.kind, **{name: float(value) for name, value in sizes.items()}}
    sums = statistics.sums
    for name in ("phi", "b", "s"):
        put(f"gp/evidence/{name}", getattr(sums, name))
    sizes = {"t": sums.t, "n": sums.n, "log_precision": sums.log_precision, "jitter": statistics.jitter}
    return {"kind": statistics.kind, **{name: float(value) for name, value in sizes.items()}}


def _read_statistics(fields: Fields, arrays: Arrays, m: int, q: int) -> ExactStatistics | SparseStatistics:
    """Of a posterior with m points and q outputs."""
    noise_variance = arrays.positive("gp/evidence/noise_variance", q)
    statistics: ExactStatistics | SparseStatistics
    if fields.text("kind", ("exact", "sparse")) == "exact":
        targets, effective_weight = arrays.floats("gp/evidence/targets", m, q), arrays.positive("gp/evidence/pull", m)
        total_weight, log_precision = fields.positive("total_weight"), fields.number("log_precision")
        statistics = ExactStatistics(noise_variance, targets, effective_weight, total_weight, log_precision)
    else:
        phi, b = arrays.floats("gp/evidence/phi", m, m), arrays.floats("gp/evidence/b", m, q)
        s = arrays.floats("gp/evidence/s", q)
        sums = Sums(phi, b, s, fields.number("t"), fields.positive("n"), fields.number("log_precision"))
        statistics = SparseStatistics(noise_variance, sums, fields.positive("jitter", or_zero=True))
    fields.finish()
    return statistics


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
