"""Write the page from the stored measurements."""

from __future__ import annotations

import argparse
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.command import stored_rows
from benchmarks.large.methods import METHODS, PEERS
from lab.json_lines import Row
from lab.markdown import bold, markdown_table, write_tables

COMMAND = "benchmarks.large page"
TITLE = "# Many rows\n\n"

KINDS = ("nearest", "sparse")
UNDER = ("on boosting", "alone")

MOST_RMSE, MOST_NLPD = 1.01, 0.02
"""What "auto" may be worse by than the better one of `KINDS`."""

GROWTH = "arm"
"""The problem of any size, whose figure shows time and quality against rows."""


def main(options: argparse.Namespace) -> None:
    rows = stored_rows(options.results)
    figure = options.output.with_name("growth.svg")
    tables = [choices(rows), growth(rows, figure), *(of_problem(name, some) for name, some in _by_problem(rows))]
    write_tables(options.output, "\n".join(table for table in tables if table), command=COMMAND, title=TITLE)


def _by_problem(rows: list[Row]) -> list[tuple[tuple[str, int], list[Row]]]:
    def key(row: Row) -> tuple[str, int]:
        return row["problem"], row["n"]

    return [(name, list(some)) for name, some in groupby(sorted(rows, key=key), key)]


def mean_of(rows: list[Row], method: str, name: str) -> float:
    """Over splits; NaN where nothing was measured."""
    values = [row.get(name) for row in rows if row["method"] == method]
    found = [value for value in values if value is not None]
    return float(np.mean(found)) if found else float("nan")


def choices(rows: list[Row]) -> str:
    """ "auto" beside the better one of the single kinds."""
    lines = []
    for (problem, n), some in _by_problem(rows):
        for under in UNDER:
            auto = f"auto {under}"
            rmse, nlpd = (
                np.array([mean_of(some, f"{kind} {under}", name) for kind in KINDS]) for name in ("rmse", "nlpd")
            )
            own = mean_of(some, auto, "rmse"), mean_of(some, auto, "nlpd")
            if np.isnan([*rmse, *nlpd, *own]).any():
                continue
            ratio, more = own[0] / rmse.min(), own[1] - nlpd.min()
            kind = next(row["kind"] for row in some if row["method"] == auto)
            is_reached = ratio <= MOST_RMSE and more <= MOST_NLPD
            verdict = "yes" if is_reached else bold("no")
            lines.append([problem, f"{n:,}", under, kind, f"{ratio:.3f}", f"{more:+.3f}", verdict])
    if not lines:
        return ""
    header = ["problem", "rows", "GP", "auto is", "RMSE, over the better kind's", "NLPD, less that", "reached"]
    aim = (
        f'"auto" should have an RMSE of at most {MOST_RMSE} times that of the better one of nearest and sparse, and an '
        f"NLPD of at most {MOST_NLPD} more."
    )
    return f"## The choice\n\n{aim}\n\n{markdown_table(header, lines)}"


def of_problem(name: tuple[str, int], rows: list[Row]) -> str:
    """All methods on one problem; the best of each column is bold, seconds are of the processor."""
    problem, n = name
    methods = [method for method in METHODS if any(row["method"] == method for row in rows)]
    columns = {"RMSE": "rmse", "NLPD": "nlpd", "CRPS": "score"}
    best = {name: np.nanmin([mean_of(rows, method, name) for method in methods]) for name in columns.values()}
    lines = []
    for method in methods:
        values = {name: mean_of(rows, method, name) for name in columns.values()}
        coverage = [100.0 * mean_of(rows, method, f"coverage_{level}") for level in (68, 90, 95)]
        n_test = rows[0]["n_test"]
        predicting = 1e6 / n_test * mean_of(rows, method, "seconds_predicting")
        lines.append(
            [
                method,
                *(bold(_text(value, ".4g"), value == best[name]) for name, value in values.items()),
                "" if np.isnan(coverage[0]) else " / ".join(f"{share:.1f}" for share in coverage),
                _text(mean_of(rows, method, "seconds"), ".0f"),
                _text(predicting, ".0f"),
                _text(mean_of(rows, method, "gib"), ".1f"),
            ]
        )
    header = ["method", *columns, "coverage of 68 / 90 / 95 %", "s to fit", "s for 10⁶ rows", "GiB"]
    n_runs = len({row["run"] for row in rows})
    title = f"## {problem}, {n:,} rows ({n_runs} split{'s' if n_runs > 1 else ''})"
    return f"{title}\n\n{markdown_table(header, lines)}"


def _text(value: float, form: str) -> str:
    return "" if np.isnan(value) else f"{value:{form}}"


def growth(rows: list[Row], path: Path) -> str:
    """The figure, where the problem of any size was measured with several."""
    rows = [row for row in rows if row["problem"] == GROWTH]
    sizes = sorted({row["n"] for row in rows})
    if len(sizes) < 2:
        return ""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), constrained_layout=True)
    some = {n: [row for row in rows if row["n"] == n] for n in sizes}
    for method, colour in zip(METHODS, plt.get_cmap("tab20").colors, strict=False):
        for axis, name in zip(axes, ("rmse", "seconds"), strict=True):
            values = [mean_of(some[n], method, name) for n in sizes]
            style = "--" if method in PEERS else "-"
            axis.plot(sizes, values, style, color=colour, marker="o", markersize=3, label=method)
    for axis, label in zip(axes, ("RMSE", "seconds to fit"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
    axes[0].legend(fontsize=6)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return f"## Against the number of rows\n\n![RMSE and seconds on {GROWTH} against rows]({path.name})\n"
