"""Rows in a cluster: Dask arrays and data frames, whose partitions stay where they are.

To a partition goes what was fitted, once for each worker; from it comes what a function makes of its rows.
Sums are added up in a tree whose shape depends on the number of partitions alone: the result does not depend on which
worker does what, or when, or for the second time after another worker has died.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from rio_uq._base.checks import named
from rio_uq._base.extras import require
from rio_uq.rows.contract import Part, check_columns, columns_of_roles, errors_of, split_roles
from rio_uq.rows.dask import cluster as dask_cluster
from rio_uq.rows.dask.cluster import Build, Homes, on_each
from rio_uq.rows.dask.partitions import Partition, Recipe, partitions

FAN_IN = 8
"""Sums that are added up at a time."""


class DaskSource:
    """The partitions of a Dask array or data frame.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
    roles : mapping
        By role (see `Part`): a Dask collection with the partitions of X, the name of a column of X, a list of names, an
        array with a value for each row, or None.
    columns : sequence of str, optional
        The usual columns of X.
    needs_columns : bool
        Whether X has to have at least one.
    """

    name, is_in_memory = "X", False

    def __init__(
        self, X: Any, roles: Mapping[str, Any], columns: Sequence[str] | None, *, needs_columns: bool = True
    ) -> None:
        self._dask = require("dask", "dask")
        is_frame = isinstance(getattr(X, "ndim", None), int) and X.ndim == 2
        if not is_frame and not isinstance(getattr(X, "chunks", None), tuple):
            raise TypeError(f"X has to be a Dask array or a Dask data frame; got {type(X)}: use its to_frame, say")
        by_name, values = split_roles(roles)
        self._roles = _Roles.of(X, by_name, columns)
        if self._roles.columns is not None:
            check_columns(self.name, self._roles.columns, by_name, needs_columns=needs_columns)
        self.n_columns = int(X.shape[1]) if self._roles.columns is None and X.ndim > 1 else None
        if self._roles.columns is not None:
            self.n_columns = len(self._roles.columns)
        X = X[self._roles.all_columns] if hasattr(X, "columns") else X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
        self._chunks = X.chunks[0] if hasattr(X, "chunks") else None
        # Dask may join partitions of which few columns are read: of X alone, but not of X and y each in its own way.
        self._optimize = not any(map(self._dask.is_dask_collection, values.values()))
        self._X = _delayed(X, optimize=self._optimize)
        aligned = {role: self._aligned(role, collection) for role, collection in values.items()}
        self._with_values = list(aligned)
        self._parts = partitions([self._X, *aligned.values()])

    def _aligned(self, role: str, values: Any) -> list[Any]:
        """The values of the rows of each partition."""
        array = require("dask.array", "dask")
        if not self._dask.is_dask_collection(values):
            values = np.asarray(values)
            if values.shape[:1] != (self.n_rows,):
                raise ValueError(
                    f"{role} has to have a value for each of the {self.n_rows} rows of X; got shape {values.shape}"
                )
            values = array.from_array(values, chunks=(tuple(self.lengths), *values.shape[1:]))
        elif hasattr(values, "chunks"):
            values = values.rechunk(dict.fromkeys(range(1, values.ndim), -1))
            if self._chunks is not None and not np.isnan([*self._chunks, *values.chunks[0]]).any():
                if sum(self._chunks) != len(values):
                    raise ValueError(f"X has {sum(self._chunks)} rows and {role} has {len(values)}: they have to agree")
                values = values.rechunk({0: self._chunks})
        parts = _delayed(values, optimize=self._optimize)
        if len(parts) != len(self._X):
            raise ValueError(
                f"X has {len(self._X)} partitions and {role} has {len(parts)}: they have to be those of the same rows"
            )
        return parts

    @cached_property
    def lengths(self) -> list[int]:
        """Rows of each partition."""
        if self._chunks is not None and not np.isnan(self._chunks).any():
            return [int(length) for length in self._chunks]
        parts = partitions([self._X])
        return self._computed(lambda _, homes: on_each(_count, parts, homes, [()] * len(parts)), parts=parts)

    @cached_property
    def n_rows(self) -> int:
        n_rows = sum(self.lengths)
        if not n_rows:
            raise ValueError("X has no rows (0 sample(s)): at least one is needed")
        return n_rows

    def n_jobs(self, asked: int | None) -> int:
        return 1  # threads are left to Dask

    def take(self, numbers: NDArray[np.intp]) -> Part:
        ends = list(accumulate(self.lengths))
        starts = np.array(ends) - self.lengths
        chosen = np.split(numbers, np.searchsorted(numbers, ends)[:-1])
        wanted = [i for i, rows in enumerate(chosen) if len(rows)]
        parts = [self._parts[i] for i in wanted]
        arguments = [(i, self._with_values, chosen[i] - starts[i]) for i in wanted]
        pieces = self._computed(lambda _, homes: on_each(_pick, parts, homes, arguments), parts=parts)
        values = {role: np.concatenate([piece[1][role] for piece in pieces]) for role in self._with_values}
        return self._roles.part(f"{len(numbers)} rows of X", _joined([piece[0] for piece in pieces]), values)

    def total(self, function: Callable[[Any, Part], Any], context: Any) -> Any:
        plus = self._dask.delayed(_plus)

        def tree(remote: Any, homes: Homes) -> list[Any]:
            sums = self._tasks(function, remote, homes)
            while len(sums) > 1:
                sums = [plus(sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
            return sums

        return self._computed(tree, context, self._parts)[0]

    def each(self, function: Callable[[Any, Part], Any], context: Any) -> list[Any]:
        """They come from the workers to the client at once, and not by way of each other."""
        values = self._computed(lambda remote, homes: self._tasks(function, remote, homes), context, self._parts)
        return [value for value in values if value is not None]

    def rows(self, function: Callable[[Any, Part], Any], context: Any, example: Callable[[], Any]) -> Any:
        """Lazy Dask arrays, with a chunk for each partition."""
        array = require("dask.array", "dask")
        # In the graph, and not scattered: it can be sent again when workers have gone, or the client has.
        remote = self._dask.delayed(context, traverse=False)
        shown = example()
        tasks = self._tasks(function, remote, {}, if_empty=shown)
        lengths = [float("nan")] * len(tasks) if self._chunks is None else list(self._chunks)

        def lazy(parts: list[Any], values: NDArray[Any]) -> Any:
            shapes = [(length, *values.shape[1:]) for length in lengths]
            chunks = [
                array.from_delayed(part, shape, dtype=values.dtype) for part, shape in zip(parts, shapes, strict=True)
            ]
            return array.concatenate(chunks, allow_unknown_chunksizes=True)

        if not isinstance(shown, tuple):
            return lazy(tasks, shown)
        arrays = [lazy([task[k] for task in tasks], values) for k, values in enumerate(shown)]
        return type(shown)(*arrays) if hasattr(shown, "_fields") else tuple(arrays)

    def _tasks(
        self, function: Callable[[Any, Part], Any], remote: Any, homes: Homes, *, if_empty: Any = None
    ) -> list[Any]:
        arguments = [(function, remote, self._roles, i, self._with_values, if_empty) for i in range(len(self._parts))]
        return on_each(_work_on, self._parts, homes, arguments)

    def _computed(self, build: Build, context: Any = None, parts: Sequence[Partition] = ()) -> list[Any]:
        """The results of tasks: on the cluster that has a client here, otherwise on this machine."""
        client = dask_cluster.client_if_any()
        if client is None:
            return list(self._dask.compute(*build(self._dask.delayed(context), {})))
        return dask_cluster.computed(client, build, context, parts)


@dataclass(frozen=True)
class _Roles:
    """Which columns of a data frame are X, and which are something else; nothing of an array.

    They are read together, so that they are always those of the same rows.
    """

    columns: list[str] | None
    by_name: dict[str, Any]

    @classmethod
    def of(cls, X: Any, by_name: dict[str, Any], usual: Sequence[str] | None) -> _Roles:
        if not hasattr(X, "columns"):
            if by_name:
                raise ValueError(
                    f"a Dask array has no column {named(list(by_name.values()))}: give a Dask array instead"
                )
            return cls(None, {})
        by_name = {role: value if isinstance(value, str) else list(value) for role, value in by_name.items()}
        others = columns_of_roles(by_name)
        columns = [name for name in X.columns if name not in others] if usual is None else [str(name) for name in usual]
        there = set(X.columns)
        missing = [name for name in [*others, *columns] if name not in there]
        if missing:
            raise ValueError(f"X has no column {named(missing)}: its columns are {named(list(X.columns))}")
        return cls(columns, by_name)

    @property
    def all_columns(self) -> list[str]:
        return list(dict.fromkeys([*(self.columns or []), *columns_of_roles(self.by_name)]))

    def part(self, name: str, rows: Any, values: dict[str, Any]) -> Part:
        """Rows in memory, taken apart."""
        roles: dict[str, Any] = {role: np.asarray(array) for role, array in values.items()}
        roles |= {role: np.asarray(rows[columns]) for role, columns in self.by_name.items()}
        return Part(name, rows if self.columns is None else rows[self.columns], **roles)


def _delayed(collection: Any, *, optimize: bool) -> list[Any]:
    """A delayed object for each."""
    return list(np.ravel(np.asarray(collection.to_delayed(optimize_graph=optimize), dtype=object)))


def _count(recipe: Recipe, *needed: Any) -> int:
    """On a worker."""
    return int(_num_samples(recipe.made_of(needed)[0]))


def _pick(
    recipe: Recipe, i: int, roles: list[str], indices: NDArray[np.intp], *needed: Any
) -> tuple[Any, dict[str, Any]]:
    """On a worker: some of the rows of a partition, and their values."""
    X, *values = recipe.made_of(needed)
    by_role = dict(zip(roles, values, strict=True))
    for role, value in by_role.items():
        if _num_samples(value) != _num_samples(X):
            sizes = f"X has {_num_samples(X)} rows and {role} has {_num_samples(value)}"
            raise ValueError(f"in partition {i} of X: {sizes}: they have to be the same rows")
    return _safe_indexing(X, indices), {role: np.asarray(value)[indices] for role, value in by_role.items()}


def _joined(pieces: list[Any]) -> Any:
    if hasattr(pieces[0], "columns"):
        concat = require("dask.dataframe.dispatch", "dask").concat  # categories of partitions may differ
        return concat(pieces, ignore_index=True)
    return np.concatenate(pieces)


def _work_on(
    recipe: Recipe,
    function: Callable[[Any, Part], Any],
    context: Any,
    roles: _Roles,
    i: int,
    with_values: list[str],
    if_empty: Any,
    *needed: Any,
) -> Any:
    """On a worker. Of a partition without rows, as many rows of the example as it has: none."""
    X, *values = recipe.made_of(needed)
    if not _num_samples(X):
        if isinstance(if_empty, tuple):
            return tuple(values[:0] for values in if_empty)
        return None if if_empty is None else if_empty[:0]
    part = roles.part(f"partition {i} of X", X, dict(zip(with_values, values, strict=True)))
    with errors_of(part):
        return function(context, part)


def _plus(sums: list[Any]) -> Any:
    total = None
    for summand in sums:
        if summand is not None:
            total = summand if total is None else total.plus(summand)
    return total
