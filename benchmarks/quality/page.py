"""Write the page: ranks with their diagrams, duels, promises, and a table for each data set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality import diagram
from benchmarks.quality.description import DESCRIPTION, INTRODUCTION, NOTES
from benchmarks.quality.promises import ABLATION, base_section, coverage_section, measured_datasets, noise_section
from benchmarks.quality.protocol import DATASETS, store_of
from benchmarks.quality.ranks import Ranking, complete, distinct, duel, p_value, ranking
from lab.markdown import bold, markdown_table
from lab.significance import SIGNIFICANCE

MEASURES = {"rmse": "RMSE", "nlpd": "NLPD", "crps": "CRPS"}
LEVELS = ("68", "90", "95")
REFERENCES = ("ET+RIO", "NN+RIO cross-fit")
"""Ours: the best base model with out-of-fold residuals, and the same on the paper's network."""


def write_page(rows: pd.DataFrame, path: Path) -> None:
    """Write the page, and beside it a diagram for each measure.

    Parameters
    ----------
    rows : DataFrame
        From the store.
    path : Path
        Of the page; diagrams are in the same folder.
    """
    everything, rows = rows, rows[rows.table != ABLATION]
    ranked = {}
    parts = [INTRODUCTION, ranks_section(rows, ranked)]
    for name, ranks in ranked.items():
        image = path.with_name(f"{name}.svg")
        title = f"Mean ranks in {MEASURES[name]} over {ranks.n_datasets} data sets"
        diagram.draw(ranks, {method for method in ranks.ranks.index if is_ours(method)}, title, image)
        parts.append(f"![{title}]({image.name})\n")
    parts += [duel_section(rows, reference) for reference in REFERENCES if reference in set(rows.method)]
    parts += [coverage_section(rows), base_section(rows), noise_section(everything), methods_section(rows), NOTES]
    parts += ["## Each data set\n\n" + LEGEND]
    parts += [dataset_section(rows, name) for name in measured_datasets(rows)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(parts))


def is_ours(method: str) -> bool:
    return "RIO" in method or method == "GP"


def ordered_methods(rows: pd.DataFrame) -> list[str]:
    present = set(rows.method)
    return [name for name in DESCRIPTION if name in present] + sorted(present - set(DESCRIPTION))


def ranked_datasets(rows: pd.DataFrame) -> list[str]:
    """Those with copies of rows are left out for those without, where both are there."""
    present = set(rows.dataset)
    return [name for name in DATASETS if name in present and f"{name}*" not in present]


def means_of(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over runs: a row for each ranked data set, a column for each method that has the measure anywhere."""
    table = rows.pivot_table(index="dataset", columns="method", values=measure, aggfunc="mean")
    return table.reindex(ranked_datasets(rows)).reindex(columns=[m for m in ordered_methods(rows) if m in table])


def runs_of(rows: pd.DataFrame, measure: str) -> dict[str, pd.DataFrame]:
    """For each ranked data set, a row for each run and a column for each method."""
    return {
        name: rows[rows.dataset == name].pivot(index="run", columns="method", values=measure)
        for name in ranked_datasets(rows)
    }


def ranks_section(rows: pd.DataFrame, ranked: dict[str, Ranking]) -> str:
    """The table of mean ranks; the rankings are put into ``ranked``, by measure."""
    left_out, tests = [], []
    for measure, title in MEASURES.items():
        means = means_of(rows, measure)
        whole = complete(means)
        missing = [str(name) for name in [*means.columns, *means.index] if name not in {*whole.columns, *whole.index}]
        if missing:
            left_out.append(f"{title}: {', '.join(missing)}")
        if whole.shape[0] and whole.shape[1] > 1:
            ranks = ranked[measure] = ranking(distinct(whole))
            tests.append(
                f"{title}: {len(ranks.ranks)} methods on {ranks.n_datasets} data sets, "
                f"Friedman's test {_p(ranks.p_value)}, critical difference {ranks.critical_difference:.2f}"
            )
    lines = []
    for method in ordered_methods(rows):
        ranks = [of_measure.ranks.get(method, np.nan) for of_measure in ranked.values()]
        if not np.isnan(ranks).all():
            best = [rank == of_measure.ranks.iloc[0] for rank, of_measure in zip(ranks, ranked.values(), strict=True)]
            lines.append(
                [method, *(bold(_number(rank, ".2f"), is_best) for rank, is_best in zip(ranks, best, strict=True))]
            )
    said = "".join(f"- {test}\n" for test in tests)
    if left_out:
        said += f"- Not ranked, because not everything is known of them: {'; '.join(left_out)}\n"
    return (
        "## Mean ranks over data sets\n\nRank 1 is the best mean over runs. "
        "The wine data sets are ranked without copies of rows. Methods with the same prediction as another "
        "are ranked once.\n\n" + markdown_table(["method", *(MEASURES[name] for name in ranked)], lines) + f"\n{said}"
    )


def duel_section(rows: pd.DataFrame, reference: str) -> str:
    """On how many data sets one of ours is better than each of the others."""
    runs = {measure: runs_of(rows, measure) for measure in MEASURES}
    lines = []
    for method in ordered_methods(rows):
        if method == reference:
            continue
        cells = []
        for frames in runs.values():
            wins = duel(frames, reference, method)
            text = f"{wins.better} : {wins.worse} ({wins.surely_better} : {wins.surely_worse})"
            cells.append(text if wins.better + wins.worse else "-")
        lines.append([method, *cells])
    return (
        f"## {reference} beside each of the others\n\nData sets on which {reference} is better : worse; in brackets, "
        "those where the paired test over runs is sure of it.\n\n"
        + markdown_table(["method", *MEASURES.values()], lines)
    )


def methods_section(rows: pd.DataFrame) -> str:
    lines = [[name, DESCRIPTION.get(name, "")] for name in ordered_methods(rows)]
    return "## Methods\n\n" + markdown_table(["method", "what it is"], lines)


LEGEND = (
    "Means ± standard deviations over runs. Bold is the best mean of RMSE, NLPD and CRPS; † is worse than it by the "
    f"paired test at {SIGNIFICANCE:.0%}. Coverage and mean width are those of intervals at 68 / 90 / 95 %.\n"
)


def dataset_section(rows: pd.DataFrame, name: str) -> str:
    """All measures of all methods on a data set."""
    of_dataset = rows[rows.dataset == name]
    columns = {
        measure: _column(of_dataset.pivot(index="run", columns="method", values=measure)) for measure in MEASURES
    }
    lines = []
    for method in ordered_methods(of_dataset):
        own = of_dataset[of_dataset.method == method]
        coverage = " / ".join(_number(own[f"coverage_{level}"].mean(), ".2f") for level in LEVELS)
        width = " / ".join(_number(own[f"width_{level}"].mean(), ".3g") for level in LEVELS)
        cells = [column.get(method, "-") for column in columns.values()]
        lines.append([method, *cells, coverage, width, _number(own.seconds.mean(), ".1f"), str(len(own))])
    n, d = DATASETS[name].shape
    header = ["method", *MEASURES.values(), "coverage", "width", "seconds", "runs"]
    return f"### {name} ({n} × {d}, {DATASETS[name].target})\n\n" + markdown_table(header, lines)


def _column(runs: pd.DataFrame) -> dict[str, str]:
    """Cells of a measure by method; ``runs`` has a column for each method."""
    measured = runs.dropna(axis=1, how="all")
    if measured.empty:
        return {}
    first = measured.mean().idxmin()
    cells = {}
    for method, values in measured.items():
        mean, std = values.mean(), values.std(ddof=1)
        decimals = 2 if abs(mean) >= 10.0 else 3
        text = f"{mean:.{decimals}f}" + ("" if np.isnan(std) else f" ± {std:.{decimals}f}")
        is_worse = method != first and p_value(values, measured[first]) < SIGNIFICANCE
        cells[str(method)] = bold(text, method == first) + "†" * is_worse
    return cells


def _number(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def _p(value: float) -> str:
    return "not possible" if np.isnan(value) else "p < 0.0001" if value < 1e-4 else f"p = {value:.4f}"


def main(options: argparse.Namespace) -> None:
    store = store_of(options.results)
    rows = store.read_or_unpack()
    if rows.empty:
        sys.exit(f"there are no measurements in {options.results}: make them with `run`")
    write_page(rows, options.output)
    if options.results.exists():
        store.pack()
    print(f"{len(rows)} results written to {options.output}")
