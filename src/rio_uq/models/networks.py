"""Trained networks of other frameworks, run on the rows of X in batches.

`TorchNetwork` and `OnnxNetwork` know how to put rows in and get arrays out; `rio_uq.models.adapters` makes models of
them, and `rio_uq.features.layers` features. A framework is imported when a network of it is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array
from rio_uq._base.checks import check_count, named
from rio_uq._base.extras import require

BATCH_SIZE = 1024


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
        """What the module returns for each batch, and the rows of the batch."""
        import torch

        parameter = next((p for p in self.module.parameters() if p.is_floating_point()), torch.empty(0))
        device = parameter.device if self.device is None else torch.device(self.device)
        dtype = parameter.dtype if self.dtype is None else self.dtype
        if self.device is not None:
            self.module.to(device)
        with _eval_mode(self.module), torch.no_grad():
            for rows in batches(X, self.batch_size):
                given = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(_plain_numbers(rows))
                yield self.module(given.to(device, dtype)), len(given)


def _torch_dtype(dtype: Any) -> Any:
    import torch

    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype is not None and not isinstance(found, torch.dtype):
        raise ValueError(f"dtype has to be a torch.dtype or its name, such as 'float32' or 'int64'; got {dtype!r}")
    return found


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


class OnnxNetwork:
    """A tensor of an ONNX graph, computed by onnxruntime.

    The graph is kept as bytes, so that the object can be pickled; the session is made anew where it is needed.

    Parameters
    ----------
    source : path or bytes
    name : str, int or None
        The output to compute, by name or number; None for the only one.
    batch_size : int
        Rows at a time. A graph that was exported with a fixed number of rows gets that number.
    """

    def __init__(self, source: Any, name: str | int | None, *, batch_size: int = BATCH_SIZE) -> None:
        check_count(batch_size, "batch_size", at_least=1)
        self.graph = onnx_bytes(source)
        self.batch_size = batch_size
        self._session = _start(self.graph)
        self.name = (
            name if isinstance(name, str) else self._only_output() if name is None else self.output_names()[name]
        )

    def _only_output(self) -> str:
        names = self.output_names()
        if len(names) != 1:
            raise ValueError(f"the ONNX graph has {len(names)} outputs: choose one as output, {named(names)}")
        return names[0]

    def output_names(self) -> list[str]:
        return [output.name for output in self._session.get_outputs()]

    def input_names(self) -> list[str]:
        return [needed.name for needed in self._session.get_inputs()]

    def outputs(self, X: Any) -> Iterator[tuple[NDArray[Any], int]]:
        """The tensor for each batch, and the rows of the batch."""
        inputs = self._session.get_inputs()
        fixed = inputs[0].shape[0] if inputs[0].shape and isinstance(inputs[0].shape[0], int) else None
        for rows in batches(X, fixed or self.batch_size):
            n_rows = _num_samples(rows)
            given = _onnx_inputs(inputs, rows)
            if fixed is not None and n_rows < fixed:  # fill up with rows that are cut off again
                given = {name: np.resize(values, (fixed, *values.shape[1:])) for name, values in given.items()}
            (values,) = self._session.run([self.name], given)
            yield values[:n_rows], n_rows

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = _start(self.graph)


def _start(graph: bytes) -> Any:
    runtime = require("onnxruntime", "onnx", "an ONNX graph")
    return runtime.InferenceSession(graph, providers=runtime.get_available_providers())


def onnx_bytes(source: Any) -> bytes:
    """The graph with all of its weights, those that are in files beside it included."""
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str | PathLike):
        raise TypeError(f"an ONNX graph is given as a path or as bytes (model.SerializeToString()); got {source!r}")
    graph = Path(source).read_bytes()
    if b"location" not in graph:  # the key under which a graph names files beside it
        return graph
    onnx = require("onnx", "onnx", "an ONNX graph with weights in a file of their own")
    return bytes(onnx.load_model(source).SerializeToString())


ONNX_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def _onnx_inputs(inputs: Any, rows: Any) -> dict[str, NDArray[Any]]:
    """All of X for a graph with one input; for one with several, each gets the column of its name."""
    if len(inputs) == 1:
        return {inputs[0].name: np.asarray(rows, dtype=ONNX_TYPES[inputs[0].type])}
    names = [needed.name for needed in inputs]
    missing = [name for name in names if name not in getattr(rows, "columns", ())]
    if missing:
        raise ValueError(
            f"the ONNX graph has {len(names)} inputs ({', '.join(names)}): X has to be a frame with these columns; "
            f"{', '.join(missing)} not found"
        )
    return {
        needed.name: np.asarray(rows[needed.name], dtype=ONNX_TYPES[needed.type]).reshape(-1, 1) for needed in inputs
    }
