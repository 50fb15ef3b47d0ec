"""Write the tables of the page from the stored measurements; the text above them stays."""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from benchmarks.standard.page import LEVELS, duel_text, table_of_means
from benchmarks.standard.run import store_of
from benchmarks.standard.statistics import MEASURES
from benchmarks.untuned.methods import DESCRIPTION, GP, METHODS, PAPER, RIO
from benchmarks.untuned.run import N_RUNS
from benchmarks.untuned.statistics import beside, frames_of, rankings, same_as
from benchmarks.untuned.tables import OUTCOMES, TABLES
from lab.markdown import bold, markdown_table, write_tables
from lab.significance import SIGNIFICANCE

TITLE = "# Tables that nothing was chosen on\n\n"

RANKS = """Rank 1 is the best mean on a table. By the test of Nemenyi, mean ranks that differ by less than the critical
difference are not told apart at 5 %.
"""
MEANS = f"""Mean ± standard error over splits. Bold is the best mean of methods that have all splits that were run; † is
worse than it by a paired t-test over splits with the variance of Nadeau and Bengio (2003), since their training rows
overlap, at {SIGNIFICANCE:.0%} after Holm's correction for all cells of the table. A number in brackets is that of
splits, where fewer than {N_RUNS} were run.
"""
DUELS = """Tables on which a method has a smaller : larger mean; in brackets, those on which the corrected test, after
Holm's correction for all pairs of the column, is sure of it.
"""
SAME = f"""Share of splits on which RIO, by its own choice on left-out rows, has made the predictions of {GP} / has left
those of the model as they are, so that it adds error bars alone.
"""
COVERAGE = """Shares of test rows in the intervals, in per cent: means over tables, and in brackets the smallest and the
largest of a table. Seconds are processor seconds of a split on one thread, the model's own included: the mean over
tables.
"""


def present(rows: pd.DataFrame) -> list[str]:
    names = set(rows["method"])
    return [name for name in METHODS if name in names]


def means_table(rows: pd.DataFrame, measure: str) -> str:
    frames = frames_of(rows)[measure]
    return table_of_means(frames, METHODS, dict.fromkeys(frames, N_RUNS))


def rank_table(rows: pd.DataFrame) -> str:
    """A line for each method, and one for the critical differences."""
    by_measure = rankings(rows)
    lines = [
        [method, *(_rank(ranking.ranks, method) for ranking in by_measure.values())]
        for method in present(rows)
        if any(method in ranking.ranks for ranking in by_measure.values())
    ]
    lines.append(["critical difference", *(f"{ranking.critical_difference:.2f}" for ranking in by_measure.values())])
    header = [f"{MEASURES[measure]}, {ranking.n_datasets} tables" for measure, ranking in by_measure.items()]
    return markdown_table(["method", *header], lines)


def _rank(ranks: pd.Series, method: str) -> str:
    return bold(f"{ranks[method]:.2f}", ranks[method] == ranks.min()) if method in ranks else ""


def duel_table(rows: pd.DataFrame, reference: str) -> str:
    by_measure = beside(rows, reference)
    lines = [
        [method, *(duel_text(duels.get(method)) for duels in by_measure.values())]
        for method in present(rows)
        if any(method in duels for duels in by_measure.values())
    ]
    return markdown_table(["method", *(MEASURES[measure] for measure in by_measure)], lines)


def same_table(rows: pd.DataFrame) -> str:
    """Tables as rows, RIO on each model as columns."""
    methods = [name for name in RIO if name in present(rows)]
    shares = {
        (name, other): same_as(rows, name, other).groupby(level="dataset").mean()
        for name in methods
        for other in (GP, RIO[name])
    }
    lines = [
        [table, *(" / ".join(_share(shares[name, other], table) for other in (GP, RIO[name])) for name in methods)]
        for table in TABLES
        if any(table in share for share in shares.values())
    ]
    return markdown_table(["table", *methods], lines)


def _share(shares: pd.Series, table: str) -> str:
    return f"{100 * shares[table]:.0f} %" if table in shares else "–"


def coverage_table(rows: pd.DataFrame) -> str:
    columns = [f"coverage_{level}" for level in LEVELS]
    means = rows.groupby(["method", "dataset"])[[*columns, "seconds"]].mean()
    lines = []
    for method in present(rows):
        own = means.loc[method]
        cells = [""] * len(columns)
        if own[columns].notna().all(axis=None):
            cells = [f"{100 * own[c].mean():.1f} ({100 * own[c].min():.0f}–{100 * own[c].max():.0f})" for c in columns]
        lines.append([method, *cells, f"{own['seconds'].mean():.2g}"])
    return markdown_table(["method", *(f"{level} %" for level in LEVELS), "seconds"], lines)


def description_table(rows: pd.DataFrame) -> str:
    """Every table, measured or not."""
    n_runs = rows.groupby("dataset")["run"].nunique()
    lines = []
    for name, table in TABLES.items():
        where = f"{table.collection}, {table.item}: `{table.outcome}`"
        left_out = ", ".join(f"`{column}`" for column in (*table.identifiers, *table.same_as_outcome))
        sizes = [str(size) for size in table.shape]
        lines.append([name, where, OUTCOMES[name], *sizes, left_out, str(n_runs.get(name, "not run yet"))])
    header = ["table", "collection, name, outcome", "what it is", "rows", "features", "left out by name", "splits"]
    return markdown_table(header, lines)


def methods_table(rows: pd.DataFrame) -> str:
    return markdown_table(["method", ""], [[name, DESCRIPTION[name]] for name in present(rows)])


def page(rows: pd.DataFrame) -> str:
    """All tables."""
    parts = ["## Mean ranks\n", RANKS, rank_table(rows)]
    for reference in (PAPER, GP):
        if beside(rows, reference):
            parts += [f"## Each of the others beside {reference}\n", DUELS, duel_table(rows, reference)]
    parts += ["## RMSE\n", MEANS, means_table(rows, "rmse"), "## NLPD\n", means_table(rows, "nlpd")]
    parts += ["## CRPS\n", means_table(rows, "crps")]
    parts += ["## Coverage and time\n", COVERAGE, coverage_table(rows)]
    if GP in present(rows) and set(RIO) & set(present(rows)):
        parts += ["## Where RIO is the plain GP, or the model\n", SAME, same_table(rows)]
    parts += ["## Tables\n", description_table(rows), "## Methods\n", methods_table(rows)]
    return "\n".join(parts)


def main(options: argparse.Namespace) -> None:
    store = store_of(options.results)
    rows = store.read_or_unpack()
    if not len(rows):
        sys.exit(f"there are no measurements in {options.results}: make them with `run`")
    write_tables(options.output, page(rows), command="benchmarks.untuned page", title=TITLE)
    if options.results.exists():
        store.pack()
    print(f"{len(rows)} results written to {options.output}")
