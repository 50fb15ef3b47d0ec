"""Noise with heavy tails: a Student likelihood, by a precision for each row.

A Student variable is normal with a precision that is drawn anew for each row. With q outputs that share it,

    r_i = f_i + σ ε_i/√ρ_i        ε_i ~ N(0, I)        ρ_i ~ Gamma(ν/2, ν/2)

Let f and the ρ_i be independent under the approximate posterior, and s_i = Σ_j E(r_ij − f_ij)²/σ_j², which is
Σ_j ((r_ij − m_ij)² + v_ij)/σ_j² with the mean m and the variance v of f. The lower bound on log p(r) is largest where

    E ρ_i = (ν + q)/(ν + s_i)        f is the GP of rows with the noise variances σ²/E ρ_i

and there it is

    F = log N(r | 0, K + σ² diag(1/Eρ)) + Σ_i (log t(s_i) − ½ q log Eρ_i + ½ s_i Eρ_i)

    log t(s) = log Γ((ν + q)/2) − log Γ(ν/2) − ½ q log(ν/2) − ½ (ν + q) log(1 + s/ν)

The two conditions in turn raise it, and so do hyperparameters and σ² that are likelier at fixed precisions, and the ν
that maximises Σ_i log t(s_i). Rows with a weight count as often as that says.

A row that is new to the posterior has the mean m and the variance v without itself. With the gain g = v ρ/(v ρ + σ²) of
its own observation, r − f has the mean (1 − g)(r − m) and the variance (1 − g) v, and its precision solves the same
equation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.inference.exact import ExactStatistics
from rio_uq.gp.noise.contract import Noise, Response
from rio_uq.gp.noise.tails import likeliest_degrees, log_student, precision_at
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior, predict
from rio_uq.gp.training import Trained

ROUNDS, STEPS = 3, 3
"""Rounds in which hyperparameters are trained at fixed precisions, and updates of the precisions after each."""

FURTHER_ITERATIONS = 15
"""Of the optimiser in each round but the first."""

STEPS_OF_A_ROW = 20
"""Updates of the precision of a new row, which converge fast."""


@dataclass(frozen=True)
class Student:
    """Student noise around the GP: rows that are far from their mean are less precise.

    How wide outcomes of new rows scatter is up to another noise model; the shape of their distribution is not the GP's
    matter.

    Attributes
    ----------
    scatter : Noise
        Of new outcomes.
    degrees : float
        ν.
    """

    scatter: Noise
    degrees: float

    @property
    def varies(self) -> bool:
        return self.scatter.varies

    def response(self, rows: Array, targets: Array, posterior: Posterior) -> Response:
        """The targets, with precisions by their distances from what the posterior expects without them."""
        mean, variance = predict(posterior, rows)
        return Response(targets, precision_of_new(targets - mean, variance, posterior.likelihood_noise, self.degrees))

    def variance(self, rows: Array, level: Array, n_jobs: int = 1) -> Array:
        return self.scatter.variance(rows, level, n_jobs)


def precision_of_new(residual: Array, latent: Array, noise_variance: Array, degrees: float) -> Array:
    """E ρ (n,) of rows that a posterior has not seen, from residuals and latent variances (n, q) without them."""
    precision: Array = np.ones(len(residual))
    for _ in range(STEPS_OF_A_ROW):
        rest = noise_variance / (latent * precision[:, None] + noise_variance)  # 1 − g
        squares = (rest * residual) ** 2 + rest * latent
        precision = precision_at((squares / noise_variance).sum(axis=1), degrees, residual.shape[1])
    return precision


def train_student(
    trained: Trained, data: Observations, train: Callable[[Observations, Array], Trained]
) -> tuple[Trained, Observations, float]:
    """Precisions, ν and hyperparameters by turns.

    Parameters
    ----------
    trained : Trained
        At the precisions of the rows.
    data : Observations
    train : callable
        Of rows and of log-parameters and log noise variances to go on from: the GP at likelier ones.

    Returns
    -------
    trained : Trained
    data : Observations
        With their last precisions, at which the posterior is.
    degrees : float
        ν.
    """
    for number in range(ROUNDS):
        posterior = trained.posterior
        for _ in range(STEPS):
            data, degrees = updated(posterior, data)
            posterior = posterior.of_rows(data)
        if number < ROUNDS - 1:
            further = train(data, trained.optimum)
            # Rounds end early on purpose, so that convergence is that of the first training.
            trained = replace(
                trained,
                posterior=further.posterior,
                objective=further.objective,
                n_iter=trained.n_iter + further.n_iter,
            )
    return replace(trained, posterior=posterior, bound=bound(posterior, data, degrees)), data, degrees


def updated(posterior: Posterior, data: Observations) -> tuple[Observations, float]:
    """Rows with the precisions that follow from their posterior, and ν."""
    distance = _distances(posterior, data)
    weight = np.ones(len(data)) if data.weight is None else data.weight
    degrees = likeliest_degrees(distance, data.n_outputs, weight)
    return replace(data, precision=precision_at(distance, degrees, data.n_outputs)), degrees


def bound(posterior: Posterior, data: Observations, degrees: float) -> float:
    """F of the posterior of rows with their precisions, which are the likeliest ones where F is largest."""
    distance = _distances(posterior, data)
    precision = np.ones(len(data)) if data.precision is None else data.precision
    weight = np.ones(len(data)) if data.weight is None else data.weight
    rest = log_student(distance, degrees, data.n_outputs) + 0.5 * distance * precision
    return posterior.log_likelihood() + float(weight @ (rest - 0.5 * data.n_outputs * np.log(precision)))


def _distances(posterior: Posterior, data: Observations) -> Array:
    """s of rows that the posterior has seen, (n,).

    The exact GP has it without a prediction: with e and l the residual and the latent variance without the row, and
    1 − g as above, r − f has the mean (1 − g) e and the variance (1 − g) l.
    """
    noise = posterior.likelihood_noise
    residual: Array
    variance: Array
    if isinstance(posterior.statistics, ExactStatistics):
        left_out, latent = posterior.leave_one_out(data)
        of_row = noise if data.effective_weight is None else noise / data.effective_weight[:, None]
        rest = of_row / (latent + of_row)  # 1 − g
        residual, variance = rest * left_out, rest * latent
    else:
        mean, variance = predict(posterior, data.rows, n_jobs=data.n_jobs)
        residual = data.targets - mean
    return np.asarray(((residual**2 + variance) / noise).sum(axis=1))
