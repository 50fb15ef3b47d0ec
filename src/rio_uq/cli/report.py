"""``rio-uq report``: the HTML report on a table with outcomes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, busy, command, note, say
from rio_uq.cli.models import split_names

if TYPE_CHECKING:
    from rio_uq.cli.input import InputTable
    from rio_uq.cli.rows import Block
    from rio_uq.cli.stored import OpenedRio, TableDescription


@command
def report(
    test: shared.TableArgument,
    rio: shared.RioOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where to write the report.")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Of the report.")] = None,
    target: shared.Target = None,
    outcome: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of several outcomes the one that the report is about.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id-column", metavar="COLUMN", help="Shown beside each row; no feature.")
    ] = None,
    pred_column: shared.PredColumn = None,
    model: shared.Model = None,
    force: shared.Force = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="For what is sampled.")] = 0,
    skip_bad_rows: shared.SkipBadRows = False,
    trust_pickle: shared.TrustPickle = False,
    trust_types: shared.TrustTypes = [],  # noqa: B006
    separator: shared.Separator = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = ".",
    thousands: shared.Thousands = None,
) -> None:
    """A report on rows with outcomes: one HTML file, to be opened in a browser.

    [bold]Example[/bold]

      rio-uq report test.csv --rio price.rio -o report.html
    """
    import numpy as np
    import pandas as pd

    from rio_uq._base.warnings import ReusedRowsWarning
    from rio_uq.cli.evaluate import with_target
    from rio_uq.cli.input import InputTable
    from rio_uq.cli.output import check_output, in_one_step
    from rio_uq.cli.row_reuse import RowReuse
    from rio_uq.cli.rows import TableRows
    from rio_uq.report import write_report
    from rio_uq.rows.csv import CsvOptions

    check_output(output, force=force, ending=".html", inputs=[test, rio, model])
    trusted = split_names(trust_types)
    opened = with_target(rio, target, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=trusted)
    file = InputTable(test, CsvOptions(separator, encoding, decimal, thousands))
    table = TableRows(file, opened, with_target=True, skip_bad=skip_bad_rows)
    if id_column is not None:
        _check_id(file, opened.table, id_column)
    output_of = _output(opened, outcome)
    rows = table.read("report on")
    reuse = RowReuse(opened.rio)
    reuse.see(rows.X, rows.y, rows.y_pred)
    warned = reuse.warnings()
    for text in warned.values():
        note(text, label="warning")
    ids = None if id_column is None else pd.DataFrame({id_column: _cells(rows.blocks, id_column)})
    with warnings.catch_warnings(), busy("writing the report"), in_one_step(output, force=force) as temporary:
        warnings.simplefilter("ignore", ReusedRowsWarning)  # said above
        write_report(
            opened.rio,
            rows.X,
            pd.DataFrame(rows.y, columns=list(opened.table.targets))
            if output_of is not None
            else pd.Series(rows.y, name=opened.table.targets[0]),
            temporary,
            y_pred=rows.y_pred,
            groups=rows.groups,
            output=output_of,
            title=title or test.name,
            row_labels=np.concatenate([block.numbers for block in rows.blocks]),
            notes=ids,
            notices=[text for name, text in warned.items() if name == "calibration"],  # it finds the others itself
            random_state=seed,
        )
    say(f"{output}: {len(rows.y):,} rows")


def _output(opened: OpenedRio, outcome: str | None) -> int | None:
    """The number of the outcome among several; None where there is one."""
    targets = opened.table.targets
    if not opened.rio.fitted_.y_shape:
        targets = ()
    elif outcome is None:
        raise UserError(f"a report is about one outcome: --outcome {' or --outcome '.join(targets)}")
    if outcome is not None and outcome not in (targets or opened.table.targets):
        raise UserError(f"{outcome!r} is none of the outcomes, {', '.join(map(repr, opened.table.targets))}")
    return targets.index(outcome) if outcome is not None and targets else None


def _check_id(file: InputTable, table: TableDescription, name: str) -> None:
    file.check_has([name], " (--id-column)")
    uses = {
        **dict.fromkeys(table.columns, "a feature"),
        **dict.fromkeys(table.targets, "the outcome"),
        **dict.fromkeys(table.predictions, "the prediction"),
    }
    if name in uses:
        raise UserError(f"column {name!r} is {uses[name]}, and shown as such: --id-column names a column beside these")


def _cells(blocks: list[Block], name: str) -> list[Any]:
    """Cells of a column in the usable rows."""
    columns = (block.table.column(name).to_pylist() for block in blocks)
    kept = (zip(column, block.usable, strict=True) for column, block in zip(columns, blocks, strict=True))
    return [value for pairs in kept for value, usable in pairs if usable]
