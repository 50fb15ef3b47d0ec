"""Where data end: gaps and tails, a split for each feature, compared over the features that all methods have."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.standard.methods import BEYOND_DATA
from lab.datasets.standard import STANDARD
from lab.markdown import bold, markdown_table

LEVELS = ("68", "90", "95")
REFERENCE = "deep ensemble"

EXPLANATION = f"""Means over features, and over data sets of these: coverage of the intervals, CRPS in that of the
{REFERENCE} (a geometric mean over data sets) and the data sets on which it is smaller, and how much longer 95 %
intervals, and how much larger RMSE, are than on the standard splits of the same data set (geometric means). Error bars
that know where the data end grow as much as errors do.
"""


def shared_rows(rows: pd.DataFrame, table: str) -> pd.DataFrame:
    """Rows of the features that have all methods that are there."""
    part = rows[(rows["table"] == table) & rows["method"].isin(BEYOND_DATA)]
    n_methods = part.groupby("dataset")["method"].transform("nunique")
    n_of_feature = part.groupby(["dataset", "run"])["method"].transform("nunique")
    return part[n_methods == n_of_feature]


def ordered(names: pd.Series) -> list[str]:
    present = set(names)
    return [name for name in BEYOND_DATA if name in present]


def summary_table(rows: pd.DataFrame, table: str) -> str:
    """A line for each method."""
    part = shared_rows(rows, table)
    means = part.groupby(["dataset", "method"]).mean(numeric_only=True)
    usual = rows[rows["table"] == "standard"].groupby(["dataset", "method"]).mean(numeric_only=True)
    growth = np.log(means[["width_95", "rmse"]] / usual[["width_95", "rmse"]].reindex(means.index))
    crps = means["crps"].unstack()
    lines = []
    for method in ordered(part["method"]):
        own = means.xs(method, level="method")
        coverage = " / ".join(f"{100 * own[f'coverage_{level}'].mean():.1f}" for level in LEVELS)
        compared = "", ""
        if REFERENCE in crps:
            ratio = np.log(crps[method] / crps[REFERENCE]).dropna()
            compared = _factor(ratio), f"{(ratio < 0.0).sum()} of {len(ratio)}" if method != REFERENCE else ""
        longer = [_factor(growth.xs(method, level="method")[measure].dropna()) for measure in ("width_95", "rmse")]
        lines.append([method, str(len(own)), coverage, *compared, *longer])
    header = ["method", "data sets", "coverage 68 / 90 / 95 %", "CRPS", "smaller on", "longer", "larger RMSE"]
    return markdown_table(header, lines)


def _factor(logarithms: pd.Series) -> str:
    return f"{np.exp(logarithms.mean()):.2f}" if len(logarithms) else ""


def dataset_table(rows: pd.DataFrame, table: str) -> str:
    """Coverage at 95 % and CRPS, a line for each data set; the best CRPS is bold."""
    part = shared_rows(rows, table)
    methods = ordered(part["method"])
    lines = []
    for name in STANDARD:
        own = part[part["dataset"] == name]
        if not len(own):
            continue
        means = own.groupby("method")[["coverage_95", "crps"]].mean()
        best = means["crps"].idxmin()
        cells = [
            f"{100 * means.loc[method, 'coverage_95']:.1f} / "
            + bold(f"{means.loc[method, 'crps']:.3g}", method == best)
            if method in means.index
            else ""
            for method in methods
        ]
        lines.append([name, str(own["run"].nunique()), *cells])
    return markdown_table(["data set", "features", *methods], lines)


def section(rows: pd.DataFrame, table: str, title: str) -> str:
    """Both tables, nothing where there are no rows."""
    if not len(shared_rows(rows, table)):
        return ""
    caption = "Coverage of 95 % intervals, in per cent, and CRPS:\n"
    tables = (summary_table(rows, table), caption, dataset_table(rows, table))
    return "\n".join((f"## {title}\n", EXPLANATION, *tables))
