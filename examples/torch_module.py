"""A trained PyTorch module.

python -m examples.torch_module
"""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from examples.compare import Comparison, compare
from rio_uq import RIORegressor
from rio_uq.models import torch_model


def trained(X: np.ndarray, y: np.ndarray, epochs: int = 300) -> torch.nn.Module:
    """A network of 32 ReLUs, stopped early enough not to memorise its rows."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    rows, outcomes = (torch.tensor(values, dtype=torch.float32) for values in (X, y))
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    for _ in range(epochs):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(module(rows)[:, 0], outcomes).backward()
        optimizer.step()
    return module


def main() -> Comparison:
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=200, random_state=0)
    model = torch_model(trained(X_train, y_train), batch_size=256)

    rio = RIORegressor(model, residuals="in-sample", random_state=0).fit(X_train, y_train)  # as in the paper
    mean, std = rio.predict(X_test, return_std=True)
    return compare("PyTorch module", y_test, model.predict(X_test), mean, std)


if __name__ == "__main__":
    main()
