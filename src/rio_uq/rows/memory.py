"""Rows in memory: a source with one part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.rows.contract import Part, Sum


class MemorySource:
    """All of X, of any kind, as it is.

    Parameters
    ----------
    X : anything that the model and ``features`` take
    roles : mapping
        Values of the rows by their roles, see `Part`.
    """

    name, is_in_memory = "X", True
    n_columns = None

    def __init__(self, X: Any, roles: Mapping[str, Any]) -> None:
        self.part = Part(self.name, X, **roles)

    @property
    def n_rows(self) -> int:
        return int(_num_samples(self.part.X))

    def n_jobs(self, asked: int | None) -> int:
        return effective_jobs(asked)

    def take(self, numbers: NDArray[np.intp]) -> Part:
        if len(numbers) == self.n_rows:
            return self.part
        roles = {role: value for role, value in vars(self.part).items() if role not in ("name", "X")}
        chosen = {role: None if value is None else np.asarray(value)[numbers] for role, value in roles.items()}
        return Part(f"{len(numbers)} rows of X", _safe_indexing(self.part.X, numbers), **chosen)

    def total(self, function: Callable[[Any, Part], Sum], context: Any) -> Sum:
        return function(context, self.part)

    def rows(self, function: Callable[[Any, Part], Any], context: Any, example: Callable[[], Any]) -> Any:
        return function(context, self.part)
