"""GPyTorch's VNNGP (Wu et al. 2022): every row is an inducing point, which depends on its nearest rows alone."""

from __future__ import annotations

import gpytorch
import numpy as np
import torch

from benchmarks.large.peers.batches import RATE
from benchmarks.large.peers.gpytorch_models import Trained, VariationalGP, predict, tensors

__all__ = ["predict", "train"]

NEIGHBOURS, BATCH, EPOCHS, FEWEST_STEPS = 50, 256, 30, 2000
"""Nearest rows, as many as RIO has; rows of a batch, passes over all rows, and steps at least.

The variational mean and std of a row hardly move but in its own batch: batches are smaller and steps more than where
all rows share 500 inducing points.
"""
FIRST_STD = 0.01
"""Of the variational distribution, as GPyTorch has it."""


class VNNGP(VariationalGP):
    """Inducing points are the rows, and stay there."""

    def __init__(self, rows: torch.Tensor) -> None:
        distribution = gpytorch.variational.MeanFieldVariationalDistribution(len(rows))
        sizes = {"k": min(NEIGHBOURS, len(rows) - 1), "training_batch_size": min(BATCH, len(rows))}
        strategy = gpytorch.variational.NNVariationalStrategy(self, rows, distribution, **sizes)
        super().__init__(rows.shape[1], strategy)


def train(X: np.ndarray, y: np.ndarray, run: int) -> Trained:
    """The GP and its likelihood; the strategy itself chooses the rows of a batch.

    Variational means begin at the outcomes. From zero, where GPyTorch has them begin, neighbours hold each other back:
    on 2,000 rows of power-plant the negative bound of a row is 1.20 after 600 steps, and 0.39 from the outcomes.
    """
    torch.manual_seed(run)
    torch.set_num_threads(1)
    rows, outcome = tensors(X, y)
    model = VNNGP(rows)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=RATE)
    model.train()
    likelihood.train()
    strategy = model.variational_strategy
    strategy._variational_distribution.variational_mean.data.copy_(outcome)
    strategy._variational_distribution._variational_stddev.data.fill_(FIRST_STD)
    strategy.variational_params_initialized.fill_(1)
    n_batches = strategy._total_training_batches
    for _ in range(n_batches * max(EPOCHS, FEWEST_STEPS // n_batches)):
        optimizer.zero_grad()
        output = strategy(None)
        loss = -bound(output, outcome[strategy.current_training_indices])
        loss.backward()
        optimizer.step()
    return model, likelihood
