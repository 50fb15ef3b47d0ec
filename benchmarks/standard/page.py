"""Write the tables of the page from the stored measurements; the text above them stays."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.standard import beyond
from benchmarks.standard.methods import COLUMNS, DESCRIPTION, GP, RIO
from benchmarks.standard.run import store_of
from benchmarks.standard.statistics import MEASURES, Duel, beaten, by_split, complete, duels, p_value, targets
from benchmarks.standard.tuned import TUNED, UNTOUCHED
from lab.datasets.standard import STANDARD
from lab.markdown import bold, markdown_table, write_tables
from lab.significance import SIGNIFICANCE, holm

TITLE = "# The field's own tables\n\n"
PUBLISHED_TABLES = Path(__file__).parent / "published.csv"
LEVELS = ("68", "90", "95")

LEGEND = f"""Mean ± standard error over splits, as those papers give it. Bold is the best mean of methods that have all
splits; † is worse than it by a paired t-test over splits with the variance of Nadeau and Bengio (2003), since their
training rows overlap, at {SIGNIFICANCE:.0%} after Holm's correction for all cells of the table. A number in brackets is
that of splits, where some are missing.
"""


PUBLISHED = """Mean ± standard deviation over splits. Those of deep ensembles are from Lakshminarayanan et al. (2017),
those of NGBoost from Duan et al. (2020), whose script draws the same splits, as later papers quote them.
"""


def means_table(rows: pd.DataFrame, measure: str) -> str:
    """Data sets as rows, methods as columns."""
    frames = by_split(rows, measure)
    return table_of_means(frames, COLUMNS, {name: STANDARD[name].n_splits for name in frames})


def table_of_means(frames: dict[str, pd.DataFrame], names: Iterable[str], n_splits: Mapping[str, int]) -> str:
    """The same of a measure by splits: which methods, in which order, and how many splits each data set should have."""
    worse = beaten(frames)
    methods = [name for name in names if any(name in frame for frame in frames.values())]
    lines = []
    for name, frame in frames.items():
        whole = complete(frame)
        best = whole.mean().idxmin() if whole.shape[1] else None
        cells = []
        for method in methods:
            if method not in frame:
                cells.append("")
                continue
            values = frame[method].dropna()
            text = bold(mean_and_error(values), method == best) + "†" * ((name, method) in worse)
            cells.append(text + (f" ({len(values)})" if len(values) < n_splits[name] else ""))
        lines.append([name, *cells])
    return markdown_table(["data set", *methods], lines)


def mean_and_error(values: pd.Series) -> str:
    """With two decimals, or as many as show two digits of a small mean."""
    mean = values.mean()
    small = 0.0 < abs(mean) < 0.1
    decimals = 1 - int(np.floor(np.log10(abs(mean)))) if small else 2
    text = f"{mean:.{decimals}f}"
    return text if len(values) < 2 or not np.isfinite(mean) else f"{text} ± {values.sem():.{decimals}f}"


def plain_table(rows: pd.DataFrame, cell: str) -> str:
    """Coverage at three levels or seconds, data sets as rows and methods as columns; means over splits."""
    standard = rows[rows["table"] == "standard"]
    columns = [f"coverage_{level}" for level in LEVELS] if cell == "coverage" else ["seconds"]
    means = standard.groupby(["dataset", "method"])[columns].mean().dropna()
    methods = [name for name in DESCRIPTION if name in means.index.get_level_values("method")]
    if cell == "coverage":
        methods = [name for name in methods if name in COLUMNS]
    lines = []
    for name in STANDARD:
        cells = []
        for method in methods:
            values = means.loc[(name, method)] if (name, method) in means.index else []
            form = "{:.2g}" if cell == "seconds" else "{:.0f}"
            cells.append(" / ".join(form.format(100 * value if cell == "coverage" else value) for value in values))
        if any(cells):
            lines.append([name, *cells])
    return markdown_table(["data set", *methods], lines)


def target_table(rows: pd.DataFrame) -> str:
    words = {True: "yes", False: bold("no"), None: "open"}
    lines = [
        [target.what, target.target, target.reached, words[target.is_reached]] for target in targets(rows, UNTOUCHED)
    ]
    return markdown_table(["what", "target", "reached", ""], lines)


def tuned_table() -> str:
    lines = [
        [name, *(str(size) for size in STANDARD[name].shape), STANDARD[name].target, TUNED[name]] for name in STANDARD
    ]
    return markdown_table(["data set", "rows", "features", "outcome", "looked at while defaults were chosen"], lines)


def duel_table(rows: pd.DataFrame, reference: str) -> str:
    """A line for each of the others."""
    by_measure = [duels(by_split(rows, measure), reference) for measure in MEASURES]
    lines = [
        [method, *(duel_text(of_measure.get(method)) for of_measure in by_measure)]
        for method in COLUMNS
        if any(method in of_measure for of_measure in by_measure)
    ]
    return markdown_table(["method", *MEASURES.values()], lines)


def duel_text(duel: Duel | None) -> str:
    """Data sets on which it is better and worse; in brackets, those where the test is sure of it."""
    return "" if duel is None else f"{duel.better} : {duel.worse} ({duel.surely_better} : {duel.surely_worse})"


def model_table(rows: pd.DataFrame) -> str:
    """RMSE of RIO in that of its model and of the plain GP, over splits that both have."""
    standard = rows[rows["table"] == "standard"]
    pairs = [(rio, other) for rio, model in RIO.items() for other in (model, GP)]
    texts: dict[tuple[str, int], str] = {}
    tested, p_values = [], []
    for name in STANDARD:
        frame = standard[standard["dataset"] == name].pivot(index="run", columns="method", values="rmse")
        for i, (rio, other) in enumerate(pairs):
            if rio in frame and other in frame and len(both := frame[[rio, other]].dropna()):
                ratio = both[rio].mean() / both[other].mean()
                texts[name, i] = f"{ratio:.3f}"
                tested.append((name, i, ratio))
                p_values.append(p_value(both[rio], both[other]))
    for (name, i, ratio), p in zip(tested, holm(np.array(p_values)), strict=True):
        if p < SIGNIFICANCE:
            texts[name, i] += "‡" if ratio < 1.0 else "†"
    names = dict.fromkeys(name for name, _ in texts)
    lines = [[name, *(texts.get((name, i), "") for i in range(len(pairs)))] for name in names]
    return markdown_table(["data set", *(f"{rio} / {other}" for rio, other in pairs)], lines)


def published_table(rows: pd.DataFrame) -> str:
    """Means ± standard deviations over splits here, and as papers have them, of methods that were run anew."""
    published = pd.read_csv(PUBLISHED_TABLES).set_index(["dataset", "method"])
    methods = published.index.unique("method")
    frames = {measure: by_split(rows, measure) for measure in ("rmse", "nlpd")}
    lines = []
    for name in STANDARD:
        cells = []
        for method, (measure, of_measure) in product(methods, frames.items()):
            values = of_measure[name][method].dropna() if method in of_measure.get(name, ()) else pd.Series(dtype=float)
            here = f"{values.mean():.2f} ± {values.std(ddof=1):.2f}" if len(values) > 1 else ""
            cells += [here, published.loc[(name, method), measure]]
        lines.append([name, *cells])
    pairs = [f"{method}, {MEASURES[measure]}" for method, measure in product(methods, frames)]
    return markdown_table(["data set", *(cell for pair in pairs for cell in (pair, "theirs"))], lines)


def methods_table(rows: pd.DataFrame) -> str:
    present = set(rows["method"])
    return markdown_table(["method", ""], [[name, text] for name, text in DESCRIPTION.items() if name in present])


def page(rows: pd.DataFrame) -> str:
    """All tables."""
    parts = ["## RMSE\n", LEGEND, means_table(rows, "rmse"), "## NLPD\n", means_table(rows, "nlpd")]
    parts += ["## Targets\n", target_table(rows), "## Data sets that defaults were chosen on\n", tuned_table()]
    parts += ["## CRPS\n", means_table(rows, "crps")]
    parts += ["## Coverage of 68 / 90 / 95 % intervals, in per cent\n", plain_table(rows, "coverage")]
    for reference in RIO:
        if reference in set(rows["method"]):
            text = "Data sets on which it is better : worse; in brackets, those where the test is sure of it.\n"
            parts += [f"## {reference} beside each of the others\n", text, duel_table(rows, reference)]
    if set(RIO) & set(rows["method"]):
        text = "RMSE over that of the model below, and over that of the plain GP. ‡ is better, † worse, by the test.\n"
        parts += ["## What RIO adds to the model, and the model to the GP\n", text, model_table(rows)]
    parts += ["## Peers here and in their papers\n", PUBLISHED, published_table(rows)]
    for table, title in (
        ("gap", "Gaps: the middle third of a feature left out"),
        ("tails", "Tails: its ends left out"),
    ):
        parts.append(beyond.section(rows, table, title))
    parts += ["## Processor seconds of a split\n", plain_table(rows, "seconds"), "## Methods\n", methods_table(rows)]
    return "\n".join(part for part in parts if part)


def main(options: argparse.Namespace) -> None:
    store = store_of(options.results)
    rows = store.read_or_unpack()
    if not len(rows):
        sys.exit(f"there are no measurements in {options.results}: make them with `run`")
    write_tables(options.output, page(rows), command="benchmarks.standard page", title=TITLE)
    if options.results.exists():
        store.pack()
    print(f"{len(rows)} results written to {options.output}")
