"""The noise of outcomes where it is not the same everywhere: learnt from leave-one-out residuals.

The leave-one-out residual e_i of row i has the variance l_i + s_i: the variance of the latent value there, and the
noise of the outcome. The GP gives l; the functions here find s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma, polygamma

from rio_uq._base.array import Array
from rio_uq.gp.inference import sparse
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.noise.constant import fit_constant, likeliest_variance
from rio_uq.gp.noise.contract import LearntNoise, Response
from rio_uq.gp.observations import Observations
from rio_uq.gp.paired import is_clear_gain
from rio_uq.gp.posterior import Posterior, predict_mean
from rio_uq.gp.priors import weak_prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, rio_start
from rio_uq.gp.training import train

MEAN_LOG_CHI2, VARIANCE_LOG_CHI2 = float(digamma(0.5) + np.log(2.0)), float(polygamma(1, 0.5))
"""Of the logarithm of a χ² variable with one degree of freedom, which is what a squared residual is."""

FIELD_POINTS = 100
"""Inducing points of the GP on log noise: it is smooth, and its data say little row by row."""

FEW_ROWS = 200
"""Up to this many rows they are all points, and the exact GP, which needs no search for points, is faster."""

FIELD_ITERATIONS, FIELD_TOLERANCE = 50, 1e-4

LOG_VARIANCE_RANGE = (0.25, 4.0)
"""The variance of the logarithms is learnt, in this range of multiples of what it is for normal noise: outliers make it
larger, and should not be taken for a dependence on the row."""

SCORING_STEPS = 6
SMALLEST_SQUARE = 1e-3
"""Of the mean: a residual that happens to be zero, as with rounded outcomes, is no evidence of vanishing noise."""

LARGEST_SQUARE, FURTHEST_STEP = 30.0, 2.0
"""Against outliers: squared residuals count for at most so many times their variance in scoring (of normal noise hardly
any is larger), and scoring leaves the range that g has by the logarithms by at most so much."""

LEAST_LOG_BAYES_FACTOR = 3.0
"""Of varying noise over constant noise, beside ½ for each parameter. With less, left-out rows have to be clearly
likelier with it, by their squares: where noise is loud in few rows, logarithms hardly show it."""

STANDARD_ERRORS, LEAST_GAIN = 2.0, 5.0
"""By so many standard errors, and so many nats."""

LEAST_NOISE = 0.05
"""Of the total variance, as a start: where latent variances are large, residuals do not tell it apart from them."""


@dataclass(frozen=True)
class Varying:
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

    varies = True

    posterior: Posterior
    offset: float
    lowest: float
    highest: float

    def factor(self, rows: Array, n_jobs: int = 1) -> Array:
        """exp(g) at each row, shape (n,)."""
        g = predict_mean(self.posterior, rows, n_jobs=n_jobs)[:, 0]
        return np.asarray(np.exp(self.offset + np.clip(g, self.lowest, self.highest)))

    def response(self, rows: Array, targets: Array, posterior: Posterior) -> Response:
        """The targets, all equally precise. Giving each row the precision that its noise deserves and training again
        was measured: it lowered NLPD, but raised RMSE and CRPS. Noise seems large where the kernel does not fit, and
        with precisions it never will.
        """
        return Response(targets)

    def variance(self, rows: Array, level: Array, n_jobs: int = 1) -> Array:
        return self.factor(rows, n_jobs)[:, None] * level


def fit_varying(
    posterior: Posterior, data: Observations, n_inputs: int, residual: Array, latent: Array, rng: np.random.Generator
) -> LearntNoise:
    """Varying noise, with zero as the mean of g over the rows, and its level; constant noise where that is likelier."""
    fit = _fit_field(posterior.kernel, data, n_inputs, residual, latent, rng)
    if fit is None:
        return fit_constant(posterior, data, n_inputs, residual, latent, rng)
    field, left_out = fit
    typical = float(np.average(np.log(field.factor(data.rows, data.n_jobs)), weights=data.weight))
    return LearntNoise(replace(field, offset=field.offset - typical), float(np.exp(typical)), left_out)


def _fit_field(
    kernel: Kernel, data: Observations, n_inputs: int, residual: Array, latent: Array, rng: np.random.Generator
) -> tuple[Varying, Array] | None:
    """Learn how noise depends on the row, from leave-one-out residuals; None if there is no evidence that it does.

    With residuals and latent variances in units of the noise, e² ~ (l + exp g) χ²: the logarithm of e²/(1 + l), less
    its mean under χ², is g plus noise of known size. The hyperparameters of g come from these logarithms, which no
    outlier can disturb; they are less informative than the squares themselves, so g then takes some steps of Fisher
    scoring on

        log p(e) = −½ log(l + exp g) − ½ e²/(l + exp g)

    whose working response is g + (e²/V − 1) V/s with variance 2 (V/s)², where s = exp g and V = l + s.

    Scoring starts at s = (1 + l) e^g − l, with the g that the logarithms have told: where latent variances are large
    beside the noise, e^g itself is far from it.

    The last step is a sparse GP on working responses, which has its own leave-one-out in closed form: response minus
    leave-one-out residual is g at a row without that row's response.

    Parameters
    ----------
    kernel : Kernel
        Of g.
    data : Observations
    n_inputs : int
        How many of the columns are inputs.
    residual, latent : (n,) arrays
        In units of the noise.
    rng : numpy.random.Generator

    Returns
    -------
    field : Varying
    left_out : (n,) array
        exp(g) at each row, without that row.
    """
    squares = np.maximum(residual**2, SMALLEST_SQUARE * float(np.mean(residual**2)) + 1e-300)
    logs = np.log(squares / (1.0 + latent)) - MEAN_LOG_CHI2
    offset = float(np.average(logs, weights=data.weight))
    problem = replace(data, targets=(logs - offset)[:, None], precision=None)
    scales = Scales.of(problem, n_inputs, 0.0)
    bounds = bounds_of(kernel, 1, scales)
    log_variance = np.log(VARIANCE_LOG_CHI2)
    bounds[-1] = log_variance + np.log(LOG_VARIANCE_RANGE)
    start = rio_start(kernel, 1, scales)
    start[-1] = log_variance
    settings = Settings(
        "exact" if len(data) <= FEW_ROWS else "sparse",
        n_inducing=FIELD_POINTS,
        max_iter=FIELD_ITERATIONS,
        tolerance=FIELD_TOLERANCE,
    )
    trained = train(kernel, problem, [start], bounds, settings, rng, weak_prior(kernel, 1, scales))
    variance = float(np.clip(scales.target, *np.exp(bounds[-1])))
    log_bayes_factor = trained.bound - _log_likelihood_of_zero(problem, variance)
    is_sure = log_bayes_factor > LEAST_LOG_BAYES_FACTOR + 0.5 * kernel.n_parameters
    posterior = trained.posterior
    if not is_sure and float(np.mean(residual**2)) < np.finfo(float).tiny ** 0.5:
        return None  # nothing is left of any row
    total = np.exp(offset + predict_mean(posterior, data.rows, n_jobs=data.n_jobs)[:, 0]) * (1.0 + latent)
    first = np.log(np.maximum(total - latent, LEAST_NOISE * total)) - offset
    low, high = float(first.min()) - FURTHEST_STEP, float(first.max()) + FURTHEST_STEP
    g = offset + first
    for step_number in range(SCORING_STEPS):
        if step_number:
            g = predict_mean(posterior, data.rows, n_jobs=data.n_jobs)[:, 0]
            g = offset + np.clip(g, low, high)
        s = np.exp(g)
        share = s / (latent + s)
        response = g + (np.minimum(squares / (latent + s), LARGEST_SQUARE) - 1.0) / share
        step = replace(problem, targets=(response - offset)[:, None], precision=share**2)
        posterior = sparse.posterior(kernel, posterior.theta, np.log([2.0]), posterior.points, step)
    g = predict_mean(posterior, data.rows, n_jobs=data.n_jobs)
    high = min(high, float(np.log(squares.max())) - offset)  # no noise is larger than the largest residual
    field = Varying(posterior, offset, max(float(g.min()), low), max(low, min(float(g.max()), high)))
    without_row = step.targets - posterior.leave_one_out(step)[0]
    left_out = np.exp(offset + np.clip(without_row[:, 0], field.lowest, field.highest))
    return (field, left_out) if _makes_likelier(left_out, data, residual, latent, is_sure=is_sure) else None


def _makes_likelier(factor: Array, data: Observations, residual: Array, latent: Array, *, is_sure: bool) -> bool:
    """Whether left-out residuals are likelier with noise that varies, as learnt without the row, than with constant
    noise; clearly so if nothing else says that it does.

    The logarithms of residuals, by which the field was learnt, hardly see heavy tails, and a normal distribution has to
    cover them: where noise is far from normal, the field may be too small everywhere.
    """
    weight = np.ones(len(data)) if data.weight is None else data.weight
    constant, varying = latent + likeliest_variance(residual, latent, weight), latent + factor
    losses = [0.5 * (np.log(variance) + residual**2 / variance) for variance in (constant, varying)]
    gain = losses[0] - losses[1]
    if is_sure:
        return float(weight @ gain) > 0.0
    return float(weight @ gain) > LEAST_GAIN and is_clear_gain(gain, weight, STANDARD_ERRORS)


def _log_likelihood_of_zero(data: Observations, variance: float) -> float:
    """Of the targets, if they are nothing but noise."""
    weight: Array = np.ones(len(data)) if data.weight is None else data.weight
    return -0.5 * float(weight @ (np.log(2.0 * np.pi * variance) + data.targets[:, 0] ** 2 / variance))
