"""The figure of the page: what RIO adds to the model and to the plain GP, along three sweeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from experiments.figures.style import MUTED, new_figure, save, styled

RIVALS = {"to_model": "the model alone", "to_gp": "the plain GP"}
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
MARKERS = "os^D"

Line = tuple[str, pd.DataFrame]

TICKS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0)
FEWEST_TICKS, MOST_TICKS = 4, 6


@styled
def draw(points: pd.DataFrame, path: Path) -> None:
    """One column of panels for each of three sweeps, one line of them for each rival.

    Parameters
    ----------
    points : DataFrame
        Of `experiments.when.summary.summary`.
    path : Path
        A PNG file.
    """
    figure = new_figure(
        (11.0, 7.2),
        "What the model adds",
        "RMSE of RIO divided by that of a rival: below the line RIO is better. Geometric means over repetitions; bands "
        "are two standard errors of the logarithm. Hollow points have a single repetition, and no error.",
    )
    columns = (rows_lines(points), columns_lines(points), quality_lines(points))
    labels = ("training rows", "columns (1,000 rows)", "RMSE of the model / std of y (300 rows)")
    axes = figure.subplots(len(RIVALS), len(columns), sharex="col")
    for j, (lines, label) in enumerate(zip(columns, labels, strict=True)):
        for i, (name, rival) in enumerate(RIVALS.items()):
            _panel(axes[i, j], lines, name)
            if j == 0:
                axes[i, j].set_ylabel(f"RIO / {rival}")
        axes[-1, j].set_xlabel(label)
        if lines:
            axes[0, j].legend(fontsize=8.5, loc="best")
    save(figure, path)


def rows_lines(points: pd.DataFrame) -> list[Line]:
    """A line for each world and model against n."""
    some = points[points["sweep"] == "n"].assign(x=lambda frame: frame["n"])
    return [(f"{world}, {model}", line) for (world, model), line in some.groupby(["world", "model"])]


def columns_lines(points: pd.DataFrame) -> list[Line]:
    """A line for each model against d; the stand-ins are points of their own."""
    some = points[points["sweep"] == "d"].assign(x=lambda frame: frame["d"])
    is_wide = some["world"].str.startswith("wide")
    lines = [(f"wide, {model}", line) for model, line in some[is_wide].groupby("model")]
    return lines + [(f"SC and CT stand-ins, {model}", line) for model, line in some[~is_wide].groupby("model")]


def quality_lines(points: pd.DataFrame) -> list[Line]:
    """A line for each family of models against their errors."""
    some = points[points["sweep"] == "quality"].assign(x=lambda frame: frame["model_rmse"] / frame["std"])
    return [(str(model), line) for model, line in some.groupby("model")]


def _panel(axis: Axes, lines: list[Line], name: str) -> None:
    axis.axhline(1.0, color=MUTED, linewidth=1.0)
    for (label, line), colour, marker in zip(lines, COLOURS, MARKERS, strict=False):
        ordered = line.sort_values("x")
        x, mean = ordered["x"].to_numpy(float), ordered[name].to_numpy(float)
        error = ordered[f"{name}_error"].to_numpy(float)
        joins = "" if label.startswith("SC and CT") else "-"
        axis.errorbar(
            x, np.exp(mean), _bars(mean, error), color=colour, marker=marker, markersize=4.5, linestyle=joins,
            linewidth=1.4, elinewidth=0.8, label=label,
        )  # fmt: skip
        if joins:
            band = np.exp([mean - 2.0 * error, mean + 2.0 * error])
            axis.fill_between(x, *band, color=colour, alpha=0.15, linewidth=0)
        single = np.isnan(error)
        axis.plot(
            x[single], np.exp(mean[single]), marker, markersize=4.5, color=colour, markerfacecolor="white", zorder=3
        )
    axis.set(xscale="log", yscale="log")
    _plain_ticks(axis)


def _bars(mean: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Lengths below and above, (2, points); none where there is no error."""
    error = np.nan_to_num(error)
    return np.array([np.exp(mean) - np.exp(mean - 2.0 * error), np.exp(mean + 2.0 * error) - np.exp(mean)])


def _plain_ticks(axis: Axes) -> None:
    """Ratios as plain numbers, so many that they can be read."""
    low, high = axis.get_ylim()
    within = [tick for tick in TICKS if low <= tick <= high]
    if len(within) < FEWEST_TICKS:
        axis.yaxis.set_major_locator(MaxNLocator(MOST_TICKS))
    else:
        step = -(-len(within) // MOST_TICKS)
        one = within.index(1.0)
        axis.set_yticks([tick for i, tick in enumerate(within) if (i - one) % step == 0])
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_major_locator(LogLocator(10.0, (1.0, 2.0, 5.0), numticks=20) if _is_narrow(axis) else LogLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _is_narrow(axis: Axes) -> bool:
    low, high = axis.get_xlim()
    return high < 100.0 * low
