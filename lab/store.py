"""A CSV file of results, one row for each table × data set × run × method, written as soon as it is known.

A row is appended by one write of one line, so that an interrupted run leaves whole rows only and goes on where it
stopped.
"""

from __future__ import annotations

import csv
import fcntl
import io
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import pandas as pd

from lab.files import whole_file

Key = tuple[str, str, int, str]
KEY = ["table", "dataset", "run", "method"]


class Store:
    """A CSV file of rows; several processes may append to it.

    Parameters
    ----------
    path : Path
    row_type : dataclass
        Type of a row; its first fields are those of `KEY`.
    """

    def __init__(self, path: Path, row_type: type) -> None:
        self.path = path
        self.columns = [field.name for field in fields(row_type)]

    @property
    def packed(self) -> Path:
        """The same rows, compressed."""
        return self.path.with_name(self.path.name + ".gz")

    def pack(self) -> None:
        """Write all rows, in order and compressed, beside the file."""
        rows = self.read_or_unpack().sort_values(KEY, kind="stable")
        with whole_file(self.packed) as partial:
            rows.to_csv(partial, index=False, compression={"method": "gzip", "mtime": 0})

    def read_or_unpack(self) -> pd.DataFrame:
        """All rows, and of those that were packed the ones that have not been made anew."""
        rows = self.read()
        if not self.packed.exists():
            return rows
        packed = pd.read_csv(self.packed)
        return pd.concat([rows, packed] if len(rows) else [packed]).drop_duplicates(subset=KEY, keep="first")

    def read(self) -> pd.DataFrame:
        """All rows; an unfinished last line, left by a process that was killed, is passed over."""
        if not self.path.exists():
            return pd.DataFrame(columns=self.columns)
        text = self.path.read_text()
        whole = text[: text.rfind("\n") + 1]
        frame = pd.read_csv(io.StringIO(whole or ",".join(self.columns) + "\n"))
        if list(frame.columns) != self.columns:
            raise ValueError(
                f"{self.path} has the columns {list(frame.columns)}; expected {self.columns}: move it out of the way"
            )
        return frame.drop_duplicates(subset=KEY, keep="first")

    def keys(self) -> set[Key]:
        """The keys of all stored rows, packed ones included."""
        rows = self.read_or_unpack()
        return {(table, dataset, int(run), method) for table, dataset, run, method in rows[KEY].to_numpy()}

    def append(self, row: Any) -> None:
        """Add a row, after the last whole line."""
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(["" if value is None else value for value in astuple(row)])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            content = file.read()
            if not content:
                file.write((",".join(self.columns) + "\n").encode())
            elif not content.endswith(b"\n"):
                file.truncate(content.rfind(b"\n") + 1)
            file.write(line.getvalue().encode())
            file.flush()
