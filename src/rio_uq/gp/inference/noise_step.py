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


class Step(NamedTuple):
    """Log-parameters and log noise variances at full density. There: −log density with the prior on the step, −log
    density of each row that is left out, (b,), and its squared errors, (b, q).
    """

    x: Array
    loss: float
    of_rows: Array
    squares: Array

    def gain(self, other: Step) -> float:
        """Nats by which an outcome is predicted better than by the other, half of them by its density and half by
        −½ log of the mean squared error, as in `rio_uq.gp.inference.full_density`.
        """
        n_outputs = self.squares.shape[1]
        by_density = (other.of_rows - self.of_rows).mean() / n_outputs
        by_squares = 0.5 * np.log(other.squares.mean() / self.squares.mean())
        return 0.5 * float(by_density + by_squares)


def density_step(x: Array, data: Observations, leave_out: Callable[[Array], tuple[Array, Array]]) -> Step:
    """Find the likeliest factor on the noise by residuals and latent variances of rows that are left out, which are a
    function of noise variances.
    """
    weight = np.ones(len(data)) if data.weight is None else data.weight
    effective = np.ones(len(data)) if data.effective_weight is None else data.effective_weight
    log_noise = x[-data.n_outputs :]

    def of_rows(a: float) -> tuple[Array, Array]:
        noise = np.exp(log_noise + a)
        residual, latent = leave_out(noise)
        variance, squares = latent + noise / effective[:, None], residual**2
        density = 0.5 * weight * (np.log(variance) + squares / variance).sum(axis=1)
        return density, weight[:, None] * squares

    def loss(a: float) -> float:
        return float(of_rows(a)[0].sum()) + 0.5 * (a / DEVIATION) ** 2

    with single_blas_thread:
        bounds, options = (-LARGEST_STEP, LARGEST_STEP), {"xatol": STEP_TOLERANCE}
        optimum = minimize_scalar(loss, bounds=bounds, method="bounded", options=options)
    moved = np.concatenate([x[: -data.n_outputs], log_noise + optimum.x])
    return Step(moved, float(optimum.fun), *of_rows(float(optimum.x)))
