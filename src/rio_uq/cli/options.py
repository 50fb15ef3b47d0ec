"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rio_uq.cli.models import WHY_NOT_PICKLE

STDOUT = Path("-")
"""As the name of an output."""

READING, MODEL = "Reading CSV", "The model"


def _levels(values: list[float]) -> list[float]:
    for value in values:
        if not 0.0 < value < 1.0:
            hint = f"did you mean {value / 100:g}? " if 1.0 < value < 100.0 else ""
            raise typer.BadParameter(f"{value:g} is not between 0 and 1: {hint}0.9 holds nine outcomes of ten")
    return list(dict.fromkeys(values))


def _separator(value: str | None) -> str | None:
    value = "\t" if value == "\\t" else value
    if value is not None and (len(value) != 1 or value.isalnum() or value in '"\r\n'):
        raise typer.BadParameter(f"{value!r} is not one character that can stand between cells")
    return value


def _decimal(value: str) -> str:
    if len(value) != 1 or value.isalnum() or value in '+-" \t\r\n':
        raise typer.BadParameter(f"{value!r} is not one character that can stand in a number: a comma, say")
    return value


def _thousands(value: str | None) -> str | None:
    if value is not None and (len(value) != 1 or value.isalnum() or value in '+-"\t\r\n'):
        raise typer.BadParameter(f"{value!r} is not one character that can separate thousands: a comma, say")
    return value


class Method(StrEnum):
    """Of calibration."""

    conformal = "conformal"
    asymmetric = "conformal-asymmetric"
    cross = "cross-conformal"
    variance = "variance"
    isotonic = "isotonic"


TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        exists=True,
        dir_okay=False,
        readable=True,
        help="CSV, Parquet, Feather or Excel, by its ending.",
    ),
]
RioFile = Annotated[
    Path, typer.Argument(metavar="FILE.rio", exists=True, dir_okay=False, readable=True, help="Made by rio-uq fit.")
]
RioOption = Annotated[
    Path, typer.Option("--rio", metavar="FILE.rio", exists=True, dir_okay=False, help="Made by rio-uq fit.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]
Levels = Annotated[
    list[float],
    typer.Option("--level", metavar="SHARE", callback=_levels, help="Level of intervals; may be given several times."),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Go on where a row has a missing value, or text in place of a number.")
]

Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="The outcomes; as in fit by default.")]
PredColumn = Annotated[
    str | None,
    typer.Option(
        "--pred-column",
        metavar="COLUMN",
        help="The model's predictions are in this column; of several outcomes a column for each, with commas.",
        rich_help_panel=MODEL,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="model.onnx, model.skops, a Python object such as mypackage.models:predict, or with --trust-pickle a "
        "pickle or joblib file.",
        rich_help_panel=MODEL,
    ),
]
TrustPickle = Annotated[
    bool,
    typer.Option(
        "--trust-pickle",
        help=f"Open a pickle as the model. {WHY_NOT_PICKLE[0].upper()}{WHY_NOT_PICKLE[1:]}.",
        rich_help_panel=MODEL,
    ),
]
TrustTypes = Annotated[
    list[str],
    typer.Option(
        "--trust-types",
        metavar="TYPES",
        help="Types, separated by commas, that a skops file may hold beside those that skops knows to be safe.",
        rich_help_panel=MODEL,
    ),
]

Separator = Annotated[
    str | None,
    typer.Option(
        "--separator", metavar="CHARACTER", callback=_separator, help="Found out by default.", rich_help_panel=READING
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="latin-1, say. UTF-8, or as a mark at its beginning says, by default.",
        rich_help_panel=READING,
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        "--decimal",
        metavar="CHARACTER",
        callback=_decimal,
        help="Of numbers: a comma in much of Europe.",
        rich_help_panel=READING,
    ),
]
Thousands = Annotated[
    str | None,
    typer.Option(
        "--thousands",
        metavar="CHARACTER",
        callback=_thousands,
        help="Between thousands of numbers: a comma for 1,234.5. None by default: such a cell is no number.",
        rich_help_panel=READING,
    ),
]
