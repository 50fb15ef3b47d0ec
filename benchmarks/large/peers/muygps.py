"""MuyGPyS (Muyskens et al. 2021): a GP of the nearest rows, trained by the likelihood of left-out rows.

As in its tutorials neighbours are looked up once, in columns that are not scaled by lengthscales, each row of a batch
is left out in turn, and the posterior variance is taken for that of outcomes, as it is in the loss. Lengthscales are
more than its Bayesian optimisation could search: they are learnt by its L-BFGS-B.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from MuyGPyS.gp import MuyGPS
from MuyGPyS.gp.deformation import Anisotropy, l2
from MuyGPyS.gp.hyperparameter import AnalyticScale, Parameter, VectorParameter
from MuyGPyS.gp.kernels import Matern
from MuyGPyS.gp.noise import HomoscedasticNoise
from MuyGPyS.neighbors import NN_Wrapper
from MuyGPyS.optimize import L_BFGS_B_optimize
from MuyGPyS.optimize.loss import lool_fn

NEIGHBOURS, BATCH, ROUNDS = 50, 200, 2
"""Nearest rows, as many as RIO has; rows that are left out; and searches, each from where the one before has ended.

The scale inside of the loss is that of the noise with which a search began.
"""
LENGTHSCALES, NOISE = (0.05, 100.0), (1e-6, 1.0)
"""Bounds; noise variance in units of the kernel's."""
OPTIONS = {"maxiter": 30}
"""Of L-BFGS-B."""
PREDICTED_AT_ONCE = 1000


class Trained(NamedTuple):
    gp: Any
    neighbours: Any
    X: np.ndarray
    y: np.ndarray


def train(X: np.ndarray, y: np.ndarray, run: int) -> Trained:
    """With a Matérn 5/2 kernel of a lengthscale for each column."""
    n, d = X.shape
    neighbours = NN_Wrapper(X, min(NEIGHBOURS, n - 1), nn_method="exact", n_jobs=1)
    lengthscales = VectorParameter(*(Parameter(np.sqrt(d), LENGTHSCALES) for _ in range(d)))
    gp = MuyGPS(
        kernel=Matern(smoothness=Parameter(2.5), deformation=Anisotropy(l2, length_scale=lengthscales)),
        noise=HomoscedasticNoise(0.01, NOISE),
        scale=AnalyticScale(),
    )
    batch = np.random.default_rng(run).choice(n, min(BATCH, n), replace=False)
    nearest, _ = neighbours.get_batch_nns(batch)
    to_nearest, between, outcomes, of_nearest = gp.make_train_tensors(batch, nearest, X, y)
    for _ in range(ROUNDS):
        gp = L_BFGS_B_optimize(gp, outcomes, of_nearest, to_nearest, between, loss_fn=lool_fn, options=OPTIONS)
    return Trained(gp.optimize_scale(between, of_nearest), neighbours, X, y)


def predict(trained: Trained, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of outcomes."""
    gp, parts = trained.gp, []
    for start in range(0, len(X), PREDICTED_AT_ONCE):
        part = X[start : start + PREDICTED_AT_ONCE]
        nearest, _ = trained.neighbours.get_nns(part)
        rows = np.arange(len(part))
        to_nearest, between, of_nearest = gp.make_predict_tensors(rows, nearest, part, trained.X, trained.y)
        kernels = gp.kernel(between), gp.kernel(to_nearest)
        mean, variance = gp.posterior_mean(*kernels, of_nearest), gp.posterior_variance(*kernels)
        parts.append(np.stack([mean, np.sqrt(variance)]))
    mean, std = np.concatenate(parts, axis=1)
    return mean, std
