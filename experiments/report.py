"""`experiments/RESULTS.md`: every table, check and figure from the stored rows, in one page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import tables
from experiments.gain import gain_section, significance_section
from experiments.rendering import FORMATS, LEGEND, Format, render
from lab.datasets import DATASETS
from lab.markdown import bold, markdown_table
from rio_uq.options import PAPER_VARIANTS

NOTES = Path(__file__).parent / "notes.md"
VERY_STRONG = 0.8
"""Correlation that the paper calls very strong."""


def report(rows: pd.DataFrame, missing: dict[str, str], sections: Iterable[str]) -> str:
    """The whole page.

    Parameters
    ----------
    rows : DataFrame
        From `lab.store.Store.read`.
    missing : dict
        Why data sets are left out, by name.
    sections : iterable of str
        Further sections in Markdown: age estimation, theory, times, figures.
    """
    summaries = {name: tables.summary(rows, name) for name in tables.PAPER_TABLES if (rows.table == name).any()}
    parts = [
        "# The paper's experiments\n\nMade by `python -m experiments report` from the rows in `experiments/results`.\n",
        runs_done(rows, missing),
        *([NOTES.read_text()] if NOTES.exists() else []),
    ]
    if "default" in summaries:
        parts += [reproduction(summaries["default"], tables.paper_table("default"))]
        parts += [against_the_paper(summaries), significance_section(rows, tables.OURS), gain_section(rows)]
    for name, entries in summaries.items():
        table = render(entries, tables.paper_table(name), FORMATS["markdown"])
        parts.append(f"## {tables.TITLES[name]}\n\n{LEGEND}\n\n{table}")
    if "default" in summaries:
        parts.append(spearman_section(summaries["default"]))
    return "\n".join([*parts, *sections])


def runs_done(rows: pd.DataFrame, missing: dict[str, str]) -> str:
    counts = rows.groupby(["table", "dataset"]).run.nunique().unstack(0)
    present = [name for name in DATASETS if name in counts.index]
    columns = [name for name in (*tables.PAPER_TABLES, "ours", "gain") if name in counts.columns]
    lines = [
        [name, *("" if np.isnan(counts.loc[name, table]) else f"{counts.loc[name, table]:.0f}" for table in columns)]
        for name in present
    ]
    text = "## Runs\n\n" + markdown_table(["data set", *columns], lines)
    left_out = [f"- {reason}" for name, reason in missing.items() if name not in present]
    return text + ("\nLeft out:\n\n" + "\n".join(left_out) + "\n" if left_out else "")


VERDICTS = ("better", "within", "worse")


def verdict(mean: float, theirs: float, std: float) -> str:
    """Whether a mean is within a standard deviation of the paper's, better, or worse."""
    return "within" if abs(mean - theirs) <= std else "better" if mean < theirs else "worse"


def reproduction(entries: pd.DataFrame, paper: pd.DataFrame) -> str:
    """Whether the paper's settings give the paper's results, for the network and the six variants."""
    both = entries.merge(paper, on=["dataset", "method"], suffixes=("", "_paper")).set_index(["dataset", "method"])
    rankings = tables.agreement(entries, paper).set_index("dataset")
    methods = [method for method in ("NN", *PAPER_VARIANTS) if method in both.index.get_level_values("method")]
    lines, counts = [], {name: dict.fromkeys(VERDICTS, 0) for name in tables.PAPER_MEASURES}
    for dataset in both.index.unique("dataset"):
        line = [dataset]
        for method in methods:
            words = []
            for name in tables.PAPER_MEASURES if (dataset, method) in both.index else ():
                entry = both.loc[dataset, method]
                mean, theirs, std = (entry[f"{name}_{part}"] for part in ("mean", "mean_paper", "std_paper"))
                if not np.isnan(mean):
                    word = verdict(mean, theirs, std)
                    counts[name][word] += 1
                    words.append(bold(word, word == "worse"))
            line.append(" / ".join(words))
        lines.append([*line, *(f"{rankings.loc[dataset, name]:.2f}" for name in tables.PAPER_MEASURES)])
    totals = [
        f"{label}: " + ", ".join(f"{number} {word}" for word, number in counts[name].items())
        for name, label in zip(tables.PAPER_MEASURES, ("RMSE", "NLPD"), strict=True)
    ]
    header = ["data set", *methods, "ranking, RMSE", "ranking, NLPD"]
    return (
        "## Do the paper's settings reproduce the paper?\n\n"
        "RMSE / NLPD, capped: “within” is within a standard deviation of the paper's mean, above or below; the figures "
        "are in the tables that follow. The last two columns are Spearman's correlation between the paper's means of "
        f"the network and the six GP variants and those here. {'; '.join(totals)}.\n\n" + markdown_table(header, lines)
    )


def against_the_paper(summaries: dict[str, pd.DataFrame]) -> str:
    """Our defaults beside the paper's RIO, and beside the best of its nine methods in any table."""
    paper = {name: tables.paper_table(name) for name in ("default", "ard")}
    everything = pd.concat([tables.paper_table(name) for name in ("default", "ard", "iterations")])
    lines = []
    entries = summaries["default"]
    for dataset in entries.dataset.unique():
        there = entries[entries.dataset == dataset].set_index("method")
        methods = [method for method in tables.OURS if method in there.index]
        for method in methods:
            own = there.loc[method]
            line = [
                dataset if method == methods[0] else "",
                method,
                f"{own.rmse_mean:.3f} / {own.nlpd_capped_mean:.3f}",
            ]
            for table in paper.values():
                rio = table[(table.dataset == dataset) & (table.method == "RIO")].iloc[0]
                line.append(_beside(own, rio.rmse_mean, rio.nlpd_capped_mean))
            theirs = everything[everything.dataset == dataset]
            line.append(_beside(own, theirs.rmse_mean.min(), theirs.nlpd_capped_mean.min()))
            line += [f"{own.coverage_68:.2f} / {own.coverage_90:.2f} / {own.coverage_95:.2f}"]
            lines.append(line)
    header = [
        "data set",
        "method",
        "RMSE / NLPD",
        "paper's RIO",
        "paper's RIO, ARD",
        "best of the paper's, any table on networks",
        "coverage of 68 / 90 / 95 %",
    ]
    return (
        "## Ours beside the paper\n\nBold where ours is better. `GP` is our Gaussian process on the outcomes, without "
        "a network. `ours` takes the pretrained network as it is and is told which training rows were its validation "
        "rows. The others train it anew on five folds: `RIO+crossfit` are the paper's settings on the residuals of "
        "these, `ours+crossfit` our defaults; of both the mean of the five networks predicts. "
        "`ours+residuals of folds` predicts with the pretrained network.\n\n" + markdown_table(header, lines)
    )


def _beside(own: pd.Series, rmse: float, nlpd: float) -> str:
    shown = [f"{rmse:.3f}", f"{nlpd:.3f}"]
    better = [own.rmse_mean < rmse, own.nlpd_capped_mean < nlpd]
    return " / ".join(bold(text, beaten) for text, beaten in zip(shown, better, strict=True))


def spearman_section(entries: pd.DataFrame) -> str:
    return (
        "## RMSE and noise variance\n\nSpearman's correlation between mean RMSE and mean noise variance over the six "
        "GP variants; bold above 0.8 with p below 0.05.\n\n"
        + spearman_table(tables.noise_correlation(entries), FORMATS["markdown"])
    )


def spearman_table(correlations: pd.DataFrame, style: Format) -> str:
    """Correlations with their p-values, ours beside the paper's."""
    paper = pd.read_csv(tables.PAPER / "spearman.csv").set_index("dataset")
    lines = []
    for entry in correlations.itertuples():
        theirs = paper.loc[entry.dataset]
        line = [entry.dataset]
        for correlation, p_value in ((entry.correlation, entry.p_value), (theirs.correlation, theirs.p_value)):
            text = f"{correlation:.3f} (p = {p_value:.3f})"
            is_strong = correlation > VERY_STRONG and p_value < tables.SIGNIFICANCE
            line.append(style.bold(text) if is_strong else text)
        lines.append(line)
    return style.table(["data set", "here", "paper's"], lines)


CAPTIONS = {
    "good-and-bad": "RIO on a network that has found the structure, and on one that has made some up",
    "default-rmse": "RMSE of the network against RIO and SVGP, run by run",
    "default-coverage-95": "Coverage of 95 % intervals over the runs",
    "default-coverage-90": "Coverage of 90 % intervals over the runs",
    "default-coverage-68": "Coverage of 68 % intervals over the runs",
    "default-coverage-levels": "Coverage of 1 to 99 % intervals, RIO and SVGP",
    "default-distributions": "Outcomes, the network's predictions, and corrected ones",
    "default-outputs-RIO": "Predictions of the network and corrected by RIO",
    "default-outputs-R-I": "Predictions of the network and corrected by R+I",
    "default-outputs-R-O": "Predictions of the network and corrected by R+O",
    "default-improvement": "Improvement ratio over the runs",
}


def figures_section(folder: Path, page: Path) -> str:
    """The figures that have been drawn, with captions."""
    shown = [
        f"**{caption}**\n\n![{caption}]({os.path.relpath(folder / f'{name}.png', page)})\n"
        for name, caption in CAPTIONS.items()
        if (folder / f"{name}.png").exists()
    ]
    return "\n".join(["## Figures\n", *shown]) if shown else ""


def name_absent_datasets(entries: pd.DataFrame) -> None:
    """Name on standard error the data sets of the paper that have no rows."""
    absent = [name for name in DATASETS if name not in set(entries.dataset)]
    if absent:
        print(f"left out, since there are no rows: {', '.join(absent)}", file=sys.stderr)
