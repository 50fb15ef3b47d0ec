"""Trained networks of other frameworks, run on the rows of X in batches.

A framework has a file of its own with a class that puts rows in and gets arrays out, a `Network`. `NetworkModel` makes
a model of it, `rio_uq.features.layers` features.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array

BATCH_SIZE = 1024


class Network(Protocol):
    """A network that takes rows of X."""

    def outputs(self, X: Any) -> Iterator[tuple[Any, int]]:
        """The output for each batch, and the rows of the batch."""


def batches(X: Any, batch_size: int) -> Iterator[Any]:
    """X in pieces of that many rows; an empty X is one empty piece."""
    rows = X.iloc if hasattr(X, "iloc") else X
    for start in range(0, max(_num_samples(X), 1), batch_size):
        yield rows[start : start + batch_size]


def as_array(tensor: Any) -> Array:
    """A tensor of any device and precision as an array of its own."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().double().cpu().numpy()
    return np.array(tensor, dtype=np.float64)


class NetworkModel:
    """A network with a ``predict`` method."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def predict(self, X: Any) -> Array:
        """Predictions of shape (n,) or (n, q)."""
        return np.concatenate([_prediction(output, n_rows) for output, n_rows in self.network.outputs(X)])


def _prediction(output: Any, n_rows: int) -> Array:
    """The output for a batch as an array, if it is one number for each row, or q."""
    shape = getattr(output, "shape", None)
    if shape is None:
        raise TypeError(
            f"the network returned a {type(output).__name__}, and has to return one tensor: wrap it in a module, or "
            "give RIORegressor a function, that picks the predictions"
        )
    values = as_array(output)
    if values.shape == () and n_rows == 1:  # a network that ends in squeeze()
        values = values[None]
    if values.ndim not in (1, 2) or len(values) != n_rows:
        raise ValueError(
            f"the network returned shape {tuple(shape)} for {n_rows} rows, and has to return ({n_rows},), "
            f"({n_rows}, 1), or ({n_rows}, q) for q outputs"
        )
    return values[:, 0] if values.shape[1:] == (1,) else values
