"""Measure rio-uq and its peers on the same data, from the same start values.

One evaluation of the bound and its gradient; a whole fit to the same bound; prediction of a million rows with standard
deviations; peak memory of an evaluation. The roofline is the time of the bare BLAS and LAPACK calls and ``exp``s on
arrays of the same shapes, in the same blocks and on the same threads, measured in the same run. Everybody takes turns,
and the median counts: this is meant for machines that others use too. With ``--baseline`` an earlier commit of rio-uq
takes turns with this tree, see `benchmarks.engine.baseline`. What is stored already is not measured again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine.baseline import WORKS, commit_of, compare
from benchmarks.engine.ours import N_JOBS, Ours
from benchmarks.engine.problems import EVALUATIONS, FITS, PREDICTIONS, Problem
from benchmarks.engine.roofline import Roofline
from lab.json_lines import Row, append_row, read_rows
from lab.measuring import seconds_of
from lab.peers.process import Peer, add_peers_python, check_peers_python
from rio_uq.gp.backend.threads import single_blas_thread

PARTS = ("evaluate", "fit", "predict", "memory", "baseline")
PARTS_WITH_PEERS = ("evaluate", "fit", "predict")
PEERS = ("GPflow SGPR", "GPflow SVGP", "GPyTorch SGPR")
MAX_ITER = 100


def evaluations(problem: Problem, python: str, folder: Path) -> Row:
    """Milliseconds of one evaluation of the bound and its gradient, by engine, and the bounds."""
    path, ours = problem.save(folder), Ours(problem)
    roofline = Roofline(ours.bound, N_JOBS)
    seconds: dict[str, list[float]] = {name: [] for name in ("rio-uq", "roofline", *PEERS)}
    bounds, failures = {"rio-uq": ours.evaluate()}, {}
    for name in PEERS:
        with Peer(python, name, path) as peer:
            for _ in range(15 if problem.n * problem.m < 1e7 else 3):
                reply = peer.ask(task="evaluate", repeats=3)
                if "error" in reply:
                    failures[name] = reply["error"]
                    break
                seconds[name] += reply["seconds"]
                bounds[name] = reply["bound"]
                time.sleep(0.2)  # threads of the peer that still spin must not slow us down
                with single_blas_thread:
                    for _ in range(3):
                        seconds["rio-uq"].append(seconds_of(ours.evaluate))
                        seconds["roofline"].append(seconds_of(roofline))
    if not seconds["rio-uq"]:
        raise RuntimeError(f"no peer could evaluate {problem.name}: {failures}")
    medians = {name: round(1e3 * float(np.median(values)), 4) for name, values in seconds.items() if values}
    shares = np.array(seconds["roofline"]) / np.array(seconds["rio-uq"])  # each beside its neighbour
    share = round(float(np.median(shares)), 4)
    return {"milliseconds": medians, "roofline_share": share, "bounds": bounds, "failures": failures}


def fit(problem: Problem, peer_name: str, python: str, folder: Path) -> Row:
    """Seconds of a peer and of ours to the lower one of the bounds that they end with."""
    with Peer(python, peer_name, problem.save(folder)) as peer:
        reply = peer.ask(task="fit", max_iter=MAX_ITER)
    if "error" in reply:
        return {"error": reply["error"]}
    with single_blas_thread:
        own = Ours(problem).fit(MAX_ITER)
    best = max(bound for _, bound in own)
    level = min(best, max(bound for _, bound in reply["trace"]))
    seconds, peer_seconds = (next(s for s, bound in trace if bound >= level) for trace in (own, reply["trace"]))
    return {
        "level": level,
        "peer_seconds": peer_seconds,
        "seconds": seconds,
        "peer_bound": reply["trace"][-1][1],
        "bound": best,
    }


def predictions(problem: Problem, n_rows: int, python: str, folder: Path) -> Row:
    """Seconds to predict rows with standard deviations, by engine."""
    seconds = {"rio-uq": float(np.median([Ours(problem).predict(n_rows) for _ in range(3)]))}
    failures = {}
    for name in PEERS:
        with Peer(python, name, problem.save(folder)) as peer:
            reply = peer.ask(task="predict", n_rows=n_rows)
        if "error" in reply:
            failures[name] = reply["error"]
        else:
            seconds[name] = reply["seconds"]
    return {"seconds": seconds, "failures": failures}


def memory(problem: Problem) -> Row:
    """Peak memory of one evaluation beyond the data, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.engine.ours", str(problem.n), str(problem.d), str(problem.m)]
    return {"mib": float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)}


def tasks(options: argparse.Namespace, folder: Path) -> Iterator[tuple[Row, Callable[[], Row]]]:
    """Each measurement: the part, the problem and what else it depends on, and how it is made."""
    problems = [replace(problem, ard=options.ard) for problem in EVALUATIONS[: 2 if options.quick else None]]
    python, n_rows = options.peers_python, 100_000 if options.quick else 1_000_000

    def task(part: str, problem: Problem, measure: Callable[..., Row], *arguments: Any, **more: Any) -> Any:
        return {"part": part, **asdict(problem), **more}, lambda: measure(problem, *more.values(), *arguments)

    if "evaluate" in options.only:
        yield from (task("evaluate", problem, evaluations, python, folder) for problem in problems)
    if "fit" in options.only:
        for problem in FITS[: 1 if options.quick else None]:
            yield from (task("fit", problem, fit, python, folder, peer=peer) for peer in PEERS)
    if "predict" in options.only:
        yield from (task("predict", problem, predictions, python, folder, n_rows=n_rows) for problem in PREDICTIONS)
    if "memory" in options.only:
        yield task("memory", problems[-1], memory)
    if options.baseline and "baseline" in options.only:
        commit = commit_of(options.baseline)
        for work, sizes in WORKS.items():
            for problem in sizes[: 1 if options.quick else None]:
                varied = replace(problem, ard=problem.ard or options.ard)
                yield task("baseline", varied, compare, folder, work=work, baseline=commit)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quick", action="store_true", help="only the two smallest problems, and fewer rows to predict"
    )
    parser.add_argument("--ard", action="store_true", help="one lengthscale for each feature")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some of the parts")
    parser.add_argument("--baseline", metavar="COMMIT", help="compare with the engine of that commit")
    add_peers_python(parser)


def main(options: argparse.Namespace) -> None:
    if set(PARTS_WITH_PEERS) & set(options.only):
        check_peers_python(options.peers_python)
    stored = [row["task"] for row in read_rows(options.results)]
    with tempfile.TemporaryDirectory() as folder:
        for task, measure in tasks(options, Path(folder)):
            if task not in stored:
                row = {"task": task, "processors": N_JOBS, **measure()}
                append_row(options.results, row)
                print(row, flush=True)
