"""A fitted regressor as an ONNX graph, with the extra ``rio-uq[onnx]``."""

from rio_uq.onnx.classifier import export_classifier
from rio_uq.onnx.export import export

__all__ = ["export", "export_classifier"]
