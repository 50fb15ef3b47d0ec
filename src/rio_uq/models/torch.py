"""PyTorch modules, which are imported when one is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.checks import check_count
from rio_uq._base.extras import require
from rio_uq.models.network import BATCH_SIZE, NetworkModel, batches


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


class TorchNetwork:
    """A PyTorch module in eval mode and without gradients.

    Parameters
    ----------
    module : torch.nn.Module
    batch_size : int
        Rows that go through the module at a time.
    device : str or torch.device, optional
        Where to run: the module is moved there. By default where the module is.
    dtype : str or torch.dtype, optional
        What X is converted to, "int64" for an embedding, say. By default that of the module's parameters.
    """

    def __init__(self, module: Any, *, batch_size: int = BATCH_SIZE, device: Any = None, dtype: Any = None) -> None:
        torch = require("torch", "frameworks", "a PyTorch module")
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"module has to be a torch.nn.Module, an object and not a class; got {module!r}")
        check_count(batch_size, "batch_size", at_least=1)
        self.module = module
        self.batch_size = batch_size
        self.device = device
        self.dtype = _torch_dtype(dtype)

    def outputs(self, X: Any) -> Iterator[tuple[Any, int]]:
        """The output of the module for each batch, and the rows of the batch."""
        import torch

        parameter = next((p for p in self.module.parameters() if p.is_floating_point()), torch.empty(0))
        device = parameter.device if self.device is None else torch.device(self.device)
        dtype = parameter.dtype if self.dtype is None else self.dtype
        if self.device is not None:
            self.module.to(device)
        with _eval_mode(self.module), torch.no_grad():
            for rows in batches(X, self.batch_size):
                tensor = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(_plain_numbers(rows))
                yield self.module(tensor.to(device, dtype)), len(tensor)


def _torch_dtype(dtype: Any) -> Any:
    import torch

    resolved = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype is not None and not isinstance(resolved, torch.dtype):
        raise ValueError(f"dtype has to be a torch.dtype or its name, such as 'float32' or 'int64'; got {dtype!r}")
    return resolved


def _plain_numbers(rows: Any) -> NDArray[Any]:
    array = np.asarray(rows)
    if array.dtype == object:  # a frame of columns that differ in type
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"X does not hold numbers only, which a network needs ({error}): encode the other columns first"
            ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X has to hold numbers, which a network needs; got {array.dtype.name}")
    return np.array(array)  # a copy: PyTorch warns of arrays that it must not write to


@contextmanager
def _eval_mode(module: Any) -> Iterator[None]:
    """Eval mode; afterwards each part is in the mode that it was in, frozen parts included."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training
