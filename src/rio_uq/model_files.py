"""Models inside a saved regressor, in the formats of their own tools: ONNX and skops.

Neither runs code from the file: an ONNX graph is data for a runtime, and skops builds objects of trusted types only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq.adapters import onnx_model

KINDS = ("onnx", "skops")
OWN_TYPES = ("rio_uq.cross_fit.FoldAverage",)

_DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64}


def kind_of(name: str) -> str:
    """Of a model file, by the end of its name."""
    kind = name.rpartition(".")[2].lower()
    if kind not in KINDS:
        raise ValueError(
            f"model_file has to end in .onnx or .skops; got {name!r}: other models are given to load as estimator=..."
        )
    return kind


def load_model(kind: str, content: bytes, trusted: Sequence[str] = ()) -> Any:
    """The model in a file of that kind.

    Parameters
    ----------
    kind : {"onnx", "skops"}
    content : bytes
    trusted : sequence of str
        Names of types that a skops file may hold beside those that skops knows to be safe.
    """
    return _load_onnx(content) if kind == "onnx" else _load_skops(content, trusted)


class UntrustedTypesError(ValueError):
    """A skops file that holds types which skops does not know to be safe."""

    def __init__(self, types: Sequence[str]) -> None:
        super().__init__(
            f"the skops file holds types that are not known to be safe: {', '.join(types)}; if you trust where the "
            "file comes from, name them in trusted=[...]"
        )
        self.types = list(types)


class ManyInputsError(ValueError):
    """A graph that has not one input but several."""


def _load_onnx(content: bytes) -> Any:
    try:
        return OnnxModel(content)
    except ManyInputsError:  # one for each column of a frame, as skl2onnx makes them
        return onnx_model(content)


class OnnxModel:
    """A model in ONNX with one input, run by onnxruntime; its first output is the prediction."""

    def __init__(self, content: bytes) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError(
                "a model in ONNX needs onnxruntime to run: pip install 'rio-uq[onnx]', or load with estimator=None and "
                "give predictions as y_pred"
            ) from error
        self.content = content
        self._session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or inputs[0].type not in _DTYPES:
            described = ", ".join(f"{one.name}: {one.type}" for one in inputs)
            kind = ValueError if len(inputs) == 1 else ManyInputsError
            raise kind(f"the ONNX model has to have one input, a tensor of numbers; it has {described}")
        self._name, self._dtype = inputs[0].name, _DTYPES[inputs[0].type]

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._session.run(None, {self._name: np.asarray(X, dtype=self._dtype)})[0])

    def __reduce__(self) -> tuple[type[OnnxModel], tuple[bytes]]:
        return type(self), (self.content,)


def _load_skops(content: bytes, trusted: Sequence[str]) -> Any:
    try:
        from skops import io
    except ImportError as error:
        raise ImportError(
            "a model in a skops file needs skops to load: pip install 'rio-uq[skops]', or load with estimator=None and "
            "give predictions as y_pred"
        ) from error
    allowed = {*OWN_TYPES, *trusted}
    unknown = sorted(set(io.get_untrusted_types(data=content)) - allowed)
    if unknown:
        raise UntrustedTypesError(unknown)
    return io.loads(content, trusted=sorted(allowed))
