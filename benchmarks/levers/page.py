"""Write the page: three tables, and a sentence on each lever that follows from them."""

from __future__ import annotations

import argparse
from statistics import fmean
from typing import Any

from benchmarks.command import stored_rows
from lab.json_lines import Row
from lab.markdown import markdown_table

USUAL = "as it is"
SAVING, SAME_OBJECTIVE = 0.15, 1e-3
"""A lever pays that saves this share of the seconds on all data, and loses no more nats per row than that."""

INTRODUCTION = """# What a fit of the sparse GP spends, and what would change it

Written by `python -m benchmarks.levers page` from the measurements in `result.jsonl`, which `make bench-levers` makes
again. Seconds are those of the processor, on one thread. Ratios are to the first line of their column: below 1 is
faster than the engine as it is.
"""


def of_table(rows: list[Row], name: str) -> list[Row]:
    return [row for row in rows if row["table"] == name]


def unique(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def stages_section(rows: list[Row]) -> str:
    measured = of_table(rows, "stages")
    if not measured:
        return ""
    names = list(measured[0])[5:]
    lines = [
        [row["data"], f"{row['n']:,}", f"{row['cpu_seconds']:.1f}", *(f"{row[name]:.0f} %" for name in names)]
        for row in measured
    ]
    return f"""
## Stages of a whole default fit

Up to 2,000 rows a default fit is exact and has no inducing points. "Exploring starts" is the first stage, on at most
10,000 rows, without the choice of its inducing points; "posterior" is the last pass over the rows; "noise" is all that
it takes to learn how noise depends on the row, inducing points and evaluations included.

{markdown_table(["data", "rows", "fit, s", *names], lines)}"""


def evaluations_section(rows: list[Row]) -> str:
    same = of_table(rows, "evaluations")
    if not same:
        return ""
    cells = {(row["data"], row["m"], row["way"]): row["cpu_seconds"] for row in same}
    columns = unique([(row["data"], row["m"]) for row in same])
    ways = [way for way in unique([row["way"] for row in same]) if way != USUAL]
    first = [f"{USUAL}, ms", *(f"{1000.0 * cells[*column, USUAL]:.1f}" for column in columns)]
    lines = [[way, *(f"{cells[*column, way] / cells[*column, USUAL]:.2f}" for column in columns)] for way in ways]
    sizes = {row["m"]: row["block_rows"] for row in same}
    blocks = ", ".join(f"{m}: {b:,}" for m, b in sizes.items())
    return f"""
## One evaluation of the bound and its gradient

Rows: {", ".join(f"{name} {n:,}" for name, n in unique([(row["data"], row["n"]) for row in same]))}. Rows in a block as
it is, by the number m of inducing points: {blocks}. "Only the products" is the sum over blocks of the product of a
block with its own transpose, as NumPy does it by itself (syrk) and with a copy as second factor (gemm).

{markdown_table(["", *(f"{name}, m = {m}" for name, m in columns)], [first, *lines])}
{chr(10).join(f"- {sentence}" for sentence in evaluation_sentences(cells, columns, ways, sizes))}
"""


def evaluation_sentences(cells: dict, columns: list, ways: list[str], sizes: dict[int, int]) -> list[str]:
    def ratios(way: str, to: str = USUAL) -> list[float]:
        return [cells[*column, way] / cells[*column, to] for column in columns]

    sentences = []
    for way in ways:
        if way.startswith("only the products"):
            continue
        shares = ratios(way)
        verdict = "saves time everywhere" if max(shares) <= 1.0 - SAVING else "does not pay everywhere"
        sentences.append(f"{way}: {span(shares)} of the time of an evaluation; {verdict}.")
    same = [
        ratio
        for way in ways
        for column, ratio in zip(columns, ratios(way), strict=True)
        if way == f"blocks of {sizes[column[1]]:,} rows"
    ]
    if same:
        sentences.append(
            f"The block size that is used anyway, measured a second time: {span(same)}; so much is chance."
        )
    syrk, gemm = "only the products, syrk", "only the products, gemm"
    if syrk in ways and gemm in ways:
        shares = ratios(syrk, gemm)
        verdict = "kept" if max(shares) <= 1.0 else "not faster everywhere"
        sentences.append(f"syrk, as it is: {span(shares)} of the time of gemm; {verdict}.")
    return sentences


def span(values: list[float], form: str = ".2f") -> str:
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return low if low == high else f"{low} to {high}"


def trainings_section(rows: list[Row]) -> str:
    measured = over_seeds(of_table(rows, "trainings"))
    if not measured:
        return ""
    usual = {row["data"]: row for row in measured if row["way"] == USUAL}
    sections = []
    for data, first in usual.items():
        lines = [
            [
                row["way"],
                f"{row['cpu_seconds']:.1f}",
                f"{row['cpu_seconds'] / first['cpu_seconds']:.2f}",
                f"{row['on_all']:.0f}",
                f"{row['on_fewer']:.0f}",
                f"{row['work'] / first['work']:.2f}",
                f"{gain(row, usual):+.4f}",
                f"{row['spread']:.4f}",
                f"{row['failed']:.0f}",
            ]
            for row in measured
            if row["data"] == data
        ]
        header = [
            "",
            "s",
            "ratio",
            "evaluations on all rows",
            "on fewer rows",
            "work, ratio",
            "objective, nats per row",
            "its range over seeds",
            "line search failed",
        ]
        sections.append(f"{data}, {first['n']:,} rows:\n\n{markdown_table(header, lines)}")
    ways = [way for way in unique([row["way"] for row in measured]) if way != USUAL]
    sentences = [training_sentence([row for row in measured if row["way"] == way], usual) for way in ways]
    return f"""
## Whole trainings with {measured[0]["m"]} inducing points

Without the noise of rows. Means over {n_seeds(rows)} seeds, which draw subsets and candidates for inducing points. Work
is rows times points, summed over evaluations: the machine has no part in it. The objective (bound and prior) is that of
the end, less that of the engine as it is. A lever pays if it saves {100 * SAVING:.0f} % of the seconds on all data and
loses at most {SAME_OBJECTIVE} nats per row. Where seeds differ by more than that, so few of them cannot tell a loss
from chance.

Line searches fail where rounding makes the bound rough: counted are the trainings that ended with one that did.
Rounding is what is allowed of it before rows are whitened one by one (`ROUNDING_ALLOWED` in
`rio_uq.gp.inference.sparse`); that takes one more product for each block, which work does not count.

{chr(10).join(sections)}
{chr(10).join(f"- {sentence}" for sentence in sentences)}
"""


def n_seeds(rows: list[Row]) -> int:
    return len({row["seed"] for row in of_table(rows, "trainings")})


def over_seeds(rows: list[Row]) -> list[Row]:
    """The mean of each way on each data set, and how far the objective per row differs between seeds."""
    means_of_ways = []
    for data, way in unique([(row["data"], row["way"]) for row in rows]):
        same = [row for row in rows if (row["data"], row["way"]) == (data, way)]
        means = {
            name: fmean(row[name] for row in same)
            for name in ("cpu_seconds", "on_all", "on_fewer", "work", "objective")
        }
        objectives = [row["objective"] for row in same]
        means_of_ways.append({**same[0], **means, "spread": (max(objectives) - min(objectives)) / same[0]["n"]})
    return means_of_ways


def gain(row: Row, usual: dict[str, Row]) -> float:
    """Objective per row, beside the usual way on the same data."""
    return (row["objective"] - usual[row["data"]]["objective"]) / row["n"]


def training_sentence(rows: list[Row], usual: dict[str, Row]) -> str:
    ratios = [row["cpu_seconds"] / usual[row["data"]]["cpu_seconds"] for row in rows]
    gains = [gain(row, usual) for row in rows]
    summary = f"{rows[0]['way']}: {span(ratios)} of the seconds, objective {span(gains, '+.4f')}"
    slow = sum(ratio > 1.0 - SAVING for ratio in ratios)
    worse = sum(loss < -SAME_OBJECTIVE for loss in gains)
    if not slow and not worse:
        return f"{summary}; pays."
    reasons = [f"saves too little on {slow} of {len(rows)} data sets"] if slow else []
    reasons += [f"ends lower on {worse} of {len(rows)}"] if worse else []
    return f"{summary}; not kept: {', '.join(reasons)}."


def page_of(rows: list[Row]) -> str:
    return INTRODUCTION + stages_section(rows) + evaluations_section(rows) + trainings_section(rows)


def main(options: argparse.Namespace) -> None:
    options.output.write_text(page_of(stored_rows(options.results)))
