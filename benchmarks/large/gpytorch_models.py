"""Gaussian processes of GPyTorch for many rows: inducing points (SVGP), and nearest rows (VNNGP)."""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch

from benchmarks.large.methods import BATCH, EPOCHS, FEWEST_STEPS, NEIGHBOURS, POINTS, RATE

PREDICTED_AT_ONCE = 1000


class _GP(gpytorch.models.ApproximateGP):
    def __init__(self, strategy: Any, n_columns: int) -> None:
        super().__init__(strategy(self))
        self.mean_module = gpytorch.means.ConstantMean()
        matern = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=n_columns)
        self.covar_module = gpytorch.kernels.ScaleKernel(matern)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def __call__(self, x: torch.Tensor | None, prior: bool = False, **options: Any) -> Any:
        if x is not None and x.dim() == 1:
            x = x.unsqueeze(-1)
        return self.variational_strategy(x=x, prior=prior, **options)


def _strategy(kind: str, X: torch.Tensor, rng: np.random.Generator) -> Any:
    if kind == "svgp":
        points = X[rng.choice(len(X), min(POINTS, len(X)), replace=False)].clone()
        distribution = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        return lambda model: gpytorch.variational.VariationalStrategy(model, points, distribution)
    distribution = gpytorch.variational.MeanFieldVariationalDistribution(len(X))
    options = {"k": min(NEIGHBOURS, len(X) - 1), "training_batch_size": min(BATCH, len(X))}
    return lambda model: gpytorch.variational.NNVariationalStrategy(model, X, distribution, **options)


def train(kind: str, X: np.ndarray, y: np.ndarray, run: int) -> Any:
    torch.manual_seed(run)
    torch.set_num_threads(1)
    rng = np.random.default_rng(run)
    rows, outcome = (torch.as_tensor(values, dtype=torch.float32) for values in (X, y))
    model = _GP(_strategy(kind, rows, rng), X.shape[1])
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=RATE)
    model.train()
    likelihood.train()
    n_batches = -(-len(y) // BATCH)
    for _ in range(max(EPOCHS, FEWEST_STEPS // n_batches)):
        order = torch.as_tensor(rng.permutation(len(y)))
        for start in range(0, len(y), BATCH):
            optimizer.zero_grad()
            if kind == "svgp":
                batch = order[start : start + BATCH]
                output = model(rows[batch])
            else:  # it draws its own batches, and says which
                output = model(x=None)
                batch = model.variational_strategy.current_training_indices
            loss = -bound(output, outcome[batch])
            loss.backward()
            optimizer.step()
    model.eval()
    likelihood.eval()
    return model, likelihood


def predict(trained: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    model, likelihood = trained
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), PREDICTED_AT_ONCE):
            part = torch.as_tensor(X[start : start + PREDICTED_AT_ONCE], dtype=torch.float32)
            output = likelihood(model(part))
            parts.append(np.stack([output.mean.numpy(), output.stddev.numpy()]))
    mean, std = np.concatenate(parts, axis=1).astype(float)
    return mean, std
