"""GP learners of the theorems: known or fitted hyperparameters, draws from their priors, and their weights."""

from __future__ import annotations

import numpy as np

from rio_uq.gp.backend.linalg import BASE_JITTER, cholesky
from rio_uq.gp.inference import exact
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior, predict_mean
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, rio_start
from rio_uq.gp.training import train

EXACT = Settings(inference="exact")


def generators(seed: int, repeats: int) -> list[np.random.Generator]:
    """One for each repeat, the same whatever else varies: comparisons are paired."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(repeats)]


def conditioned(kernel: Kernel, theta: np.ndarray, noise: float, rows: np.ndarray, targets: np.ndarray) -> Posterior:
    """The GP with known log-parameters and noise variance, conditioned on the rows."""
    return exact.posterior(kernel, theta, np.log([noise]), Observations(rows, targets[:, None]))


def fitted(kernel: Kernel, rows: np.ndarray, targets: np.ndarray) -> Posterior:
    """The GP that finds its signal variances, lengthscales and noise variance by maximum likelihood.

    From the engine's usual start. A second, random one gained at most 0.05 of log-likelihood in a hundred problems of
    these experiments.
    """
    mean_square = float(np.mean(targets**2))
    scales = Scales(rows.std(axis=0), mean_square, mean_square, prediction=0.0)
    starts, bounds = [rio_start(kernel, 1, scales)], bounds_of(kernel, 1, scales)
    unused = np.random.default_rng(0)  # the exact GP draws nothing
    return train(kernel, Observations(rows, targets[:, None]), starts, bounds, EXACT, unused).posterior


def prediction(posterior: Posterior, rows: np.ndarray) -> np.ndarray:
    """The posterior mean at each row, shape (n,)."""
    return predict_mean(posterior, rows)[:, 0]


def prior_draws(
    kernel: Kernel, theta: np.ndarray, rows: np.ndarray, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Functions of GP(0, k) at the rows, shape (n_draws, n)."""
    factor, _ = cholesky(kernel.matrix(theta, rows, rows), BASE_JITTER)
    return rng.normal(size=(n_draws, len(rows))) @ factor.T


def weight_function(posterior: Posterior, rows: np.ndarray) -> np.ndarray:
    """The linear smoother's weights w(x) = (K + σ²I)⁻¹ k(x): predictions are w(x)ᵀ y. Shape (training rows, rows)."""
    (reducer,) = posterior.variance_factors
    cross = posterior.kernel.matrix(posterior.theta, posterior.points, rows)
    return np.asarray(reducer.T @ (reducer @ cross))


def expected_error(posterior: Posterior, kernel: Kernel, theta: np.ndarray, noise: float, rows: np.ndarray) -> float:
    """The expected squared error, mean over the rows, of a GP on data y = ψ + ξ which follow another one.

    With w the GP's weights, and K, k the covariances of ψ ~ GP(0, k):

        E[(ψ(x) − w(x)ᵀy)²] = k(x, x) − 2 w(x)ᵀk(x) + w(x)ᵀ(K + σ²I) w(x)

    which is the posterior variance where the GP's own hyperparameters are those of the data.

    Parameters
    ----------
    posterior : Posterior
        Only its weights matter, not the targets it was trained on.
    kernel, theta, noise
        Of the data: covariance of ψ and variance of ξ.
    rows : array
        Where to predict.
    """
    weights, points = weight_function(posterior, rows), posterior.points
    cross = kernel.matrix(theta, points, rows)
    smoothed = kernel.matrix(theta, points, points) @ weights + noise * weights
    reduction = np.einsum("ij,ij->j", weights, smoothed - 2.0 * cross)
    return float(np.mean(kernel.diagonal(theta, rows) + reduction))
