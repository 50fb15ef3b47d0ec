"""Write the tables of the page from the stored measurements; the text above them stays."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import pandas as pd

from benchmarks.command import stored_rows
from benchmarks.shift.alterations import ATTACKS, CLEAN, KINDS, ONE_FEATURE, OTHER_DATA
from benchmarks.shift.error_bars import INPUTS_INSIDE, LATENT, NOISE, OURS, OUTPUT_INSIDE
from lab.markdown import markdown_table, write_tables

LOWEST = 2
"""So many shifts of one feature are shown for each data set."""

TITLE = "# Error bars of shifted and attacked inputs\n\n"


def number(value: float) -> str:
    return f"{value:.2f}" if value < 100.0 else f"{value:,.0f}"


def cell(values: pd.Series) -> str:
    """Mean ± standard deviation over runs."""
    return number(values.mean()) + (f" ± {number(values.std())}" if len(values) > 1 else "")


def table(frame: pd.DataFrame, measure: str, kinds: Iterable[str], average: str = "mean") -> str:
    """Rows of a measure by data set, alterations in columns; over alterations of a kind the average of each run."""
    kinds = list(kinds)
    keys = ["dataset", "row", "kind"]
    by_run = frame[frame.measure == measure].groupby([*keys, "run"], sort=False).value.agg(average)
    cells = {key: cell(values) for key, values in by_run.groupby(keys, sort=False)}
    lines, last = [], None
    for dataset, row in dict.fromkeys((dataset, row) for dataset, row, _ in cells):
        start = [dataset if dataset != last else "", row]
        lines.append(start + [cells.get((dataset, row, kind), "") for kind in kinds])
        last = dataset
    return markdown_table(["data set", "", *kinds], lines)


def extremes(frame: pd.DataFrame) -> str:
    """Shifts of one feature: those that RIO's error bars tell least, and the one on which they grow most."""
    columns = {
        ("auroc", OURS): "AUROC of RIO",
        ("rise", OURS): "rise of its std",
        ("rise", LATENT): "of its latent part",
        ("rise", NOISE): "of its noise part",
        ("place", INPUTS_INSIDE): INPUTS_INSIDE,
        ("place", OUTPUT_INSIDE): OUTPUT_INSIDE,
    }
    shifted = frame[frame.kind.isin(ONE_FEATURE.values())]
    wide = shifted.groupby(["dataset", "label", "measure", "row"]).value.median().unstack(["measure", "row"])
    lines = []
    for dataset in frame.dataset.unique():
        shown = wide.loc[dataset, list(columns)]
        least, most = shown.nsmallest(LOWEST, ("auroc", OURS)), shown.nlargest(1, ("rise", OURS))
        for label, numbers in pd.concat([least, most]).iterrows():
            lines.append([dataset, str(label), *(number(value) for value in numbers)])
    return markdown_table(["data set", "shift", *columns.values()], lines)


def tables(frame: pd.DataFrame) -> str:
    """All tables as Markdown."""
    n_runs = frame.run.nunique()
    over = "one run" if n_runs == 1 else f"{n_runs} runs, mean ± standard deviation"
    return "\n".join(
        [
            f"\n## Area under the ROC curve ({over})\n",
            table(frame, "auroc", KINDS),
            "## Rise: median std of altered rows over median std of clean rows (median over features)\n",
            table(frame, "rise", KINDS, "median"),
            "## Share of rows whose std is larger than before they were altered\n",
            table(frame, "risen", [kind for kind in KINDS if kind != OTHER_DATA]),
            "## Share of rows whose 95 % interval holds the true outcome\n",
            table(frame, "coverage", [CLEAN, *ATTACKS.values()]),
            "## Where the altered rows are, as shares of them, and how wrong the network is\n",
            table(frame, "place", [CLEAN, *KINDS]),
            f"## Shifts of one feature: the {LOWEST} that RIO tells least, and that on which its std grows most\n",
            "Medians over runs.\n",
            extremes(frame),
        ]
    )


def main(options: argparse.Namespace) -> None:
    frame = pd.DataFrame(stored_rows(options.results))
    write_tables(options.output, tables(frame), command="benchmarks.shift", title=TITLE)
