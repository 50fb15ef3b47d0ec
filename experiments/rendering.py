"""Tables in the layout of the paper's, as text, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.tables import PAPER_MEASURES
from lab.datasets import DATASETS
from lab.markdown import bold, markdown_table

HEADER = [
    "data set",
    "method",
    "RMSE",
    "paper's",
    "NLPD, capped",
    "paper's",
    "NLPD",
    "noise variance",
    "paper's",
    "seconds",
    "runs",
]


@dataclass(frozen=True)
class Format:
    """How a format writes what is special in a cell."""

    plus_minus: str
    dagger: str
    double_dagger: str
    bold: Callable[[str], str]
    table: Callable[[list[str], list[list[str]]], str]


def render(entries: pd.DataFrame, paper: pd.DataFrame | None, style: Format) -> str:
    """A table in the layout of the paper's, each cell ours beside the paper's.

    Parameters
    ----------
    entries : DataFrame
        From `experiments.tables.summary`.
    paper : DataFrame or None
        The paper's figures.
    style : Format
    """
    papers = {} if paper is None else {(entry.dataset, entry.method): entry for entry in paper.itertuples()}
    lines = []
    for dataset, of_dataset in entries.groupby("dataset", sort=False):
        n, d = DATASETS[dataset].shape
        for position, entry in enumerate(of_dataset.itertuples()):
            theirs = papers.get((dataset, entry.method))
            line = [f"{dataset} ({n} × {d})" if position == 0 else "", entry.method]
            for name in PAPER_MEASURES:
                line += [_cell(entry, name, style), _cell(theirs, name, style) if theirs else ""]
            line.append(_cell(entry, "nlpd", style))
            line += [_number(entry.noise_variance), _number(theirs.noise_variance) if theirs else ""]
            lines.append([*line, _number(entry.seconds), str(entry.runs)])
    return style.table(HEADER, lines)


def _cell(entry: tuple, name: str, style: Format) -> str:
    mean, std = getattr(entry, f"{name}_mean"), getattr(entry, f"{name}_std")
    if np.isnan(mean):
        return "-"
    decimals = 3 if abs(mean) < 1.0 or name.startswith("nlpd") else 2
    text = f"{mean:.{decimals}f}" + ("" if np.isnan(std) else f"{style.plus_minus}{std:.{decimals}f}")
    text += style.dagger * bool(getattr(entry, f"{name}_t_test"))
    text += style.double_dagger * bool(getattr(entry, f"{name}_wilcoxon"))
    return style.bold(text) if getattr(entry, f"{name}_best") else text


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def text_table(header: list[str], lines: list[list[str]]) -> str:
    """Columns of equal width."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in [header, *lines]
    ]
    return "\n".join(line.rstrip() for line in [shown[0], "-" * len(shown[0]), *shown[1:]]) + "\n"


def latex_table(header: list[str], lines: list[list[str]]) -> str:
    def row(cells: list[str]) -> str:
        return " & ".join(cell.replace("×", r"$\times$").replace("%", r"\%") for cell in cells) + r" \\"

    body = [row(header), r"\midrule"]
    for line in lines:
        if line[0] and len(body) > 2:
            body.append(r"\midrule")
        body.append(row(line))
    columns = "ll" + "r" * (len(header) - 2)
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *body, r"\bottomrule", r"\end{tabular}", ""])


FORMATS = {
    "text": Format("±", "†", "‡", lambda text: f"*{text}*", text_table),
    "markdown": Format("±", "†", "‡", bold, markdown_table),
    "latex": Format(r"$\pm$", r"$\dagger$", r"$\ddagger$", lambda text: rf"\textbf{{{text}}}", latex_table),
}

LEGEND = (
    "† and ‡ mark a difference from RIO that is significant at 5 % by the paired t-test and by Wilcoxon's test; bold "
    "is the best mean and whatever neither test can tell from it, among methods with all runs. Wilcoxon's test can "
    "mark nothing with five runs or fewer. “Capped” is the NLPD of the paper, in which no test row counts for more "
    "than 36.04 nats. Columns headed “paper's” are the paper's own figures (100 runs)."
)
