"""GPyTorch's sparse variational GP."""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch

from benchmarks.large.methods import BATCH, EPOCHS, FEWEST_STEPS, POINTS, RATE

PREDICTED_AT_ONCE = 1000


class SVGP(gpytorch.models.ApproximateGP):
    """With inducing points that move."""

    def __init__(self, points: torch.Tensor) -> None:
        distribution = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, distribution))
        self.mean_module = gpytorch.means.ConstantMean()
        matern = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=points.shape[1])
        self.covar_module = gpytorch.kernels.ScaleKernel(matern)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def train(X: np.ndarray, y: np.ndarray, run: int) -> tuple[Any, Any]:
    """The GP and its likelihood."""
    torch.manual_seed(run)
    torch.set_num_threads(1)
    rng = np.random.default_rng(run)
    rows, outcome = (torch.as_tensor(values, dtype=torch.float32) for values in (X, y))
    model = SVGP(rows[rng.choice(len(rows), min(POINTS, len(rows)), replace=False)].clone())
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=RATE)
    model.train()
    likelihood.train()
    n_batches = -(-len(y) // BATCH)
    for _ in range(max(EPOCHS, FEWEST_STEPS // n_batches)):
        order = torch.as_tensor(rng.permutation(len(y)))
        for start in range(0, len(y), BATCH):
            batch = order[start : start + BATCH]
            optimizer.zero_grad()
            loss = -bound(model(rows[batch]), outcome[batch])
            loss.backward()
            optimizer.step()
    model.eval()
    likelihood.eval()
    return model, likelihood


def predict(trained: tuple[Any, Any], X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of outcomes."""
    model, likelihood = trained
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), PREDICTED_AT_ONCE):
            part = torch.as_tensor(X[start : start + PREDICTED_AT_ONCE], dtype=torch.float32)
            output = likelihood(model(part))
            parts.append(np.stack([output.mean.numpy(), output.stddev.numpy()]))
    mean, std = np.concatenate(parts, axis=1).astype(float)
    return mean, std
