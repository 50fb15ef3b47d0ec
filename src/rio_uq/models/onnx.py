"""ONNX files, run by onnxruntime, which is imported when one is used."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from rio_uq._base.checks import check_count, named
from rio_uq._base.extras import require
from rio_uq.models.network import BATCH_SIZE, NetworkModel, batches


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
            tensors = _onnx_inputs(inputs, rows)
            if fixed is not None and n_rows < fixed:  # fill up with rows that are cut off again
                tensors = {name: np.resize(values, (fixed, *values.shape[1:])) for name, values in tensors.items()}
            (values,) = self._session.run([self.name], tensors)
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
