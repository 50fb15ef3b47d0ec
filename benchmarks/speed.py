"""Whole fits on the paper's data, by turns: rio-uq as it comes and in the paper's settings, GPflow, GPyTorch.

    python -m benchmarks.speed run --peers-python .venv-peers/bin/python
    python -m benchmarks.speed run --datasets yacht,ENB/h --rounds 3 --max-seconds 100 --threads 1
    python -m benchmarks.speed page        benchmarks/speed.md, and the section of times of the paper's experiments

Everybody gets the same split and the same predictions of the paper's network (run 0). All but "rio-uq" have what the
paper says: RBF kernels of the inputs and of the output, 50 inducing points that begin at the first 50 rows and move,
all values beginning at one, at most 1,000 iterations of L-BFGS-B on all rows; SVGP has a full covariance of the
variational distribution. The peers get the very arrays that rio-uq works on in the paper's settings. Each library has a
process of its own, the peers in their own environment; they work one at a time. A fit is timed from the arrays to the
end of the optimiser (GPflow: with the compilation of its graph, which is shown apart too), and a short fit of everybody
goes before. The order changes from round to round. Every fit is stored as soon as it is done; a further run does what
is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import Peer
from experiments.__main__ import chosen
from experiments.datasets import DATASETS, HOW_TO_GET_DATA
from experiments.methods import Rows
from experiments.runner import CACHE, available
from rio_uq.gp.scaling import Scaling
from rio_uq.options import PAPER_SETTINGS

Row = dict[str, Any]

ENGINES = ("rio-uq", "rio-uq paper", "GPflow SVGP", "GPflow SGPR", "GPyTorch SGPR", "GPyTorch SVGP")
LIBRARIES = {
    "rio-uq": ("numpy", "scipy", "scikit-learn"),
    "GPflow": ("gpflow", "tensorflow"),
    "GPyTorch": ("gpytorch", "torch"),
}
SMALLEST_FIRST = ("yacht", "ENB/h", "ENB/c", "CCS", "airfoil", "wine/r", "wine/w", "CCPP", "protein")
FOLDER = Path(__file__).parent
ROWS = FOLDER / "speed.jsonl"
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


def problem_arrays(rows: Rows) -> dict[str, np.ndarray]:
    """The rows of a run, and the same as the paper's GP sees them: for the peers, which do not scale."""
    inputs = Scaling.standardizing(rows.X_train)
    train, test = (
        np.hstack([inputs.apply(X), prediction[:, None]])
        for X, prediction in ((rows.X_train, rows.pred_train), (rows.X_test, rows.pred_test))
    )
    given = {name: value for name, value in asdict(rows).items() if name not in ("base_seconds", "validation")}
    return {
        **given,
        "rows": train,
        "residuals": (rows.y_train - rows.pred_train)[:, None],
        "test_rows": test,
        "points": train[: PAPER_SETTINGS["n_inducing"]],
        "lengthscale": np.array(1.0),
        "noise_variance": np.array(1.0),
        "ard": np.array(False),
    }


def peers_environment(threads: int) -> dict[str, str]:
    """This one with rio-uq on the path, and every library on the same number of threads."""
    repository = FOLDER.resolve().parent
    path = os.pathsep.join([str(repository), str(repository / "src")])
    return {**os.environ, **dict.fromkeys(THREAD_LIMITS, str(threads)), "PYTHONPATH": path}


def read_rows(path: Path) -> list[Row]:
    """What has been stored; a last line that was cut short by a crash does not count."""
    if not path.exists():
        return []
    rows = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for i, line in enumerate(lines):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            if i < len(lines) - 1:
                raise ValueError(f"line {i + 1} of {path} is not a row: remove it, or the file") from None
    return rows


def append_row(path: Path, row: Row) -> None:
    """On a line of its own, also after one that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.read_bytes() if path.exists() else b""
    whole = old[: old.rfind(b"\n") + 1]
    if whole != old:
        path.write_bytes(whole)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def open_turns(name: str, options: argparse.Namespace, rows: list[Row]) -> Iterator[tuple[int, str]]:
    """What is still to be done on a data set: in each round another engine begins.

    A fit that was cut off earlier than now is done again, one that failed as well.
    """
    known = {
        (row["round"], row["engine"])
        for row in rows
        if (row["dataset"], row["threads"], row["clock"]) == (name, options.threads, options.clock)
        and "error" not in row
        and (not row["stopped"].startswith("cut off") or row["max_seconds"] >= options.max_seconds)
    }
    for i in range(options.rounds):
        shift = i % len(ENGINES)
        for engine in ENGINES[shift:] + ENGINES[:shift]:
            if (i, engine) not in known:
                yield i, engine


class Fitters:
    """A process for each library, started when it is first asked, each warmed up by a short fit of each engine.

    The peers hold back NumPy in their environment, so that rio-uq has this one.
    """

    def __init__(self, python: str, problem: Path, threads: int) -> None:
        self._peers_python, self._problem, self._environment = python, problem, peers_environment(threads)
        self._peers: dict[str, Peer] = {}
        self._warm: set[str] = set()
        self._open = ExitStack()

    def __enter__(self) -> Fitters:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def _peer(self, library: str) -> Peer:
        if library not in self._peers:
            python = sys.executable if library == "rio-uq" else self._peers_python
            peer = Peer(python, library, self._problem, script="fitters.py", environment=self._environment)
            self._peers[library] = self._open.enter_context(peer)
        return self._peers[library]

    def fit(self, engine: str, max_seconds: float, clock: str) -> Row:
        library = engine.split()[0]
        task = {"task": "fit", "engine": engine, "seed": 0, "max_seconds": max_seconds, "clock": clock}
        peer = self._peer(library)
        if engine not in self._warm:
            reply = peer.ask(**task, max_iter=2)
            if "error" in reply:
                return reply
            self._warm.add(engine)
        versions = peer.ask(task="versions", libraries=LIBRARIES[library])
        return {**peer.ask(**task), "versions": versions}


def run(names: list[str], options: argparse.Namespace, note: Callable[[str], None]) -> None:
    """Fit what is missing, and store each fit."""
    for name in names:
        turns = list(open_turns(name, options, read_rows(options.rows)))
        if not turns:
            continue
        import torch

        from experiments.runs import rows_of

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
                    append_row(options.rows, {**setting, **shape, "max_seconds": options.max_seconds, **reply})
                    note(f"{name}, round {i + 1}, {engine}: {said(reply)}")


def said(reply: Row) -> str:
    if "error" in reply:
        return str(reply["error"])
    ends = (
        f"{reply['seconds']:.2f} s, {reply['n_iter']} iterations, bound {reply['bound']:.2f}, NLPD {reply['nlpd']:.3f}"
    )
    return f"{ends} ({reply['stopped']})" if reply["stopped"] else ends


def write_page(options: argparse.Namespace) -> None:
    from benchmarks.speed_page import write

    rows = read_rows(options.rows)
    if not any("error" not in row for row in rows):
        sys.exit(f"there are no fits in {options.rows}: make them with `run`")
    for path in write(rows, options.page, options.section):
        print(path)


def parse(arguments: list[str] | None) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="fit what is missing")
    runner.add_argument("--peers-python", default=".venv-peers/bin/python", help="default: %(default)s")
    runner.add_argument("--datasets", help="names separated by commas (default: all that are there)")
    runner.add_argument("--rounds", type=int, default=1, help="fits of each on each data set (default: %(default)s)")
    runner.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for everybody (default: all)")
    runner.add_argument("--max-seconds", type=float, default=600.0, help="for a fit (default: %(default)s)")
    runner.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu: seconds of the processor, for one thread on a machine that others use too (default: %(default)s)",
    )
    runner.add_argument("--cache", type=Path, default=CACHE, help="folder of the networks' predictions")
    page = commands.add_parser("page", help="write the page from the stored fits")
    page.add_argument("--page", type=Path, default=FOLDER / "speed.md", help="default: %(default)s")
    section = FOLDER.parent / "experiments" / "results" / "fit-times.md"
    page.add_argument("--section", type=Path, default=section, help="of the paper's experiments (default: %(default)s)")
    for command in (runner, page):
        command.add_argument("--rows", type=Path, default=ROWS, help="stored fits (default: %(default)s)")
    return parser.parse_args(arguments), parser


def main(arguments: list[str] | None = None) -> None:
    options, parser = parse(arguments)
    if options.command == "page":
        write_page(options)
        return
    if options.rounds < 1 or options.threads < 1 or not options.max_seconds > 0.0:
        parser.error("--rounds and --threads have to be at least 1, --max-seconds more than 0")
    wanted = chosen(options.datasets, list(DATASETS), "datasets", parser)
    names, missing = available([name for name in SMALLEST_FIRST if name in wanted], download=False)
    for reason in missing.values():
        print(f"left out: {reason}", file=sys.stderr)
    if not names:
        sys.exit(f"there are no data to fit: {HOW_TO_GET_DATA}")
    if not Path(options.peers_python).exists():
        parser.error(f"{options.peers_python} is not there: `make bench` sets it up, or name one with --peers-python")
    run(names, options, lambda text: print(text, file=sys.stderr, flush=True))


if __name__ == "__main__":
    main()
