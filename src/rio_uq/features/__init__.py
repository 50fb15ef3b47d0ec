"""Features of X for the GP: columns, transformers, layers of networks, encoded tables."""

from rio_uq.features.layers import layer, onnx_tensor
from rio_uq.features.table_encoder import TableEncoder

__all__ = ["TableEncoder", "layer", "onnx_tensor"]
