"""How all figures look: colours of methods, panels for data sets, box plots, files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from lab.datasets import DATASETS
from lab.files import whole_file

COLOURS = {
    "NN": "#000000",
    "RF": "#000000",
    "RIO": "#0072B2",
    "R+I": "#56B4E9",
    "R+O": "#009E73",
    "Y+O": "#CC79A7",
    "Y+IO": "#D55E00",
    "SVGP": "#E69F00",
    "NNGP": "#999999",
    "ANP": "#F0E442",
    "ours": "#0072B2",
}
"""Of methods, in the order in which they are shown: the palette of Okabe and Ito, and a grey. "ours" is RIO too."""

DARK = ("#000000", "#0072B2")
OUTCOME_COLOUR = "#FFFFFF"
OTHER_COLOUR = "#BBBBBB"
MUTED = "#555555"

UNITS = {"airfoil": "dB", "CCS": "MPa", "CCPP": "MW", "protein": "Å", "SC": "K"}

STYLE = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "figure.titlesize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
}

styled = rc_context(STYLE)
"""Decorator of everything that draws."""

DPI = 150
PANEL = (3.0, 2.8)
MIN_WIDTH = 6.5
CAPTION_PER_INCH, TITLE_PER_INCH = 13.5, 8.5
"""Characters, at which captions and titles are wrapped."""


@dataclass(frozen=True)
class Drawing:
    """A figure with the data sets that it shows."""

    figure: Figure
    datasets: list[str]

    @property
    def left_out(self) -> list[str]:
        return [name for name in DATASETS if name not in self.datasets]


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Names without repetition in a given order, then those that it lacks by alphabet."""
    order, present = list(order), set(names)
    return [name for name in order if name in present] + sorted(present.difference(order))


def colour_of(method: str) -> str:
    return COLOURS.get(method, OTHER_COLOUR)


def base_of(methods: Iterable[str]) -> str:
    """The name of the base model among the methods of a table."""
    return "RF" if "RF" in set(methods) else "NN"


def outcome_label(dataset: str) -> str:
    """The outcome of a data set, with its unit where it has one."""
    target = DATASETS[dataset].target if dataset in DATASETS else "outcome"
    return f"{target}, {UNITS[dataset]}" if dataset in UNITS else target


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def new_figure(size: tuple[float, float], title: str, caption: str, *, methods: Sequence[str] = ()) -> Figure:
    """An empty figure with its title and the colours of methods above, and with what it shows below."""
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    free = size[0] - 0.9 * len(methods)
    figure.suptitle(textwrap.fill(title, round(free * TITLE_PER_INCH)), x=0.01, ha="left", fontweight="bold")
    below = textwrap.fill(caption, round(size[0] * CAPTION_PER_INCH))
    figure.supxlabel(below, x=0.01, ha="left", fontsize=9.5, color=MUTED)
    if methods:
        dot = {"linestyle": "", "marker": "o", "markersize": 7}
        handles = [Line2D([], [], color=colour_of(method), label=method, **dot) for method in methods]
        figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), handletextpad=0.1)
    return figure


def panels(
    names: Sequence[str],
    title: str,
    caption: str,
    *,
    methods: Sequence[str] = (),
    panel: tuple[float, float] = PANEL,
    max_columns: int = 4,
    share_y: bool = False,
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each data set."""
    lines = -(-len(names) // max_columns)
    columns = -(-len(names) // lines)
    size = (max(MIN_WIDTH, panel[0] * columns), panel[1] * lines + 1.0)
    figure = new_figure(size, title, f"{caption}{not_shown(names)}", methods=methods)
    grid = figure.subplots(lines, columns, squeeze=False, sharey=share_y).ravel()
    for axis in grid[len(names) :]:
        axis.remove()
    return figure, list(grid[: len(names)])


def not_shown(names: Sequence[str]) -> str:
    """A sentence about the data sets of the paper that are not among these."""
    missing = [name for name in DATASETS if name not in names]
    return f" Nothing stored for {', '.join(missing)}." if missing else ""


def boxes(
    axis: Axes,
    values: Sequence[np.ndarray],
    colours: Sequence[str],
    positions: Sequence[float],
    *,
    width: float = 0.6,
    horizontal: bool = False,
    outline: bool = True,
) -> None:
    """Box plots: quartiles with the median, whiskers to the last value within 1.5 boxes, fliers beyond."""
    edge = "black" if outline else colours[0]
    drawn = axis.boxplot(
        list(values),
        positions=list(positions),
        widths=width,
        orientation="horizontal" if horizontal else "vertical",
        manage_ticks=False,
        patch_artist=True,
        boxprops={"linewidth": 0.8, "edgecolor": edge},
        whiskerprops={"linewidth": 0.8, "color": edge},
        capprops={"linewidth": 0.8, "color": edge},
        medianprops={"linewidth": 1.5},
        flierprops={"marker": "o", "markersize": 3.0, "markeredgewidth": 0.0, "alpha": 0.5},
    )
    for box, median, flier, colour in zip(drawn["boxes"], drawn["medians"], drawn["fliers"], colours, strict=True):
        box.set_facecolor(colour)
        median.set_color("white" if colour in DARK else "black")
        flier.set_markerfacecolor(MUTED if colour == OUTCOME_COLOUR else colour)


def label_y(axes: Sequence[Axes], label: str) -> None:
    """A label of the y axis beside the first panel of each line."""
    for axis in axes:
        if axis.get_subplotspec().is_first_col():
            axis.set_ylabel(label)


def method_axis(axis: Axes, labels: Sequence[str]) -> None:
    """Names from top to bottom at y = 0, 1, … for horizontal boxes."""
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)


def dots(axis: Axes, x: np.ndarray, y: np.ndarray, method: str, *, size: float = 14.0) -> None:
    axis.scatter(x, y, s=size, color=colour_of(method), alpha=0.6, linewidths=0, label=method)


def padded(values: np.ndarray, share: float = 0.05) -> tuple[float, float]:
    """Limits of an axis around values."""
    low, high = float(np.min(values)), float(np.max(values))
    pad = share * (high - low) or share * abs(high) or 1.0
    return low - pad, high + pad


def save(figure: Figure, path: Path) -> None:
    """Write a PNG of 256 colours, a third of the size of one of all colours; it gets its name once it is whole."""
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(DPI)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    few = image.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    with whole_file(path) as partial:
        few.save(partial, format="PNG", optimize=True, dpi=(DPI, DPI))
