"""Figures of whole fits: NLPD and bound of each engine against time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import ENGINES
from lab.fits.trajectories import Fits

COLOURS = {
    "rio-uq": "#c1272d",
    "rio-uq paper": "#e8862e",
    "GPflow SVGP": "#0b4f8a",
    "GPflow SGPR": "#56a0d3",
    "GPyTorch SGPR": "#8bbf6a",
    "GPyTorch SVGP": "#2e7d32",
}


def draw(fits_of: dict[str, dict[str, Fits]], page: Path) -> dict[str, Path]:
    """Two figures beside the page, by caption."""
    captions = {
        "NLPD on the test rows against seconds": (page.with_name("nlpd.png"), _draw_nlpd),
        "Missing to the best bound of all engines in the paper's settings, against seconds": (
            page.with_name("bound.png"),
            _draw_bound,
        ),
    }
    for caption, (path, panel) in captions.items():
        _grid(fits_of, caption, panel, path)
    return {caption: path for caption, (path, _) in captions.items()}


def _grid(fits_of: dict[str, dict[str, Fits]], caption: str, panel: Any, path: Path) -> None:
    from matplotlib.figure import Figure

    n_columns = min(3, len(fits_of))
    n_lines = -(-len(fits_of) // n_columns)
    figure = Figure(figsize=(3.6 * n_columns, 2.7 * n_lines + 0.7), layout="constrained")
    axes = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for ax in axes[len(fits_of) :]:
        ax.set_visible(False)
    for ax, (name, fits) in zip(axes, fits_of.items(), strict=False):
        panel(ax, fits)
        ax.set_xscale("log")
        ax.set_title(name, fontsize=10)
        ax.grid(alpha=0.25)
        ax.tick_params(labelsize=8)
    handles = {label: line for ax in axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    shown = [engine for engine in ENGINES if engine in handles]
    figure.legend(
        [handles[engine] for engine in shown], shown, loc="outside upper center", ncols=len(shown), fontsize=8
    )
    figure.supxlabel("seconds", fontsize=9)
    figure.supylabel(caption.split(" against")[0].rstrip(","), fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _draw_nlpd(ax: Any, fits: dict[str, Fits]) -> None:
    ends = [each.median("nlpd") for each in fits.values()]
    for engine, each in fits.items():
        looks = each.rounds[0]["looks"]
        ax.plot(looks["seconds"], looks["nlpd"], ".-", ms=3, lw=1.2, color=COLOURS[engine], label=engine)
    spread = max(ends) - min(ends) + 0.1
    ax.set_ylim(min(ends) - 0.2 * spread, max(ends) + 0.8 * spread)


def _draw_bound(ax: Any, fits: dict[str, Fits]) -> None:
    same_model = {engine: each for engine, each in fits.items() if engine != "rio-uq"}
    best = max((max(each.rounds[0]["trace"]["bound"]) for each in same_model.values()), default=0.0)
    for engine, each in same_model.items():
        trace = each.rounds[0]["trace"]
        missing = np.maximum(best - np.array(trace["bound"]), 1e-3)
        ax.plot(trace["seconds"], missing, lw=1.2, color=COLOURS[engine], label=engine)
    ax.set_yscale("log")
