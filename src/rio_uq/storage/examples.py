"""Example rows of X as plain values and arrays, and back."""

from __future__ import annotations

from typing import Any

from rio_uq.rows.example_table import DTYPES, ExampleTable, PlainColumn, is_plain
from rio_uq.rows.examples import LIBRARIES, MOST_EXAMPLES, ExampleRows
from rio_uq.storage.fields import Arrays, Fields, Put


def write_example(example: ExampleRows | ExampleTable, put: Put) -> dict[str, Any]:
    """For the manifest; numbers go to an array."""
    if isinstance(example, ExampleTable):
        return {"library": example.library, "table": _write_table(example)}
    put("check/rows", example.values)
    return {"library": example.library, "columns": None if example.columns is None else list(example.columns)}


def read_example(fields: Fields, arrays: Arrays, n_columns: int | None) -> ExampleRows | ExampleTable:
    """Each value checked; the number of columns of X is given where it is known."""
    library = fields.text("library", LIBRARIES)
    if "table" in fields.left:
        columns_of_table = fields.children("table")
        if library not in DTYPES or not columns_of_table:
            fields.fail("has to have the columns of a frame", "table")
        return _read_table(columns_of_table, library, MOST_EXAMPLES)
    rows = arrays.take("check/rows")
    columns = None if fields.is_null("columns") else tuple(fields.texts("columns"))
    if rows.ndim < 2 or not len(rows):
        arrays.fail("check/rows", "rows have to be at least one, of numbers")
    if n_columns is not None and rows.shape[1] != n_columns:
        arrays.fail("check/rows", f"rows of X have {n_columns} columns, and these {rows.shape[1]}")
    if (columns is None) != (library == "numpy") or (columns is not None and len(columns) != rows.shape[1]):
        fields.fail("has to name each column of a frame", "columns")
    return ExampleRows(rows, library, columns)


def _write_table(table: ExampleTable) -> list[dict[str, Any]]:
    """For the manifest."""
    return [
        {
            "name": column.name,
            "dtype": column.dtype,
            "values": column.values,
            "nan": column.nan,
            "categories": column.categories,
            "ordered": column.ordered,
        }
        for column in table.columns
    ]


def _read_table(fields: list[Fields], library: str, most_rows: int) -> ExampleTable:
    """From the manifest, each value checked."""
    columns = tuple(_read_column(column, library, most_rows) for column in fields)
    for column, field in zip(columns, fields, strict=True):
        if len(column.values) != len(columns[0].values):
            field.fail("has to have as many rows as the others", "values")
    if len({column.name for column in columns}) != len(columns):
        fields[0].fail("and the other columns have to have names of their own", "name")
    table = ExampleTable(library, columns)
    if table.can_be_rebuilt:
        try:
            table.rebuilt()
        except Exception as error:  # each library has errors of its own
            fields[0].fail(f"and the other columns are none of {library}: {error}")
    return table


def _read_column(fields: Fields, library: str, most_rows: int) -> PlainColumn:
    name, dtype = fields.text("name"), fields.text("dtype", DTYPES[library])
    values, nan = fields.items("values"), fields.items("nan")
    if not 1 <= len(values) <= most_rows or not all(is_plain(value) for value in values):
        fields.fail(f"has to be a list of 1 to {most_rows} texts, numbers, truth values or null", "values")
    if not all(type(row) is int and 0 <= row < len(values) for row in nan):
        fields.fail("has to be a list of numbers of rows", "nan")
    categories, ordered = fields.take("categories"), fields.flag("ordered")
    is_list = isinstance(categories, list) and all(is_plain(value) for value in categories)
    if is_list != (dtype == "category") or not (is_list or categories is None):
        fields.fail("has to be a list for a category, and otherwise null", "categories")
    fields.finish()
    return PlainColumn(name, dtype, values, nan, categories, ordered)
