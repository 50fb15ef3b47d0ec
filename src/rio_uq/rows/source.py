"""From X in any form to the source of its rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rio_uq.rows.arrays import ArrayRows
from rio_uq.rows.contract import Source
from rio_uq.rows.memory import MemorySource
from rio_uq.rows.parquet import ArrowRows, is_arrow
from rio_uq.rows.tables import TableSource


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask."""
    return type(X).__module__.startswith("dask.") and hasattr(X, "__dask_graph__")


def is_in_parts(X: Any) -> bool:
    """Whether X are rows that are to be read in parts."""
    if type(X) is np.ndarray:
        return False
    if type(X).__module__.startswith("pyarrow.") and not is_arrow(X):
        raise TypeError(
            f"X is a {type(X).__name__} of pyarrow, and rows come as a path, a Table, a RecordBatch or a Dataset: use "
            "its read_all() or read(), or give the path"
        )
    return isinstance(X, str | os.PathLike | ArrowRows | np.memmap) or is_arrow(X) or is_dask(X)


def check_in_memory(X: Any) -> None:
    """Raise for rows that are to be read in parts; a memory map does for an array."""
    if is_in_parts(X) and not isinstance(X, np.memmap):
        raise TypeError(f"X is a {type(X).__name__} here, and this method takes rows in memory: get them there first")


def row_source(
    X: Any, roles: Mapping[str, Any], columns: Sequence[str] | None = None, *, needs_columns: bool = True
) -> Source:
    """The source behind X.

    Parameters
    ----------
    X : path, Arrow table or dataset, ArrowRows, memory map, Dask array or data frame, or rows in memory of any kind
    roles : mapping
        Values of the rows by their roles, see `rio_uq.rows.contract.Part`; where X has columns, also their names.
    columns : sequence of str, optional
        The columns of X that a model has seen.
    needs_columns : bool
        Whether X has to have at least one.
    """
    if not is_in_parts(X):
        return MemorySource(X, roles, columns, needs_columns=needs_columns)
    if is_dask(X):
        from rio_uq.rows.dask.source import DaskSource  # Dask is optional, and takes long to import

        return DaskSource(X, roles, columns, needs_columns=needs_columns)
    if isinstance(X, np.memmap):
        return TableSource(ArrayRows(X), roles, None)
    table = X if isinstance(X, ArrowRows) else ArrowRows(X)
    return TableSource(table, roles, columns, needs_columns=needs_columns)
