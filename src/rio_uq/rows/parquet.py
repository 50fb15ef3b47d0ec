"""Parquet files and datasets and Arrow tables, read block by block; and Parquet written so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.checks import check_count, named
from rio_uq._base.extras import require
from rio_uq._base.files import written_in_one_step
from rio_uq.rows.blocks import in_blocks, rows_of_a_block
from rio_uq.rows.damage import naming_file
from rio_uq.rows.versions import FileVersions

PARQUET = "a Parquet file"


def _scan(data: Any, columns: list[str] | None, block_rows: int, filter: Any = None) -> Iterator[Any]:
    """Record batches of an Arrow dataset, of at most so many rows, read when their turn comes.

    By default Arrow reads as far ahead as it can, and memory grows where the consumer is slow. Its errors about what is
    in a file do not say which file: so they are read one by one.
    """
    dataset = require("pyarrow.dataset", "parquet")
    for fragment in data.get_fragments(filter=filter):
        is_parquet = isinstance(getattr(fragment, "format", None), dataset.ParquetFileFormat)
        lazily = {"fragment_scan_options": dataset.ParquetFragmentScanOptions(pre_buffer=False)} if is_parquet else {}
        with naming_file(getattr(fragment, "path", "the Arrow table")):
            yield from fragment.to_batches(
                schema=data.schema,
                columns=columns,
                filter=filter,
                batch_size=block_rows,
                batch_readahead=2,
                use_threads=False,
                **lazily,
            )


class ParquetFile:
    """A table in a Parquet file, see `rio_uq.rows.formats.TableFile`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with naming_file(str(path), PARQUET):
            self._dataset = require("pyarrow.dataset", "parquet").dataset(str(path), format="parquet")
        self.schema = self._dataset.schema

    def batches(self, block_rows: int) -> Iterator[tuple[Any, float]]:
        with naming_file(str(self.path), PARQUET):
            n_rows, done = max(self._dataset.count_rows(), 1), 0
        for batch in _scan(self._dataset, None, block_rows):
            done += batch.num_rows
            yield batch, done / n_rows


def _check_names(columns: Any) -> None:
    if isinstance(columns, str):
        raise TypeError(f"columns has to be a list of names, [{columns!r}] say; got {columns!r}")
    if columns is not None and not list(columns):
        raise ValueError("columns is an empty list: name at least one, or leave it out for all columns")


def is_arrow(X: Any) -> bool:
    """Whether X is an Arrow table or dataset."""
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(X).__mro__}
    return bool(kinds & {"pyarrow.lib.Table", "pyarrow.lib.RecordBatch", "pyarrow._dataset.Dataset"})


class ArrowRows:
    """Rows of a Parquet file or dataset, or of an Arrow table or dataset, as X of `RIORegressor.fit` and `predict`.

    Such an X can be given to them as it is. This says more of it: which columns and rows of it are meant.

    Parameters
    ----------
    data : path, pyarrow.Table or pyarrow.dataset.Dataset
        A path is that of a Parquet file, or of a folder of them.
    columns : list of str, optional
        The columns that are X. By default those that the model or an earlier `fit` has seen, if it has seen names, or
        all that have no other use.
    filter : pyarrow.compute.Expression, optional
        Rows that do not fulfil it are left out.
    block_rows : int, optional
        Rows in memory at a time.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": [1.0, 2.0, 3.0], "b": [0.0, 0.0, 1.0], "y": [1.0, 2.0, 5.0]})
    >>> rows = ArrowRows(table, columns=["a"], filter=pa.compute.field("b") < 1.0)
    >>> rows.n_rows
    2
    """

    def __init__(
        self, data: Any, *, columns: Sequence[str] | None = None, filter: Any = None, block_rows: int | None = None
    ) -> None:
        if block_rows is not None:
            check_count(block_rows, "block_rows", at_least=1)
        _check_names(columns)
        dataset = require("pyarrow.dataset", "parquet")
        require("pandas", "parquet")
        if filter is not None and not isinstance(filter, dataset.Expression):
            raise TypeError(
                f"filter has to be an expression of pyarrow, pyarrow.compute.field('a') > 1 say; got {filter!r}"
            )
        self.name, self.filter, self.block_rows = "the Arrow table", filter, block_rows
        self.path: Path | None = None
        if isinstance(data, str | os.PathLike):
            self.name, self.path = os.fspath(data), Path(data)
            if not self.path.exists():
                raise FileNotFoundError(f"there is no Parquet file or folder {self.name!r}")
            with naming_file(self.name, PARQUET):
                data = dataset.dataset(self.name, format="parquet", partitioning="hive")
        elif not is_arrow(data):
            raise TypeError(f"rows of a path, an Arrow table or an Arrow dataset were expected; got {type(data)}")
        self._dataset = data if hasattr(data, "to_batches") and hasattr(data, "count_rows") else dataset.dataset(data)
        self._versions = FileVersions(self.files)
        self.columns = None if columns is None else self._checked(list(columns))

    @property
    def files(self) -> list[Path]:
        """That rows are read from."""
        return [Path(file) for file in getattr(self._dataset, "files", ())]

    @property
    def column_names(self) -> list[str]:
        """Of all columns but those that pandas has stored its index in."""
        schema = self._dataset.schema
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        return [name for name in schema.names if name not in index]

    @property
    def n_columns(self) -> int:
        return len(self.column_names)

    @cached_property
    def n_rows(self) -> int:
        with naming_file(self.name):
            return int(self._dataset.count_rows(filter=self.filter))

    def _checked(self, names: list[str]) -> list[str]:
        there = set(self._dataset.schema.names)
        missing = [name for name in names if name not in there]
        if missing:
            raise ValueError(f"{self.name} has no column {named(missing)}: its columns are {named(self.column_names)}")
        return names

    def chosen(self, usual: Sequence[str] | None, others: list[str]) -> list[str]:
        """The columns that are X: those asked for, or the usual ones, or all that have no other use."""
        self._checked(others)
        if self.columns is not None:
            return self.columns
        if usual is not None:
            return self._checked([str(name) for name in usual])
        return [name for name in self.column_names if name not in others]

    def blocks(self, columns: list[str]) -> Iterator[Any]:
        """Arrow tables of the same number of rows each, but for the last, whatever the file looks like inside."""
        block_rows = self.block_rows or rows_of_a_block(len(columns))
        self._versions.check()
        yield from in_blocks(_scan(self._dataset, columns, block_rows, self.filter), block_rows)
        self._versions.check()

    @staticmethod
    def pick(block: Any, indices: NDArray[np.intp]) -> Any:
        return block.take(indices)

    @staticmethod
    def join(pieces: list[Any]) -> Any:
        return require("pyarrow", "parquet").concat_tables(pieces)

    @staticmethod
    def in_memory(block: Any) -> Any:
        """As a pandas DataFrame."""
        return block.to_pandas(ignore_metadata=True)


@contextmanager
def parquet_writer(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A function that appends columns, a dict of arrays, to a Parquet file.

    The file takes its name when all is written; an error leaves what was there before.
    """
    pyarrow, parquet = require("pyarrow", "parquet"), require("pyarrow.parquet", "parquet")
    writer = None
    with written_in_one_step(path) as file:

        def append(columns: dict[str, NDArray[Any]]) -> None:
            nonlocal writer
            table = pyarrow.table(columns)
            if writer is None:
                writer = parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)

        try:
            yield append
        finally:
            if writer is not None:
                writer.close()
