"""A CSV file, block by block: its encoding, its separator, its columns, all of them as text."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import compute as pc
from pyarrow import csv as arrow_csv

BLOCK_BYTES = 4 * 2**20
SEPARATORS = ",;\t|"
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""With the codec that each of them stands for; the marks of UTF-32 begin with those of UTF-16."""

BYTES_A_LETTER = {"utf-16": 2, "utf-32": 4}


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written; None is found out."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None


class EncodingError(ValueError):
    """Text that is not written in the encoding that it was read in, or an encoding that nobody knows."""


class CsvFile:
    """A table in a CSV file with a line of names, see `rio_uq.rows.formats.TableFile`."""

    def __init__(self, path: Path, options: CsvOptions) -> None:
        self.path = path
        self.encoding = options.encoding or _encoding(path)
        _check_encoding(self.encoding)
        self.separator, names, self._header_lines = self._read_header(options.separator)
        self.schema = pa.schema([(name, pa.string()) for name in names])

    def _read_header(self, separator: str | None) -> tuple[str, list[str], int]:
        """The separator, the names, and how many lines of the file it takes to get to the rows."""
        try:
            with self.path.open(encoding=self.encoding, newline="") as file:
                first = next((line for line in file if line.strip()), None)
                if first is None:
                    raise ValueError(f"{self.path} is empty: a line with the names of columns is needed")
                chosen = separator or _separator(first)
                file.seek(0)
                reader = csv.reader(file, delimiter=chosen)
                names = next(row for row in reader if len(row) > 1 or "".join(row).strip())
        except UnicodeError as error:
            raise self._wrong_encoding() from error
        except csv.Error as error:
            raise ValueError(f"{self.path}: the line of names cannot be read: {error}") from error
        return chosen, names, reader.line_num

    def batches(self, block_rows: int) -> Iterator[tuple[pa.RecordBatch, float]]:
        """As many rows at a time as some megabytes hold; the share of the file is an estimate."""
        done, size = 0, max(self.path.stat().st_size, 1) // BYTES_A_LETTER.get(self.encoding[:6], 1)
        names = self.schema.names
        own = [f"c{i}" for i in range(len(names))]  # for pyarrow, so that odd ones cannot matter
        try:
            with self.path.open("rb") as file:
                reader = arrow_csv.open_csv(
                    file,
                    arrow_csv.ReadOptions(
                        use_threads=False,
                        block_size=max(BLOCK_BYTES, 32 * (self._header_lines + sum(len(name) + 1 for name in names))),
                        column_names=own,
                        skip_rows=self._header_lines,  # lines, blank ones included
                        encoding="utf-8" if self.encoding == "utf-8-sig" else self.encoding,
                    ),
                    arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
                    arrow_csv.ConvertOptions(column_types=dict.fromkeys(own, pa.string()), strings_can_be_null=False),
                )
                for batch in reader:
                    # pyarrow reads far ahead, so that the place in the file says nothing.
                    done += sum(pc.sum(pc.binary_length(column)).as_py() or 0 for column in batch.columns)
                    done += batch.num_rows * batch.num_columns
                    yield pa.record_batch(batch.columns, schema=self.schema), min(done / max(size, 1), 1.0)
        except UnicodeError as error:
            raise self._wrong_encoding() from error
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error):
                raise self._wrong_encoding() from error
            if "Empty CSV" in str(error) or "Could not skip initial" in str(error):  # names, and no rows
                return
            raise ValueError(f"{self.path}, separated by {self.separator!r}: {_first_line(error)}") from error

    def _wrong_encoding(self) -> EncodingError:
        return EncodingError(f"{self.path} is not written in {self.encoding}")


def _check_encoding(name: str) -> None:
    try:
        codecs.lookup(name)
    except LookupError:
        raise EncodingError(f"the encoding {name} is not known") from None
    try:
        "a".encode(name)
    except (LookupError, UnicodeError):
        raise EncodingError(f"the encoding {name} is not one of text") from None


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(4)
    return next((codec for mark, codec in BYTE_ORDER_MARKS if start.startswith(mark)), "utf-8")


def _separator(line: str) -> str:
    """The one that is most frequent outside quotes."""
    outside = "".join(line.split('"')[::2])
    return max(SEPARATORS, key=outside.count)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300]
