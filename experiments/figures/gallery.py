"""All figures of a table as files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from experiments import predictions as stored
from experiments.figures import corrections, coverage, errors
from experiments.figures.style import Drawing, base_of, in_order, save
from lab.store import Key

LEVELS = (95, 90, 68)


def draw_all(rows: pd.DataFrame, predictions: Path, folder: Path, table: str = "default") -> list[Path]:
    """Draw every figure for which there are data, and say on standard error what is left out.

    Parameters
    ----------
    rows : DataFrame
        As `Store.read` gives them, of one table or several.
    predictions : Path
        Folder of the stored predictions.
    folder : Path
        Where figures are written, as PNG files.
    table : str

    Returns
    -------
    paths : list of Path
        The figures that were drawn.
    """
    paths = draw_good_and_bad(folder)
    keys = stored.find(predictions, table)
    for name, drawing in drawings(rows[rows["table"] == table], predictions, keys):
        path = folder / f"{table}-{name}.png"
        if drawing is None:
            print(f"{path.name}: not drawn, nothing is stored for it", file=sys.stderr)
            continue
        save(drawing.figure, path)
        paths.append(path)
        absent = f"; nothing is stored for {', '.join(drawing.left_out)}" if drawing.left_out else ""
        print(f"{path.name}: {', '.join(drawing.datasets)}{absent}", file=sys.stderr)
    return paths


def drawings(rows: pd.DataFrame, folder: Path, keys: list[Key]) -> Iterator[tuple[str, Drawing | None]]:
    """Each figure of a table with its name, None where there is nothing to draw."""
    methods = {*rows["method"], *(key[3] for key in keys)}
    base = base_of(methods)
    yield "rmse", errors.draw_rmse(rows)
    for level in LEVELS:
        yield f"coverage-{level}", coverage.draw_coverage(rows, level)
    yield "coverage-levels", coverage.draw_levels(folder, keys)
    yield "distributions", corrections.draw_distributions(folder, keys, base)
    for method in in_order(methods.intersection(corrections.CORRECTIONS), corrections.CORRECTIONS):
        yield f"outputs-{method.replace('+', '-')}", corrections.draw_outputs(folder, keys, base, method)
    yield "improvement", corrections.draw_improvement(rows)


def draw_good_and_bad(folder: Path) -> list[Path]:
    """The figure of two networks, which trains them."""
    path = folder / "good-and-bad.png"
    if find_spec("torch") is None:
        print(f"{path.name}: not drawn, it needs PyTorch", file=sys.stderr)
        return []
    from experiments.figures.good_bad import cases, draw_good_bad

    save(draw_good_bad(cases()), path)
    return [path]
