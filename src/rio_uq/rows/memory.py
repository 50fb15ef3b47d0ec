"""Rows in memory: a source with one part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from rio_uq._base.checks import named
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.rows.contract import Part, Sum, check_columns, columns_of_roles, names_columns


class MemorySource:
    """All of X, of any kind, as it is; less the columns of a frame that have other roles.

    Parameters
    ----------
    X : anything that the model and ``features`` take
    roles : mapping
        Values of the rows by their roles, see `Part`; of a frame also the names of columns.
    columns : sequence of str, optional
        The usual columns of X, for a frame some columns of which have roles.
    needs_columns : bool
        Whether X has to have at least one column then.
    """

    name, is_in_memory = "X", True
    n_columns = None

    def __init__(
        self, X: Any, roles: Mapping[str, Any], columns: Sequence[str] | None = None, *, needs_columns: bool = True
    ) -> None:
        if isinstance(X, Mapping) and not hasattr(X, "toarray"):  # a sparse matrix may be a dict
            raise TypeError(
                "X is a dict, and does not say how many rows it has: make a frame of it, pandas.DataFrame(X)"
            )
        by_name = {role: value for role, value in roles.items() if _names_columns(role, value)}
        if by_name:
            rest = _columns_beside(X, by_name, columns)
            check_columns(self.name, rest, by_name, needs_columns=needs_columns)
            chosen = {role: np.asarray(X[_listed(value)]) for role, value in by_name.items()}
            X, roles = X[rest], {**roles, **chosen}
        self.part = Part(self.name, X, **roles)

    @property
    def n_rows(self) -> int:
        return int(_num_samples(self.part.X))

    def n_jobs(self, asked: int | None) -> int:
        return effective_jobs(asked)

    def take(self, numbers: NDArray[np.intp]) -> Part:
        if len(numbers) == self.n_rows:
            return self.part
        roles = {role: value for role, value in vars(self.part).items() if role not in ("name", "X", "start")}
        chosen: dict[str, Any] = {
            role: None if value is None else np.asarray(value)[numbers] for role, value in roles.items()
        }
        return Part(f"{len(numbers)} rows of X", _safe_indexing(self.part.X, numbers), **chosen)

    def total(self, function: Callable[[Any, Part], Sum], context: Any) -> Sum:
        return function(context, self.part)

    def each(self, function: Callable[[Any, Part], Any], context: Any) -> list[Any]:
        return [function(context, self.part)]

    def rows(self, function: Callable[[Any, Part], Any], context: Any, example: Callable[[], Any]) -> Any:
        return function(context, self.part)


def _names_columns(role: str, value: Any) -> bool:
    """Whether a role is given by names; a list of texts may be labels of groups."""
    return isinstance(value, str) if role == "groups" else names_columns(value)


def _listed(names: str | Sequence[str]) -> Any:
    return names if isinstance(names, str) else list(names)


def _expected(role: str) -> str:
    """The values of a role, in words."""
    return {"held_out": "True, False or a mask of rows", "groups": "a label for each row"}.get(role, "numbers")


def _columns_beside(X: Any, by_name: Mapping[str, Any], usual: Sequence[str] | None) -> list[str]:
    """The columns of a frame that are X, where others have roles."""
    others, first = columns_of_roles(by_name), next(iter(by_name))
    if not hasattr(X, "columns"):
        raise ValueError(
            f"{first} has to be {_expected(first)}; got {named(others)}, which would be the name of a column, but X "
            f"({type(X).__name__}) has no names: give the values themselves, or X as a frame"
        )
    columns = [name for name in X.columns if name not in others] if usual is None else [str(name) for name in usual]
    there = set(X.columns)
    missing = [name for name in [*others, *columns] if name not in there]
    if missing:
        role = next((role for role in by_name if missing[0] in columns_of_roles({role: by_name[role]})), None)
        hint = "" if role is None else f"; {role} has to be the name of one of them, or {_expected(role)}"
        raise ValueError(f"X has no column {named(missing)}: its columns are {named(list(X.columns))}{hint}")
    return columns
