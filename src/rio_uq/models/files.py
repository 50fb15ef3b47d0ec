"""Models inside a saved regressor, in the formats of their own tools: ONNX and skops.

Neither runs code from the file: an ONNX graph is data for a runtime, and skops builds objects of trusted types only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rio_uq._base.errors import FormatError
from rio_uq._base.extras import require
from rio_uq.models.adapters import NetworkModel
from rio_uq.models.networks import OnnxNetwork, onnx_bytes

KINDS = ("onnx", "skops")
OWN_TYPES = ("rio_uq.models.cross_fitting.FoldAverage",)
FIRST_OUTPUT = 0
"""Of an ONNX graph: the prediction."""


def kind_of(name: str) -> str:
    """Of a model file, by the end of its name."""
    kind = name.rpartition(".")[2].lower()
    if kind not in KINDS:
        raise ValueError(
            f"model_file has to end in .onnx or .skops; got {name!r}: other models are given to load as estimator=..."
        )
    return kind


def read_model(path: str | os.PathLike[str], kind: str) -> bytes:
    """The bytes of a model file, with the weights that an ONNX file keeps in files beside it."""
    if kind == "skops":
        return Path(path).read_bytes()
    with _named(os.fspath(path)):
        return onnx_bytes(path)


def open_model(where: str, kind: str, content: bytes, trusted: Sequence[str] = ()) -> Any:
    """As `load_model`, with errors that say where the model comes from."""
    with _named(where):
        return load_model(kind, content, trusted)


@contextmanager
def _named(where: str) -> Iterator[None]:
    try:
        yield
    except (ImportError, OSError):
        raise
    except Exception as error:  # each tool has errors of its own
        raise FormatError(f"{where}: the model cannot be loaded: {error}") from error


def load_model(kind: str, content: bytes, trusted: Sequence[str] = ()) -> Any:
    """The model in a file of that kind.

    Parameters
    ----------
    kind : {"onnx", "skops"}
    content : bytes
    trusted : sequence of str
        Names of types that a skops file may hold beside those that skops knows to be safe.
    """
    if kind == "skops":
        return _load_skops(content, trusted)
    return NetworkModel(OnnxNetwork(content, FIRST_OUTPUT))


class UntrustedTypesError(ValueError):
    """A skops file that holds types which skops does not know to be safe."""

    def __init__(self, types: Sequence[str]) -> None:
        super().__init__(
            f"the skops file holds types that are not known to be safe: {', '.join(types)}; if you trust where the "
            "file comes from, name them in trusted=[...]"
        )
        self.types = list(types)


def _load_skops(content: bytes, trusted: Sequence[str]) -> Any:
    otherwise = "load with estimator=None and give predictions as y_pred"
    io = require("skops.io", "skops", "a model in a skops file", otherwise)
    allowed = {*OWN_TYPES, *trusted}
    unknown = sorted(set(io.get_untrusted_types(data=content)) - allowed)
    if unknown:
        raise UntrustedTypesError(unknown)
    return io.loads(content, trusted=sorted(allowed))
