"""The parts of residuals: what comes from which part of the kernel, and from which feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from rio_uq._base.array import Array
from rio_uq.gp.residual import ResidualGP
from rio_uq.rows.kept import KeptRows

CANCEL = -0.5
"""Parts of a correction with a correlation below this cancel to a good deal."""


class Shares(NamedTuple):
    """The parts of the variance of residuals: shares that add up to 1, each a float or a (q,) array.

    Attributes
    ----------
    input, output : float or (q,) array
        What the GP has learnt from the features, and from the model's output. Where the two parts go together or
        against each other, their common variance is divided in proportion to the variance of each.
    unsettled : float or (q,) array
        What the GP is not sure of yet: more rows would tell.
    noise : float or (q,) array
        What cannot be foreseen.
    """

    input: Any
    output: Any
    unsettled: Any
    noise: Any


@dataclass(frozen=True)
class Feature:
    """A feature that the GP sees.

    Attributes
    ----------
    name : str
    relevance : float or (q,) array
        By how much the input part of the correction is expected to change, in the units of y, when the feature moves by
        one standard deviation: the shorter its lengthscale, the more. It is √(2 (k(0) − k(δ))) for a stationary kernel
        k and such a step δ.
    """

    name: str
    relevance: Any


def variances_of_parts(
    gp: ResidualGP, rows: KeptRows, correction: Array, latent: Array, noise: Array, n_jobs: int
) -> tuple[Array, Array, Array, Array]:
    """The variance of residuals over rows and outcomes, as a sum of four parts, each (q,); see `Shares`.

    By the law of total variance it is that of the correction over rows, plus the mean of what is not known of it, plus
    the mean noise.
    """

    def spread(values: Array) -> Array:
        centre = np.average(values, axis=0, weights=rows.weight)
        return np.asarray(np.average((values - centre) ** 2, axis=0, weights=rows.weight))

    has_output_part = bool(gp.posterior.kernel.part("output"))
    by_input = gp.part("input", rows.features, rows.y_pred, n_jobs) if has_output_part else correction
    parts = without_shared_slope(by_input, correction - by_input, rows.y_pred, rows.weight)
    input_spread, output_spread = (spread(part) for part in parts)
    both = input_spread + output_spread
    share = np.divide(input_spread, both, out=np.zeros_like(both), where=both > 0.0)
    learnt = spread(correction)
    unsettled, unforeseen = (np.average(values, axis=0, weights=rows.weight) for values in (latent, noise))
    return share * learnt, (1.0 - share) * learnt, np.asarray(unsettled), np.asarray(unforeseen)


def without_shared_slope(
    by_input: Array, by_output: Array, y_pred: Array, weight: Array | None = None
) -> tuple[Array, Array]:
    """The input and the output part of corrections, (n, q) each, without what one adds and the other takes away.

    ŷ is a function of the features, so that both parts can have a slope on it, and data tell only the sum of the two.
    Where the parts cancel, the input part's slope on ŷ is given to the output part, which stays a function of ŷ.
    """
    if y_pred.shape != by_input.shape:  # no prediction for each output
        return by_input, by_output
    weight = np.ones(len(y_pred)) if weight is None else weight

    def centred(values: Array) -> Array:
        return np.asarray(values - np.average(values, axis=0, weights=weight))

    def product(one: Array, other: Array) -> Array:
        return np.asarray(np.average(centred(one) * centred(other), axis=0, weights=weight))

    size = np.sqrt(product(by_input, by_input) * product(by_output, by_output))
    cancels = product(by_input, by_output) < CANCEL * size
    spread = product(y_pred, y_pred)
    slope = np.divide(product(by_input, y_pred), spread, out=np.zeros_like(spread), where=cancels & (spread > 0.0))
    shared = slope * centred(y_pred)
    return by_input - shared, by_output + shared


def feature_relevance(gp: ResidualGP, features: Array) -> Array:
    """By how much the input part is expected to change, in the units of y, when a feature moves by its standard
    deviation over the given rows (n, d); shape (d, q).

    A priori, f(c + δ) − f(c) has the variance k(c + δ, c + δ) − 2 k(c + δ, c) + k(c, c); c is the mean of the rows.
    """
    d, posterior = features.shape[1], gp.posterior
    terms = posterior.kernel.part("input")
    squares = np.zeros(d)
    if d and terms:
        kernel, theta = posterior.kernel.restricted(terms, posterior.theta)
        step = gp.inputs.apply(features).std(axis=0)
        centre = np.zeros((1, posterior.points.shape[1]))
        at_centre = kernel.diagonal(theta, centre)
        for batch in gen_batches(d, 256):
            columns = np.arange(d)[batch]
            moved = np.zeros((len(columns), centre.shape[1]))
            moved[np.arange(len(columns)), columns] = step[columns]
            cross = kernel.matrix(theta, moved, centre)[:, 0]
            squares[batch] = kernel.diagonal(theta, moved) - 2.0 * cross + at_centre
    return np.sqrt(np.maximum(squares, 0.0))[:, None] * gp.targets.scale
