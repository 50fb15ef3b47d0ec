"""Fit what is missing, and store each fit as soon as it is done.

Everybody gets the same split and the same predictions of the paper's network (run 0). All but "rio-uq" have what the
paper says: RBF kernels of the inputs and of the output, 50 inducing points that begin at the first 50 rows and move,
all values beginning at one, at most 1,000 iterations of L-BFGS-B on all rows; SVGP has a full covariance of the
variational distribution. The peers get the very arrays that rio-uq works on in the paper's settings. Each library has a
process of its own, the peers in their own environment; they work one at a time. A fit is timed from the arrays to the
end of the optimiser (GPflow: with the compilation of its graph, which is shown apart too), and a short fit of everybody
goes before. The order changes from round to round.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.speed import ENGINES, SMALLEST_FIRST
from lab.datasets import DATASETS
from lab.fits.client import Fitters, problem_arrays
from lab.json_lines import Row, append_row, read_rows
from lab.options import at_least_one, names_among, positive, usable_datasets
from lab.peers.process import add_peers_python, check_peers_python
from lab.runs import CACHE, rows_of


def open_turns(name: str, options: argparse.Namespace, rows: list[Row]) -> Iterator[tuple[int, str]]:
    """Round and engine of each fit that is missing on a data set: in each round another engine begins.

    A fit that was cut off earlier than now is done again, one that failed as well.
    """
    done = {
        (row["round"], row["engine"])
        for row in rows
        if (row["dataset"], row["threads"], row["clock"]) == (name, options.threads, options.clock)
        and "error" not in row
        and (not row["stopped"].startswith("cut off") or row["max_seconds"] >= options.max_seconds)
    }
    for i in range(options.rounds):
        shift = i % len(ENGINES)
        for engine in ENGINES[shift:] + ENGINES[:shift]:
            if (i, engine) not in done:
                yield i, engine


def run(names: list[str], options: argparse.Namespace, note: Callable[[str], None]) -> None:
    """Fit what is missing, and store each fit."""
    for name in names:
        turns = list(open_turns(name, options, read_rows(options.results)))
        if not turns:
            continue
        import torch

        torch.set_num_threads(1)  # as the experiments train their networks
        rows = rows_of(name, 0, "network", options.cache)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "problem.npz"
            np.savez(path, **problem_arrays(rows))
            with Fitters(options.peers_python, path, options.threads) as fitters:
                for i, engine in turns:
                    reply = fitters.fit(engine, options.max_seconds, options.clock)
                    setting = {
                        "dataset": name,
                        "engine": engine,
                        "round": i,
                        "threads": options.threads,
                        "clock": options.clock,
                    }
                    shape = dict(zip("nd", rows.X_train.shape, strict=True))
                    append_row(options.results, {**setting, **shape, "max_seconds": options.max_seconds, **reply})
                    note(f"{name}, round {i + 1}, {engine}: {outcome_of(reply)}")


def outcome_of(reply: Row) -> str:
    if "error" in reply:
        return str(reply["error"])
    ends = (
        f"{reply['seconds']:.2f} s, {reply['n_iter']} iterations, bound {reply['bound']:.2f}, NLPD {reply['nlpd']:.3f}"
    )
    return f"{ends} ({reply['stopped']})" if reply["stopped"] else ends


def add_options(parser: argparse.ArgumentParser) -> None:
    named = {"type": names_among(DATASETS), "default": list(SMALLEST_FIRST)}
    add_peers_python(parser)
    parser.add_argument("--datasets", **named, help="names separated by commas (default: all that are there)")
    parser.add_argument("--rounds", type=at_least_one, default=1, help="fits of each on each data set (%(default)s)")
    parser.add_argument("--threads", type=at_least_one, default=os.cpu_count() or 1, help="for everybody (all)")
    parser.add_argument("--max-seconds", type=positive, default=600.0, help="for a fit (default: %(default)s)")
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu: seconds of the processor, for one thread on a machine that others use too (default: %(default)s)",
    )
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the networks' predictions")


def main(options: argparse.Namespace) -> None:
    names = usable_datasets([name for name in SMALLEST_FIRST if name in options.datasets])
    check_peers_python(options.peers_python)
    run(names, options, lambda text: print(text, file=sys.stderr, flush=True))
