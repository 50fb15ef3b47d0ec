"""A few training rows that stay with a fitted regressor: what the model predicts for them tells it from others."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import evenly_spaced
from rio_uq.rows.example_table import ExampleTable, example_table

MOST_EXAMPLES, MOST_EXAMPLE_NUMBERS = 8, 1_000_000
LOOKED_AT = 64
"""Rows that are looked at for each one that is kept, where some have missing values."""

LIBRARIES = ("numpy", "pandas", "polars")


@dataclass(frozen=True)
class ExampleRows:
    """Rows of X.

    Attributes
    ----------
    values : (k, ...) array of numbers
    library : {"numpy", "pandas", "polars"}
        What they came in.
    columns : tuple of str or None
        The names of the columns of a frame.
    """

    values: NDArray[Any]
    library: str = "numpy"
    columns: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def can_be_rebuilt(self) -> bool:
        return True

    def rebuilt(self) -> Any:
        """The rows as they came, or an array where the library of the frame is not installed."""
        if self.library == "numpy" or find_spec(self.library) is None:
            return self.values
        library, columns = import_module(self.library), list(self.columns or ())
        if self.library == "pandas":
            return library.DataFrame(self.values, columns=columns)
        return library.DataFrame(dict(zip(columns, self.values.T, strict=True)))


def example_rows(X: Any) -> ExampleRows | ExampleTable | None:
    """Some rows of an array of numbers or of a frame, without missing values if there are such; None where X is
    something else, or has a column that no plain values can be made of, such as dates.
    """
    library = type(X).__module__.split(".")[0]
    if library not in LIBRARIES or isinstance(X, np.ma.MaskedArray) or len(np.shape(X)) < 2:
        return None
    columns = tuple(X.columns) if hasattr(X, "columns") else None
    if columns is not None and not all(isinstance(name, str) for name in columns):
        return None
    n_rows, n_numbers = _num_samples(X), int(np.prod(np.shape(X)[1:]))
    n_kept = min(n_rows, MOST_EXAMPLES, MOST_EXAMPLE_NUMBERS // n_numbers) if n_numbers else 0
    if not n_kept:
        return None
    rows = _safe_indexing(X, evenly_spaced(n_rows, n_kept))
    values = _numbers(rows)
    if values is None:
        return None if columns is None else example_table(rows, library)
    if not np.isfinite(values).all():
        values = _finite_first(_numbers(_safe_indexing(X, evenly_spaced(n_rows, n_kept * LOOKED_AT))), n_kept)
    return None if values is None else ExampleRows(values, library if columns else "numpy", columns)


def _finite_first(values: NDArray[Any] | None, n_kept: int) -> NDArray[Any] | None:
    """Some of the rows, in their order: the others only if too few are without missing values."""
    if values is None:
        return None
    finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    whole, rest = np.flatnonzero(finite), np.flatnonzero(~finite)
    n_whole = min(n_kept, len(whole))
    n_rest = min(n_kept - n_whole, len(rest))
    chosen = [some[evenly_spaced(len(some), n)] for some, n in ((whole, n_whole), (rest, n_rest)) if n]
    return np.ascontiguousarray(values[np.sort(np.concatenate(chosen))])


def _numbers(rows: Any) -> NDArray[Any] | None:
    """In their own dtype, or float where columns differ; None if they are no numbers."""
    try:
        values = np.asarray(rows)
    except TypeError:  # polars has no array of numbers and dates together
        return None
    if values.dtype == object and hasattr(rows, "columns"):
        kinds = {np.asarray(rows[name]).dtype.kind for name in rows.columns}
        values = values.astype(float) if kinds <= set("biuf") else values
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        return None
    return np.ascontiguousarray(values)
