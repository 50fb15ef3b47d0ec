"""GPyTorch's sparse variational GP."""

from __future__ import annotations

import gpytorch
import numpy as np
import torch

from benchmarks.large.peers.batches import RATE, batches, inducing_rows
from benchmarks.large.peers.gpytorch_models import Trained, VariationalGP, predict, tensors

__all__ = ["predict", "train"]


class SVGP(VariationalGP):
    """With inducing points that move."""

    def __init__(self, points: torch.Tensor) -> None:
        distribution = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        super().__init__(points.shape[1], gpytorch.variational.VariationalStrategy(self, points, distribution))


def train(X: np.ndarray, y: np.ndarray, run: int) -> Trained:
    """The GP and its likelihood."""
    torch.manual_seed(run)
    torch.set_num_threads(1)
    rng = np.random.default_rng(run)
    rows, outcome = tensors(X, y)
    model = SVGP(rows[inducing_rows(len(y), rng)].clone())
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=RATE)
    model.train()
    likelihood.train()
    for batch in batches(len(y), rng):
        optimizer.zero_grad()
        loss = -bound(model(rows[batch]), outcome[batch])
        loss.backward()
        optimizer.step()
    return model, likelihood
