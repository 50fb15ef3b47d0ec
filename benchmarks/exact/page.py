"""Write the table of the page from the stored measurements; the text above it stays."""

from __future__ import annotations

import argparse
from itertools import groupby

import numpy as np

from benchmarks.command import stored_rows
from benchmarks.exact.run import METHODS
from benchmarks.exact.trace import seconds_to
from lab.json_lines import Row
from lab.markdown import bold, markdown_table, write_tables

COMMAND = "benchmarks.exact page"
TITLE = "# Exact Gaussian processes beside GPyTorch and scikit-learn\n\n"

NATS = 0.1
"""How far below the best likelihood that anybody found a search may be."""

OURS, AIM, PEER = "rio-uq", 3.0, "GPyTorch"


def main(options: argparse.Namespace) -> None:
    rows = stored_rows(options.results)
    tables = [aim(rows), *(table(problem, n, some) for (problem, n), some in by_problem(rows))]
    write_tables(options.output, "\n".join(tables), command=COMMAND, title=TITLE)


def by_problem(rows: list[Row]) -> list[tuple[tuple[str, int], list[Row]]]:
    def key(row: Row) -> tuple[str, int]:
        return row["problem"], row["n"]

    return [(name, list(some)) for name, some in groupby(sorted(rows, key=key), key)]


def level_of(rows: list[Row]) -> float:
    return max(value for row in rows for _, value in row["points"]) - NATS


def seconds_of(rows: list[Row]) -> dict[str, float | None]:
    """The median over rounds of the seconds to the level, by method; None where it is never reached."""
    level, medians = level_of(rows), {}
    for method in METHODS:
        each = [seconds_to(level, row["points"]) for row in rows if row["method"] == method]
        if each:
            medians[method] = None if None in each else float(np.median(each))
    return medians


def soonest_peer(seconds: dict[str, float | None]) -> float | None:
    """Of the ways to train the peer the one that is there first."""
    return min((s for method, s in seconds.items() if method.startswith(PEER) and s is not None), default=None)


def aim(rows: list[Row]) -> str:
    """How much sooner ours is than the better one of GPyTorch's searches."""
    lines = []
    for (problem, n), some in by_problem(rows):
        seconds = seconds_of(some)
        own, peer = seconds.get(OURS), soonest_peer(seconds)
        if own is None or peer is None:
            ratio, verdict = "never" if own is None else "only ours is there", "yes" if own is not None else bold("no")
        else:
            ratio, verdict = f"{peer / own:.1f}×", "yes" if peer / own >= AIM else bold("no")
        lines.append([problem, f"{n:,}", ratio, verdict])
    header = ["problem", "rows", "sooner than GPyTorch's sooner search", f"{AIM:.0f}× reached"]
    return f"## Beside GPyTorch\n\n{markdown_table(header, lines)}"


def table(problem: str, n: int, rows: list[Row]) -> str:
    seconds = seconds_of(rows)
    own = seconds.get(OURS)
    lines = []
    for method, median in seconds.items():
        some = [row for row in rows if row["method"] == method]
        last = max(value for row in some for _, value in row["points"])
        ratio = "" if own is None or median is None or method == OURS else f"{median / own:.1f}×"
        lines.append([method, "never" if median is None else f"{median:.3f}", ratio, f"{last:.2f}"])
    n_rounds = len({row["round"] for row in rows})
    title = f"## {problem}, {n:,} rows (median of {n_rounds})"
    header = ["search", f"s to {level_of(rows):.2f} nats", "rio-uq is sooner by", "best it found"]
    return f"{title}\n\n{markdown_table(header, lines)}"
