"""Measurements as JSON, one row a line: they can be appended one by one, and a crash costs the last line at most."""

from __future__ import annotations

import fcntl
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
    """Add a row on a line of its own, also after one that was cut short; several processes may append."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        content = file.read()
        if not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)
        file.write(f"{json.dumps(row)}\n".encode())


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Replace all rows of a file."""
    with whole_file(path) as partial:
        partial.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
