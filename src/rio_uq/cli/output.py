"""Files that the command line writes: in one step, and never over another without --force."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from rio_uq._base.array import Array
from rio_uq._base.files import file_in_one_step
from rio_uq.cli.cells import MISSING, NumberFormat, is_text, plain_numbers
from rio_uq.cli.console import UserError
from rio_uq.cli.input import InputTable
from rio_uq.cli.options import STDOUT
from rio_uq.rows.formats import format_of

WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"
FRACTION = r"^-?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?$"
"""Numbers in a CSV file; 007 is none, but a name."""


DIGITS, DIGITS_OF_STD = 7, 5
"""Of numbers in CSV that are made here."""


class Dialect(NamedTuple):
    """How CSV is written."""

    separator: str = ","
    decimal: str = "."


def dialect_of(path: Path, table: InputTable, *, is_asked_for: bool) -> Dialect:
    """Tabs for .tsv, commas for .csv; or as the input, if options have said how that is written."""
    same = is_asked_for and table.separator is not None
    separator = "\t" if path.suffix.lower() == ".tsv" else (table.separator or ",") if same else ","
    return Dialect(separator, table.number_format.decimal if same else ".")


def check_output(path: Path, *, force: bool, ending: str = "", inputs: Sequence[Path | str | None] = ()) -> None:
    """Raise before any work is done, if the file could not be written in the end, or is one of the inputs."""
    if path.is_dir():
        raise UserError(f"{path} is a folder: name a file")
    if ending and path.suffix.lower() != ending:
        raise UserError(f"{path}: its name has to end in {ending}")
    for source in inputs:
        if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
            raise UserError(f"{path} is an input of this command: choose another name for its output")
    if path.exists() and not force:
        raise UserError(f"{path} exists already: choose another name, or --force to replace it")
    if not path.absolute().parent.is_dir():
        raise UserError(f"{path}: there is no folder {path.absolute().parent}")
    try:
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            pass
    except OSError as error:
        raise UserError(f"{path}: nothing can be written to its folder: {error.strerror or error}") from error


@contextmanager
def in_one_step(path: Path, *, force: bool) -> Iterator[Path]:
    """A path to write to; what is written takes its name at the end, if nothing goes wrong on the way."""
    with file_in_one_step(path) as temporary:
        yield temporary
        check_output(path, force=force)


def write_table(blocks: Iterable[pa.Table], path: Path, dialect: Dialect, *, force: bool) -> None:
    """Write blocks of rows as one table; on standard output as they come."""
    if path == STDOUT:
        with _writer("csv", path, dialect) as write:
            for block in blocks:
                write(block)
        return
    with in_one_step(path, force=force) as temporary, _writer(format_of(path), temporary, dialect) as write:
        for block in blocks:
            write(block)


@contextmanager
def _writer(table_format: str, path: Path, dialect: Dialect) -> Iterator[Callable[[pa.Table], None]]:
    opened: list[Any] = []

    def write(table: pa.Table) -> None:
        if table_format == "csv":
            if not opened:
                opened.append(sys.stdout.buffer if path == STDOUT else path.open("wb"))
                opened[0].write(_csv_lines([table.column_names], dialect))
            opened[0].write(_csv_block(table, dialect))
            return
        if not opened:
            writer = parquet.ParquetWriter if table_format == "parquet" else _feather_writer
            opened.append(writer(path, table.schema))
        opened[0].write_table(table)

    try:
        yield write
    finally:
        for file in opened:
            file.flush() if path == STDOUT else file.close()


def _feather_writer(path: Path, schema: pa.Schema) -> Any:
    return pa.ipc.new_file(str(path), schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))


def _csv_block(table: pa.Table, dialect: Dialect) -> bytes:
    """Rows of CSV; pyarrow writes them ten times as fast, where no cell needs quotes."""
    table = pa.table([_as_written(column, dialect) for column in table.columns], names=table.column_names)
    quoted = f'["\r\n{re.escape(dialect.separator)}]'
    texts = [column for column in table.columns if is_text(column.type)]
    needs_quotes = any(pc.any(pc.match_substring_regex(text, quoted)).as_py() for text in texts)
    if needs_quotes or any(pa.types.is_nested(kind) for kind in table.schema.types):
        return _csv_lines(zip(*(column.to_pylist() for column in table.columns), strict=True), dialect)
    buffer = io.BytesIO()
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none", delimiter=dialect.separator)
    arrow_csv.write_csv(table, buffer, options)
    return buffer.getvalue()


def _as_written(column: pa.ChunkedArray, dialect: Dialect) -> pa.ChunkedArray:
    """Text for what the two ways of writing would write differently."""
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")
    if pa.types.is_floating(column.type) and dialect.decimal != ".":
        return pc.replace_substring(column.cast(pa.string()), ".", dialect.decimal)
    if pa.types.is_temporal(column.type) or pa.types.is_decimal(column.type) or pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    return column


def _csv_lines(rows: Iterable[Iterable[Any]], dialect: Dialect) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", delimiter=dialect.separator).writerows(rows)
    return text.getvalue().encode()


def meaningful(values: Array, std: Array) -> Array:
    """Predictions without the digits that mean nothing: of seven digits in all, and of five digits of their standard
    deviation, whichever are more.
    """
    decimals = np.maximum(DIGITS - 1 - _exponent(values), DIGITS_OF_STD - 1 - _exponent(std))
    pairs = zip(values.ravel().tolist(), decimals.ravel().tolist(), strict=True)
    rounded = [round(value, places) if math.isfinite(value) else value for value, places in pairs]
    return np.array(rounded, dtype=float).reshape(values.shape)


def _exponent(values: Array) -> NDArray[np.intp]:
    """The power of ten of the first digit; large for zero, which has none, so that it asks for no digits."""
    size = np.where(np.isfinite(values) & (values != 0.0), np.abs(values), np.inf)
    return np.floor(np.log10(np.minimum(size, 1e300))).astype(np.intp)


def column_types(table: InputTable) -> dict[str, pa.DataType]:
    """The types of the columns of a CSV file, for a file that has types: one more walk over its rows."""
    fits = {name: [pa.int64(), pa.float64()] for name in table.names}
    patterns = {pa.int64(): WHOLE, pa.float64(): FRACTION}
    for block in table.blocks("finding the types of columns"):
        for name, candidates in fits.items():
            column = plain_numbers(block.column(name), table.number_format)
            texts = pc.filter(column, pc.invert(pc.is_in(column, pa.array(MISSING))))
            while candidates and not _all_match(texts, patterns[candidates[0]]):
                candidates.pop(0)
    return {name: candidates[0] if candidates else pa.string() for name, candidates in fits.items()}


def _all_match(texts: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern), min_count=0).as_py())


def typed(table: pa.Table, types: dict[str, pa.DataType], number_format: NumberFormat) -> pa.Table:
    """The rows of a CSV file with these types."""
    columns = []
    for name in table.column_names:
        column = table.column(name)
        if types[name] != pa.string() and is_text(column.type):
            is_missing = pc.is_in(column, pa.array(MISSING))
            column = pc.if_else(is_missing, None, plain_numbers(column, number_format)).cast(types[name])
        columns.append(column)
    return pa.table(columns, names=table.column_names)
