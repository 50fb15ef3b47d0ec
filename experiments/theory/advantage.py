"""Theorem 1: the advantage of fitting residuals, and how it comes about as g becomes indistinguishable from noise.

With the functions and networks of `experiments.theory.construction`, as ε → 0

    E_GP → E^f_GP + σ_g²    E_NN → αE[f²] + σ_g² − δ    E_GP+NN → E^{r_f}_GP + σ_g² − δ

hence E_GP − E_GP+NN ≥ δ if E^f_GP ≥ E^{r_f}_GP, and E_NN > E_GP+NN. Errors are means of squares of function values.

The GP learner has the kernel k on h and αk on the residuals, and one of three noise variances:

- "real": σ_n², as the lemma on E^f_GP and E^{r_f}_GP has it;
- "apparent": σ_n² + σ_g² on h and σ_n² + σ_g² − δ on the residuals, as the text around the theorem has it, and as
  the likelihood does, to which pairs with opposite g look noisy;
- "fitted": all of signal variance, lengthscale and noise variance by maximum likelihood.

The proof mixes the first two: indistinguishable g is averaged away, which leaves noise σ_n², while the weights are
those of a GP that expects more. For "apparent" E^f_GP is therefore not the trace formula but the error of a smoother
with too much noise (`experiments.theory.learner.expected_error`). Where the network adds complexity (δ < 0) the
smoother of the residuals is the worse one of the two, so E^f_GP ≥ E^{r_f}_GP may fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from experiments.theory.construction import KERNEL, Problem, Setting, draw_problem
from experiments.theory.learner import (
    conditioned,
    expected_error,
    fitted,
    generators,
    prediction,
    weight_function,
)
from rio_uq.gp.posterior import Posterior

SETTING = Setting()
HYPERPARAMETERS = ("real", "apparent", "fitted")
ALPHAS = (0.25, 1.0)
SHARES = (-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0)
"""δ in units of σ_g²."""
HALF_PERIODS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


def advantage_of_residuals(
    repeats: int,
    seed: int,
    *,
    setting: Setting = SETTING,
    alphas: Sequence[float] = ALPHAS,
    shares: Sequence[float] = SHARES,
    hyperparameters: Sequence[str] = HYPERPARAMETERS,
) -> pd.DataFrame:
    """Errors of the GP, of the network, and of both together, by how much of f and g the network has learnt.

    Returns
    -------
    DataFrame
        One line for each repeat, hyperparameters, α (``alpha``) and δ (``delta``), with the errors of `_errors` and the
        GP's noise variances ``noise`` on h and ``residual_noise`` on the residuals.
    """
    lines = []
    for repeat, rng in enumerate(generators(seed, repeats)):
        problem = draw_problem(setting, rng)
        for choice in hyperparameters:
            alone = _learner(problem, choice, problem.h, 1.0, 0.0)
            for alpha, share in product(alphas, shares):
                delta = share * setting.complexity
                both = _learner(problem, choice, np.add(*problem.remainder(alpha, delta)), alpha, delta)
                lines.append(
                    {
                        "repeat": repeat,
                        "hyperparameters": choice,
                        **_errors(problem, alone, both, choice, alpha, delta),
                        "noise": alone.noise_variance[0],
                        "residual_noise": both.noise_variance[0],
                    }
                )
    return pd.DataFrame(lines)


def indistinguishability(
    repeats: int,
    seed: int,
    *,
    setting: Setting = SETTING,
    half_periods: Sequence[float] = HALF_PERIODS,
    alpha: float = 0.25,
    share: float = 0.5,
) -> pd.DataFrame:
    """How ε, and with it the errors' distance from their limits, vanish with |v|, at the apparent noise.

    Returns
    -------
    DataFrame
        One line for each repeat and |v| (``half_period``) with the errors of `_errors`; the largest change of the GP's
        prediction over the test points due to g (``change``) and due to r_g (``residual_change``); and the lemma's
        ``bound`` on the first, max_x σ_g Σ_i |w_i(x) − w_{n+i}(x)|.
    """
    n, delta = setting.n_pairs, share * setting.complexity
    lines = []
    for half_period in half_periods:
        for repeat, rng in enumerate(generators(seed, repeats)):
            problem = draw_problem(replace(setting, half_period=half_period), rng)
            r_f, r_g = problem.remainder(alpha, delta)
            alone = _learner(problem, "apparent", problem.h, 1.0, 0.0)
            both = _learner(problem, "apparent", r_f + r_g, alpha, delta)
            test = problem.rows[problem.test]
            weights, residual_weights = weight_function(alone, test), weight_function(both, test)
            lines.append(
                {
                    "repeat": repeat,
                    "half_period": half_period,
                    **_errors(problem, alone, both, "apparent", alpha, delta),
                    "change": np.abs(problem.g[problem.train] @ weights).max(),
                    "residual_change": np.abs(r_g[problem.train] @ residual_weights).max(),
                    "bound": np.sqrt(setting.complexity) * np.abs(weights[:n] - weights[n:]).sum(axis=0).max(),
                }
            )
    return pd.DataFrame(lines)


def _learner(problem: Problem, hyperparameters: str, psi: np.ndarray, alpha: float, delta: float) -> Posterior:
    """The GP on ψ + ξ at the training rows."""
    setting, rows = problem.setting, problem.rows[problem.train]
    targets = (psi + problem.noise)[problem.train]
    if hyperparameters == "fitted":
        return fitted(KERNEL, rows, targets)
    noise = {"real": setting.noise, "apparent": setting.apparent_noise(delta)}[hyperparameters]
    return conditioned(KERNEL, setting.theta(alpha), noise, rows, targets)


def _errors(
    problem: Problem, alone: Posterior, both: Posterior, hyperparameters: str, alpha: float, delta: float
) -> dict[str, float]:
    """Errors measured at the test points, and what the lemmas say of them for ε → 0.

    E_GP (``gp``), E_NN (``nn``), E_GP+NN (``gp_nn``), their limits (``…_limit``, of known hyperparameters only), and
    the two differences of the theorem: ``beyond_delta`` = E_GP − E_GP+NN − δ, ``beyond_network`` = E_NN − E_GP+NN.
    """
    test = problem.test
    r = np.add(*problem.remainder(alpha, delta))[test]
    measured = {
        "gp": float(np.mean((problem.h[test] - prediction(alone, problem.rows[test])) ** 2)),
        "nn": float(np.mean(r**2)),
        "gp_nn": float(np.mean((r - prediction(both, problem.rows[test])) ** 2)),
    }
    limits = dict.fromkeys(measured, np.nan)
    if hyperparameters != "fitted":
        limits = {
            "gp": _error_on_f(problem, alone, 1.0) + problem.setting.complexity,
            "nn": alpha + problem.setting.complexity - delta,
            "gp_nn": _error_on_f(problem, both, alpha) + problem.setting.complexity - delta,
        }
    entry = {"alpha": alpha, "delta": delta}
    for errors, suffix in ((measured, ""), (limits, "_limit")):
        entry |= {name + suffix: error for name, error in errors.items()}
        entry["beyond_delta" + suffix] = errors["gp"] - errors["gp_nn"] - delta
        entry["beyond_network" + suffix] = errors["nn"] - errors["gp_nn"]
    return entry


def _error_on_f(problem: Problem, learner: Posterior, alpha: float) -> float:
    """E^f_GP for α = 1, E^{r_f}_GP for others."""
    setting = problem.setting
    return expected_error(learner, KERNEL, setting.theta(alpha), setting.noise, problem.rows[problem.test])
