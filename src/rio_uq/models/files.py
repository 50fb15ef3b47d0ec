"""Models in files of their own tools: ONNX and skops, and pickle where somebody has asked for it.

The first two run no code from the file: an ONNX graph is data for a runtime, and skops builds objects of trusted types
only. Files of skops and pickles name our own classes by their modules; those that have moved since are found.
"""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from rio_uq._base.errors import FormatError
from rio_uq._base.extras import require
from rio_uq.models.network import NetworkModel
from rio_uq.models.onnx import OnnxNetwork, onnx_bytes

KINDS = ("onnx", "skops")
OWN_TYPES = ("rio_uq.models.cross_fitting.FoldAverage",)
MOVED = {
    "rio_uq.cross_fit": {"FoldAverage": "rio_uq.models.cross_fitting"},
    "rio_uq.adapters": {"NetworkModel": "rio_uq.models.network"},
    "rio_uq.networks": {"OnnxNetwork": "rio_uq.models.onnx", "TorchNetwork": "rio_uq.models.torch"},
    "rio_uq.table_encoder": dict.fromkeys(
        ("TableEncoder", "NumberColumn", "CategoryColumn"), "rio_uq.features.table_encoder"
    ),
    "rio_uq.layers": dict.fromkeys(("OnnxTensor", "TorchLayer"), "rio_uq.features.layers"),
}
"""Modules by the names that they had in files of earlier versions, and where their types are now."""

SCHEMA, MODULE_KEYS = "schema.json", ("__module__", "module_path")
"""The member of a skops file that names types, and its keys for their modules."""

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


class SkopsFile(NamedTuple):
    """A model as skops stores it.

    Attributes
    ----------
    content : bytes
    types : list of str
        Those in it that skops does not know to be safe, but for our own.
    """

    content: bytes
    types: list[str]


def dump_skops(model: Any, purpose: str = "a model in a skops file", otherwise: str = "") -> SkopsFile:
    """Store a model; ``purpose`` and ``otherwise`` are for the message where skops is not installed."""
    io = require("skops.io", "skops", purpose, otherwise)
    content = bytes(io.dumps(model))
    return SkopsFile(content, sorted({*io.get_untrusted_types(data=content)} - {*OWN_TYPES}))


def _load_skops(content: bytes, trusted: Sequence[str]) -> Any:
    otherwise = "load with estimator=None and give predictions as y_pred"
    io = require("skops.io", "skops", "a model in a skops file", otherwise)
    content = _with_present_names(content)
    allowed = {*OWN_TYPES, *map(_present_name, trusted)}
    unknown = sorted(set(io.get_untrusted_types(data=content)) - allowed)
    if unknown:
        raise UntrustedTypesError(unknown)
    return io.loads(content, trusted=sorted(allowed))


def load_pickle(content: bytes) -> Any:
    """The object in a pickle, which may run anything; classes of ours that have moved since are found."""
    return _Unpickler(BytesIO(content)).load()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        return super().find_class(_home(module_name, global_name), global_name)


def _home(module: str, type_name: str) -> str:
    """The module of a type, by the name that it may have had before."""
    return MOVED.get(module, {}).get(type_name, module)


def _present_name(full_name: str) -> str:
    """Of a type, by the name that it may have had before."""
    module, dot, name = full_name.rpartition(".")
    return f"{_home(module, name)}{dot}{name}"


def _with_present_names(content: bytes) -> bytes:
    """A skops file in which the modules of our types have their present names."""
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as former:
        schema = former.read(SCHEMA)
        if not any(f'"{name}"'.encode() in schema for name in MOVED):
            return content
        with zipfile.ZipFile(buffer, "w") as present:
            for name in former.namelist():
                is_schema = name == SCHEMA
                present.writestr(name, json.dumps(_renamed(json.loads(schema))) if is_schema else former.read(name))
    return buffer.getvalue()


def _renamed(node: Any) -> Any:
    if isinstance(node, list):
        return [_renamed(child) for child in node]
    if not isinstance(node, dict):
        return node
    name = node.get("__class__", "")
    return {
        key: _home(child, name) if key in MODULE_KEYS and isinstance(child, str) else _renamed(child)
        for key, child in node.items()
    }
