"""``rio-uq report``: the HTML report on a table with outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, busy, command, note, say
from rio_uq.cli.models import split_names


@command
def report(
    test: shared.TableArgument,
    rio: shared.RioOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where to write the report.")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Of the report.")] = None,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="The outcomes; as in fit by default.")] = None,
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
) -> None:
    """A report on rows with outcomes: one HTML file, to be opened in a browser.

    [bold]Example[/bold]

      rio-uq report test.csv --rio price.rio -o report.html
    """
    import numpy as np
    import pandas as pd

    from rio_uq.cli.evaluate import with_target
    from rio_uq.cli.known_rows import UsedBefore
    from rio_uq.cli.output import check_output, in_one_step
    from rio_uq.cli.rows import Rows, predictions
    from rio_uq.cli.tables import TableFile
    from rio_uq.report import write_report  # type: ignore[import-not-found,unused-ignore]
    from rio_uq.rows.csv import CsvOptions

    check_output(output, force=force, ending=".html", inputs=[test, rio, model])
    trusted = split_names(trust_types)
    opened = with_target(rio, target, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=trusted)
    file = TableFile(test, CsvOptions(separator, encoding, decimal))
    rows = Rows(file, opened, with_target=True, skip_bad=skip_bad_rows)
    if id_column is not None:
        _check_id(file, opened.table, id_column)
    blocks = [block for block in rows.blocks(f"reading {test.name}") if len(block.X)]
    rows.tell()
    if not blocks:
        raise UserError(f"{test} has no rows with a number in {opened.table.target!r}: there is nothing to report on")
    y_pred = np.concatenate([predictions(opened.rio, block) for block in blocks])
    X = pd.concat([block.X for block in blocks], ignore_index=True)
    y = pd.Series(np.concatenate([block.y for block in blocks if block.y is not None]), name=opened.table.target)
    used = UsedBefore(opened.rio)
    used.see(X, y.to_numpy(), y_pred)
    warned = used.warnings()
    for text in warned.values():
        note(text, label="warning")
    ids = None if id_column is None else pd.DataFrame({id_column: _cells(blocks, id_column)})
    with busy("writing the report"), in_one_step(output, force=force) as temporary:
        write_report(
            opened.rio,
            X,
            y,
            temporary,
            y_pred=y_pred,
            title=title or test.name,
            row_labels=np.concatenate([block.numbers for block in blocks]),
            notes=ids,
            notices=[text for name, text in warned.items() if name == "calibration"],  # it finds the others itself
            random_state=seed,
        )
    say(f"{output}: {len(y):,} rows")


def _check_id(file: Any, table: Any, name: str) -> None:
    file.check_has([name], " (--id-column)")
    used = {
        **dict.fromkeys(table.columns, "a feature"),
        table.target: "the outcome",
        table.prediction: "the prediction",
    }
    if name in used:
        raise UserError(f"column {name!r} is {used[name]}, and shown as such: --id-column names a column beside these")


def _cells(blocks: Any, name: str) -> list[Any]:
    """Cells of a column in the usable rows."""
    columns = (block.table.column(name).to_pylist() for block in blocks)
    kept = (zip(column, block.usable, strict=True) for column, block in zip(columns, blocks, strict=True))
    return [value for pairs in kept for value, usable in pairs if usable]
