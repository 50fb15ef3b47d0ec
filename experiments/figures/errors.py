"""Prediction errors run by run: the base model against RIO and SVGP."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from experiments.figures.style import (
    COLOURS,
    MUTED,
    Drawing,
    base_of,
    count,
    dots,
    in_order,
    label_y,
    padded,
    panels,
    styled,
)
from lab.datasets import DATASETS

COMPARED = ("RIO", "SVGP", "ours")
VISIBLE = 3.0
"""A run is off the scale if its RMSE is this many times the largest of the base model and of RIO."""


@styled
def draw_rmse(rows: pd.DataFrame) -> Drawing | None:
    """RMSE of RIO and SVGP over that of the base model, a dot for each run.

    Parameters
    ----------
    rows : DataFrame
        Rows of one table.
    """
    base = base_of(rows["method"])
    rows = rows[rows["method"].isin((base, *COMPARED))]
    wide = rows.pivot(index=["dataset", "run"], columns="method", values="rmse")
    methods = [method for method in COLOURS if method in COMPARED and method in wide]
    if base not in wide or not methods:
        return None
    wide = wide[wide[base].notna() & wide[methods].notna().any(axis=1)]
    names = in_order(wide.index.unique("dataset"), DATASETS)
    if not names:
        return None
    figure, axes = panels(
        names,
        f"Prediction error of {' and '.join(methods)} against {base}",
        f"Each dot is a run. On the line a method has the error of {base}, below it a smaller one.",
        methods=methods,
    )
    for name, axis in zip(names, axes, strict=True):
        _draw_panel(axis, wide.loc[name], base, methods)
        axis.set(title=f"{name} ({count(len(wide.loc[name]), 'run')})", xlabel=f"RMSE of {base}")
    label_y(axes, "RMSE of the method")
    return Drawing(figure, names)


def _draw_panel(axis: Axes, runs: pd.DataFrame, base: str, methods: list[str]) -> None:
    scale = VISIBLE * runs[[base, methods[0]]].max(axis=None)
    visible = runs[methods].where(runs[methods] <= scale)
    low, high = padded(pd.concat([runs[base], visible.stack().dropna()]).to_numpy())
    axis.axline((low, low), slope=1.0, color="black", linewidth=1.0, zorder=0)
    for method in reversed(methods):
        shown = visible[method].notna()
        dots(axis, runs.loc[shown, base].to_numpy(), visible.loc[shown, method].to_numpy(), method, size=26.0)
        n_hidden = int((runs[method] > scale).sum())
        if n_hidden:
            note = f"{method}: {count(n_hidden, 'run')} above the scale,\nmedian {runs[method].median():.3g}"
            axis.text(0.03, 0.97, note, transform=axis.transAxes, va="top", color=MUTED, fontsize=9)
    axis.set(xlim=padded(runs[base].to_numpy()), ylim=(low, high))
