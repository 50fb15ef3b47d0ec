"""``rio-uq demo``: the commands on data that ship with scikit-learn."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, busy, command, say

FILES = ("train.csv", "test.csv", "radius.rio", "predictions.csv")


@command
def demo(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to put its files.")] = Path(
        "rio-demo"
    ),
    force: shared.Force = False,
) -> None:
    """See it work: a neural network on real data, its error bars, and the commands that make them.

    The data are a case where a network leaves something to be found, picked for that.

    [bold]Example[/bold]

      rio-uq demo
    """
    there = [str(output / name) for name in FILES if (output / name).exists()]
    if there and not force:
        raise UserError(f"{', '.join(there)} exist already: choose another folder with -o, or --force to replace them")
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is no folder: choose another with -o")
    train, test, rio, predictions = (str(output / name) for name in FILES)
    with busy("training a network on 455 cell nuclei"):
        tables = _tables()
    output.mkdir(parents=True, exist_ok=True)
    say("The largest radius of a cell nucleus, predicted by a network of 2 × 64 ReLUs from mean measurements.")
    for path, table in zip((train, test), tables, strict=True):
        _write(table, Path(path), force=force)
        say(f"{path}: {len(table)} rows; the column yhat has the network's predictions")
    replace = ["--force"] if force else []
    for arguments in (
        ["fit", train, "--target", "worst radius", "--pred-column", "yhat", "-o", rio, *replace],
        ["predict", test, "--rio", rio, "-o", predictions, "--level", "0.9", *replace],
        ["evaluate", test, "--rio", rio],
    ):
        say(f"\n$ rio-uq {shlex.join(arguments)}")
        code = context.find_root().command.main(arguments, standalone_mode=False)
        if code:
            raise typer.Exit(code)
    say(f"\nNext: rio-uq info {rio}")


def _write(table: Any, path: Path, *, force: bool) -> None:
    from rio_uq.cli.output import in_one_step

    with in_one_step(path, force=force) as temporary:
        table.to_csv(temporary, index=False, float_format="%.7g")


def _tables() -> Any:
    """Rows to fit to, and rows to test on, with a network's predictions."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    cells = load_breast_cancer(as_frame=True).data
    table = cells[[name for name in cells if name.startswith("mean")]].assign(**{"worst radius": cells["worst radius"]})
    train, test = train_test_split(table, test_size=0.2, random_state=0)
    network = MLPRegressor(hidden_layer_sizes=(64, 64), early_stopping=True, max_iter=1000, random_state=0)
    model = make_pipeline(StandardScaler(), network)
    model.fit(train.drop(columns="worst radius"), train["worst radius"])
    return [part.assign(yhat=model.predict(part.drop(columns="worst radius"))) for part in (train, test)]
