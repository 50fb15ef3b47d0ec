"""The noise of outcomes where it is not the same everywhere: learnt from leave-one-out residuals.

The residual e_i of row i, left out, has the variance l_i + s_i: what the GP does not know of the latent value there,
and the noise of the outcome. The GP gives l; the functions here find s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import digamma, polygamma

from rio_uq._base.array import Array, Mask
from rio_uq.gp.inference import sparse
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.posterior import Posterior, predict_mean
from rio_uq.gp.rows import Rows
from rio_uq.gp.starts import Scales, bounds_of, rio_start, weak_prior
from rio_uq.gp.training import Settings, train

RATIO_DEVIATION = 1.0
"""Standard deviation of the prior on the logarithm of a ratio of two noise variances."""


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

    found = minimize_scalar(loss, bounds=(np.log(scale) - 20.0, np.log(scale) + 5.0), method="bounded")
    return float(np.exp(found.x))


def noise_of_unseen_rows(residual: Array, latent: Array, weight: Array, held_out: Mask) -> tuple[float, float]:
    """Noise variances of the rows that a model was trained on, and of held-out rows.

    A model fits the noise of its training rows in part, so that their residuals are smaller than those of new rows.

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

    def variance(rows: Mask, near: float) -> float:
        weights = np.repeat(weight[rows], residual.shape[1])
        return likeliest_variance(residual[rows].ravel(), latent[rows].ravel(), weights, near=near)

    seen = variance(~held_out, 1.0)
    return seen, variance(held_out, seen)


MEAN_LOG_CHI2, VARIANCE_LOG_CHI2 = float(digamma(0.5) + np.log(2.0)), float(polygamma(1, 0.5))
"""Of the logarithm of a χ² variable with one degree of freedom, which is what a squared residual is."""

FIELD_POINTS = 100
"""Inducing points of the GP on log noise: it is smooth, and its data say little row by row."""

FIELD_ITERATIONS, FIELD_TOLERANCE = 50, 1e-5
SCORING_STEPS = 6
LARGEST_SQUARE, FURTHEST_STEP = 30.0, 2.0
"""Against outliers: squared residuals count for at most so many times their variance in scoring (of normal noise hardly
any is larger), and scoring leaves the range that g has by the logarithms by at most so much."""

EVIDENCE_NEEDED = 3.0
"""Log evidence for varying noise over constant noise that it takes to believe it, beside ½ for each parameter."""


@dataclass(frozen=True)
class NoiseField:
    """Noise that depends on the row: its variance is that of the GP's likelihood times exp(g(c)), with a GP for g.

    Attributes
    ----------
    posterior : Posterior
        Of g.
    offset : float
        Its mean.
    lowest, highest : float
        The range of g − offset over the training rows. Elsewhere g stays within: nothing is known of noise beyond, and
        a trend in its logarithm would soon be absurd.
    """

    posterior: Posterior
    offset: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, posterior: Posterior, offset: float, rows: Array, n_jobs: int = 1) -> NoiseField:
        """With the range of g over the given rows."""
        g = predict_mean(posterior, rows, n_jobs=n_jobs)
        return cls(posterior, offset, float(g.min()), float(g.max()))

    def factor(self, rows: Array, n_jobs: int = 1) -> Array:
        """exp(g) at each row, shape (n,)."""
        g = predict_mean(self.posterior, rows, n_jobs=n_jobs)[:, 0]
        return np.asarray(np.exp(self.offset + np.clip(g, self.lowest, self.highest)))


def fit_noise_field(
    kernel: Kernel, data: Rows, n_inputs: int, residual: Array, latent: Array, rng: np.random.Generator
) -> NoiseField | None:
    """Learn how noise depends on the row, from leave-one-out residuals; None if there is no evidence that it does.

    With residuals and latent variances in units of the noise, e² ~ (l + exp g) χ²: the logarithm of e²/(1 + l), less
    its mean under χ², is g plus noise of known size. The hyperparameters of g come from these logarithms, which no
    outlier can disturb; they are less telling than the squares themselves, so g then takes some steps of Fisher scoring
    on

        log p(e) = −½ log(l + exp g) − ½ e²/(l + exp g)

    whose working response is g + (e²/V − 1) V/s with variance 2 (V/s)², where s = exp g and V = l + s.

    Parameters
    ----------
    kernel : Kernel
        Of g.
    data : Rows
    n_inputs : int
        How many of the columns are inputs.
    residual, latent : (n, q) arrays
        In units of each output's noise; outputs share g.
    rng : numpy.random.Generator
    """
    q = residual.shape[1]
    squares = np.maximum(residual**2, 1e-12)
    logs = (np.log(squares / (1.0 + latent)) - MEAN_LOG_CHI2).mean(axis=1)
    offset = float(np.average(logs, weights=data.weight))
    problem = replace(data, targets=(logs - offset)[:, None], precision=None)
    scales = Scales.of(problem, n_inputs, 0.0)
    bounds = bounds_of(kernel, 1, scales)
    log_variance = np.log(VARIANCE_LOG_CHI2 / q)
    bounds[-1] = log_variance
    start = rio_start(kernel, 1, scales)
    start[-1] = log_variance
    settings = Settings("sparse", n_inducing=FIELD_POINTS, max_iter=FIELD_ITERATIONS, tolerance=FIELD_TOLERANCE)
    trained = train(kernel, problem, [start], bounds, settings, rng, weak_prior(kernel, 1, scales))
    evidence = trained.bound - _log_likelihood_of_zero(problem, np.exp(log_variance))
    if evidence < EVIDENCE_NEEDED + 0.5 * kernel.n_parameters:
        return None
    posterior = trained.posterior
    first = predict_mean(posterior, data.rows, n_jobs=data.n_jobs)
    for _ in range(SCORING_STEPS):
        g = predict_mean(posterior, data.rows, n_jobs=data.n_jobs)
        g = offset + np.clip(g, first.min() - FURTHEST_STEP, first.max() + FURTHEST_STEP)
        s = np.exp(g)
        share = s / (latent + s)
        response = g + (np.minimum(squares / (latent + s), LARGEST_SQUARE) - 1.0) / share
        precision = (share**2).sum(axis=1)
        target = (share**2 * response).sum(axis=1, keepdims=True) / precision[:, None]
        step = replace(problem, targets=target - offset, precision=precision)
        posterior = sparse.posterior(kernel, posterior.theta, np.log([2.0]), posterior.points, step)
    field = NoiseField.of(posterior, offset, data.rows, data.n_jobs)
    low, high = float(first.min()) - FURTHEST_STEP, float(first.max()) + FURTHEST_STEP
    high = min(high, float(np.log(squares.max())) - offset)  # no noise is larger than the largest residual
    field = replace(field, lowest=max(field.lowest, low), highest=max(low, min(field.highest, high)))
    return field if _makes_likelier(field, data, residual, latent) else None


def _makes_likelier(field: NoiseField, data: Rows, residual: Array, latent: Array) -> bool:
    """Whether left-out residuals are likelier with noise that varies than with constant noise.

    The logarithms of residuals, by which the field was found, hardly see heavy tails, and a normal distribution has to
    cover them: where noise is far from normal, the field may be too small everywhere.
    """
    weight = np.repeat(np.ones(len(data)) if data.weight is None else data.weight, residual.shape[1])
    squares, latent = residual.ravel() ** 2, latent.ravel()
    constant = latent + likeliest_variance(residual.ravel(), latent, weight)
    varying = latent + np.repeat(field.factor(data.rows, data.n_jobs), residual.shape[1])
    losses = [float(weight @ (np.log(variance) + squares / variance)) for variance in (constant, varying)]
    return losses[1] < losses[0]


def _log_likelihood_of_zero(data: Rows, variance: float) -> float:
    """Of the targets, if they are nothing but noise."""
    weight: Array = np.ones(len(data)) if data.weight is None else data.weight
    return -0.5 * float(weight @ (np.log(2.0 * np.pi * variance) + data.targets[:, 0] ** 2 / variance))
