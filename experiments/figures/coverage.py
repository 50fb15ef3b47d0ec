"""How many outcomes fall into confidence intervals: at the paper's three levels, and at levels from 1 % to 99 %."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments import predictions
from experiments.figures.style import (
    COLOURS,
    Drawing,
    boxes,
    colour_of,
    count,
    in_order,
    label_y,
    method_axis,
    panels,
    styled,
)
from lab.datasets import DATASETS
from lab.store import Key
from rio_uq import metrics

BOXES_ARE = "Boxes: quartiles and median over runs; whiskers: within 1.5 boxes; dots: beyond."
CURVES = ("RIO", "SVGP", "ours")
BOX_LEVELS = np.array([1, *range(5, 100, 5), 99])


@styled
def draw_coverage(rows: pd.DataFrame, level: int) -> Drawing | None:
    """Box plots over runs of the coverage of all methods with error bars, at a level of 95, 90 or 68 %.

    Parameters
    ----------
    rows : DataFrame
        Rows of one table.
    level : int
        In per cent.
    """
    rows = rows.dropna(subset=[f"coverage_{level}"])
    methods = in_order(rows["method"], COLOURS)
    names = in_order(rows["dataset"], DATASETS)
    if not names:
        return None
    figure, axes = panels(
        names,
        f"Outcomes inside {level} % confidence intervals",
        f"{BOXES_ARE} The line is at {level} %: left of it error bars are too small.",
        share_y=True,
    )
    for name, axis in zip(names, axes, strict=True):
        of_dataset = rows[rows["dataset"] == name]
        shares = {method: 100 * runs.to_numpy() for method, runs in of_dataset.groupby("method")[f"coverage_{level}"]}
        axis.axvline(level, color="black", linewidth=1.0, zorder=0)
        places = list(map(methods.index, shares))
        boxes(axis, list(shares.values()), list(map(colour_of, shares)), places, horizontal=True)
        method_axis(axis, methods)
        axis.set(title=f"{name} ({count(of_dataset['run'].nunique(), 'run')})", xlabel="coverage (%)")
    return Drawing(figure, names)


@styled
def draw_levels(folder: Path, keys: list[Key]) -> Drawing | None:
    """Box plots over runs of the coverage of RIO and SVGP at levels from 1 % to 99 %.

    Parameters
    ----------
    folder : Path
        Of the stored predictions.
    keys : list of keys
        Of one table.
    """
    curves = coverage_curves(folder, keys)
    names = in_order((dataset for dataset, _ in curves), DATASETS)
    methods = in_order((method for _, method in curves), COLOURS)
    if not names:
        return None
    figure, axes = panels(
        names,
        f"Coverage of confidence intervals from 1 % to 99 %: {' and '.join(methods)}",
        "Boxes over runs at 1 %, 5 %, 10 %, … 95 %, 99 %, side by side; curves: median at every per cent. On the "
        "straight line coverage is what it should be, below it error bars are too small.",
        methods=methods,
        panel=(4.0, 3.2),
        max_columns=3,
    )
    for name, axis in zip(names, axes, strict=True):
        axis.plot([0, 100], [0, 100], color="black", linewidth=1.0, zorder=0)
        present = [method for method in methods if (name, method) in curves]
        for i, method in enumerate(present):
            curve = 100 * curves[name, method]
            shift = 2.0 * (i - (len(present) - 1) / 2)
            axis.plot(100 * metrics.LEVELS, np.median(curve, axis=0), color=colour_of(method), linewidth=1.0)
            colours = [colour_of(method)] * len(BOX_LEVELS)
            boxes(axis, list(curve[:, BOX_LEVELS - 1].T), colours, BOX_LEVELS + shift, width=1.5, outline=False)
        n_runs = max(len(curves[name, method]) for method in present)
        axis.set(title=f"{name} ({count(n_runs, 'run')})", xlabel="confidence level (%)")
        axis.set(xlim=(-2, 102), ylim=(-2, 102), xticks=range(0, 101, 20), yticks=range(0, 101, 20))
    label_y(axes, "coverage (%)")
    return Drawing(figure, names)


def coverage_curves(folder: Path, keys: list[Key]) -> dict[tuple[str, str], np.ndarray]:
    """Coverage (runs, 99) at 1 %, 2 %, … 99 %, for each data set and method of the comparison."""
    curves: dict[tuple[str, str], list[np.ndarray]] = {}
    for key in keys:
        _, dataset, _, method = key
        if method not in CURVES:
            continue
        kept = predictions.load(folder, *key)
        if kept.std is not None:
            curves.setdefault((dataset, method), []).append(metrics.coverage_curve(kept.y, kept.mean, kept.std))
    return {name: np.array(of_runs) for name, of_runs in curves.items()}
