"""A few rows of a frame with text, categories or missing values, as plain values that a file can hold."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

SIZES = ("8", "16", "32", "64")
INTEGERS = tuple(f"{sign}{size}" for sign in ("int", "uint") for size in SIZES)
DTYPES = {
    "pandas": (
        *INTEGERS,
        *(name.replace("int", "Int").replace("uI", "UI") for name in INTEGERS),
        *("float32", "float64", "Float32", "Float64", "bool", "boolean", "object", "str", "string", "category"),
    ),
    "polars": (
        *(name.replace("int", "Int").replace("uI", "UI") for name in INTEGERS),
        *("Float32", "Float64", "Boolean", "String", "Categorical"),
    ),
}
"""Of columns that plain values can be made of, and that can be made of plain values."""

PLAIN = (str, int, float, type(None))


@dataclass(frozen=True)
class PlainColumn:
    """A column of a frame.

    Attributes
    ----------
    name, dtype : str
    values : list
        Texts, numbers, truth values; None for a missing one.
    nan : list of int
        The rows where NaN and not None stands for a missing value.
    categories : list or None
        All that there can be, of a category of pandas.
    ordered : bool
        Whether they have an order.
    """

    name: str
    dtype: str
    values: list[Any]
    nan: list[int]
    categories: list[Any] | None = None
    ordered: bool = False

    def rebuilt(self, library: Any) -> Any:
        values = [float("nan") if i in self.nan else value for i, value in enumerate(self.values)]
        if library.__name__ == "polars":
            return library.Series(self.name, values, dtype=getattr(library, self.dtype))
        if self.categories is None:
            return library.Series(values, dtype=self.dtype)
        return library.Series(library.Categorical(values, categories=self.categories, ordered=self.ordered))


@dataclass(frozen=True)
class ExampleTable:
    """Rows of a frame of pandas or polars, column by column."""

    library: str
    columns: tuple[PlainColumn, ...]

    def rebuilt(self) -> Any:
        """The rows as they came; an ImportError where the library of the frame is not installed."""
        library = import_module(self.library)
        return library.DataFrame({column.name: column.rebuilt(library) for column in self.columns})

    def __len__(self) -> int:
        return len(self.columns[0].values)

    @property
    def can_be_rebuilt(self) -> bool:
        """Whether the library of the frame is installed."""
        return find_spec(self.library) is not None


def example_table(rows: Any, library: str) -> ExampleTable | None:
    """A few rows of a frame as plain values; None where the same frame cannot be made of them again."""
    if len(set(rows.columns)) != len(rows.columns):
        return None
    rows = rows.reset_index(drop=True) if library == "pandas" else rows
    columns = [_column(rows[name], name, library) for name in rows.columns]
    table = ExampleTable(library, tuple(column for column in columns if column is not None))
    if len(table.columns) != len(columns):
        return None
    try:
        again = table.rebuilt()
    except (TypeError, ValueError):
        return None
    return table if again.equals(rows) and list(again.dtypes) == list(rows.dtypes) else None


def _column(values: Any, name: str, library: str) -> PlainColumn | None:
    dtype = str(values.dtype)
    if dtype not in DTYPES[library]:
        return None
    cells = [_plain(value) for value in (values.to_list() if library == "polars" else values.astype(object).tolist())]
    nan = [row for row, value in enumerate(cells) if isinstance(value, float) and value != value]
    cells = [None if row in nan else value for row, value in enumerate(cells)]
    category = values.cat if dtype == "category" else None
    categories = None if category is None else [_plain(value) for value in category.categories.tolist()]
    if not all(is_plain(value) for value in [*cells, *(categories or ())]):
        return None
    return PlainColumn(name, dtype, cells, nan, categories, category is not None and bool(category.ordered))


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if type(value).__name__ == "NAType" else value


def is_plain(value: Any) -> bool:
    return type(value) in (*PLAIN, bool) and not (isinstance(value, float) and not np.isfinite(value))
