"""``rio-uq calibrate``: the error bars of a .rio file, set right on rows that were used for nothing else."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import busy, command, note, say
from rio_uq.cli.models import split_names

if TYPE_CHECKING:
    from rio_uq.cli.input import InputTable
    from rio_uq.cli.stored import OpenedRio


@command
def calibrate(
    table: shared.TableArgument,
    rio: shared.RioOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.rio", help="Where to write the new file.")],
    calibration_method: Annotated[
        shared.Method, typer.Option(help="See docs/calibration.md.")
    ] = shared.Method.conformal,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Calibrate the rows of each group for themselves. predict then needs the column as well.",
        ),
    ] = None,
    target: shared.Target = None,
    pred_column: shared.PredColumn = None,
    model: shared.Model = None,
    force: shared.Force = False,
    skip_bad_rows: shared.SkipBadRows = False,
    trust_pickle: shared.TrustPickle = False,
    trust_types: shared.TrustTypes = [],  # noqa: B006
    separator: shared.Separator = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = ".",
    thousands: shared.Thousands = None,
) -> None:
    """Set error bars right on rows that neither the model nor fit has seen.

    Predictions stay as they are, and so does the file that is read.

    [bold]Examples[/bold]

      rio-uq calibrate calib.csv --rio price.rio -o calibrated.rio

      rio-uq calibrate calib.csv --rio price.rio --groups region -o calibrated.rio
    """
    if calibration_method is shared.Method.cross:
        raise typer.BadParameter(
            "cross-conformal takes the rows of fit, which a .rio file does not hold: rio-uq fit --calibration-method "
            "cross-conformal, or another method here",
            param_hint="--calibration-method",
        )
    from rio_uq.cli.evaluate import with_target
    from rio_uq.cli.input import InputTable
    from rio_uq.cli.output import check_output
    from rio_uq.cli.stored import read_table
    from rio_uq.rows.csv import CsvOptions

    check_output(output, force=force, ending=".rio", inputs=[table, rio, model])
    trusted = split_names(trust_types)
    opened = with_target(rio, target, pred_column=pred_column, model=model, trust_pickle=trust_pickle, trusted=trusted)
    opened = replace(opened, table=replace(opened.table, groups=groups))
    file = InputTable(table, CsvOptions(separator, encoding, decimal, thousands))
    described = replace(read_table(opened.rio, rio), targets=opened.table.targets, groups=groups)
    rows = calibrate_with(file, opened, calibration_method.value, skip_bad=skip_bad_rows)
    metadata = {**getattr(opened.rio, "metadata_", {}), **described.metadata(), **rows}
    _save(opened, rio, output, metadata, trusted, force=force)
    calibration = opened.rio.calibration_
    assert calibration is not None
    by_group = "" if groups is None else f", by the {len(calibration.groups or ())} groups of {groups!r}"
    say(f"{output}: error bars calibrated on {sum(calibration.n_rows):,} rows ({calibration.method}){by_group}")


def calibrate_with(file: InputTable, opened: OpenedRio, method: str, *, skip_bad: bool | None) -> dict[str, Any]:
    """Calibrate with the rows of a table; metadata by which these are recognised later."""
    from rio_uq.cli.row_reuse import calibration_rows, hashes
    from rio_uq.cli.rows import TableRows

    rows = TableRows(file, opened, with_target=True, skip_bad=skip_bad).read("calibrate with")
    with busy("calibrating"):
        opened.rio.calibrate(rows.X, rows.y, y_pred=rows.y_pred, groups=rows.groups, method=method)
    return calibration_rows(hashes(opened.rio.fitted_.features(rows.X), rows.y))


def _save(
    opened: OpenedRio, path: Path, output: Path, metadata: dict[str, Any], trusted: list[str], *, force: bool
) -> None:
    """Write the file again, with the model that is inside of the old one, if there is one."""
    from rio_uq.cli.output import check_output
    from rio_uq.storage.archive import read_archive

    with tempfile.TemporaryDirectory() as folder:
        inside = None
        for name, content in read_archive(path).blobs.items():
            inside = Path(folder, name)
            inside.write_bytes(content)
        check_output(output, force=force)
        estimator = opened.rio.estimator_
        opened.rio.save(output, estimator=estimator, model_file=inside, trusted=trusted, metadata=metadata)
    if inside is None and estimator is not None:
        note(f"the model is not in {output}: give predict the same --model again, or --pred-column")
