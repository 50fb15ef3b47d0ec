"""``rio-uq info`` and ``rio-uq export``: the content of a .rio file in words, and the file as an ONNX graph."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rio_uq.cli import options as shared
from rio_uq.cli.console import UserError, command, say, say_json

if TYPE_CHECKING:
    from rio_uq.regressor import RIORegressor


class Precision(StrEnum):
    """Of inputs and outputs."""

    double = "float64"
    single = "float32"


@command
def info(rio: shared.RioFile, as_json: shared.AsJson = False) -> None:
    """The content of a .rio file: columns, settings, and what was learnt, in words.

    [bold]Examples[/bold]

      rio-uq info price.rio

      rio-uq info price.rio --json
    """
    from rio_uq.regressor import load_regressor
    from rio_uq.storage.archive import read_archive

    loaded = load_regressor(rio, estimator=None)
    content = _described(rio, read_archive(rio).manifest, loaded)
    if as_json:
        say_json(json.dumps(content, indent=2, ensure_ascii=False))
        return
    say(_as_table(content))
    say()
    say(str(loaded.summary()))


def _described(path: Path, manifest: dict[str, Any], rio: RIORegressor) -> dict[str, Any]:
    table = getattr(rio, "metadata_", {}).get("table")
    fitted = rio.fitted_
    calibration = rio.calibration_
    return {
        "file": str(path),
        "format_version": manifest["format_version"],
        "library_version": manifest["library_version"],
        "rows": int(fitted.kept.n_fitted),
        "table": table if isinstance(table, dict) else None,
        "features": fitted.feature_names,
        "model_inside": manifest["model"],
        "kernel": rio.kernel,
        "ard": rio.ard,
        "inference": rio.inference_ or rio.inference,
        "points": rio.n_inducing_,
        "noise_variance": rio.noise_variance_ if fitted.y_shape == () else list(map(float, rio.noise_variance_)),
        "residuals": None if fitted.residuals is None else asdict(fitted.residuals),
        "scale": [
            {"kind": scale.kind, "gains": dict(gains), "in_words": rio.scale_.in_words(output)}
            for output, (scale, gains) in enumerate(zip(rio.scale_.scales, rio.scale_.gains, strict=True))
        ],
        "distribution": [fitted.shape.in_words(i) for i in range(fitted.n_outputs)] if fitted.shape else None,
        "calibration": None
        if calibration is None
        else {
            "method": calibration.method,
            "rows": list(calibration.n_rows),
            "effective_rows": list(calibration.n_effective),
        },
    }


def _as_table(content: dict[str, Any]) -> Any:
    from rich.table import Table

    table, stored = Table(show_header=False, box=None), content["table"] or {}
    calibration = content["calibration"]
    model = f"{content['model_inside']}, inside the file" if content["model_inside"] else stored.get("model")
    lines = {
        "file": f"{content['file']} (format {content['format_version']}, rio-uq {content['library_version']})",
        "target": _listed(stored.get("target")),
        "predictions": f"column {_listed(stored['prediction'])!r}"
        if stored.get("prediction")
        else model or "given as y_pred",
        "rows": f"{content['rows']:,}",
        "features": f"{len(content['features'])}: {_shortened(content['features'])}",
        "kernel": f"{content['kernel']}{', ARD' if content['ard'] else ''}, {content['points']:,} points",
        "scale": ", ".join(scale["kind"] for scale in content["scale"]),
        "calibration": "none" if calibration is None else f"{calibration['method']}, {sum(calibration['rows']):,} rows",
    }
    for name, value in lines.items():
        if value is not None:
            table.add_row(name, str(value))
    return table


def _listed(named: Any) -> str | None:
    """The name of a column, or of several, of the metadata."""
    return ", ".join(named) if isinstance(named, list) else named


def _shortened(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


@command
def export(
    rio: shared.RioFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.onnx", help="Where to write the graph.")],
    level: shared.Levels = [0.95],  # noqa: B006
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL.onnx",
            exists=True,
            dir_okay=False,
            help="Merge this model in; by default one that is inside the .rio file.",
        ),
    ] = None,
    merge: Annotated[bool, typer.Option(help="Whether to merge a model in.")] = True,
    precision: Annotated[Precision, typer.Option(help="Of inputs and outputs.")] = Precision.double,
    force: shared.Force = False,
) -> None:
    """Error bars where there is no Python: the .rio file as an ONNX graph.

    Its inputs are X, and y_pred unless the model is merged in.
    Features with categories or missing values are an input of their own, encoded: their names are printed.

    [bold]Examples[/bold]

      rio-uq export price.rio -o price.onnx --level 0.9

      rio-uq export price.rio --model model.onnx -o price.onnx
    """
    import rio_uq.onnx
    from rio_uq.cli.output import check_output
    from rio_uq.regressor import load_regressor
    from rio_uq.storage.archive import read_archive

    if output.suffix.lower() != ".onnx":
        raise UserError(f"{output}: the name of a graph has to end in .onnx")
    check_output(output, force=force, inputs=[rio, model])
    inside = read_archive(rio).blobs.get("model.onnx")
    base = (str(model) if model is not None else inside) if merge else None
    graph = rio_uq.onnx.export(
        load_regressor(rio, estimator=None), output, dtype=precision.value, levels=level, base=base
    )
    for label, values in (("input", graph.graph.input), ("output", graph.graph.output)):
        for value in values:
            say(f"{label:<7}{value.name:<12}{value.doc_string}")
    say(f"{output}: written")
