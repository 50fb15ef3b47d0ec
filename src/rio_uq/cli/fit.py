"""``rio-uq fit``: a table, and a model or its predictions, to a .rio file."""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from rio_uq.cli import calibrate
from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, busy, command, is_terminal, note, say
from rio_uq.cli.models import OpenedModel, open_model, split_names

if TYPE_CHECKING:
    from rio_uq._base.array import Mask
    from rio_uq.cli.training_data import TrainingData
    from rio_uq.features.table_encoder import TableEncoder
    from rio_uq.regressor import RIORegressor

NEW, SEEN, MIXED = "new", "seen", "mixed:"
SAY_ROWS = "say --rows new, --rows seen, or --rows mixed:COLUMN (1 or true for rows that it was not trained on)"
GP, OUTCOMES, CALIBRATION = "The Gaussian process", "Outcomes", "Calibration"


class Kernel(StrEnum):
    """The parts of the kernel."""

    io = "io"
    input = "input"
    output = "output"


class OutcomeScale(StrEnum):
    """The scale that residuals are taken on."""

    auto = "auto"
    identity = "identity"
    log = "log"
    sqrt = "sqrt"
    logit = "logit"


@command
def fit(
    train: shared.TableArgument,
    target: Annotated[str, typer.Option("--target", metavar="COLUMN", help="The outcomes; several with commas.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.rio", help="Where to write what was learnt.")],
    pred_column: shared.PredColumn = None,
    model: shared.Model = None,
    features: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMNS", help="Columns, separated by commas. All but target and predictions by default."
        ),
    ] = [],  # noqa: B006
    drop: Annotated[
        list[str], typer.Option(metavar="COLUMNS", help="Columns that are no features: an id, a name.")
    ] = [],  # noqa: B006
    force: shared.Force = False,
    cross_fit: Annotated[
        bool,
        typer.Option(
            "--cross-fit",
            help="Residuals of clones of the model, each fitted to other rows. For rows that the model was fitted to; "
            "the model itself still predicts. Needs a scikit-learn model.",
            rich_help_panel=shared.MODEL,
        ),
    ] = False,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows",
            metavar="new|seen|mixed:COLUMN",
            help="Whether the model was trained on these rows: on none, on all, or on those where the column is 0 or "
            "false. By default it is found out, where the model can be asked or cloned.",
            rich_help_panel=shared.MODEL,
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Rows of one group err alike, as those of one patient do: they are left out together. No feature.",
        ),
    ] = None,
    store_model: Annotated[
        bool, typer.Option(help="Put an ONNX or skops model into the .rio file.", rich_help_panel=shared.MODEL)
    ] = True,
    trust_pickle: shared.TrustPickle = False,
    trust_types: shared.TrustTypes = [],  # noqa: B006
    ard: Annotated[bool, typer.Option(help="A lengthscale for each feature.", rich_help_panel=GP)] = True,
    kernel: Annotated[
        Kernel, typer.Option(help="Features and prediction, features only, or prediction only.", rich_help_panel=GP)
    ] = Kernel.io,
    inducing: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Sparse inference with this many points; by default what suits the rows.",
            rich_help_panel=GP,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same file.", rich_help_panel=GP)
    ] = 0,
    scale: Annotated[
        OutcomeScale,
        typer.Option(
            help="The scale that errors are alike on: log for prices and durations, sqrt for counts, logit for shares. "
            "auto finds out, see docs/outcomes.md.",
            rich_help_panel=OUTCOMES,
        ),
    ] = OutcomeScale.auto,
    bounds: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH",
            help="The range of outcomes, which intervals stay in. Either end may be empty: 0, for prices.",
            rich_help_panel=OUTCOMES,
        ),
    ] = None,
    calibrate_with: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            exists=True,
            dir_okay=False,
            help="Rows that were used for nothing else.",
            rich_help_panel=CALIBRATION,
        ),
    ] = None,
    calibration_method: Annotated[
        shared.Method,
        typer.Option(
            help="See docs/calibration.md; cross-conformal needs no further rows.", rich_help_panel=CALIBRATION
        ),
    ] = shared.Method.conformal,
    separator: shared.Separator = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = ".",
    thousands: shared.Thousands = None,
) -> None:
    """Learn error bars and corrections from a table.

    Columns of text become categories, dates become days and places in the year, the week and the day.
    In columns of numbers and dates, missing values are filled and marked.
    The .rio file remembers what predict needs.

    [bold]Examples[/bold]

    Predictions are a column of the table:

      rio-uq fit train.csv --target price --pred-column yhat -o price.rio

    A model makes them, and is put into the file:

      rio-uq fit valid.parquet --target price --model model.onnx -o price.rio

    A scikit-learn model and the rows it was fitted to, calibrated on others:

      rio-uq fit train.csv --target price --model model.skops --cross-fit --calibrate-with calib.csv -o price.rio

    Errors of a price are in per cent, and no price is negative:

      rio-uq fit train.csv --target price --pred-column yhat --scale log --bounds 0, -o price.rio
    """
    _check_usage(pred_column, model, cross_fit, rows)
    ends = None if bounds is None else _parsed_bounds(bounds)
    is_cross = calibration_method is shared.Method.cross
    if is_cross and calibrate_with is not None:
        raise typer.BadParameter(
            "cross-conformal takes the rows of TRAIN: leave --calibrate-with out, or use another method",
            param_hint="--calibration-method",
        )
    from rio_uq.cli.input import InputTable
    from rio_uq.cli.output import check_output
    from rio_uq.cli.stored import OpenedRio
    from rio_uq.cli.training_data import read_training_data
    from rio_uq.rows.csv import CsvOptions

    check_output(output, force=force, ending=".rio", inputs=[train, model, calibrate_with])
    csv_options = CsvOptions(separator, encoding, decimal, thousands)
    trusted = split_names(trust_types)
    opened = None if model is None else open_model(model, trust_pickle=trust_pickle, trusted=trusted)
    if opened is not None:
        _check_can_be_stored(opened, store_model)
    mask = rows.removeprefix(MIXED) if rows is not None and rows.startswith(MIXED) else None
    data = read_training_data(
        train,
        csv_options,
        target,
        pred_column,
        opened,
        split_names(features),
        split_names(drop),
        mask,
        groups,
        needs_features=kernel != Kernel.output or opened is not None,
    )
    held_out = data.held_out if rows is None or mask is not None else rows == NEW
    settings: dict[str, Any] = {"kernel": kernel.value, "ard": ard, "scale": scale.value, "bounds": ends}
    if inducing is not None:
        settings |= {"inference": "sparse", "n_inducing": inducing}
    rio = _fitted(data, opened, held_out, settings, cross_fit=cross_fit, seed=seed)
    if rows is not None:
        rio.fitted_ = replace(rio.fitted_, residuals=replace(rio.residuals_, reason=f"--rows {rows} says so"))
    metadata = data.table.metadata()
    if calibrate_with is not None:
        calibration_rows = InputTable(calibrate_with, csv_options)
        opened_rio = OpenedRio(rio, data.table, not data.table.predictions)
        metadata |= calibrate.calibrate_with(calibration_rows, opened_rio, calibration_method.value, skip_bad=None)
    elif is_cross:
        with busy("calibrating"):
            rio.calibrate(method=calibration_method.value)
    _save(rio, opened, output, metadata, store_model=store_model, trusted=trusted, force=force)
    _report(rio, data, output)


def _check_usage(pred_column: str | None, model: str | None, cross_fit: bool, rows: str | None) -> None:
    if rows is not None and rows not in (NEW, SEEN) and not rows.startswith(MIXED):
        raise typer.BadParameter(f"has to be {NEW}, {SEEN} or {MIXED}COLUMN; got {rows}", param_hint="--rows")
    if rows is not None and cross_fit:
        raise typer.BadParameter("--cross-fit takes all rows for seen: leave one of them out", param_hint="--rows")
    if (pred_column is None) == (model is None):
        raise typer.BadParameter(
            "give one of them: the column of the model's predictions, or the model", param_hint="--pred-column, --model"
        )
    if cross_fit and model is None:
        raise typer.BadParameter("the model is needed, to fit clones of it: give --model", param_hint="--cross-fit")


def _parsed_bounds(text: str) -> tuple[float | None, float | None]:
    """LOW,HIGH as numbers, None for an end that is empty."""

    def fail(reason: str) -> NoReturn:
        raise typer.BadParameter(
            f"{reason}; got {text!r}: two numbers with a comma between them, one of which may be left out, such as "
            "0,100 or 0, or ,100",
            param_hint="--bounds",
        )

    ends: list[float | None] = []
    for part in text.split(","):
        try:
            ends.append(float(part) if part.strip() else None)
        except ValueError:
            fail(f"{part.strip()!r} is no number")
    if len(ends) != 2:
        fail("bounds are two" if len(ends) > 2 else "a comma is missing")
    low, high = ends
    if low is None and high is None:
        fail("both ends are empty")
    if any(end is not None and not math.isfinite(end) for end in ends):
        fail("an end without a bound is left empty")
    if low is not None and high is not None and not low < high:
        fail("the lower end has to be below the upper one")
    return low, high


def _check_can_be_stored(model: OpenedModel, store_model: bool) -> None:
    """A model that is not fitted yet is fitted here, and lost unless it is stored."""
    from rio_uq.models.base import needs_fit

    if needs_fit(model.model):
        if not store_model:
            raise typer.BadParameter(f"{model.name} is not fitted yet: it is fitted here, and has to be stored")
        if find_spec("skops") is None:
            raise UserError(f"{model.name} is fitted here, and stored by skops: pip install 'rio-uq[skops]'")


def _fitted(
    data: TrainingData,
    model: OpenedModel | None,
    held_out: Mask | bool | None,
    settings: dict[str, Any],
    *,
    cross_fit: bool,
    seed: int,
) -> RIORegressor:
    from rio_uq._base.warnings import SeenRowsWarning
    from rio_uq.models.cross_fitting import can_be_refitted
    from rio_uq.models.seen_warnings import HOW_TO_SAY
    from rio_uq.regressor import RIORegressor

    estimator = None if model is None else model.model
    if cross_fit and not can_be_refitted(estimator):
        raise UserError(
            "--cross-fit fits clones of the model to parts of the rows, which needs a scikit-learn model (skops, or "
            "pickle): fit to rows that the model has not seen instead, or calibrate with such rows"
        )
    rio = RIORegressor(
        estimator,
        features="auto" if data.encoder is None else data.encoder,
        residuals="cross-fit" if cross_fit else "auto",
        combine="refit",
        random_state=seed,
        verbose=is_terminal() and not cross_fit,
        **settings,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SeenRowsWarning)
        with busy("fitting the model to parts of the rows") if cross_fit else nullcontext():
            rio.fit(data.X, data.y, y_pred=data.y_pred, held_out=held_out, groups=data.groups)
    for warning in caught:
        note(str(warning.message).replace(HOW_TO_SAY, SAY_ROWS), label="warning")
    return rio.set_params(verbose=False)


def _save(
    rio: RIORegressor,
    model: OpenedModel | None,
    output: Path,
    metadata: dict[str, Any],
    *,
    store_model: bool,
    trusted: Sequence[str],
    force: bool,
) -> None:
    from rio_uq.cli.output import check_output

    content, kind = (None, None) if model is None else (model.content, model.kind)
    if model is not None and rio.estimator_ is not model.model:  # it was not fitted, and is now
        content, trusted = _as_skops(rio.estimator_, trusted)
        kind = "skops"
    with tempfile.TemporaryDirectory() as folder:
        inside = None
        if content is not None and kind is not None and store_model:
            inside = Path(folder, f"model.{kind}")
            inside.write_bytes(content)
        check_output(output, force=force)
        rio.save(output, estimator=rio.estimator_, model_file=inside, trusted=trusted, metadata=metadata)
    if model is not None and inside is None:
        note(f"the model is not in {output}: give predict the same --model again, or --pred-column")


def _as_skops(model: Any, trusted: Sequence[str]) -> tuple[bytes, list[str]]:
    """A model that was fitted here, and all of its types: it comes from nowhere else."""
    from rio_uq.models.files import dump_skops

    content, types = dump_skops(model)
    if not {*types} <= {*trusted}:
        note(f"predict will ask for --trust-types {','.join(types)}, types of the model that skops does not know")
    return content, types


def _report(rio: RIORegressor, data: TrainingData, output: Path) -> None:
    import numpy as np

    summary = rio.summary()
    say(f"{output}: fitted to {summary.n_rows:,} rows of {_columns_in_words(data.encoder)}")
    say(f"  {rio.residuals_}")
    numbers = (np.atleast_1d(values) for values in (summary.residual_std, summary.noise_std, rio.trust_))
    for i, (name, spread, noise, trust) in enumerate(zip(data.table.targets, *numbers, strict=True)):
        of_one = f"{name}: " if len(data.table.targets) > 1 else ""
        say(
            f"  {of_one}standard deviation of residuals {spread:.4g}, of noise {noise:.4g}; trust in the model "
            f"{trust:.2f}"
        )
        if rio.fitted_.has_scale_to_explain:
            say(f"  {of_one}{rio.scale_.in_words(i)}")
    if rio.calibration_ is not None:
        say(f"  error bars calibrated on {sum(rio.calibration_.n_rows):,} rows ({rio.calibration_.method})")


def _columns_in_words(encoder: TableEncoder | None) -> str:
    if encoder is None:
        return "predictions"
    n_columns, n_features = len(encoder.columns_), len(encoder.feature_names_out_)
    return f"{n_columns} columns" + ("" if n_features == n_columns else f", encoded as {n_features} features")
