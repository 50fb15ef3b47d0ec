"""Intermediate layers of a network as what the GP sees, as in the paper's experiment with a DenseNet.

Images, texts and sounds have far too many numbers for a kernel on X itself. A layer of the network that was trained on
them says in some hundred numbers what matters in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq._base.checks import named
from rio_uq._base.extras import require
from rio_uq.models.network import BATCH_SIZE, as_array
from rio_uq.models.onnx import OnnxNetwork, onnx_bytes
from rio_uq.models.torch import TorchNetwork

POOLS = ("max", "mean")


def layer(
    module: Any,
    path: str,
    *,
    pool: str | None = None,
    batch_size: int = BATCH_SIZE,
    device: Any = None,
    dtype: Any = None,
) -> TorchLayer:
    """A layer of a PyTorch module, for ``RIORegressor(features=...)``.

    Parameters
    ----------
    module : torch.nn.Module
        The whole network. It is run in eval mode and without gradients, with a forward hook that is removed afterwards.
    path : str
        The name of the layer, one of ``dict(module.named_modules())``. Of a layer that is used several times in one
        pass, the last use counts.
    pool : {"max", "mean", None}
        How an output of shape (n, channels, …) becomes one of shape (n, channels): its largest value or its mean over
        all further dimensions. None keeps all values.
    batch_size, device, dtype
        As in `rio_uq.models.torch_model`.
    """
    return TorchLayer(TorchNetwork(module, batch_size=batch_size, device=device, dtype=dtype), path, pool)


def onnx_tensor(source: Any, name: str, *, pool: str | None = None, batch_size: int = BATCH_SIZE) -> OnnxTensor:
    """A tensor inside an ONNX graph, for ``RIORegressor(features=...)``.

    Parameters
    ----------
    source : path or bytes
    name : str
        The name of the tensor, as a viewer of ONNX files shows it: an output of one of the nodes.
    pool, batch_size
        As in `layer`.
    """
    return OnnxTensor(OnnxNetwork(_with_output(source, name), name, batch_size=batch_size), pool)


class TorchLayer:
    """A function from X to what a layer of a PyTorch module makes of it."""

    def __init__(self, network: TorchNetwork, path: str, pool: str | None) -> None:
        _check_pool(pool)
        names = [name for name, _ in network.module.named_modules() if name]
        if path not in names:
            raise ValueError(f"the module has no layer {path!r}: its layers are {', '.join(names)}")
        self.network = network
        self.path = path
        self.pool = pool

    def __call__(self, X: Any) -> Array:
        seen: list[Array] = []

        def see(_: Any, __: Any, output: Any) -> None:
            if not hasattr(output, "detach"):
                raise TypeError(
                    f"layer {self.path!r} returns a {type(output).__name__}: choose a layer that returns one tensor"
                )
            seen[:] = [
                _pooled(output, self.pool, f"layer {self.path!r}")
            ]  # a copy, since the next layer may work in place

        values = []
        hook = self.network.module.get_submodule(self.path).register_forward_hook(see)
        try:
            for _, n_rows in self.network.outputs(X):
                if not seen:
                    raise ValueError(f"layer {self.path!r} is not used when the module runs: choose another one")
                values.append(_for_each_row(seen.pop(), n_rows, f"layer {self.path!r}"))
        finally:
            hook.remove()
        return np.concatenate(values)

    def __sklearn_clone__(self) -> TorchLayer:
        return self  # trained, as the model is


class OnnxTensor:
    """A function from X to a tensor inside an ONNX graph."""

    def __init__(self, network: OnnxNetwork, pool: str | None) -> None:
        _check_pool(pool)
        self.network = network
        self.pool = pool

    def __call__(self, X: Any) -> Array:
        what = f"tensor {self.network.name!r}"
        outputs = self.network.outputs(X)
        return np.concatenate([_for_each_row(_pooled(values, self.pool, what), n, what) for values, n in outputs])

    def __sklearn_clone__(self) -> OnnxTensor:
        return self


def _with_output(source: Any, name: str) -> bytes:
    """The graph with the tensor among its outputs."""
    onnx = require("onnx", "onnx", "a tensor inside an ONNX graph")
    model = onnx.load_model_from_string(onnx_bytes(source))
    if name not in [output.name for output in model.graph.output]:
        inside = [tensor for node in model.graph.node for tensor in node.output if tensor]
        if name not in inside:
            raise ValueError(f"the ONNX graph has no tensor {name!r}: its tensors are {', '.join(inside)}")
        model.graph.output.append(onnx.ValueInfoProto(name=name))
    return bytes(model.SerializeToString())


def _check_pool(pool: Any) -> None:
    if pool is not None and pool not in POOLS:
        raise ValueError(f"pool has to be {named(POOLS)} or None; got {pool!r}")


def _pooled(values: Any, pool: str | None, what: str) -> Array:
    """A tensor (n, channels, …) as an array (n, channels), or (n, number of values) without a pool."""
    if values.ndim < 2:
        raise ValueError(f"{what} has shape {tuple(values.shape)}, and has to have (rows, channels, …)")
    beyond = tuple(range(2, values.ndim))
    if beyond and pool == "mean":
        values = (values.double() if hasattr(values, "double") else values.astype(np.float64)).mean(beyond)
    elif beyond and pool == "max":
        values = values.amax(beyond) if hasattr(values, "amax") else values.max(beyond)
    array = as_array(values)
    return array.reshape(len(array), int(np.prod(array.shape[1:])))


def _for_each_row(values: Array, n_rows: int, what: str) -> Array:
    if len(values) != n_rows:
        raise ValueError(f"{what} has {len(values)} rows where X has {n_rows}: choose one that keeps the rows apart")
    return values
