"""The model that --model names: a file of its own tool, or a Python object by its name."""

from __future__ import annotations

import csv
import importlib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from rio_uq.cli.console import UserError

PICKLES = (".pkl", ".pickle", ".joblib")
_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

WHY_NOT_PICKLE = (
    "a pickle or joblib file can run any program when it is opened, so open only those that you or somebody you trust "
    "has made"
)


@dataclass(frozen=True)
class OpenedModel:
    """A model, and its file.

    Attributes
    ----------
    model : object
        With ``predict``, or callable.
    name : str
        As it was given.
    kind : str or None
        "onnx" or "skops" for a file that can be put into a .rio file.
    content : bytes or None
        Of that file.
    """

    model: Any
    name: str
    kind: str | None = None
    content: bytes | None = None

    def columns(self) -> list[str] | None:
        """The columns that the model asks for by name; None if it takes what it is given."""
        names = getattr(self.model, "feature_names_in_", None)
        network: Any = getattr(self.model, "network", None)
        if names is None and hasattr(network, "input_names") and len(network.input_names()) > 1:
            names = network.input_names()
        return None if names is None else [str(name) for name in names]


def split_names(values: Sequence[str]) -> list[str]:
    """Options that may be given several times, or once with commas."""
    return [name for row in csv.reader(values, skipinitialspace=True) for name in row]


def column_names(text: str, there: Sequence[str]) -> tuple[str, ...]:
    """The columns that a text names: one of that name, commas and all, or several with commas between them."""
    return (text,) if text in there else tuple(split_names([text]))


def open_model(name: str, *, trust_pickle: bool, trusted: Sequence[str]) -> OpenedModel:
    """The model of that name."""
    path = Path(name)
    ending = path.suffix.lower()
    if ending in (".onnx", ".skops", *PICKLES):
        if not path.is_file():
            raise UserError(f"there is no model file {name}")
        return _open_pickle(path, trust_pickle) if ending in PICKLES else _open_file(path, ending[1:], trusted)
    if not _OBJECT.fullmatch(name):
        raise typer.BadParameter(
            f"{name!r} is neither a file that ends in .onnx, .skops or {', '.join(PICKLES)}, nor a Python object such "
            "as mypackage.models:predict",
            param_hint="--model",
        )
    return OpenedModel(_imported(name), name)


def _open_file(path: Path, kind: str, trusted: Sequence[str]) -> OpenedModel:
    from rio_uq.models.files import UntrustedTypesError, load_model
    from rio_uq.models.onnx import onnx_bytes

    content = onnx_bytes(path) if kind == "onnx" else path.read_bytes()
    try:
        return OpenedModel(load_model(kind, content, trusted), str(path), kind, content)
    except UntrustedTypesError as error:
        raise untrusted(str(path), error.types) from error
    except ImportError:
        raise
    except Exception as error:  # each tool has errors of its own
        raise UserError(f"{path} cannot be opened as a model: {error}") from error


def untrusted(name: str, types: Sequence[str]) -> UserError:
    """The error for a skops file that holds types which are not known to be safe."""
    listed = "".join(f"\n  {one}" for one in types)
    return UserError(
        f"{name} holds types that are not known to be safe:{listed}\nIf you trust where it comes from: "
        f"--trust-types {','.join(types)}"
    )


def _open_pickle(path: Path, trust_pickle: bool) -> OpenedModel:
    if not trust_pickle:
        raise typer.BadParameter(
            f"{path} is not opened: {WHY_NOT_PICKLE}. If you trust it: --trust-pickle. Safe instead: model.skops, "
            "model.onnx",
            param_hint="--model",
        )
    import joblib

    try:
        return OpenedModel(joblib.load(path), str(path))
    except Exception as error:  # unpickling fails in as many ways as there are programs
        raise UserError(f"{path} cannot be opened: {type(error).__name__}: {error}") from error


def _imported(name: str) -> Any:
    module_name, _, path = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        target: Any = importlib.import_module(module_name)
        for part in path.split("."):
            target = getattr(target, part)
    except Exception as error:  # the module is the user's own, and may fail in any way
        raise UserError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    if isinstance(target, type) or not (callable(target) or hasattr(target, "predict")):
        raise UserError(f"{name} is {target!r}, and has to be a function from rows to predictions, or a model")
    return target
