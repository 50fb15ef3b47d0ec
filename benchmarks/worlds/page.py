"""Write the tables of the page from the stored measurements, worst worlds first; the text above them stays."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from benchmarks.command import stored_rows
from benchmarks.worlds.answers import LEVELS
from benchmarks.worlds.targets import (
    OUT_OF_REACH,
    RATIO_OF_ANY_FIT,
    SHARE_OF_FITS,
    Verdict,
    share_of_good_fits,
    verdicts,
)
from benchmarks.worlds.worlds import WORLDS
from lab.json_lines import Row
from lab.markdown import bold, markdown_table, write_tables

TITLE = "# Simulated worlds\n\n"
METHODS = ("RIO", "MAPIE", "GP")

Rows = dict[tuple[str, str, str], list[Row]]
"""By world, part and method."""

COLUMNS = """`ratio` is the error of predictions divided by that of the model, root mean squared against noisy outcomes
(mean absolute where noise has no variance), and `truth` that of the true mean. Where that is above one, the model beats
the truth on these test rows by chance, and the ratio is judged in units of it. A ratio or coverage that misses its
target is bold. CRPS is in units of y; coverage is that of 95 % intervals, in per cent. A dash stands where a method
has no answer: MAPIE needs 20 rows or more for these intervals, and the plain GP was fitted to 500 rows at most.
Both are measured in the first five repetitions of a world at most. `warned` is the share of fits of RIO that warned.
"""


def grouped(rows: Iterable[Row]) -> Rows:
    groups: Rows = defaultdict(list)
    for row in rows:
        groups[row["world"], row.get("part", ""), row["method"]].append(row)
    return groups


def mean_of(rows: list[Row], name: str) -> float:
    """The mean over repetitions, NaN where some have no such number."""
    values = [row["coverage"][LEVELS.index(0.95)] if name == "coverage" else row[name] for row in rows]
    return float(np.mean(values)) if values and None not in values else np.nan


def number(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def beside(groups: Rows, verdict: Verdict, name: str, form: str, methods: Iterable[str] = METHODS) -> list[str]:
    keys = ((verdict.world.name, verdict.part, method) for method in methods)
    return [number(mean_of(groups.get(key, []), name), form) for key in keys]


def what(verdict: Verdict) -> list[str]:
    world = verdict.world
    return [verdict.name, f"{world.n:,}", str(world.d), world.noise.name, world.model.name]


def missed_table(found: list[Verdict]) -> str:
    if not found:
        return "None.\n"
    lines = [
        [
            *what(verdict),
            f"{verdict.ratio:.3f} ± {verdict.ratio_error:.3f}",
            f"{verdict.worst_ratio:.2f}",
            f"{verdict.coverage:.1f} ± {verdict.coverage_error:.1f}",
            ", ".join(verdict.misses or verdict.doubts),
            str(verdict.n_fits),
        ]
        for verdict in found
    ]
    header = ["world", "n", "d", "noise", "model", "ratio", "worst fit", "coverage", "misses", "fits"]
    reasons = [
        f"{verdict.name}: {OUT_OF_REACH[verdict.world.name]}."
        for verdict in found
        if verdict.world.name in OUT_OF_REACH
    ]
    return markdown_table(header, lines) + "".join(f"\n{reason}\n" for reason in reasons)


def all_table(found: list[Verdict], groups: Rows) -> str:
    lines = []
    for verdict in found:
        own = groups[verdict.world.name, verdict.part, "RIO"]
        ratio, gp_ratio = beside(groups, verdict, "ratio", ".3f", ("RIO", "GP"))
        coverage, *other_coverage = beside(groups, verdict, "coverage", ".1f")
        trust = [row["trust"] for row in own if row["trust"] is not None]
        lines.append(
            [
                *what(verdict),
                f"{bold(ratio, 'error' in verdict.misses)} ({verdict.worst_ratio:.2f})",
                number(mean_of(own, "floor"), ".3f"),
                gp_ratio,
                bold(coverage, bool({"coverage", "too wide"} & set(verdict.misses))),
                *other_coverage,
                *beside(groups, verdict, "crps", ".3g"),
                number(float(np.median(trust)) if trust else np.nan, ".2f"),
                number(mean_of(own, "seconds"), ".2g"),
                f"{100 * np.mean([row['warned'] > 0 for row in own]):.0f} %",
            ]
        )
    header = ["world", "n", "d", "noise", "model", "ratio (worst)", "truth", "ratio GP", "coverage", "coverage MAPIE"]
    further = ["coverage GP", "CRPS", "CRPS MAPIE", "CRPS GP", "trust", "seconds", "warned"]
    return markdown_table([*header, *further], lines)


def summary(rows: list[Row], found: list[Verdict]) -> str:
    own = [row for row in rows if row["method"] == "RIO"]
    missed = {verdict.world.name for verdict in found if verdict.misses}
    names = {row["world"] for row in own}
    judged = [name for name in names if WORLDS[name].shift != "far"]
    share, is_enough = share_of_good_fits(rows)
    n_fits, n_others = (
        len({(row["world"], row["run"]) for row in rows if row["method"] in methods})
        for methods in (METHODS[:1], METHODS[1:])
    )
    return (
        f"{n_fits:,} fits of RIO in {len(names)} worlds, {n_others:,} of them beside others. "
        f"{len(judged) - len(missed)} of {len(judged)} worlds without a far shift reach their targets. "
        f"{100 * share:.1f} % of their fits have a ratio of at most {RATIO_OF_ANY_FIT}: "
        f"the {100 * SHARE_OF_FITS:g} % aimed at are {'' if is_enough else '**not** '}reached.\n"
    )


def main(options: argparse.Namespace) -> None:
    rows = stored_rows(options.results)
    found, groups = verdicts(rows), grouped(rows)
    missed = [verdict for verdict in found if verdict.misses]
    doubtful = [verdict for verdict in found if verdict.doubts and not verdict.misses]
    far = [verdict for verdict in found if verdict.world.shift == "far"]
    tables = [
        summary(rows, found),
        "## Targets that are missed\n",
        missed_table(missed),
        "## Means beyond a target by less than two standard errors\n",
        "More repetitions will tell. A single fit that fails by far makes a mean and its standard error large alike.\n",
        missed_table(doubtful),
        "## All worlds, worst first\n",
        COLUMNS,
        all_table([verdict for verdict in found if verdict not in far], groups),
        "## Far shifts, without a target\n",
        all_table(far, groups),
    ]
    write_tables(options.output, "\n".join(tables), command="benchmarks.worlds page", title=TITLE)
