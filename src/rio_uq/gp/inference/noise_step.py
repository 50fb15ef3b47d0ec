"""A common factor on noise variances, by the density of rows that are left out: see `rio_uq.gp.inference.nearest`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from rio_uq._base.array import Array
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.observations import Observations

DEVIATION = 0.5
"""τ."""

LARGEST_STEP, STEP_TOLERANCE = 3.0, 0.05
"""Of a."""

STANDARD_ERRORS = 2.0
"""Of the mean gain of left-out rows, that it has to exceed where it is to be clear."""


class Step(NamedTuple):
    """Log-parameters and log noise variances at full density, and −log density there: with the prior on the step, and
    of each row that is left out, (b,).
    """

    x: Array
    loss: float
    of_rows: Array

    def is_clearly_better(self, other: Step, worth: float) -> bool:
        """Whether the mean row is likelier by so many nats, and by `STANDARD_ERRORS`: of outcomes with heavy tails a
        few rows would decide.
        """
        gain = other.of_rows - self.of_rows
        return bool(gain.mean() > max(worth, STANDARD_ERRORS * gain.std() / np.sqrt(len(gain))))


def density_step(x: Array, data: Observations, leave_out: Callable[[Array], tuple[Array, Array]]) -> Step:
    """Find the likeliest factor on the noise by residuals and latent variances of rows that are left out, which are a
    function of noise variances.
    """
    weight = np.ones(len(data)) if data.weight is None else data.weight
    effective = np.ones(len(data)) if data.effective_weight is None else data.effective_weight
    log_noise = x[-data.n_outputs :]

    def of_rows(a: float) -> Array:
        noise = np.exp(log_noise + a)
        residual, latent = leave_out(noise)
        variance = latent + noise / effective[:, None]
        return np.asarray(0.5 * weight * (np.log(variance) + residual**2 / variance).sum(axis=1))

    def loss(a: float) -> float:
        return float(of_rows(a).sum()) + 0.5 * (a / DEVIATION) ** 2

    with single_blas_thread:
        bounds, options = (-LARGEST_STEP, LARGEST_STEP), {"xatol": STEP_TOLERANCE}
        optimum = minimize_scalar(loss, bounds=bounds, method="bounded", options=options)
    moved = np.concatenate([x[: -data.n_outputs], log_noise + optimum.x])
    return Step(moved, float(optimum.fun), of_rows(float(optimum.x)))
