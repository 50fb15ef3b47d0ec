"""A network of skorch, which is a scikit-learn estimator: not fitted yet, it is cross-fitted.

python -m examples.skorch_network
"""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split
from skorch import NeuralNetRegressor

from examples.compare import Comparison, compare
from rio_uq import RIORegressor


class Network(torch.nn.Module):
    """32 ReLUs; one number for each row, as y has."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)[:, 0]


def main() -> Comparison:
    torch.manual_seed(0)
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X.astype(np.float32), y, test_size=200, random_state=0)
    model = NeuralNetRegressor(
        Network, optimizer=torch.optim.Adam, lr=0.02, max_epochs=100, train_split=None, verbose=0
    )

    rio = RIORegressor(model, random_state=0).fit(X_train, y_train)
    mean, std = rio.predict(X_test, return_std=True)
    alone = model.fit(X_train, y_train.astype(np.float32)).predict(X_test)
    return compare("skorch network", y_test, alone, mean, std)


if __name__ == "__main__":
    main()
