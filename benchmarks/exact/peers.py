"""Exact GPs of GPyTorch and scikit-learn, with the kernel and from the start of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpytorch
import numpy as np
import torch
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from benchmarks.exact.problems import Problem
from benchmarks.exact.trace import Trace

RATE, STEPS = 0.1, 500
"""Of Adam."""

L_BFGS_B = {"maxiter": 300, "ftol": 1e-8, "gtol": 1e-5, "maxcor": 10}


class ExactGP(gpytorch.models.ExactGP):
    """Matérn 5/2 with a lengthscale for each feature, and no mean."""

    def __init__(self, X: torch.Tensor, y: torch.Tensor, likelihood: gpytorch.likelihoods.GaussianLikelihood) -> None:
        super().__init__(X, y, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        matern = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=X.shape[1])
        self.covar_module = gpytorch.kernels.ScaleKernel(matern)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def _loss(problem: Problem, trace: Trace) -> tuple[list[torch.nn.Parameter], Callable[[], torch.Tensor]]:
    """Parameters at the start, and minus the log marginal likelihood as a function of them."""
    X, y = (torch.as_tensor(values, dtype=torch.float64) for values in problem)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = ExactGP(X, y, likelihood).double()
    variance, *lengthscale, noise = np.exp(problem.start).tolist()
    model.covar_module.outputscale = variance
    model.covar_module.base_kernel.lengthscale = torch.tensor([lengthscale], dtype=torch.float64)
    likelihood.noise = noise
    model.train()
    likelihood.train()
    mean_log_likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def loss() -> torch.Tensor:
        value = -len(y) * mean_log_likelihood(model(X), y)
        value.backward()
        trace.add(-value.item())
        return value.detach()

    return list(model.parameters()), loss


def gpytorch_adam(problem: Problem, trace: Trace) -> None:
    with _by_cholesky():
        parameters, loss = _loss(problem, trace)
        optimizer = torch.optim.Adam(parameters, lr=RATE)
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss()
            optimizer.step()


def gpytorch_l_bfgs(problem: Problem, trace: Trace) -> None:
    """By SciPy's L-BFGS-B, as in BoTorch."""
    with _by_cholesky():
        parameters, loss = _loss(problem, trace)

        def descend(x: np.ndarray) -> tuple[float, np.ndarray]:
            torch.nn.utils.vector_to_parameters(torch.as_tensor(x), parameters)
            for parameter in parameters:
                parameter.grad = None
            value = float(loss())
            return value, torch.cat([parameter.grad.reshape(-1) for parameter in parameters]).numpy()

        start = torch.nn.utils.parameters_to_vector(parameters).detach().numpy()
        minimize(descend, start, jac=True, method="L-BFGS-B", options=L_BFGS_B)


def _by_cholesky() -> Any:
    """One thread, and neither conjugate gradients nor Lanczos."""
    torch.set_num_threads(1)
    return gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False)


def scikit_learn(problem: Problem, trace: Trace) -> None:
    variance, *lengthscale, noise = np.exp(problem.start).tolist()
    kernel = ConstantKernel(variance) * Matern(lengthscale, nu=2.5) + WhiteKernel(noise)

    def search(objective: Callable[..., Any], x: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, float]:
        def descend(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = objective(x)
            trace.add(-value)
            return value, gradient

        result = minimize(descend, x, jac=True, method="L-BFGS-B", bounds=bounds, options=L_BFGS_B)
        return result.x, result.fun

    GaussianProcessRegressor(kernel, optimizer=search).fit(*problem)
