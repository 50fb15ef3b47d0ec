"""The models under RIO in the paper's experiments: its networks, in PyTorch, and its random forests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from torch import nn

from lab.splits import held_out_rows

BATCH_ROWS = 32
MAX_EPOCHS = 1000
PATIENCE = 10

TWO_LAYERS = (64, 64)
HIDDEN = {"SC": (128, 128), "CT": (256, 256), "MSD": (64, 64, 64, 64)}
"""Hidden layers where they are not two of 64."""


def hidden_layers(dataset: str) -> tuple[int, ...]:
    """Widths of the paper's network for a data set."""
    return HIDDEN.get(dataset, TWO_LAYERS)


class PaperNetwork(RegressorMixin, BaseEstimator):
    """The paper's network as a scikit-learn estimator, for cross-fitting.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    seed : int
    """

    def __init__(self, hidden: tuple[int, ...] = (64, 64), seed: int = 0) -> None:
        self.hidden = hidden
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> PaperNetwork:
        self.network_ = train_network(X, y, self.hidden, self.seed)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.network_.predict(X)


@dataclass(frozen=True)
class Network:
    """A trained network with the normalisation of its inputs.

    Attributes
    ----------
    layers : torch.nn.Module
    offset, scale : (d,) arrays
        Mean and standard deviation of the training inputs.
    validation : (n,) array of bool
        The training rows that were held out for early stopping: the network took no gradients on them.
    n_epochs : int
    """

    layers: nn.Module
    offset: np.ndarray
    scale: np.ndarray
    validation: np.ndarray
    n_epochs: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        inputs = torch.from_numpy(((X - self.offset) / self.scale).astype(np.float32))
        with torch.no_grad():
            return self.layers(inputs)[:, 0].numpy().astype(float)


def train_network(X: np.ndarray, y: np.ndarray, hidden: tuple[int, ...], seed: int) -> Network:
    """A network trained as in the paper.

    ReLU layers with Glorot's initial weights, RMSprop with a learning rate of 0.001 on batches of 32, mean squared
    error; at most 1,000 epochs, stopped when the loss on 20 % of the rows has not improved for 10 of them. The weights
    are those of the last epoch, as the paper's framework leaves them.
    """
    torch.manual_seed(seed)
    offset, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    inputs = torch.from_numpy(((X - offset) / scale).astype(np.float32))
    outcomes = torch.from_numpy(y.astype(np.float32))[:, None]
    validation = held_out_rows(len(y), seed)
    train_x, train_y = inputs[~validation], outcomes[~validation]
    held_x, held_y = inputs[validation], outcomes[validation]

    layers = relu_layers(X.shape[1], hidden)
    optimizer = torch.optim.RMSprop(layers.parameters(), lr=0.001, alpha=0.9, eps=1e-7)
    best, waited, epoch = np.inf, 0, 0
    while epoch < MAX_EPOCHS and waited < PATIENCE:
        epoch += 1
        for batch in torch.randperm(len(train_x)).split(BATCH_ROWS):
            optimizer.zero_grad()
            nn.functional.mse_loss(layers(train_x[batch]), train_y[batch]).backward()
            optimizer.step()
        with torch.no_grad():
            loss = float(nn.functional.mse_loss(layers(held_x), held_y))
        best, waited = (loss, 0) if loss < best else (best, waited + 1)
    return Network(layers.eval(), offset, scale, validation, epoch)


def relu_layers(n_inputs: int, hidden: tuple[int, ...]) -> nn.Sequential:
    """Fully connected layers with one output, before training."""
    stack: list[nn.Module] = []
    for width_in, width_out in zip((n_inputs, *hidden), hidden, strict=False):
        stack += [nn.Linear(width_in, width_out), nn.ReLU()]
    stack.append(nn.Linear(hidden[-1], 1))
    for layer in stack:
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
    return nn.Sequential(*stack)


def train_forest(X: np.ndarray, y: np.ndarray, max_depth: int, seed: int) -> RandomForestRegressor:
    """100 trees with at least 10 rows a leaf; depth 5, or 7 for MSD."""
    return RandomForestRegressor(100, min_samples_leaf=10, max_depth=max_depth, random_state=seed).fit(X, y)
