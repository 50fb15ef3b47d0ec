"""Measurements as JSON, one row a line: they can be appended one by one, and a crash costs the last line at most."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.files import whole_file

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All rows of a file, none if it does not exist; a last line that was cut short by a crash does not count."""
    if not path.exists():
        return []
    rows = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for i, line in enumerate(lines):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            if i < len(lines) - 1:
                raise ValueError(f"line {i + 1} of {path} is not a row: remove it, or the file") from None
    return rows


def append_row(path: Path, row: Row) -> None:
    """Add a row on a line of its own, also after one that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = path.read_bytes() if path.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        path.write_bytes(whole)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Replace all rows of a file."""
    with whole_file(path) as partial:
        partial.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
