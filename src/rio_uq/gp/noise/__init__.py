"""Models of the noise of outcomes, by the name that a user gives them, and how they are learnt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask
from rio_uq.gp.noise.constant import Constant, fit_constant, likeliest_variance, noise_of_unseen_rows
from rio_uq.gp.noise.contract import FitNoise, LearntNoise, Noise
from rio_uq.gp.noise.several import of_outputs
from rio_uq.gp.noise.varying import fit_varying
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior

STANDARD_ERRORS = 2.0
"""Over folds that keep rows apart, noise that varies has to be better than constant noise by so many of them."""

NOISES: dict[str, FitNoise] = {"constant": fit_constant, "io": fit_varying, "student": fit_varying}


def learn_noise(
    name: str,
    posterior: Posterior,
    data: Observations,
    left_out: tuple[Array, Array],
    n_inputs: int,
    held_out: Mask | None,
    rng: np.random.Generator,
) -> tuple[Posterior, Noise, Array]:
    """The noise of new rows, from leave-one-out residuals; the mean and the latent variance stay as they are.

    Parameters
    ----------
    name : str
        One of `NOISES`.
    left_out : (residual, variance)
        Leave-one-out residuals and latent variances, each (n, q).
    n_inputs : int
        How many of the columns of the rows are inputs.
    held_out : (n,) array of bool or None
        Rows that the model has not seen, if it has seen the others: noise is that of such rows.

    Returns
    -------
    posterior : Posterior
        With the noise variance of a typical row.
    noise : Noise
    left_out_variance : (n, q) array
        Noise variance at each row, learnt without that row; where ``held_out`` is given, that of rows of its kind.
    """
    residual, latent = left_out[0] / np.sqrt(posterior.noise_variance), left_out[1] / posterior.noise_variance
    level: float | Array = 1.0
    each = np.ones((len(data), 1))
    if held_out is not None:
        weight = np.ones(len(data)) if data.weight is None else data.weight
        seen, level = noise_of_unseen_rows(residual, latent, weight, held_out)
        each = np.where(held_out, level, seen)[:, None]
        residual, latent = residual / np.sqrt(each), latent / each
    learnt = [
        NOISES[name](posterior, data, n_inputs, residual[:, output], latent[:, output], rng)
        for output in range(data.n_outputs)
    ]
    if held_out is not None:
        learnt = [
            _of_unseen_rows(noise, residual[held_out, output], latent[held_out, output], weight[held_out], held_out)
            for output, noise in enumerate(learnt)
        ]
    typical = np.array([noise.level for noise in learnt])
    left_out_variance = np.stack([noise.left_out for noise in learnt], axis=1) * each * posterior.noise_variance
    posterior = replace(posterior, noise_variance=level * typical * posterior.noise_variance)
    return posterior, of_outputs([noise.noise for noise in learnt]), left_out_variance


def _of_unseen_rows(noise: LearntNoise, residual: Array, latent: Array, weight: Array, held_out: Mask) -> LearntNoise:
    """Noise whose level is that of held-out rows, where it varies; constant noise where they are likelier with that.

    How noise depends on the row is learnt from all rows, of which held-out ones may be few: a model that has fitted the
    others need not have left them residuals that vary as those of new rows do.

    Parameters
    ----------
    residual, latent, weight : (k,) arrays
        Of the held-out rows, in units of their noise.
    held_out : (n,) array of bool
    """
    if not noise.noise.varies:
        return noise
    factor = noise.left_out[held_out]
    level = likeliest_variance(residual / np.sqrt(factor), latent / factor, weight, near=1.0)
    constant = likeliest_variance(residual, latent, weight)
    varying, same = (_loss(residual, latent + s, weight) for s in (level * factor, constant))
    if varying >= same:
        return LearntNoise(Constant(), constant, np.where(held_out, constant, 1.0))
    return LearntNoise(noise.noise, level * noise.level, np.where(held_out, level, 1.0) * noise.left_out)


def holds_between_folds(
    name: str,
    posterior: Posterior,
    data: Observations,
    left_out: tuple[Array, Array],
    n_inputs: int,
    fold: NDArray[np.intp],
    rng: np.random.Generator,
) -> bool:
    """Whether a noise model that is learnt from the other folds makes the rows of a fold clearly likelier than the
    constant noise of the posterior does. What rows of a group share, single rows that are left out cannot tell from a
    dependence on the inputs.
    """
    residual, latent = left_out
    constant = latent + posterior.noise_variance
    gains = []
    for number in np.unique(fold):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        part = (residual[inside], latent[inside])
        typical, noise, _ = learn_noise(name, posterior, data.subset(inside), part, n_inputs, None, rng)
        varying = latent[outside] + noise.variance(data.rows[outside], typical.noise_variance)
        gains.append(_loss(residual[outside], constant[outside]) - _loss(residual[outside], varying))
    return bool(np.mean(gains) > STANDARD_ERRORS * np.std(gains, ddof=1) / np.sqrt(len(gains)))


def _loss(residual: Array, variance: Array, weight: Array | float = 1.0) -> float:
    return 0.5 * float(np.sum(weight * (np.log(variance) + residual**2 / variance)))
