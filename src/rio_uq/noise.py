"""The noise of outcomes where it is not the same everywhere: learnt from leave-one-out residuals.

The residual e_i of row i, left out, has the variance l_i + s_i: what the GP does not know of the latent value there,
and the noise of the outcome. The GP gives l; the functions here find s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from rio_uq.gp.typing import Array

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


def seen_row_precision(residual: Array, latent: Array, weight: Array, held_out: NDArray[np.bool_]) -> float:
    """By how much the outcomes of rows that a model was trained on seem more precise than those of held-out rows.

    A model fits the noise of its training rows in part, so that their residuals are smaller than those of new rows.

    Parameters
    ----------
    residual, latent : (n, q) arrays
        Leave-one-out residuals and latent variances, in units of each output's noise.
    weight : (n,) array
    held_out : (n,) array of bool

    Returns
    -------
    float
        Noise variance of held-out rows over that of the others.
    """

    def variance(rows: NDArray[np.bool_], near: float | None) -> float:
        n_outputs = residual.shape[1]
        return likeliest_variance(
            residual[rows].ravel(), latent[rows].ravel(), np.repeat(weight[rows], n_outputs), near=near
        )

    seen = variance(~held_out, None)
    return variance(held_out, seen) / seen
