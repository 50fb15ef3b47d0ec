"""``rio-uq report``: the HTML report on a table with outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, busy, command, say
from rio_uq.cli.models import split_names


@command
def report(
    test: shared.TableArgument,
    rio: shared.RioOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where to write the report.")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Of the report.")] = None,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="The outcomes; as in fit by default.")] = None,
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

    from rio_uq.cli.csv_file import CsvOptions
    from rio_uq.cli.evaluate import with_target
    from rio_uq.cli.output import check_output, in_one_step
    from rio_uq.cli.rows import Rows, predictions
    from rio_uq.cli.tables import TableFile
    from rio_uq.report import write_report  # type: ignore[import-not-found,unused-ignore]

    check_output(output, force=force)
    trusted = split_names(trust_types)
    opened = with_target(rio, target, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=trusted)
    rows = Rows(
        TableFile(test, CsvOptions(separator, encoding, decimal)), opened, with_target=True, skip_bad=skip_bad_rows
    )
    blocks = [block for block in rows.blocks(f"reading {test.name}") if len(block.X)]
    rows.tell()
    if not blocks:
        raise UserError(f"{test} has no rows with a number in {opened.table.target!r}: there is nothing to report on")
    y_pred = np.concatenate([predictions(opened.rio, block) for block in blocks])
    X = pd.concat([block.X for block in blocks], ignore_index=True)
    y = np.concatenate([block.y for block in blocks if block.y is not None])
    with busy("writing the report"), in_one_step(output, force=force) as temporary:
        write_report(opened.rio, X, y, temporary, y_pred=y_pred, title=title or test.name, random_state=seed)
    say(f"{output}: {len(y):,} rows")
