"""Trust in the model: the slope of the output part of the GP on ŷ."""

from __future__ import annotations

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp import posterior as gp_posterior
from rio_uq.gp.posterior import Posterior

TRUST_ROWS = 200
"""The slope of the output part on ŷ is taken over this many rows."""


def spread_out(y_pred: Array) -> Array:
    """At most `TRUST_ROWS` of the predictions (n, p), evenly spread in the order of the first output."""
    ordered = y_pred[np.argsort(y_pred[:, 0], kind="stable")]
    return np.asarray(ordered[np.linspace(0, len(ordered) - 1, min(TRUST_ROWS, len(ordered))).round().astype(int)])


def output_slope(posterior: Posterior, y_pred: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of the slope of the output part on ŷ (k, q), for each output, in scaled units; NaN
    where ŷ is constant.

    The least-squares slope over given predictions is a linear functional a·f of the output part f, so with C rows that
    have these predictions its posterior mean is aᵀ k(C, Z) W, and its prior variance aᵀ k(C, C) a is reduced as any
    other. Slopes of the members of an average are averaged as their predictions are.
    """
    q = posterior.n_outputs
    terms = posterior.kernel.part("output")
    if not terms:
        return np.zeros(q), np.zeros(q)
    is_constant = np.ptp(y_pred, axis=0) == 0.0
    n_inputs = posterior.points.shape[1] - q
    chosen = np.hstack([np.zeros((len(y_pred), n_inputs)), y_pred])  # the output part does not look at inputs
    functional = np.linalg.pinv(np.where(is_constant, 0.0, y_pred - y_pred.mean(axis=0))).T  # (rows, q)
    shares = np.array([[member.share] for member in posterior.members])
    each = [_slope(member.posterior.of_terms(terms), chosen, functional) for member in posterior.members]
    slopes, variances = (np.stack(values) for values in zip(*each, strict=True))
    slope = (shares * slopes).sum(axis=0)
    std = np.sqrt((shares * (variances + (slopes - slope) ** 2)).sum(axis=0))
    return np.where(is_constant, np.nan, slope), np.where(is_constant, np.nan, std)


def _slope(part: Posterior, chosen: Array, functional: Array) -> tuple[Array, Array]:
    """Mean and variance of the functionals (k, q) of each output at the rows C, (q,) each."""
    cross = part.kernel.matrix(part.theta, part.points, chosen) @ functional
    prior = functional.T @ part.kernel.matrix(part.theta, chosen, chosen) @ functional
    outputs = np.arange(part.n_outputs)
    variance = gp_posterior.condition(part, prior, cross)[outputs, outputs, outputs]
    return (cross.T @ part.weights)[outputs, outputs], np.maximum(variance, 0.0)
