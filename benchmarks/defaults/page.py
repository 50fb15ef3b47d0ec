"""Write the tables of the page from the stored measurements; the text above them stays."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from benchmarks.command import stored_rows
from benchmarks.defaults.run import CASES, LEVELS
from lab.markdown import markdown_table, write_tables

MATTERS = 1.1
"""A model memorises if residuals of new rows are this much larger than those of its training rows."""

TITLE = "# Error bars of whoever just follows the README\n\n"
SAFE = {"seen": ("out-of-fold", "out-of-bag"), "half": ("out-of-fold", "out-of-bag"), "new": ("in-sample",)}
"""Residuals that are right in each case."""

EXPLAINED = f"""Where residuals of new rows are {MATTERS} times those of training rows or more, root mean squared: seen
and half-seen rows need out-of-fold or out-of-bag residuals, and new rows the model's own. Out-of-fold residuals of new
rows are safe too, if somewhat large.
"""


def deviations(frame: pd.DataFrame) -> pd.DataFrame:
    """Coverage less its level, in points, a column for each level."""
    coverage = pd.DataFrame(frame["coverage"].tolist(), index=frame.index)
    return 100.0 * (coverage - [float(level) for level in coverage.columns])


def coverage_table(frame: pd.DataFrame, by: str) -> str:
    points = deviations(frame)
    lines = []
    for name, part in points.groupby(frame[by], sort=False):
        ratio = np.log(frame.loc[part.index, "rmse"] / frame.loc[part.index, "model_rmse"]).mean()
        lines.append([str(name), *(f"{value:+.1f}" for value in part.mean()), f"{np.exp(ratio):.3f}"])
    lines.append(["all, mean", *(f"{value:+.1f}" for value in points.mean()), ""])
    lines.append(["all, mean absolute", *(f"{value:.1f}" for value in points.abs().mean()), ""])
    return markdown_table([by, *(f"{100 * level:g} %" for level in LEVELS), "RMSE, RIO / model"], lines)


def decision_table(frame: pd.DataFrame) -> str:
    """How often residuals are those of unseen rows, where it matters."""
    matters = frame[frame["memorised"] >= MATTERS]
    lines = []
    for case in CASES:
        part = matters[matters["case"] == case]
        is_right = part["kind"].isin(SAFE[case])
        wrong = ", ".join(sorted({f"{row.model} on {row.dataset}" for row in part[~is_right].itertuples()}))
        lines.append([case, str(len(part)), f"{100 * is_right.mean():.1f} %" if len(part) else "", wrong])
    return markdown_table(["the model was trained on", "fits", "right", "wrong"], lines)


def main(options: argparse.Namespace) -> None:
    frame = pd.DataFrame(stored_rows(options.results))
    n_runs = frame["run"].nunique()
    counts = f"{len(frame)} fits: {frame['dataset'].nunique()} data sets, {frame['model'].nunique()} models"
    seconds = f"{frame['seconds'].median():.1f} processor seconds in the median"
    tables = [
        f"{counts}, {n_runs} split{'s' if n_runs > 1 else ''}; {seconds}.\n",
        "## Coverage less its level, in points\n",
        coverage_table(frame, "case"),
        coverage_table(frame, "model"),
        coverage_table(frame, "dataset"),
        "## Residuals of unseen rows\n",
        EXPLAINED,
        decision_table(frame),
    ]
    write_tables(options.output, "\n".join(tables), command="benchmarks.defaults page", title=TITLE)
