"""The commands put together."""

from __future__ import annotations

from typing import Annotated

import typer

from rio_uq._base.version import __version__
from rio_uq.cli import console
from rio_uq.cli.calibrate import calibrate
from rio_uq.cli.demo import demo
from rio_uq.cli.evaluate import evaluate
from rio_uq.cli.fit import fit
from rio_uq.cli.inspect import export, info
from rio_uq.cli.predict import predict
from rio_uq.cli.report import report

app = typer.Typer(
    name="rio-uq", no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=True
)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.say(f"rio-uq {__version__}")
        raise typer.Exit


def _before(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Trustworthy error bars, and more accurate predictions, for a regression model that you already have.

    [bold]Examples[/bold]

      rio-uq demo

      rio-uq fit train.csv --target price --pred-column yhat -o price.rio

      rio-uq predict new.csv --rio price.rio -o out.csv --level 0.9

      rio-uq evaluate test.csv --rio price.rio
    """
    console.Settings.debug = debug


app.callback()(_before)
for _function in (fit, calibrate, predict, evaluate, report, info, export, demo):
    app.command()(_function)
