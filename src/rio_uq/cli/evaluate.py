"""``rio-uq evaluate``: the measures on a table with outcomes, before RIO and after."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, command, note, say, say_json
from rio_uq.cli.models import split_names


@command
def evaluate(
    test: shared.TableArgument,
    rio: shared.RioOption,
    level: shared.Levels = [0.5, 0.9, 0.95],  # noqa: B006
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="The outcomes; as in fit by default.")] = None,
    pred_column: shared.PredColumn = None,
    model: shared.Model = None,
    as_json: shared.AsJson = False,
    skip_bad_rows: shared.SkipBadRows = False,
    trust_pickle: shared.TrustPickle = False,
    trust_types: shared.TrustTypes = [],  # noqa: B006
    separator: shared.Separator = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = ".",
) -> None:
    """How good predictions and error bars are on rows with outcomes.

    Before RIO, the model has one error bar for all predictions: its root mean squared error on these rows.

    [bold]Examples[/bold]

      rio-uq evaluate test.csv --rio price.rio

      rio-uq evaluate test.csv --rio price.rio --level 0.8 --json
    """
    from rio_uq.cli.predict import check_levels
    from rio_uq.cli.rows import Rows
    from rio_uq.cli.tables import TableFile
    from rio_uq.rows.csv import CsvOptions

    trusted = split_names(trust_types)
    opened = with_target(rio, target, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=trusted)
    check_levels(opened.rio, level)
    file = TableFile(test, CsvOptions(separator, encoding, decimal))
    found = measured(opened, Rows(file, opened, with_target=True, skip_bad=skip_bad_rows), level)
    if as_json:
        say_json(json.dumps(found, indent=2))
    else:
        say(_as_table(found))


def measured(opened: Any, rows: Any, levels: list[float]) -> dict[str, Any]:
    """The measures, by name."""
    import numpy as np

    from rio_uq.cli.known_rows import UsedBefore
    from rio_uq.cli.predict import answers
    from rio_uq.cli.rows import predictions

    used, columns = UsedBefore(opened.rio), []
    for block in rows.blocks("evaluating"):
        y_pred = predictions(opened.rio, block) if len(block.X) else np.empty(0)
        if len(block.X):
            used.see(block.X, block.y, y_pred)
        columns.append([block.y, y_pred, *answers(opened, block, levels)[int(opened.has_model) :]])
    rows.tell()
    for text in used.warnings().values():
        note(text, label="warning")
    if not sum(len(block[0]) for block in columns):
        raise UserError(
            f"{rows.file.path} has no rows with a number in {opened.table.target!r}: there is nothing to measure"
        )
    y, y_pred, mean, std, *bounds = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return _measures(y, y_pred, mean, std, bounds, levels)


def with_target(rio: Any, target: str | None, **given: Any) -> Any:
    """The .rio file, and the column of outcomes."""
    from dataclasses import replace

    from rio_uq.cli.stored import open_rio

    opened = open_rio(rio, **given)
    chosen = target or opened.table.target
    if chosen is None:
        raise UserError(f"{rio} does not say which column holds the outcomes: name it with --target")
    if chosen == opened.table.prediction:
        raise UserError(f"column {chosen!r} is --target and --pred-column: outcomes and predictions are two columns")
    return replace(opened, table=replace(opened.table, target=chosen))


def _measures(y: Any, y_pred: Any, mean: Any, std: Any, bounds: Any, levels: list[float]) -> dict[str, Any]:
    import numpy as np
    from scipy import stats

    from rio_uq import metrics
    from rio_uq.report.comparison import one_error_bar

    spread = one_error_bar(y - y_pred)
    half = [stats.norm.ppf(0.5 + 0.5 * level) * spread for level in levels]
    before = [end for width in half for end in (y_pred - width, y_pred + width)]

    def of(centre: Any, deviation: Any, ends: Any) -> dict[str, Any]:
        pairs = list(zip(levels, ends[::2], ends[1::2], strict=True))
        return {
            "rmse": metrics.rmse(y, centre),
            "mae": metrics.mae(y, centre),
            # A model without errors has an error bar of zero, and no density.
            "nlpd": metrics.nlpd(y, centre, deviation) if (deviation > 0.0).all() else None,
            "crps": metrics.crps(y, centre, deviation) if (deviation > 0.0).all() else None,
            "coverage": {f"{level:.12g}": float(np.mean((low <= y) & (y <= high))) for level, low, high in pairs},
            "width": {f"{level:.12g}": float(np.mean(high - low)) for level, low, high in pairs},
        }

    return {
        "rows": len(y),
        "before": of(y_pred, spread, before),
        "after": of(mean, std, bounds),
        "improvement_ratio": metrics.improvement_ratio(y, mean, y_pred),
    }


def _as_table(found: dict[str, Any]) -> Any:
    from rich.table import Table

    from rio_uq.summary import percent

    before, after = found["before"], found["after"]
    table = Table(title=f"{found['rows']:,} rows", title_justify="left", caption_justify="left")
    table.add_column("")
    for name in ("model", "with RIO"):
        table.add_column(name, justify="right")
    for key, name in (("rmse", "RMSE"), ("mae", "MAE"), ("nlpd", "NLPD"), ("crps", "CRPS")):
        table.add_row(name, *("–" if of[key] is None else f"{of[key]:.4g}" for of in (before, after)))
    for level, share in before["coverage"].items():
        table.add_row(
            f"{100 * float(level):.4g} % intervals hold", percent(share, 1), percent(after["coverage"][level], 1)
        )
        table.add_row("  mean width", f"{before['width'][level]:.4g}", f"{after['width'][level]:.4g}")
    table.add_row("predictions improved", "", percent(found["improvement_ratio"]))
    return table
