"""What GPyTorch's GPs have in common: mean, kernel, and the walk over new rows."""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch

PREDICTED_AT_ONCE = 1000

Trained = tuple[Any, Any]
"""A GP and its likelihood."""


class VariationalGP(gpytorch.models.ApproximateGP):
    """A constant mean, and a Matérn 5/2 kernel with a lengthscale for each column."""

    def __init__(self, n_columns: int, strategy: Any) -> None:
        super().__init__(strategy)
        self.mean_module = gpytorch.means.ConstantMean()
        matern = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=n_columns)
        self.covar_module = gpytorch.kernels.ScaleKernel(matern)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def tensors(*arrays: np.ndarray) -> list[torch.Tensor]:
    return [torch.as_tensor(values, dtype=torch.float32) for values in arrays]


def predict(trained: Trained, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of outcomes."""
    model, likelihood = trained
    model.eval()
    likelihood.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), PREDICTED_AT_ONCE):
            (part,) = tensors(X[start : start + PREDICTED_AT_ONCE])
            output = likelihood(model(part))
            parts.append(np.stack([output.mean.numpy(), output.stddev.numpy()]))
    mean, std = np.concatenate(parts, axis=1).astype(float)
    return mean, std
