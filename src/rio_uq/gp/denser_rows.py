"""The noise of a GP of nearest rows that was learnt from a sample of them.

Among all rows neighbours are nearer than in the sample. What the sample took for noise may be something that they can
see; and where neighbours in the sample were so far that nearly all errors came from what was unknown between them, it
hardly told how large the noise is. So the noise of the likelihood is learnt among all rows, as in a fit to them
(`rio_uq.gp.inference.nearest`). The noise of new outcomes follows. Left-out rows that err by e_i, with latent variances
l_i and noise variances s_i as the sample has them, have the scores

    z_i = e_i/√(l_i + c s_i)

and c is such that these are as wide among all rows as they were in the sample, with c = 1: the shape of outcomes, which
was learnt there, then holds here as well, and so it does if the model has seen some of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from rio_uq._base.array import Array
from rio_uq.gp.guard import latent_share
from rio_uq.gp.inference.local import Local
from rio_uq.gp.inference.nearest import NearestPosterior, with_noise_at_full_density
from rio_uq.gp.noise.tails import winsorised
from rio_uq.gp.residual import ResidualGP

LEFT_OUT_ROWS = 5000
"""At most, among all rows and in the sample."""

LARGEST_LOG = 14.0
"""Of c: a sample that sees nothing but what is rough may have taken all noise for that, down to its lower bound."""


def with_noise_of_denser_rows(gp: ResidualGP, of_sample: ResidualGP) -> ResidualGP:
    """A GP of all rows with the noise that they show, from those of a sample and of all rows at its noise. Inducing
    points see no more where rows are denser, and their noise stays as it is.
    """
    if not isinstance(gp.posterior, NearestPosterior) or not isinstance(of_sample.posterior, NearestPosterior):
        return gp
    posterior = with_noise_at_full_density(gp.posterior)
    among_all, in_sample = _spread(gp, posterior.local), _spread(of_sample, of_sample.posterior.local)
    factor = np.array([_crossing(among_all, output, level) for output, level in enumerate(in_sample(1.0))])
    return gp.with_posterior(replace(posterior, noise_variance=factor * posterior.noise_variance))


def _spread(gp: ResidualGP, local: Local) -> Callable[[float], Array]:
    """The mean z² of each output, (q,), as a function of c; outliers count for no more than others far out."""
    some = local.data.subset(slice(LEFT_OUT_ROWS))  # rows are in random order
    residual, latent = local.leave_one_out(np.arange(len(some)), some.n_jobs)
    weight = np.ones(len(some)) if some.weight is None else some.weight
    targets = gp.targets.offset + gp.targets.scale * some.targets
    predicted = gp.constant + gp.correction * gp.targets.scale * (some.targets - residual)
    errors = (targets - predicted) / gp.targets.scale
    latent = latent_share(gp.correction) ** 2 * latent
    noise = gp.noise.variance(some.rows, gp.posterior.noise_variance, some.n_jobs)

    def spread(c: float) -> Array:
        return np.average(winsorised(errors / np.sqrt(latent + c * noise), weight) ** 2, axis=0, weights=weight)

    return spread


def _crossing(spread: Callable[[float], Array], output: int, level: float) -> float:
    """The c at which the spread of an output, which falls with c, is at a level; the nearest one of its range."""

    def above(log_c: float) -> float:
        return float(spread(float(np.exp(log_c)))[output]) - level

    if above(-LARGEST_LOG) <= 0.0:
        return float(np.exp(-LARGEST_LOG))
    if above(LARGEST_LOG) >= 0.0:
        return float(np.exp(LARGEST_LOG))
    return float(np.exp(brentq(above, -LARGEST_LOG, LARGEST_LOG, xtol=1e-3)))
