"""Examples that need packages beyond those of the core are left out where these are missing.

Those of docs/deployment.md also need a tracking store: tests/mlflow/test_service.py runs them. What builds the site,
and what is built, is no example.
"""

from importlib.util import find_spec

import pytest

NEEDS = {
    "docs/onnx.md": "onnxruntime",
    "src/rio_uq/onnx/export.py": "onnx",
}

collect_ignore = ["docs/deployment.md", "docs/conf.py", "docs/figures.py"] + [
    path for path, module in NEEDS.items() if find_spec(module) is None
]
collect_ignore_glob = ["docs/gallery/*", "docs/api/*", "docs/_*"]


def pytest_collection_modifyitems(items):
    """What examples run is measured in the tests of it."""
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            item.add_marker(pytest.mark.no_cover)
