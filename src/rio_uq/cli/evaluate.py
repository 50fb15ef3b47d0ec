"""``rio-uq evaluate``: the measures on a table with outcomes, before RIO and after."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, command, note, say, say_json
from rio_uq.cli.models import split_names

if TYPE_CHECKING:
    from rio_uq.cli.rows import TableRows
    from rio_uq.cli.stored import OpenedRio
    from rio_uq.metrics import BeforeAfter, Measures


@command
def evaluate(
    test: shared.TableArgument,
    rio: shared.RioOption,
    level: shared.Levels = [0.5, 0.9, 0.95],  # noqa: B006
    target: shared.Target = None,
    pred_column: shared.PredColumn = None,
    model: shared.Model = None,
    as_json: shared.AsJson = False,
    skip_bad_rows: shared.SkipBadRows = False,
    trust_pickle: shared.TrustPickle = False,
    trust_types: shared.TrustTypes = [],  # noqa: B006
    separator: shared.Separator = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = ".",
    thousands: shared.Thousands = None,
) -> None:
    """How good predictions and error bars are on rows with outcomes.

    Before RIO, the model has one error bar for all predictions: its root mean squared error on these rows.

    [bold]Examples[/bold]

      rio-uq evaluate test.csv --rio price.rio

      rio-uq evaluate test.csv --rio price.rio --level 0.8 --json
    """
    from rio_uq.cli.input import InputTable
    from rio_uq.cli.predict import check_levels
    from rio_uq.cli.rows import TableRows
    from rio_uq.rows.csv import CsvOptions

    trusted = split_names(trust_types)
    opened = with_target(rio, target, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=trusted)
    check_levels(opened, level)
    file = InputTable(test, CsvOptions(separator, encoding, decimal, thousands))
    measures = _measured(opened, TableRows(file, opened, with_target=True, skip_bad=skip_bad_rows), level)
    if as_json:
        found = {name: {**_as_json(one), "rows_beyond_scale": n} for name, (one, n) in measures.items()}
        content = next(iter(found.values())) if len(found) == 1 else {"outcomes": found}
        say_json(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
        return
    for name, (one, _) in measures.items():
        say(_as_table(one, name if len(measures) > 1 else ""))


def _measured(opened: OpenedRio, rows: TableRows, levels: list[float]) -> dict[str, tuple[BeforeAfter, int]]:
    """By outcome the measures, and how many outcomes have no place on the scale of `fit`."""
    import numpy as np

    from rio_uq.cli.predict import answers, as_columns
    from rio_uq.cli.row_reuse import RowReuse
    from rio_uq.metrics import before_after

    reuse, columns, losses = RowReuse(opened.rio), [], []
    for block in rows.blocks("evaluating"):
        if block.y is not None and len(block.y):
            answered = answers(opened, block, levels)
            reuse.see(block.X, block.y, answered[0])
            columns.append([block.y, *answered])
            losses.append(_losses(opened, block, answered[0]))
    rows.tell()
    for text in reuse.warnings().values():
        note(text, label="warning")
    if not columns:
        raise rows.nothing_to("measure")
    joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    y, y_pred, mean, std, *ends = map(as_columns, joined)
    fitted = opened.rio.fitted_
    y_pred = fitted.reference(y_pred)
    log_loss, crps = (np.concatenate(parts) for parts in zip(*losses, strict=True))
    beyond = fitted.scales.beyond(y)
    if beyond is not None:
        infinite = ", and NLPD is infinite" if fitted.has_density else ""
        note(f"{beyond}: no interval holds such outcomes{infinite}", label="warning")
    measures = {}
    for i, name in enumerate(opened.table.targets):
        bounds = [(low[:, i], high[:, i]) for low, high in zip(ends[::2], ends[1::2], strict=True)]
        lost = (log_loss[:, i], crps[:, i]) if fitted.has_density else None
        of_one = before_after(
            y[:, i], y_pred[:, i], mean[:, i], std[:, i], dict(zip(levels, bounds, strict=True)), lost
        )
        measures[name] = of_one, int((~fitted.scales.scales[i].contains(y[:, i])).sum())
    return measures


def _losses(opened: OpenedRio, block: Any, y_pred: Any) -> tuple[Any, Any]:
    """Negative log densities and CRPS of the outcomes of a block, (n, q); empty where they have no density."""
    from rio_uq.gp.backend.threads import effective_jobs

    rio = opened.rio
    losses = rio.fitted_.losses(
        rio.inputs(block.X, y_pred=y_pred, groups=block.groups),
        block.y.reshape(len(block.y), -1),
        effective_jobs(rio.n_jobs),
    )
    return ([], []) if losses is None else losses


def with_target(rio: Path, target: str | None, **options: Any) -> OpenedRio:
    """The .rio file, and the columns of outcomes."""
    from rio_uq.cli.stored import of_outcomes, open_rio

    opened = open_rio(rio, **options)
    n_outcomes = opened.rio.fitted_.n_outputs
    chosen = opened.table.targets if target is None else of_outcomes(target, n_outcomes)
    if not chosen:
        raise UserError(f"{rio} does not say which column holds the outcomes: name it with --target")
    if len(chosen) != n_outcomes:
        raise UserError(f"{rio} was fitted to {n_outcomes} outcomes, and --target names {len(chosen)}")
    for name in chosen:
        if name in opened.table.predictions:
            raise UserError(f"column {name!r} is --target and --pred-column: outcomes and predictions are two columns")
    return replace(opened, table=replace(opened.table, targets=chosen))


def _as_json(measures: BeforeAfter) -> dict[str, Any]:
    """Levels as text, and null where there is no density, or a measure is infinite."""

    def of(side: Measures) -> dict[str, Any]:
        numbers = {name: getattr(side, name) for name in ("rmse", "mae", "nlpd", "crps")}
        return {
            **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
            "coverage": {f"{level:.12g}": share for level, share in side.coverage.items()},
            "width": {f"{level:.12g}": width for level, width in side.width.items()},
        }

    return {
        "rows": measures.n_rows,
        "before": of(measures.before),
        "after": of(measures.after),
        "improvement_ratio": measures.improvement_ratio,
    }


def _as_table(measures: BeforeAfter, name: str) -> Any:
    from rich.table import Table

    from rio_uq.summary.words import percent

    before, after = measures.before, measures.after
    title = f"{name}: " if name else ""
    table = Table(title=f"{title}{measures.n_rows:,} rows", title_justify="left", caption_justify="left")
    table.add_column("")
    for name in ("model", "with RIO"):
        table.add_column(name, justify="right")
    for name in ("rmse", "mae", "nlpd", "crps"):
        values = (getattr(side, name) for side in (before, after))
        table.add_row(name.upper(), *map(_in_words, values))
    for level, share in before.coverage.items():
        table.add_row(f"{100 * level:.4g} % intervals hold", percent(share, 1), percent(after.coverage[level], 1))
        table.add_row("  mean width", f"{before.width[level]:.4g}", f"{after.width[level]:.4g}")
    table.add_row("predictions improved", "", percent(measures.improvement_ratio))
    return table


def _in_words(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "infinite" if math.isinf(value) else f"{value:.4g}"
