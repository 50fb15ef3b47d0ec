"""Rows that are not in memory, seen as parts that are: blocks of a file, or the partitions of a cluster.

A source is all that `rio_uq.streaming` knows of them: how many rows there are, some of them by their numbers, the sum
over all parts of what a function makes of each, and what a function makes of every row.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.checks import named
from rio_uq.rows.parquet import ArrayRows, ArrowRows, is_arrow

MESSAGES = (ValueError, TypeError)
"""Errors that speak of rows: they are told where the rows are."""


@dataclass(frozen=True)
class Part:
    """Some rows in memory.

    Attributes
    ----------
    name : str
        Where they are, in words.
    X : array or frame
    given : dict
        What else there is to know of them, by the names that the methods of RIORegressor have for it: ``y``,
        ``y_pred``, ``sample_weight``, ``held_out``, ``groups``.
    """

    name: str
    X: Any
    given: dict[str, Any] = field(default_factory=dict)


class Summand(Protocol):
    def plus(self, other: Any, /) -> Self: ...


Sum = TypeVar("Sum", bound=Summand)


class Source(Protocol):
    """Rows in parts. Functions are called with an object that they may look up things in, and a part."""

    name: str

    @property
    def n_rows(self) -> int: ...

    def take(self, numbers: NDArray[np.intp]) -> Part:
        """The rows with these numbers, which are sorted."""

    def total(self, function: Callable[[Any, Part], Sum], context: Any) -> Sum:
        """The sum over the parts, always in the same order; parts without rows are left out."""

    def rows(self, function: Callable[[Any, Part], Any], context: Any, example: Callable[[], Any]) -> Any:
        """What the function makes of each row, one array or several, which may be lazy; ``example`` makes it of one."""


@contextmanager
def errors_of(part: Part) -> Iterator[None]:
    """Errors about rows say which part they are in, and stay of their kind; rows of a part count from 0."""
    try:
        yield
    except MESSAGES as error:
        message = f"in {part.name}: {error}"
        try:
            told = type(error)(message)
        except Exception:  # some errors are not made of a message
            told = None
        if told is None or str(told) != message:
            error.add_note(f"in {part.name}")
            raise
        raise told from error


class LocalSource:
    """A table on this machine, in blocks of rows.

    Parameters
    ----------
    table : ArrowRows or ArrayRows
    given : dict
        By role (see `Part`): the name of a column, a list of names, an array with a value for each row, or None.
    columns : sequence of str, optional
        The usual columns of X.
    needs_columns : bool
        Whether X has to have at least one.
    """

    def __init__(
        self,
        table: ArrowRows | ArrayRows,
        given: dict[str, Any],
        columns: Sequence[str] | None,
        *,
        needs_columns: bool = True,
    ) -> None:
        self.table, self.name, self.n_rows = table, table.name, table.n_rows
        self._named = {role: value for role, value in given.items() if names_columns(value)}
        left = {role: value for role, value in given.items() if value is not None and role not in self._named}
        self._arrays = {role: np.asarray(values) for role, values in left.items()}
        if not self.n_rows:
            raise ValueError(f"{self.name} has no rows (0 sample(s)): at least one is needed")
        for role, values in self._arrays.items():
            if values.shape[:1] != (self.n_rows,):
                raise ValueError(
                    f"{role} has to have a value for each of the {self.n_rows} rows of {self.name}, or to name a "
                    f"column of it; got shape {values.shape}"
                )
        others = [name for value in self._named.values() for name in ([value] if isinstance(value, str) else value)]
        self._columns = table.chosen(columns, others)
        if self._columns is not None:
            check_columns(self.name, self._columns, self._named, needs_columns=needs_columns)
        self._read = list(dict.fromkeys([*(self._columns or []), *others]))

    def parts(self) -> Iterator[Part]:
        start = 0
        for block in self.table.blocks(self._read):
            n_rows = len(block)
            yield self._part(
                f"rows {start} to {start + n_rows - 1} of {self.name}", block, slice(start, start + n_rows)
            )
            start += n_rows

    def take(self, numbers: NDArray[np.intp]) -> Part:
        start, pieces = 0, []
        for block in self.table.blocks(self._read):
            low, high = np.searchsorted(numbers, [start, start + len(block)])
            if high > low:
                pieces.append(self.table.pick(block, numbers[low:high] - start))
            start += len(block)
        return self._part(f"{len(numbers)} rows of {self.name}", self.table.join(pieces), numbers)

    def total(self, function: Callable[[Any, Part], Sum], context: Any) -> Sum:
        parts: Iterator[Sum] = self.each(function, context)
        return reduce(lambda one, other: one.plus(other), parts)

    def each(self, function: Callable[[Any, Part], Any], context: Any) -> Iterator[Any]:
        for part in self.parts():
            with errors_of(part):
                found = function(context, part)
            yield found

    def rows(self, function: Callable[[Any, Part], Any], context: Any, example: Callable[[], Any]) -> Any:
        found = list(self.each(function, context))
        if not isinstance(found[0], tuple):
            return np.concatenate(found)
        joined = [np.concatenate(arrays) for arrays in zip(*found, strict=True)]
        return type(found[0])(*joined) if hasattr(found[0], "_fields") else tuple(joined)

    def _part(self, name: str, block: Any, numbers: slice | NDArray[np.intp]) -> Part:
        rows = self.table.in_memory(block)
        given = {role: rows[columns].to_numpy() for role, columns in self._named.items()}
        given |= {role: values[numbers] for role, values in self._arrays.items()}
        return Part(name, rows if self._columns is None else rows[self._columns], given)


def names_columns(value: Any) -> bool:
    """Whether a value is the name of a column, or several of them."""
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and bool(value) and all(isinstance(item, str) for item in value)
    )


def check_columns(name: str, columns: list[str], by_name: dict[str, Any], *, needs_columns: bool) -> None:
    """Raise if no column is left for X, or if an outcome is one of its columns."""
    if needs_columns and not columns:
        raise ValueError(
            f"no column is left for X in {name}, beside {named([*by_name.values()])}: add the model's inputs, or use "
            "kernel='output', which looks at predictions alone"
        )
    outcome = by_name.get("y", [])
    both = [column for column in ([outcome] if isinstance(outcome, str) else outcome) if column in columns]
    if both:
        raise ValueError(f"{named(both)} is y, and cannot be a column of X too: leave it out of the columns of X")


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask."""
    return type(X).__module__.startswith("dask.") and hasattr(X, "__dask_graph__")


def is_source(X: Any) -> bool:
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
    if is_source(X) and not isinstance(X, np.memmap):
        raise TypeError(f"X is a {type(X).__name__} here, and this method takes rows in memory: get them there first")


def row_source(
    X: Any, given: dict[str, Any], columns: Sequence[str] | None = None, *, needs_columns: bool = True
) -> Source | None:
    """The source behind X; None if X is in memory.

    Parameters
    ----------
    X : path, Arrow table or dataset, ArrowRows, memory map, or Dask array or data frame
    given : dict
        What else there is to know of the rows, see `LocalSource`.
    columns : sequence of str, optional
        The columns of X that a model has seen.
    needs_columns : bool
        Whether X has to have at least one.
    """
    if not is_source(X):
        return None
    if is_dask(X):
        from rio_uq.rows.dask.source import DaskSource

        return DaskSource(X, given, columns, needs_columns=needs_columns)
    if isinstance(X, np.memmap):
        return LocalSource(ArrayRows(X), given, None)
    table = X if isinstance(X, ArrowRows) else ArrowRows(X)
    return LocalSource(table, given, columns, needs_columns=needs_columns)
