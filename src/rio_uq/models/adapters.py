"""Models of other frameworks as models for `RIORegressor`, where they do not work as they are.

Anything with a ``predict`` method that takes X needs no adapter, nor does a function from X to predictions: see
``docs/models.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.models.networks import BATCH_SIZE, OnnxNetwork, TorchNetwork, as_array


def torch_model(module: Any, *, batch_size: int = BATCH_SIZE, device: Any = None, dtype: Any = None) -> NetworkModel:
    """A trained PyTorch module as a model.

    Predictions are made in batches, in eval mode and without gradients; afterwards every part of the module is in the
    mode that it was in.

    Parameters
    ----------
    module : torch.nn.Module
        It takes a tensor of rows, and returns one of shape (n,), (n, 1) or (n, q).
    batch_size : int
        Rows that go through the module at a time.
    device : str or torch.device, optional
        Where to run: the module is moved there. By default where the module is.
    dtype : str or torch.dtype, optional
        What X is converted to, "int64" for an embedding, say. By default that of the module's parameters.
    """
    return NetworkModel(TorchNetwork(module, batch_size=batch_size, device=device, dtype=dtype))


def onnx_model(source: Any, output: str | None = None, *, batch_size: int = BATCH_SIZE) -> NetworkModel:
    """An ONNX file as a model, run by onnxruntime.

    Parameters
    ----------
    source : path or bytes
        A graph with one input for all of X, or with one for each column of a frame X, by their names.
    output : str, optional
        Which output has the predictions, of shape (n,), (n, 1) or (n, q); needed if there are several.
    batch_size : int
        Rows at a time. A graph that was exported with a fixed number of rows gets that number.
    """
    network = OnnxNetwork(source, output, batch_size=batch_size)
    if network.name not in network.output_names():
        raise ValueError(f"the ONNX graph has no output {output!r}: choose one of {', '.join(network.output_names())}")
    return NetworkModel(network)


class NetworkModel:
    """A network with a ``predict`` method."""

    def __init__(self, network: TorchNetwork | OnnxNetwork) -> None:
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
