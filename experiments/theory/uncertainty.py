"""Theorem 2: the uncertainty of the residual GP is positively correlated with the variance of the network's residuals.

On one problem, networks that have left over more or less of f (α) and of g (δ) are corrected by a GP whose signal
variance, lengthscale and noise variance are fitted to their residuals by maximum likelihood. Its uncertainty, mean over
test points, is set against the variance of the residuals y − ĥ at the same points, which it has not seen: as the
predictive variance of an outcome, and as that of the latent residual alone, which is the one in the proof.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.theory.construction import KERNEL, Setting, draw_problem
from experiments.theory.learner import conditioned, fitted, generators
from rio_uq.gp.posterior import predict

SETTING = Setting()
ALPHAS = (0.05, 0.2, 0.5, 1.0)
SHARES = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""δ in units of σ_g²."""


def uncertainty_of_networks(
    repeats: int,
    seed: int,
    *,
    setting: Setting = SETTING,
    alphas: Sequence[float] = ALPHAS,
    shares: Sequence[float] = SHARES,
) -> pd.DataFrame:
    """The residual GP's uncertainty for networks that have learnt more or less.

    Returns
    -------
    DataFrame
        One line for each repeat, α and δ: ``residual_variance`` at the test points; mean ``predictive_variance`` of
        outcomes and ``latent_variance`` there by the fitted GP, its ``noise``; and ``optimal_latent_variance``, that of
        the GP which knows αk and the apparent noise.
    """
    lines = []
    for repeat, rng in enumerate(generators(seed, repeats)):
        problem = draw_problem(setting, rng)
        train, test = problem.rows[problem.train], problem.rows[problem.test]
        for alpha in alphas:
            for delta in np.multiply(shares, setting.complexity):
                residual = np.add(*problem.remainder(alpha, delta)) + problem.noise
                learner = fitted(KERNEL, train, residual[problem.train])
                optimal = conditioned(
                    KERNEL, setting.theta(alpha), setting.apparent_noise(delta), train, residual[problem.train]
                )
                latent, noise = float(predict(learner, test)[1].mean()), float(learner.noise_variance[0])
                lines.append(
                    {
                        "repeat": repeat,
                        "alpha": alpha,
                        "delta": delta,
                        "residual_variance": np.var(residual[problem.test]),
                        "predictive_variance": latent + noise,
                        "latent_variance": latent,
                        "noise": noise,
                        "optimal_latent_variance": float(predict(optimal, test)[1].mean()),
                    }
                )
    return pd.DataFrame(lines)


def correlations(
    results: pd.DataFrame, uncertainty: str, *, at_fixed: str | None = None, method: str = "spearman"
) -> pd.Series:
    """The correlation of an uncertainty with the residual variance over the networks of each repeat.

    Parameters
    ----------
    results : DataFrame
        Of `uncertainty_of_networks`.
    uncertainty : str
        One of its columns.
    at_fixed : {"alpha", "delta"} or None
        Compare only networks that have it in common, and take the mean over its values.
    method : {"spearman", "pearson"}
    """
    keys = ["repeat"] if at_fixed is None else ["repeat", at_fixed]
    within = results.groupby(keys)[["residual_variance", uncertainty]].apply(
        lambda networks: networks.corr(method=method).iloc[0, 1]
    )
    return within.groupby("repeat").mean()
