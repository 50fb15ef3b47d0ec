"""Pages and modules whose examples need packages beyond those of the tests are left out where these are missing."""

from importlib.util import find_spec

NEEDS = {
    "docs/onnx.md": "onnxruntime",
    "src/rio_uq/onnx.py": "onnx",
}

collect_ignore = [path for path, module in NEEDS.items() if find_spec(module) is None]
