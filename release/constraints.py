"""The lowest versions that pyproject.toml allows of what rio-uq depends on, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest(requirements: list[str]) -> list[str]:
    """``numpy>=1.26`` as ``numpy==1.26``, which pip takes for 1.26.0."""
    pinned = []
    for requirement in requirements:
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9.]+)", requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} in {PYPROJECT.name} has no lowest version: write name>=version")
        pinned.append("{}=={}".format(*match.groups()))
    return pinned


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(lowest(project["dependencies"])))  # noqa: T201
