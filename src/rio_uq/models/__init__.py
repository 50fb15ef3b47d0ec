"""The model under RIO: any regressor as it is, and adapters for PyTorch modules and ONNX files."""

from rio_uq.models.adapters import onnx_model, torch_model

__all__ = ["onnx_model", "torch_model"]
