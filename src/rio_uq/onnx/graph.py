"""The arithmetic of a fitted regressor, as nodes of an ONNX graph.

The graph does what `RIORegressor.predict` does, operation by operation, in double precision whatever the type of its
inputs and outputs: a variance is the small difference of large numbers, of which single precision leaves nothing.

No number multiplies the inputs or the output of a matrix product: ONNX Runtime would make an attribute of the product
of it, and those are in single precision. Scales are therefore parts of the matrices, and variances of the exponents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rio_uq.fitted import Fitted
from rio_uq.gp.edges import has_slope, slope_of, slope_variance_of
from rio_uq.gp.kernels.terms import Term
from rio_uq.gp.noise.constant import Constant
from rio_uq.gp.noise.contract import Noise
from rio_uq.gp.noise.growth import LARGEST
from rio_uq.gp.noise.several import Several
from rio_uq.gp.noise.student import Student
from rio_uq.gp.noise.varying import Varying
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.residual import ResidualGP
from rio_uq.gp.scaling import Scaling
from rio_uq.onnx.nodes import Graph
from rio_uq.onnx.scales import OnnxScales


def predict(
    fitted: Fitted, graph: Graph, features: str | None, y_pred: str, levels: Sequence[float]
) -> dict[str, tuple[str, str]]:
    """Tensors and descriptions of the outputs, by name, from the GP's features and the model's predictions."""
    gp, calibration = fitted.gp, fitted.scores
    on_scale = OnnxScales(graph, fitted.scales.scales)
    if gp.is_residual:
        y_pred = on_scale.forward_prediction(y_pred)
    rows = predictions = _scaled(graph, y_pred, gp.outputs)
    if features is not None:
        rows = graph.apply("Concat", _scaled(graph, features, gp.inputs), rows, axis=1)
    unit = gp.correction * gp.targets.scale
    mean, latent = _moments(graph, rows, gp.posterior, unit)
    mean = graph.apply("Add", mean, gp.constant)
    if gp.edges is not None and has_slope(gp.posterior):
        within = graph.apply("Min", graph.apply("Max", predictions, gp.edges.lowest[None]), gp.edges.highest[None])
        beyond = graph.apply("Sub", predictions, within)
        mean = graph.apply("Add", mean, graph.apply("MatMul", beyond, -slope_of(gp.posterior, gp.n_predictions) * unit))
        unknown = slope_variance_of(gp.posterior, gp.n_predictions)[:, None]
        latent = graph.apply("Add", latent, graph.apply("MatMul", graph.apply("Mul", beyond, beyond), unknown))
    if gp.is_residual:
        mean = graph.apply("Add", y_pred, mean)
    variance = graph.apply("Mul", latent, gp.latent_unit[None] ** 2)
    if gp.edges is not None and gp.edges.open_slope.any():
        distance = graph.apply("Sub", predictions, gp.edges.middle[None])
        beyond = graph.apply("Sub", graph.apply("Mul", distance, distance), gp.edges.half_width[None] ** 2)
        far = graph.apply("Mul", graph.apply("Max", beyond, 0.0), (gp.edges.open_slope * gp.targets.scale)[None] ** 2)
        variance = graph.apply("Add", variance, far)
    std = graph.apply("Sqrt", graph.apply("Add", variance, _noise(graph, rows, y_pred, gp)))
    moments = mean, graph.apply("Mul", std, calibration.std_factor)
    if not fitted.scales.is_identity:
        own = on_scale.moments(mean, std, fitted.uncalibrated().nodes)
        moments = own if fitted.calibration is None else (own[0], on_scale.moments(mean, std, fitted.nodes)[1])
    results = {"mean": (moments[0], "corrected predictions"), "std": (moments[1], "standard deviations of outcomes")}
    for level in levels:
        for name, probability in (("lower", 0.5 - 0.5 * level), ("upper", 0.5 + 0.5 * level)):
            score = calibration.quantiles(np.array(probability))  # (1, q)
            step = graph.apply("Mul", std, score)
            end = graph.apply("Add", mean, step)
            if calibration.widening:
                size = graph.apply("Add", graph.apply("Abs", mean), graph.apply("Abs", step))
                outwards = calibration.widening * float(np.sign(probability - 0.5))
                end = graph.apply("Add", end, graph.apply("Mul", size, outwards))
            end = on_scale.inverse(end)
            results[f"{name}_{level:.12g}"] = end, f"{name} ends of intervals of level {level:.12g}"
    return results


def moments_of_target(gp: ResidualGP, graph: Graph, features: str | None, y_pred: str) -> tuple[str, str]:
    """Means of the GP's target and variances of its latent value, (n, q) each, where targets are no residuals."""
    rows = _scaled(graph, y_pred, gp.outputs)
    if features is not None:
        rows = graph.apply("Concat", _scaled(graph, features, gp.inputs), rows, axis=1)
    mean, latent = _moments(graph, rows, gp.posterior, gp.correction * gp.targets.scale)
    return graph.apply("Add", mean, gp.constant), graph.apply("Mul", latent, gp.latent_unit[None] ** 2)


def _scaled(graph: Graph, values: str, scaling: Scaling) -> str:
    """Cut off as in `Scaling`; but NaN and infinity stay visible, since 0 · NaN = 0 · ∞ = NaN."""
    moved = graph.apply("Div", graph.apply("Sub", values, scaling.offset[None]), scaling.scale[None])
    has_limit = np.isfinite(scaling.limit)
    cut = graph.apply("Clip", moved, -scaling.limit, scaling.limit) if has_limit else moved
    return graph.apply("Add", cut, graph.apply("Mul", moved, 0.0))


def _moments(graph: Graph, rows: str, posterior: Posterior, unit: Any) -> tuple[str, str]:
    """Means, times ``unit`` (q,), and latent variances, (n, q) each: see `rio_uq.gp.averaged`."""
    crosses = [_cross(graph, rows, one) for _, one in posterior.members]
    if all(term.part == "input" for term in posterior.kernel.terms):
        # The kernel does not look at predictions, and NaN among them has to be seen all the same.
        hidden = graph.apply("Mul", graph.row_sums(rows), 0.0)
        crosses = [graph.apply("Add", cross, hidden) for cross in crosses]
    members = list(zip(crosses, posterior.members, strict=True))
    latents = [_latent_variance(graph, rows, cross, one) for cross, (_, one) in members]
    mean = graph.total(graph.apply("MatMul", cross, share * one.weights * unit) for cross, (share, one) in members)
    if len(members) == 1:
        return mean, latents[0]
    scaled = graph.total(graph.apply("MatMul", cross, share * one.weights) for cross, (share, one) in members)
    parts = []
    for latent, (cross, (share, one)) in zip(latents, members, strict=True):
        away = graph.apply("Sub", graph.apply("MatMul", cross, one.weights), scaled)
        parts.append(graph.apply("Mul", graph.apply("Add", latent, graph.apply("Mul", away, away)), share))
    return mean, graph.total(parts)


def _cross(graph: Graph, rows: str, posterior: Posterior) -> str:
    """k(c, Z), shape (n, m)."""
    parts = zip(posterior.kernel.terms, posterior.kernel.split(posterior.theta), strict=True)
    return graph.total(
        _term(graph, _columns(graph, rows, term), term, theta, posterior.points) for term, theta in parts
    )


def _columns(graph: Graph, rows: str, term: Term) -> str:
    bounds = (graph.constant([bound], np.int64) for bound in (term.start, term.stop, 1))
    return graph.apply("Slice", rows, *bounds)


def _term(graph: Graph, x: str, term: Term, theta: Any, points: Any) -> str:
    """As in `rio_uq.gp.kernels`: ρ = |z/l|² + |x/l|² − 2 z·x/l² and k = v g(ρ), ρ = 0 where it is rounding."""
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
    """v g(ρ), see `rio_uq.gp.kernels.stationary`."""
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
    explained = []
    for factor in posterior.variance_factors:
        part = graph.apply("MatMul", cross, np.asarray(factor, dtype=float).T)
        explained.append(graph.row_sums(graph.apply("Mul", part, part)))
    reduction = explained[0] if len(explained) == 1 else graph.apply("Concat", *explained, axis=1)
    variance = graph.apply("Sub", _diagonal(graph, rows, posterior), reduction)
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
    return graph.total([graph.constant(constant), *linear])


def _noise(graph: Graph, rows: str, y_pred: str, gp: ResidualGP) -> str:
    """Noise variances, (1, q) or (n, q)."""
    noise = gp.noise.scatter if type(gp.noise) is Student else gp.noise
    if type(noise) is Several:
        factors = [_noise_factor(graph, rows, one) for one in noise.models]
        ones = graph.apply("Add", graph.apply("Mul", graph.row_sums(rows), 0.0), 1.0)
        factor = graph.apply("Concat", *(graph.apply("Mul", ones, one) for one in factors), axis=1)
    else:
        factor = _noise_factor(graph, rows, noise)
    variance = graph.apply("Mul", factor, gp.noise_variance[None])
    if gp.growth.is_none:
        return variance
    beyond = graph.apply("Max", graph.apply("Div", graph.apply("Abs", y_pred), gp.growth.reach[None]), 1.0)
    growth = graph.apply("Min", graph.apply("Pow", beyond, gp.growth.slope[None]), LARGEST)
    return graph.apply("Mul", variance, growth)


def _noise_factor(graph: Graph, rows: str, noise: Noise) -> str:
    """On the noise variance of a typical row, (1, 1) or (n, 1)."""
    if type(noise) is Constant:
        return graph.constant(np.ones((1, 1)))
    if type(noise) is not Varying:
        raise TypeError(f"noise of class {type(noise).__name__} cannot be exported: its nodes belong in {__name__}")
    posterior = noise.posterior
    g = graph.apply("MatMul", _cross(graph, rows, posterior), np.asarray(posterior.weights, dtype=float))
    within = graph.apply("Min", graph.apply("Max", g, noise.lowest), noise.highest)
    return graph.apply("Exp", graph.apply("Add", within, noise.offset))
