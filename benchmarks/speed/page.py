"""Write the page: where each engine ends, when it gets to where another one ends, and the targets.

The times of the paper's engine also go into a section of the paper's experiments.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.command import FOLDER, stored_rows
from benchmarks.speed import ENGINES, SMALLEST_FIRST
from benchmarks.speed.figures import draw
from lab.fits.trajectories import Fits, grouped
from lab.json_lines import Row
from lab.markdown import markdown_table

FitsByDataset = dict[str, dict[str, Fits]]

DEFAULT, PAPER, PAPERS_ENGINE = "rio-uq", "rio-uq paper", "GPflow SVGP"
PEERS = ENGINES[2:]
FASTER_THAN_PAPERS_ENGINE, BETTER_DATASETS = 10.0, 7

HOW = """Whole fits on the paper's data, all on the same rows and the same predictions of a network (run 0), one after
the other. `rio-uq` is rio-uq as it comes (not told the network's validation rows). All others have the paper's
settings: two RBF kernels, 50 inducing points that begin at the first 50 rows and move with the rest, all values
beginning at one, at most 1,000 iterations of L-BFGS-B on all rows, with SciPy's memory of ten steps. Each library has
an environment of its own: GPflow holds NumPy back. What searches move are logarithms in rio-uq and, of positive
parameters, softplus transforms in the peers. Time runs from the arrays to the end of the fit, for GPflow with the
compilation of its graph. Trajectories are recorded while the fits run; NLPD along the way is computed afterwards from
the parameters that were visited, at some points of the trajectory. For rio-uq, what comes after the last iteration
(posterior, noise) counts as time on the way to an NLPD; where it takes nearest rows or inducing points, whichever make
left-out rows likelier, it predicts along the way by what it takes in the end. A fit “reaches” a value when it is at
least as good; “never” is within its 1,000 iterations, or its convergence, or the time that it had. The bound has many
optima close to each other where inducing points move: near which of them a search ends depends on its path, down to the
rounding, so “never” can also mean another optimum that is not as good. An NLPD may be passed early and left again; the
first time counts."""


def write(rows: list[Row], page: Path, section: Path) -> list[Path]:
    """Write the page with its figures, and the section for the paper's experiments; the paths of all."""
    fits_of = grouped(rows)
    names = [name for name in SMALLEST_FIRST if name in fits_of]
    figures = draw({name: fits_of[name] for name in names}, page)
    texts = {
        page: _page(fits_of, names, rows, {name: os.path.relpath(path, page.parent) for name, path in figures.items()}),
        section: _section(fits_of, names, rows),
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [*texts, *figures.values()]


def _page(fits_of: FitsByDataset, names: list[str], rows: list[Row], figures: dict[str, str]) -> str:
    parts = [
        "# Whole fits beside GPflow and GPyTorch\n\nMade by `python -m benchmarks.speed page`.",
        f"{HOW} {_setting(rows)}",
        "## What was to be reached\n\n" + "\n".join(targets(fits_of, names)),
        "## Time to the bound where a peer ends: rio-uq in the paper's settings\n\n"
        "Seconds of rio-uq / of the peer to the bound that the peer ends with, and how much faster rio-uq is; in "
        "brackets the peer's time to the bound that rio-uq ends with.\n",
        _against_peers(fits_of, names, PAPER, _bound_cell),
        "## Time to the NLPD where a peer ends: rio-uq as it comes\n\n"
        "The same for NLPD on the test rows, in which lower is better.\n",
        _against_peers(fits_of, names, DEFAULT, _nlpd_cell),
        "## Time to the NLPD where a peer ends: rio-uq in the paper's settings\n",
        _against_peers(fits_of, names, PAPER, _nlpd_cell),
        "## Where everybody ends",
        *(f"**{title}**\n\n{_ends(fits_of, names, measure, form)}" for title, measure, form in MEASURES),
        *_remarks(fits_of, names, rows),
        *(f"![{caption}]({path})" for caption, path in figures.items()),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


MEASURES = (
    ("Seconds of the whole fit", "seconds", ".2f"),
    ("Of these, seconds to the first value: building the model and compiling its graph", "graph_seconds", ".2f"),
    ("Iterations on all rows, or on the subset that nearest rows learn from", "n_iter", ".0f"),
    (
        "Bound of the log likelihood (in brackets where it cannot be compared: copies of rows count once, outcomes are "
        "on another scale, or it is the likelihood of the subset that nearest rows learn from, times n/m)",
        "bound",
        ".1f",
    ),
    ("NLPD on the test rows", "nlpd", ".3f"),
    ("RMSE on the test rows", "rmse", ".4g"),
)


def _setting(rows: list[Row]) -> str:
    versions: dict[str, str] = {}
    for row in rows:
        versions |= row.get("versions", {})
    numbers = ", ".join(f"{library} {number}" for library, number in versions.items())
    threads = "/".join(str(n) for n in sorted({row["threads"] for row in rows}))
    clocks = " and ".join(sorted({row["clock"] for row in rows}))
    meaning = " (seconds of the processor: the machine had other work to do)" if "cpu" in clocks else ""
    rounds = max(row["round"] for row in rows) + 1
    absent = [name for name in SMALLEST_FIRST if name not in {row["dataset"] for row in rows}]
    not_run = f" Not run yet: {', '.join(absent)}." if absent else ""
    return f"Threads: {threads}; clock: {clocks}{meaning}; rounds: {rounds}; float64; {numbers}.{not_run}"


def targets(fits_of: FitsByDataset, names: list[str]) -> list[str]:
    """Each target of the benchmark with the data sets that reach it and those that do not."""

    def bound_ratio(name: str, peer: str) -> float:
        return _ratio(fits_of[name], PAPER, peer, _times_to_bound)

    fast = _verdict(
        names,
        fits_of,
        (PAPER, PAPERS_ENGINE),
        lambda name: bound_ratio(name, PAPERS_ENGINE) >= FASTER_THAN_PAPERS_ENGINE,
    )
    ahead = [
        _verdict(names, fits_of, (PAPER, peer), lambda name, peer=peer: bound_ratio(name, peer) > 1.0)
        for peer in PEERS
        if peer.startswith("GPyTorch")
    ]
    better = _verdict(names, fits_of, (DEFAULT, PAPERS_ENGINE), lambda name: _better_in_no_more_time(fits_of[name]))
    return [
        f"- rio-uq in the paper's settings gets to the bound where GPflow SVGP ends at least "
        f"{FASTER_THAN_PAPERS_ENGINE:g} times sooner than GPflow SVGP, on every data set: {fast}.",
        f"- It gets to the bound where GPyTorch SGPR ends sooner than GPyTorch SGPR, on every data set: {ahead[0]}.",
        f"- The same for GPyTorch SVGP: {ahead[1]}.",
        f"- rio-uq as it comes ends with a better NLPD in no more time than GPflow SVGP, on at least {BETTER_DATASETS} "
        f"of nine data sets: {better}.",
    ]


def _better_in_no_more_time(fits: dict[str, Fits]) -> bool:
    ours, theirs = fits[DEFAULT], fits[PAPERS_ENGINE]
    return ours.median("nlpd") < theirs.median("nlpd") and ours.median("seconds") <= theirs.median("seconds")


def _verdict(names: list[str], fits_of: FitsByDataset, needed: tuple[str, str], is_met: Callable[[str], bool]) -> str:
    there = [name for name in names if all(engine in fits_of[name] for engine in needed)]
    failed = [name for name in there if not is_met(name)]
    return f"{len(there) - len(failed)} of {len(there)}" + (f" (not on {', '.join(failed)})" if failed else "")


def _times_to_bound(ours: Fits, theirs: Fits) -> tuple[float, float]:
    """Both to where the second ends."""
    level = theirs.median("bound")
    return ours.time_to_bound(level), theirs.time_to_bound(level)


def _times_to_nlpd(ours: Fits, theirs: Fits) -> tuple[float, float]:
    level = theirs.median("nlpd")
    return ours.time_to_nlpd(level), theirs.time_to_nlpd(level)


Times = Callable[[Fits, Fits], tuple[float, float]]


def _ratio(fits: dict[str, Fits], ours: str, peer: str, times: Times) -> float:
    """How much sooner ours gets to where the peer ends; zero if never."""
    own, theirs = times(fits[ours], fits[peer])
    return theirs / own


def _against_peers(fits_of: FitsByDataset, names: list[str], ours: str, cell: Callable[[Fits, Fits], str]) -> str:
    lines = []
    for name in names:
        fits = fits_of[name]
        cells = [cell(fits[ours], fits[peer]) if {ours, peer} <= set(fits) else "–" for peer in PEERS]
        lines.append([name, *cells])
    return markdown_table(["data set", *PEERS], lines)


def _bound_cell(ours: Fits, theirs: Fits) -> str:
    return _cell(ours, theirs, _times_to_bound)


def _nlpd_cell(ours: Fits, theirs: Fits) -> str:
    return _cell(ours, theirs, _times_to_nlpd)


def _cell(ours: Fits, theirs: Fits, times: Times) -> str:
    own, peers = times(ours, theirs)
    back, _ = times(theirs, ours)
    ratio = f": **{peers / own:.1f}×**" if own < float("inf") else ""
    return f"{_seconds(own)} / {_seconds(peers)}{ratio} ({_seconds(back)})"


def _seconds(value: float) -> str:
    return "never" if value == float("inf") else f"{value:.2f}"


def _ends(fits_of: FitsByDataset, names: list[str], measure: str, form: str) -> str:
    lines = []
    for name in names:
        fits = fits_of[name]
        some = next(iter(fits.values())).rounds[0]
        lines.append(
            [name, f"{some['n']:,} × {some['d']}", *(_end(fits.get(engine), measure, form) for engine in ENGINES)]
        )
    return markdown_table(["data set", "n × d", *ENGINES], lines)


def _end(fits: Fits | None, measure: str, form: str) -> str:
    if fits is None:
        return "–"
    text = format(fits.median(measure), form)
    if measure == "seconds" and fits.stopped.startswith("cut off"):
        return f"> {text}"
    return f"({text})" if measure == "bound" and not fits.has_comparable_bound else text


def _remarks(fits_of: FitsByDataset, names: list[str], rows: list[Row]) -> list[str]:
    remarks = [
        f"- {name}: {engine} did not end by itself ({fits.stopped}); its numbers are what it had reached."
        for name in names
        for engine, fits in fits_of[name].items()
        if fits.stopped
    ]
    failed = {(row["dataset"], row["engine"]): row["error"] for row in rows if "error" in row}
    remarks += [
        f"- {name}: {engine} failed: {error}"
        for (name, engine), error in failed.items()
        if engine not in fits_of.get(name, {})
    ]
    return ["\n".join(remarks)] if remarks else []


def _section(fits_of: FitsByDataset, names: list[str], rows: list[Row]) -> str:
    """Of the page of the paper's experiments: the paper's engine beside rio-uq."""
    lines = []
    for name in names:
        fits = fits_of[name]
        if not {DEFAULT, PAPER, PAPERS_ENGINE} <= set(fits):
            continue
        engines = (PAPERS_ENGINE, PAPER, DEFAULT)
        own, theirs = _times_to_bound(fits[PAPER], fits[PAPERS_ENGINE])
        some = fits[PAPER].rounds[0]
        lines.append(
            [
                name,
                f"{some['n']:,} × {some['d']}",
                *(_end(fits[engine], "seconds", ".2f") for engine in engines),
                f"{_seconds(own)} / {_seconds(theirs)}" + (f": {theirs / own:.1f}×" if own < float("inf") else ""),
                *(
                    " / ".join(_end(fits[engine], measure, form) for engine in engines)
                    for measure, form in (("bound", ".1f"), ("rmse", ".4g"), ("nlpd", ".3f"))
                ),
            ]
        )
    header = [
        "data set",
        "n × d",
        "GPflow SVGP, s",
        "rio-uq in the paper's settings, s",
        "rio-uq as it comes, s",
        "rio-uq in the paper's settings / GPflow to GPflow's last bound, s",
        *(f"{measure} ¹" for measure in ("bound", "RMSE", "NLPD")),
    ]
    return (
        "## Times: whole fits beside GPflow's SVGP\n\nWritten by `python -m benchmarks.speed page`, which compares "
        f"more engines in `benchmarks/speed/README.md` and says "
        f"how. {_setting(rows)}\n\n{markdown_table(header, lines)}\n"
        "¹ GPflow SVGP / rio-uq in the paper's settings / rio-uq as it comes (bounds in brackets cannot be "
        "compared)\n"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    section = FOLDER.parent / "experiments" / "results" / "fit-times.md"
    parser.add_argument("--section", type=Path, default=section, help="of the paper's experiments (%(default)s)")


def main(options: argparse.Namespace) -> None:
    rows = stored_rows(options.results)
    if all("error" in row for row in rows):
        sys.exit(f"all fits in {options.results} failed: make others with `run`")
    for path in write(rows, options.output, options.section):
        print(path)
