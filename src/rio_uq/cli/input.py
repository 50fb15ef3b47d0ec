"""Tables that the command line reads, with a progress bar, and errors that name its options."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from rio_uq.cli.cells import NumberFormat
from rio_uq.cli.console import UserError, note, progress
from rio_uq.rows.csv import CsvOptions, EncodingError
from rio_uq.rows.formats import format_of, open_table, table_blocks
from rio_uq.rows.versions import FileVersions


class InputTable:
    """A table in a file.

    Attributes
    ----------
    path : Path
    format : str
        csv, parquet, feather or excel.
    schema : pyarrow.Schema
        Text in every column of a CSV file.
    names : list of str
        Of its columns.
    separator : str or None
        Of a CSV file.
    number_format : NumberFormat
        Of text.
    """

    def __init__(self, path: Path, options: CsvOptions) -> None:
        self.path, self.number_format = path, NumberFormat(options.decimal, options.thousands)
        if options.thousands == options.decimal:
            raise UserError(
                f"--thousands and --decimal are both {options.decimal!r}: one character cannot separate thousands "
                "and be the decimal point"
            )
        self._versions = FileVersions([path])
        with _as_user_errors():
            self.format, self._file = format_of(path), open_table(path, options)
        self.schema, self.names = self._file.schema, self._file.schema.names
        self.separator: str | None = getattr(self._file, "separator", None)
        first, *others = getattr(self._file, "sheets", [""])
        if others:
            note(f"{path} has {len(others) + 1} sheets: the first one, {first!r}, is read")

    def check_has(self, columns: Iterable[str], why: str = "") -> None:
        """Raise an error that names the columns that are missing, and those that are spelt alike."""
        there = set(self.names)
        missing = [name for name in columns if name not in there]
        if not missing:
            return
        alike = difflib.get_close_matches(missing[0], self.names, n=1, cutoff=0.6)
        hint = f"did you mean {alike[0]!r}? " if alike else ""
        raise UserError(
            f"{self.path} has no column {_quoted(missing)}{why}: {hint}its columns are {_quoted(self.names)}"
        )

    def blocks(self, label: str) -> Iterator[pa.Table]:
        """The rows, some at a time, with a progress bar of that label."""
        with progress(label) as update, _as_user_errors():
            self._versions.check()
            for block, share in table_blocks(self._file):
                yield block
                update(share)

    def read(self) -> pa.Table:
        """All rows."""
        blocks = list(self.blocks(f"reading {self.path.name}"))
        if not blocks:
            raise UserError(f"{self.path} has names of columns and no rows")
        return pa.concat_tables(blocks)


@contextmanager
def _as_user_errors() -> Iterator[None]:
    try:
        yield
    except EncodingError as error:
        raise UserError(f"{error}: name its encoding with --encoding: latin-1, cp1252 or utf-16, say") from error
    except ValueError as error:
        raise UserError(str(error)) from error


def _quoted(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:30])
    return shown if len(names) <= 30 else f"{shown} and {len(names) - 30} more"
