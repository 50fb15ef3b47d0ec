"""The model under RIO, and adapters for frameworks whose models do not take X as they are.

Anything with a ``predict`` method that takes X needs no adapter, nor does a function from X to predictions: see
``docs/models.md``.
"""

from rio_uq.models.onnx import onnx_model
from rio_uq.models.torch import torch_model

__all__ = ["onnx_model", "torch_model"]
