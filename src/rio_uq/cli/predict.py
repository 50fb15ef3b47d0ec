"""``rio-uq predict``: a table with corrected predictions and error bars, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, command, say
from rio_uq.cli.models import split_names

if TYPE_CHECKING:
    import pyarrow as pa

    from rio_uq._base.array import Array
    from rio_uq.cli.rows import Block, TableRows
    from rio_uq.cli.stored import OpenedRio


@command
def predict(
    new: shared.TableArgument,
    rio: shared.RioOption,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="TABLE",
            help="CSV, Parquet or Feather, by its ending; - for CSV on standard output.",
        ),
    ],
    level: shared.Levels = [0.95],  # noqa: B006
    pred_column: shared.PredColumn = None,
    model: shared.Model = None,
    force: shared.Force = False,
    skip_bad_rows: shared.SkipBadRows = False,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="Before the names of the new columns.")] = "",
    trust_pickle: shared.TrustPickle = False,
    trust_types: shared.TrustTypes = [],  # noqa: B006
    separator: shared.Separator = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = ".",
    thousands: shared.Thousands = None,
) -> None:
    """Corrected predictions with error bars, for a table of any size.

    The output is the table with the columns mean, std, and lower and upper for each level.
    If a model makes the predictions, they are in y_pred.
    CSV is written in UTF-8, with tabs if its name ends in .tsv.
    It has the separator and the decimals of the input if an option has named one of them.

    [bold]Examples[/bold]

      rio-uq predict new.csv --rio price.rio -o out.csv

      rio-uq predict new.csv --rio price.rio -o out.parquet --level 0.9 --level 0.95

      rio-uq predict new.csv --rio price.rio -o - | head

      rio-uq predict new.parquet --rio price.rio --model mypackage.models:predict -o out.parquet
    """
    from rio_uq.cli.input import InputTable
    from rio_uq.cli.output import check_output, column_types, dialect_of, write_table
    from rio_uq.cli.rows import TableRows
    from rio_uq.cli.stored import open_rio
    from rio_uq.rows.csv import CsvOptions
    from rio_uq.rows.formats import format_to_write

    is_stdout = output == shared.STDOUT
    if not is_stdout:
        check_output(output, force=force, inputs=[new, rio, model])
    writes_csv = is_stdout or format_to_write(output) == "csv"
    file = InputTable(new, CsvOptions(separator, encoding, decimal, thousands))
    opened = open_rio(
        rio, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=split_names(trust_types)
    )
    rows = TableRows(file, opened, with_target=False, skip_bad=skip_bad_rows)
    names = new_columns(opened, level, prefix)
    repeated = sorted(set(names) & set(file.names))
    if repeated:
        raise UserError(f"{new} has a column {', '.join(map(repr, repeated))} already: use --prefix rio_, say")
    check_levels(opened, level)
    types = None if writes_csv or file.format != "csv" else column_types(file)
    dialect = dialect_of(output, file, is_asked_for=separator is not None or decimal != ".")
    blocks = _blocks(opened, rows, level, names, types, is_text=writes_csv)
    write_table(blocks, output, dialect, force=force)
    rows.tell()
    if not is_stdout:
        say(f"{output}: {rows.n_rows:,} rows with {', '.join(names)}")


def new_columns(opened: OpenedRio, levels: Sequence[float], prefix: str) -> list[str]:
    """y_pred where a model makes it, mean, std and the ends of intervals; of several outcomes with the name of each."""
    fitted, targets = opened.rio.fitted_, opened.table.targets
    numbered = tuple(map(str, range(fitted.n_outputs)))
    outcomes = [f"_{name}" for name in targets or numbered] if fitted.y_shape else [""]
    predicted = outcomes if fitted.n_predictions == len(outcomes) else [f"_{i}" for i in range(fitted.n_predictions)]
    bounds = [f"{end}{name}_{level:.12g}" for level in levels for end in ("lower", "upper") for name in outcomes]
    of_model = [f"y_pred{name}" for name in predicted] if opened.has_model else []
    moments = [kind + name for kind in ("mean", "std") for name in outcomes]
    return [prefix + name for name in (*of_model, *moments, *bounds)]


def check_levels(opened: OpenedRio, levels: Sequence[float]) -> None:
    """Raise before any work is done, if there are too few calibration rows for these levels."""
    import numpy as np

    rio = opened.rio
    if rio.calibration_ is not None:
        if rio.calibration_.groups is not None and opened.table.groups is None:
            raise UserError(
                "error bars were calibrated by group, in Python, and the file does not say which column has groups: "
                "use Python, or rio-uq calibrate --groups"
            )
        rio.calibration_.check_support(0.5 + 0.5 * np.asarray(levels))


def _blocks(
    opened: OpenedRio,
    rows: TableRows,
    levels: Sequence[float],
    names: list[str],
    types: dict[str, pa.DataType] | None,
    *,
    is_text: bool,
) -> Iterator[pa.Table]:
    """The table with new columns, block by block; without digits that mean nothing where it becomes text."""
    import numpy as np
    import pyarrow as pa

    from rio_uq.cli.output import meaningful, typed

    empty = True
    for block in rows.blocks("predicting"):
        empty = False
        table = block.table if types is None else typed(block.table, types, rows.file.number_format)
        y_pred, *others = map(as_columns, answers(opened, block, levels))
        std = others[1]
        new = [*([y_pred] if opened.has_model else []), *others]
        if is_text:
            unit = [std if values.shape == std.shape else np.full_like(values, np.inf) for values in new]
            new = [meaningful(values, each) for values, each in zip(new, unit, strict=True)]
        columns = [column for values in new for column in values.T]
        for name, values in zip(names, columns, strict=True):
            column = np.full(table.num_rows, np.nan)
            column[block.usable] = values
            table = table.append_column(name, pa.array(column, from_pandas=True))
        yield table
    if empty:  # the names of columns, and no rows
        schema = rows.file.schema.remove_metadata()
        yield pa.schema([*schema, *(pa.field(name, pa.float64()) for name in names)]).empty_table()


def as_columns(values: Array) -> Array:
    """(k,) as (k, 1); (k, q) as it is."""
    return values[:, None] if values.ndim == 1 else values


def answers(opened: OpenedRio, block: Block, levels: Sequence[float]) -> list[Array]:
    """Of the usable rows of a block: prediction, corrected prediction, its std, and the ends of intervals.

    Each is (k,), or of several outcomes (k, q).
    """
    import numpy as np

    from rio_uq.cli.rows import predictions

    if not len(block.X):
        fitted = opened.rio.fitted_
        return [np.empty((0, fitted.n_predictions)), *[np.empty((0, fitted.n_outputs))] * (2 + 2 * len(levels))]
    y_pred = predictions(opened.rio, block)
    distribution = opened.rio.predict_dist(block.X, y_pred=y_pred, groups=block.groups)
    mean = distribution.centre if hasattr(distribution, "centre") else distribution.mean()
    bounds = [end for level in levels for end in distribution.interval(level)]
    return [y_pred, mean, distribution.std(), *bounds]
