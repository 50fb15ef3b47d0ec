"""``rio-uq predict``: a table with corrected predictions and error bars, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, command, say
from rio_uq.cli.models import split_names


@command
def predict(
    new: shared.TableArgument,
    rio: shared.RioOption,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="TABLE", help="CSV, Parquet or Feather, by its ending.")
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
) -> None:
    """Corrected predictions with error bars, for a table of any size.

    The output is the table with the columns mean, std, and lower and upper for each level.
    If a model makes the predictions, they are in y_pred.
    CSV is written in UTF-8, with tabs if its name ends in .tsv.
    It has the separator and the decimals of the input if an option has named one of them.

    [bold]Examples[/bold]

      rio-uq predict new.csv --rio price.rio -o out.csv

      rio-uq predict new.csv --rio price.rio -o out.parquet --level 0.9 --level 0.95

      rio-uq predict new.parquet --rio price.rio --model mypackage.models:predict -o out.parquet
    """
    from rio_uq.cli.output import check_output, column_types, dialect_of, write_table
    from rio_uq.cli.rows import Rows
    from rio_uq.cli.stored import open_rio
    from rio_uq.cli.tables import TableFile, kind_of
    from rio_uq.rows.csv import CsvOptions

    check_output(output, force=force, inputs=[new, rio, model])
    writes_csv = kind_of(output) == "csv"
    file = TableFile(new, CsvOptions(separator, encoding, decimal))
    opened = open_rio(
        rio, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=split_names(trust_types)
    )
    rows = Rows(file, opened, with_target=False, skip_bad=skip_bad_rows)
    names = new_columns(level, prefix, with_model=opened.has_model)
    repeated = sorted(set(names) & set(file.names))
    if repeated:
        raise UserError(f"{new} has a column {', '.join(map(repr, repeated))} already: use --prefix rio_, say")
    check_levels(opened.rio, level)
    types = None if writes_csv or file.kind != "csv" else column_types(file)
    dialect = dialect_of(output, file, is_asked_for=separator is not None or decimal != ".")
    write_table(_blocks(opened, rows, level, names, types), output, dialect, force=force)
    rows.tell()
    say(f"{output}: {rows.n_rows:,} rows with {', '.join(names)}")


def new_columns(levels: Sequence[float], prefix: str, *, with_model: bool) -> list[str]:
    bounds = [f"{end}_{level:.12g}" for level in levels for end in ("lower", "upper")]
    return [prefix + name for name in (*(["y_pred"] if with_model else []), "mean", "std", *bounds)]


def check_levels(rio: Any, levels: Sequence[float]) -> None:
    """Raise before any work is done, if there are too few calibration rows for these levels."""
    import numpy as np

    if rio.calibration_ is not None:
        if rio.calibration_.groups is not None:
            raise UserError("error bars were calibrated by group, which the command line has no column for: use Python")
        rio.calibration_.check_support(0.5 + 0.5 * np.asarray(levels))


def _blocks(opened: Any, rows: Any, levels: Sequence[float], names: list[str], types: Any) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    from rio_uq.cli.output import typed

    empty = True
    for block in rows.blocks("predicting"):
        empty = False
        table = block.table if types is None else typed(block.table, types, rows.file.decimal)
        made = answers(opened, block, levels)
        for name, values in zip(names, made, strict=True):
            column = np.full(table.num_rows, np.nan)
            column[block.usable] = values
            table = table.append_column(name, pa.array(column, from_pandas=True))
        yield table
    if empty:  # the names of columns, and no rows
        schema = rows.file.schema.remove_metadata()
        yield pa.schema([*schema, *(pa.field(name, pa.float64()) for name in names)]).empty_table()


def answers(opened: Any, block: Any, levels: Sequence[float]) -> list[Any]:
    """The new columns for the usable rows of a block."""
    import numpy as np

    from rio_uq.cli.rows import predictions

    if not len(block.X):
        return [np.empty(0) for _ in new_columns(levels, "", with_model=opened.has_model)]
    y_pred = predictions(opened.rio, block)
    distribution = opened.rio.predict_dist(block.X, y_pred=y_pred)
    mean = distribution.centre if hasattr(distribution, "centre") else distribution.mean()
    bounds = [end for level in levels for end in distribution.interval(level)]
    return [*([y_pred] if opened.has_model else []), mean, distribution.std(), *bounds]
