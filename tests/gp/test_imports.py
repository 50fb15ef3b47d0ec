"""The engine needs NumPy, SciPy and threadpoolctl, and nothing of the library above it."""

import ast
import sys
from pathlib import Path

import pytest

import rio_uq.gp

FOLDER = Path(rio_uq.gp.__file__).parent


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_imports(path):
    for name in imported(path):
        package = name.partition(".")[0]
        if package == "rio_uq":
            assert name.startswith(("rio_uq._base", "rio_uq.gp"))
        else:
            assert package in {"numpy", "scipy", "threadpoolctl", *sys.stdlib_module_names}
