"""The figure of the section: an image of each kind, and how errors and error bars of methods grow with the kinds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from experiments.figures.style import MUTED, new_figure, save, styled
from experiments.images.data import TEST, Problem
from experiments.images.page import KINDS, unlike_means

SHOWN = {
    "RIO on layer": ("#0072B2", "o"),
    "RIO on pixels": ("#009E73", "s"),
    "GP on layer, validation": ("#CC79A7", "^"),
    "GP on pixels": ("#E69F00", "D"),
    "paper's RIO on layer": ("#56B4E9", "v"),
}
N_EXAMPLES = 4


@styled
def draw(frame: pd.DataFrame, problem: Problem, path: Path) -> None:
    """Examples above, and below them RMSE and the mean standard deviation of methods on each kind of images.

    Parameters
    ----------
    frame : DataFrame
        Of `experiments.images.page.frame_of`.
    problem : Problem
        Whose images are shown.
    path : Path
        A PNG file.
    """
    figure = new_figure(
        (11.0, 6.8),
        "Errors and error bars on images unlike those of training",
        "Means over the runs, in degrees. Each panel has the methods side by side: a mark is the mean standard "
        "deviation, a black dash the root mean squared error that it should be as large as.",
    )
    kinds = [kind for kind in KINDS if kind == TEST or kind in problem.unlike]
    above, below = figure.subfigures(2, 1, height_ratios=(1.0, 1.4))
    for axis, kind in zip(above.subplots(1, len(kinds)), kinds, strict=True):
        _examples(axis, (problem.test if kind == TEST else problem.unlike[kind]).X)
        axis.set_title(kind)
    means = unlike_means(frame)
    axes = below.subplots(1, len(kinds), sharey=True)
    for axis, kind in zip(axes, kinds, strict=True):
        _panel(axis, means, kind)
    axes[0].set_ylabel("degrees")
    handles, labels = axes[0].get_legend_handles_labels()
    below.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=9)
    save(figure, path)


def _examples(axis: Axes, X: np.ndarray) -> None:
    """Some of the images, in a square."""
    side = int(np.sqrt(N_EXAMPLES))
    chosen = X[np.linspace(0, len(X) - 1, N_EXAMPLES).astype(int), 0]
    axis.imshow(np.block([list(chosen[i * side : (i + 1) * side]) for i in range(side)]), cmap="gray", vmin=0, vmax=1)
    axis.set_axis_off()


def _panel(axis: Axes, means: pd.DataFrame, kind: str) -> None:
    for x, (method, (colour, mark)) in enumerate(SHOWN.items()):
        if (kind, method) in means.index:
            entry = means.loc[kind, method]
            axis.plot([x, x], [entry["std"], entry["rmse"]], color=MUTED, linewidth=0.8)
            axis.plot(x, entry["rmse"], "_", color="black", markersize=12, markeredgewidth=2)
            axis.plot(x, entry["std"], mark, color=colour, markersize=7, linestyle="", label=method)
    axis.set(yscale="log", xlim=(-0.7, len(SHOWN) - 0.3), xticks=[])
    axis.yaxis.set_major_formatter(ScalarFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set_yticks([5, 10, 20, 50])
