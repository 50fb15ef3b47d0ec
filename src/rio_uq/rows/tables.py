"""A table on this machine that is read in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.rows.arrays import ArrayRows
from rio_uq.rows.contract import Part, Sum, check_columns, columns_of_roles, errors_of, split_roles
from rio_uq.rows.parquet import ArrowRows


class TableSource:
    """The blocks of a table.

    Parameters
    ----------
    table : ArrowRows or ArrayRows
    roles : mapping
        By role (see `Part`): the name of a column, a list of names, an array with a value for each row, or None.
    columns : sequence of str, optional
        The usual columns of X.
    needs_columns : bool
        Whether X has to have at least one.
    """

    is_in_memory = False

    def __init__(
        self,
        table: ArrowRows | ArrayRows,
        roles: Mapping[str, Any],
        columns: Sequence[str] | None,
        *,
        needs_columns: bool = True,
    ) -> None:
        self.table, self.name, self.n_rows = table, table.name, table.n_rows
        self._by_name, values = split_roles(roles)
        self._arrays = {role: np.asarray(array) for role, array in values.items()}
        if not self.n_rows:
            raise ValueError(f"{self.name} has no rows (0 sample(s)): at least one is needed")
        for role, array in self._arrays.items():
            if array.shape[:1] != (self.n_rows,):
                raise ValueError(
                    f"{role} has to have a value for each of the {self.n_rows} rows of {self.name}, or to name a "
                    f"column of it; got shape {array.shape}"
                )
        others = columns_of_roles(self._by_name)
        self._columns = table.chosen(columns, others)
        if self._columns is not None:
            check_columns(self.name, self._columns, self._by_name, needs_columns=needs_columns)
        self._read = list(dict.fromkeys([*(self._columns or []), *others]))

    @property
    def n_columns(self) -> int | None:
        return self.table.n_columns if self._columns is None else len(self._columns)

    def n_jobs(self, asked: int | None) -> int:
        return effective_jobs(asked)

    def parts(self) -> Iterator[Part]:
        start = 0
        for block in self.table.blocks(self._read):
            stop = start + len(block)
            yield self._part(f"rows {start} to {stop - 1} of {self.name}", block, slice(start, stop))
            start = stop

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
                value = function(context, part)
            yield value

    def rows(self, function: Callable[[Any, Part], Any], context: Any, example: Callable[[], Any]) -> Any:
        answers = list(self.each(function, context))
        first = answers[0]
        if not isinstance(first, tuple):
            return np.concatenate(answers)
        joined = [np.concatenate(arrays) for arrays in zip(*answers, strict=True)]
        return type(first)(*joined) if hasattr(first, "_fields") else tuple(joined)

    def is_read_from(self, path: Path) -> bool:
        """Whether a path is that of a file, or in the folder, which the table is read from."""
        folder = self.table.path
        if folder is not None and _is_inside(path, folder):
            return True
        return path.exists() and any(file.exists() and path.samefile(file) for file in self.table.files)

    def _part(self, name: str, block: Any, numbers: slice | NDArray[np.intp]) -> Part:
        rows = self.table.in_memory(block)
        roles = {role: rows[columns].to_numpy() for role, columns in self._by_name.items()}
        roles |= {role: array[numbers] for role, array in self._arrays.items()}
        start = numbers.start if isinstance(numbers, slice) else 0
        return Part(name, rows if self._columns is None else rows[self._columns], **roles, start=start)


def _is_inside(path: Path, source: Path) -> bool:
    """Whether a path is the source, or in the folder that is the source."""
    return path.resolve() == source.resolve() or (source.is_dir() and source.resolve() in path.resolve().parents)
