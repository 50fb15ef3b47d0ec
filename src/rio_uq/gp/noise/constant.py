"""Noise that is the same for all rows, and its variance where a model has seen some of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from rio_uq._base.array import Array, Mask
from rio_uq.gp.noise.contract import LearntNoise, Response
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior

RATIO_DEVIATION = 1.0
"""Standard deviation of the prior on the logarithm of a ratio of two noise variances."""

LEAST_SEEN = 1e-6
"""Noise variance of rows that were seen, in units of that of all: a model may have no residuals there at all."""


@dataclass(frozen=True)
class Constant:
    """Gaussian noise with one variance for each output."""

    varies = False

    def response(self, rows: Array, targets: Array, posterior: Posterior) -> Response:
        return Response(targets)

    def variance(self, rows: Array, level: Array, n_jobs: int = 1) -> Array:
        return np.tile(level, (len(rows), 1))


def fit_constant(
    posterior: Posterior, data: Observations, n_inputs: int, residual: Array, latent: Array, rng: np.random.Generator
) -> LearntNoise:
    """The noise of the likelihood: there is nothing to learn."""
    return LearntNoise(Constant(), 1.0, np.ones(len(data)))


def with_noise_of(posterior: Posterior, left_out: tuple[Array, Array], weight: Array, least: Array) -> Posterior:
    """With the noise variances under which residuals of left-out rows, with their latent variances, are likeliest, and
    none smaller than ``least`` (q,).
    """
    noise = [
        likeliest_variance(residual, latent, weight) for residual, latent in zip(*(x.T for x in left_out), strict=True)
    ]
    return replace(posterior, noise_variance=np.maximum(noise, least))


def likeliest_variance(residual: Array, latent: Array, weight: Array, *, near: float | None = None) -> float:
    """The noise variance s under which residuals with variances l_i + s are likeliest.

    It maximises −½ Σ w_i (log(l_i + s) + e_i²/(l_i + s)), with a prior that log s is close to that of ``near``.

    Parameters
    ----------
    residual, latent, weight : (k,) arrays
    near : float or None
        With few residuals the answer stays near this variance.
    """
    squares = residual**2
    scale = float(np.average(squares, weights=weight)) + np.finfo(float).tiny

    def loss(log_s: float) -> float:
        variance = latent + np.exp(log_s)
        value = 0.5 * float(weight @ (np.log(variance) + squares / variance))
        return value if near is None else value + 0.5 * ((log_s - np.log(near)) / RATIO_DEVIATION) ** 2

    optimum = minimize_scalar(loss, bounds=(np.log(scale) - 20.0, np.log(scale) + 5.0), method="bounded")
    return float(np.exp(optimum.x))


def noise_of_unseen_rows(residual: Array, latent: Array, weight: Array, held_out: Mask) -> tuple[float, float]:
    """Noise variances of the rows that a model was trained on, and of held-out rows.

    A model fits the noise of its training rows in part, so that their residuals are smaller than those of new rows, and
    by any factor if it has memorised them. That they are larger is less plausible, and few rows do not show it.

    Parameters
    ----------
    residual, latent : (n, q) arrays
        Leave-one-out residuals and latent variances, in units of each output's noise.
    weight : (n,) array
    held_out : (n,) array of bool

    Returns
    -------
    seen, unseen : float
        In the same units.
    """

    def variance(rows: Mask, near: float | None) -> float:
        weights = np.repeat(weight[rows], residual.shape[1])
        return likeliest_variance(residual[rows].ravel(), latent[rows].ravel(), weights, near=near)

    seen = max(variance(~held_out, 1.0), LEAST_SEEN)
    alone = variance(held_out, None)
    return seen, alone if alone > seen else variance(held_out, seen)
