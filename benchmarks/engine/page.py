"""Write the tables of the page from the stored measurements; the text above them stays."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.command import stored_rows
from benchmarks.engine.problems import Problem
from benchmarks.engine.run import MAX_ITER
from lab.json_lines import Row
from lab.markdown import markdown_table, write_tables

TITLE = "# The engine beside its peers\n\n"


def of_part(rows: list[Row], part: str) -> list[tuple[Row, Row]]:
    """Task and measurement of a part."""
    return [(row["task"], row) for row in rows if row["task"]["part"] == part]


def name_of(task: Row) -> str:
    return Problem(task["n"], task["d"], task["m"], task["ard"]).name


def faster_by(theirs: float, own: float) -> str:
    return f"{theirs / own:.1f}×"


def evaluations(rows: list[Row]) -> str:
    lines = []
    for task, row in of_part(rows, "evaluate"):
        own = row["milliseconds"]["rio-uq"]
        for engine, median in row["milliseconds"].items():
            note = "" if engine == "rio-uq" else faster_by(median, own)
            if engine == "roofline":
                note = f"{100 * row['roofline_share']:.0f} % of the roofline reached"
            bound = f"{row['bounds'][engine]:.2f}" if engine in row["bounds"] else ""
            lines.append([name_of(task), engine, f"{median:.2f}", note, bound])
        lines += [[name_of(task), engine, failure, "", ""] for engine, failure in row["failures"].items()]
    return "## One evaluation of the bound and its gradient\n\n" + markdown_table(
        ["problem", "engine", "ms", "ours is faster by", "bound"], lines
    )


def fits(rows: list[Row]) -> str:
    lines = []
    for task, row in of_part(rows, "fit"):
        start = [name_of(task), task["peer"]]
        if "error" in row:
            lines.append([*start, row["error"], *[""] * 5])
            continue
        seconds = [f"{row[name]:.2f}" for name in ("peer_seconds", "seconds")]
        ratio = faster_by(row["peer_seconds"], row["seconds"])
        bounds = [f"{row[name]:.1f}" for name in ("peer_bound", "bound")]
        lines.append([*start, f"{row['level']:.1f}", *seconds, ratio, *bounds])
    header = ["problem", "peer", "both reach", "peer, s", "ours, s", "ours is faster by", "last bound of peer", "ours"]
    return (
        f"## A whole fit to the same bound (at most {MAX_ITER} iterations of L-BFGS-B, inducing points move)\n\n"
        + markdown_table(header, lines)
    )


def predictions(rows: list[Row]) -> str:
    measured = of_part(rows, "predict")
    lines = []
    for task, row in measured:
        own, m = row["seconds"]["rio-uq"], str(task["m"])
        for engine, seconds in row["seconds"].items():
            lines.append([m, engine, f"{seconds:.2f}", "" if engine == "rio-uq" else faster_by(seconds, own)])
        lines += [[m, engine, failure, ""] for engine, failure in row["failures"].items()]
    n_rows = ", ".join(f"{n:,}" for n in dict.fromkeys(task["n_rows"] for task, _ in measured))
    return f"## Prediction of {n_rows} rows with standard deviations\n\n" + markdown_table(
        ["m", "engine", "s", "ours is faster by"], lines
    )


def memory(rows: list[Row]) -> str:
    return "".join(
        f"Peak memory of an evaluation beyond the data at {name_of(task)}: {row['mib']:.0f} MiB\n"
        for task, row in of_part(rows, "memory")
    )


def comparison(task: Row, row: Row) -> list[str]:
    """A line: processor seconds of both commits, the median of the ratios of neighbours and its spread over rounds."""
    start = [task["work"], name_of(task)]
    if "error" in row:
        return [*start, row["error"], *[""] * 5]
    before, now = (np.array(row["cpu_seconds"][side]) for side in ("before", "now"))
    low, ratio, high = np.quantile(now / before, [0.25, 0.5, 0.75])
    milliseconds = [f"{1e3 * np.median(seconds):.2f}" for seconds in (before, now)]
    iterations = " / ".join(map(str, row["n_iter"]))
    return [*start, *milliseconds, f"{ratio:.2f}", f"{low:.2f} to {high:.2f}", iterations, f"{row['difference']:.1g}"]


def baselines(rows: list[Row]) -> str:
    lines: dict[tuple[str, str], list[list[str]]] = {}
    for task, row in of_part(rows, "baseline"):
        lines.setdefault((task["baseline"], row["present"]), []).append(comparison(task, row))
    header = ["work", "problem", "before, ms", "now, ms", "now / before", "middle half of rounds"]
    header += ["iterations", "results differ by"]
    return "## Beside an earlier commit\n\n" + "\n".join(
        f"Processor seconds of {short(present)} (now) and {short(baseline)} (before)\n\n"
        + markdown_table(header, of_pair)
        for (baseline, present), of_pair in lines.items()
    )


def short(commit: str) -> str:
    return f"`{commit[:7]}`" + (" with changes" if commit.endswith("+") else "")


def tables(rows: list[Row]) -> str:
    processors = "/".join(str(n) for n in dict.fromkeys(row["processors"] for row in rows))
    parts = {
        "evaluate": evaluations,
        "fit": fits,
        "predict": predictions,
        "memory": memory,
        "baseline": baselines,
    }
    sections = [section(rows) for part, section in parts.items() if of_part(rows, part)]
    return "\n".join([f"rio-uq and its peers on {processors} processors, float64\n", *sections])


def main(options: argparse.Namespace) -> None:
    write_tables(options.output, tables(stored_rows(options.results)), command="benchmarks.engine", title=TITLE)
