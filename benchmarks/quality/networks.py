"""Networks with error bars of their own: deep ensembles, Monte Carlo dropout, and Laplace's method on the last layer.

They have the hidden layers of the run, which in this benchmark are those of the paper's network. Those trained here see
standardised outcomes, as their authors' do, and keep the weights of the best epoch.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.linalg import eigh
from scipy.optimize import minimize, minimize_scalar
from torch import nn

from benchmarks.quality.answers import Answer
from benchmarks.quality.protocol import Run
from lab.base_models import BATCH_ROWS, MAX_EPOCHS, Network, relu_layers, train_network
from lab.splits import held_out_rows
from rio_uq import metrics
from rio_uq.gp.scaling import Scaling

PATIENCE = 100
LEARNING_RATE = 1e-3
N_MEMBERS = 5
DROPOUT = 0.05
N_DRAWS = 100

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def deep_ensemble(run: Run) -> Answer:
    """Five networks for mean and variance, trained by likelihood from different weights (Lakshminarayanan et al. 2017).

    Each stops early on 20 % of the rows, others for each. Their mixture is taken as the Gaussian of its mean and
    variance, as there; there is no adversarial training.
    """
    began = time.perf_counter()
    outcome = Scaling.standardizing(run.y_train[:, None])
    means, variances = [], []
    for member in range(N_MEMBERS):
        seed = N_MEMBERS * run.number + member
        predict, _ = train(run, _gaussian_layers, _gaussian_loss, seed)
        with torch.no_grad():
            mean, variance = _mean_and_variance(predict(run.X_test))
        means.append(mean.numpy().astype(float))
        variances.append(variance.numpy().astype(float))
    mean = np.mean(means, axis=0)
    variance = np.mean(variances, axis=0) + np.var(means, axis=0)
    std = np.sqrt(variance) * outcome.scale[0]
    return Answer(outcome.offset[0] + mean * outcome.scale[0], time.perf_counter() - began, std)


def mc_dropout(run: Run) -> Answer:
    """Dropout before every layer, in training and in 100 draws of the prediction (Gal and Ghahramani 2016).

    The variance is that of the draws and a constant one, which makes the validation rows most likely.
    """
    began = time.perf_counter()
    outcome = Scaling.standardizing(run.y_train[:, None])
    predict, held = train(run, _dropout_layers, nn.functional.mse_loss, run.number)

    def draws(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.no_grad():
            drawn = np.stack([predict(X)[:, 0].numpy() for _ in range(N_DRAWS)]).astype(float)
        return outcome.offset[0] + drawn.mean(axis=0) * outcome.scale[0], drawn.var(axis=0) * outcome.scale[0] ** 2

    mean, variance = draws(run.X_train[held])
    noise = most_likely_noise(run.y_train[held], mean, variance)
    mean, variance = draws(run.X_test)
    return Answer(mean, time.perf_counter() - began, np.sqrt(variance + noise))


def last_layer_laplace(run: Run) -> Answer:
    """The paper's network with a Gaussian posterior over the weights of its last layer: ridge regression on features.

    The mean stays the network's. The precision of the prior and the noise variance make the validation rows most
    likely.
    """
    began = time.perf_counter()
    network = train_network(run.X_train, run.y_train, run.hidden, run.number)
    held = network.validation
    posterior_variance = _laplace(last_features(network, run.X_train[~held]))
    held_features = last_features(network, run.X_train[held])
    y_held, mean_held = run.y_train[held], network.predict(run.X_train[held])

    def loss(logs: np.ndarray) -> float:
        precision, noise = np.exp(logs)
        std = np.sqrt(noise + posterior_variance(held_features, precision, noise))
        return metrics.nlpd(y_held, mean_held, std)

    start = np.log([1.0, ((y_held - mean_held) ** 2).mean()])
    precision, noise = np.exp(minimize(loss, start, method="Nelder-Mead").x)
    variance = noise + posterior_variance(last_features(network, run.X_test), precision, noise)
    return Answer(network.predict(run.X_test), time.perf_counter() - began, np.sqrt(variance))


def train(
    run: Run, make_layers: Callable[[int, tuple[int, ...]], nn.Module], loss: Loss, seed: int
) -> tuple[Callable[[np.ndarray], torch.Tensor], np.ndarray]:
    """A network for standardised outcomes, and the training rows that it was stopped on.

    Adam on batches of 32, stopped when the loss on 20 % of the rows has not improved for 100 epochs; the weights are
    those of the best epoch. The network is left in training mode: dropout stays on.
    """
    torch.manual_seed(seed)
    inputs, outcome = Scaling.standardizing(run.X_train), Scaling.standardizing(run.y_train[:, None])
    held = held_out_rows(len(run.y_train), seed)
    x, y = _tensor(inputs.apply(run.X_train)), _tensor(outcome.apply(run.y_train[:, None]))
    train_x, train_y, held_x, held_y = x[~held], y[~held], x[held], y[held]
    layers = make_layers(x.shape[1], run.hidden)
    optimizer = torch.optim.Adam(layers.parameters(), lr=LEARNING_RATE, fused=True)
    best, best_weights, waited, epoch = np.inf, layers.state_dict(), 0, 0
    while epoch < MAX_EPOCHS and waited < PATIENCE:
        epoch, waited = epoch + 1, waited + 1
        for batch in torch.randperm(len(train_x)).split(BATCH_ROWS):
            optimizer.zero_grad()
            loss(layers(train_x[batch]), train_y[batch]).backward()
            optimizer.step()
        layers.eval()
        with torch.no_grad():
            held_loss = float(loss(layers(held_x), held_y))
        layers.train()
        if held_loss < best:
            best, best_weights, waited = held_loss, copy.deepcopy(layers.state_dict()), 0
    layers.load_state_dict(best_weights)
    return lambda X: layers(_tensor(inputs.apply(X))), held


def _tensor(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _gaussian_layers(n_inputs: int, hidden: tuple[int, ...]) -> nn.Module:
    """The paper's layers with a second output."""
    layers = relu_layers(n_inputs, hidden)
    layers[-1] = nn.Linear(hidden[-1], 2)
    return layers


def _mean_and_variance(output: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return output[:, 0], nn.functional.softplus(output[:, 1]) + 1e-6


def _gaussian_loss(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    mean, variance = _mean_and_variance(output)
    return nn.functional.gaussian_nll_loss(mean, y[:, 0], variance)


def _dropout_layers(n_inputs: int, hidden: tuple[int, ...]) -> nn.Module:
    """The paper's layers with dropout before each linear one."""
    stack: list[nn.Module] = []
    for layer in relu_layers(n_inputs, hidden):
        stack += [nn.Dropout(DROPOUT), layer] if isinstance(layer, nn.Linear) else [layer]
    return nn.Sequential(*stack)


def most_likely_noise(y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> float:
    """The constant variance which, added to given ones, makes the outcomes most likely."""
    largest = float(((y - mean) ** 2).mean())

    def loss(log_noise: float) -> float:
        return metrics.nlpd(y, mean, np.sqrt(variance + np.exp(log_noise)))

    optimum = minimize_scalar(loss, bounds=(np.log(largest) - 12.0, np.log(largest) + 1.0), method="bounded")
    return float(np.exp(optimum.x))


def last_features(network: Network, X: np.ndarray) -> np.ndarray:
    """The inputs of the last layer, and a one for its bias: (n, h + 1)."""
    inputs = _tensor((X - network.offset) / network.scale)
    with torch.no_grad():
        hidden = network.layers[:-1](inputs).numpy().astype(float)  # type: ignore[index]
    return np.column_stack([hidden, np.ones(len(hidden))])


def _laplace(features: np.ndarray) -> Callable[[np.ndarray, float, float], np.ndarray]:
    """φᵀ (ΦᵀΦ/σ² + δI)⁻¹ φ as a function of new features φ, the precision δ of the prior and the noise variance σ²."""
    values, vectors = eigh(features.T @ features)

    def variance(new: np.ndarray, precision: float, noise: float) -> np.ndarray:
        return ((new @ vectors) ** 2 / (np.maximum(values, 0.0) / noise + precision)).sum(axis=1)

    return variance
