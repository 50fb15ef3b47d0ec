"""Rows as parts that are in memory: all of X, blocks of a file, or the partitions of a cluster.

A source is all that fitting and predicting know of rows: how many there are, some of them by their numbers, a function
of each part, the sum of it over all parts, and a function of every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.checks import named, rows_counted_from
from rio_uq._base.summand import Summand

ROW_ERRORS = (ValueError, TypeError)
"""Errors that speak of rows: they are told where the rows are."""


@dataclass(frozen=True)
class Part:
    """Some rows in memory.

    Attributes
    ----------
    name : str
        Where they are, in words.
    X : array or frame
    y, y_pred, sample_weight, held_out, groups : arrays or None
        As in `RIORegressor.fit`.
    start : int
        The number of the first row, where rows are those of a file from there on.
    """

    name: str
    X: Any
    y: Any = None
    y_pred: Any = None
    sample_weight: Any = None
    held_out: Any = None
    groups: Any = None
    start: int = 0


Sum = TypeVar("Sum", bound=Summand)


class Source(Protocol):
    """Rows in parts. Functions are called with a context, which they may look things up in, and a part."""

    name: str
    is_in_memory: bool

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int | None:
        """Of X, where that is known without looking at rows."""

    def n_jobs(self, asked: int | None) -> int:
        """Threads to work on each part with."""

    def take(self, numbers: NDArray[np.intp]) -> Part:
        """The rows with these numbers, which are sorted."""

    def total(self, function: Callable[[Any, Part], Sum], context: Any) -> Sum:
        """The sum over the parts, always in the same order; parts without rows are left out."""

    def each(self, function: Callable[[Any, Part], Any], context: Any) -> Iterable[Any]:
        """A function of each part, in their order; parts without rows are left out."""

    def rows(self, function: Callable[[Any, Part], Any], context: Any, example: Callable[[], Any]) -> Any:
        """A function of each row, as one array or several, which may be lazy; ``example`` makes it for one row."""


@contextmanager
def errors_of(part: Part) -> Iterator[None]:
    """Errors about rows say which part they are in, and stay of their kind; rows count from the first of all parts."""
    try:
        with rows_counted_from(part.start):
            yield
    except ROW_ERRORS as error:
        message = f"in {part.name}: {error}"
        try:
            located = type(error)(message)
        except Exception:  # some errors are not made of a message
            located = None
        if located is None or str(located) != message:
            error.add_note(f"in {part.name}")
            raise
        raise located from error


def names_columns(value: Any) -> bool:
    """Whether a value is the name of a column, or several of them."""
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and bool(value) and all(isinstance(item, str) for item in value)
    )


def split_roles(roles: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The roles that columns of X have, by name, and those that have values of their own; None is neither."""
    by_name = {role: value for role, value in roles.items() if names_columns(value)}
    values = {role: value for role, value in roles.items() if value is not None and role not in by_name}
    return by_name, values


def columns_of_roles(by_name: Mapping[str, Any]) -> list[str]:
    """The columns that have roles."""
    return [name for value in by_name.values() for name in ([value] if isinstance(value, str) else value)]


def check_columns(name: str, columns: list[str], by_name: Mapping[str, Any], *, needs_columns: bool) -> None:
    """Raise if no column is left for X, or if an outcome is one of its columns."""
    if needs_columns and not columns:
        raise ValueError(
            f"no column is left for X in {name}, beside {named([*by_name.values()])}: add the model's inputs, or use "
            "kernel='output', which looks at predictions alone"
        )
    outcomes = columns_of_roles({"y": by_name["y"]}) if "y" in by_name else []
    both = [column for column in outcomes if column in columns]
    if both:
        raise ValueError(f"{named(both)} is y, and cannot be a column of X too: leave it out of the columns of X")
