"""Whole fits on the paper's data: GPflow's SVGP in the paper's settings, rio-uq in the same, and rio-uq as it comes.

    python -m benchmarks.paper_fit --peers-python .venv-peers/bin/python
    python -m benchmarks.paper_fit --datasets yacht,ENB/h --runs 3 --output paper_fit.md

Everybody gets the same split and the same predictions of the paper's network, in one process of the environment with
GPflow, on all processors. GPflow has what the paper says: RBF kernels of the inputs and of the output, 50 inducing
points that begin at the first 50 rows, a full covariance of the variational distribution, all values beginning at one,
1,000 iterations of L-BFGS-B; and the very arrays that rio-uq works on in the paper's settings: standardised inputs,
predictions and residuals as they are. A fit is timed from the arrays to the end of the optimiser, and for GPflow with
the compilation of its graph, which is shown apart too. A short fit of everybody goes before. The order changes from
round to round; times are medians over rounds. The bound is that of the log likelihood of the training residuals, in the
units of the data.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import N_JOBS, Peer, show
from experiments.__main__ import chosen
from experiments.datasets import DATASETS, HOW_TO_GET_DATA
from experiments.methods import Rows
from experiments.runner import CACHE, available
from rio_uq.options import PAPER_SETTINGS
from rio_uq.scaling import Scaling

Reply = dict[str, Any]

ENGINES = ("GPflow", "paper", "default")
ENOUGH_SECONDS = 300.0
"""No further round begins on a run that has taken this long."""

THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
HEADER = (
    "| data set | n × d | GPflow, s | of these for its graph | rio-uq in the paper's settings, s | faster by "
    "| rio-uq as it comes, s | faster by | iterations ¹ | bound ¹ | RMSE ¹ | NLPD ¹ |\n" + "| --- " * 12 + "|"
)
LEGEND = "¹ GPflow / rio-uq in the paper's settings / rio-uq as it comes"


@dataclass(frozen=True)
class Fit:
    """What an engine did on a data set: medians over the rounds of a run, means over runs.

    Attributes
    ----------
    seconds, graph_seconds : float
        Of the whole fit, and of these before the first step.
    bound, rmse, nlpd : float
        At the end.
    n_iter : float
    stopped : str
        What ended the fit if not the optimiser; empty otherwise.
    """

    seconds: float
    graph_seconds: float
    bound: float
    rmse: float
    nlpd: float
    n_iter: float
    stopped: str

    @classmethod
    def of(cls, runs: list[list[Reply]]) -> Fit:
        """From the replies of each round of each run."""
        names = [field.name for field in fields(cls) if field.name != "stopped"]
        numbers = {
            name: float(np.mean([np.median([reply[name] for reply in rounds]) for rounds in runs])) for name in names
        }
        reasons = dict.fromkeys(reply["stopped"] for rounds in runs for reply in rounds if reply["stopped"])
        return cls(**numbers, stopped="; ".join(reasons))


def problem_arrays(rows: Rows) -> dict[str, np.ndarray]:
    """The rows of a run, and the same as the paper's GP sees them: for GPflow, which does not scale."""
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


def peers_environment() -> dict[str, str]:
    """This one with rio-uq on the path, and every library free to use all processors."""
    repository = Path(__file__).resolve().parents[1]
    kept = {name: value for name, value in os.environ.items() if name not in THREAD_LIMITS}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(repository), str(repository / "src")])}


def open_peer(python: str, problem: Path) -> Peer:
    return Peer(python, ENGINES[0], problem, script="fitters.py", environment=peers_environment())


def fit_by_turns(
    peer: Peer, seed: int, n_rounds: int, max_seconds: float, note: Callable[[str], None]
) -> dict[str, list[Reply]]:
    """Replies of each engine, round by round; an engine that fails does not get another turn."""
    task = {"task": "fit", "seed": seed, "max_seconds": max_seconds}
    replies: dict[str, list[Reply]] = {engine: [] for engine in ENGINES}
    for engine in ENGINES:
        warm_up = peer.ask(**task, engine=engine, max_iter=2)
        if "error" in warm_up:
            replies[engine].append(warm_up)
    began = time.monotonic()
    for i in range(n_rounds):
        able = [engine for engine in ENGINES if not any("error" in reply for reply in replies[engine])]
        if i and (not able or time.monotonic() - began > ENOUGH_SECONDS):
            break
        shift = i % max(1, len(able))
        for engine in able[shift:] + able[:shift]:
            reply = peer.ask(**task, engine=engine)
            replies[engine].append(reply)
            note(f"round {i + 1}, {engine}: {reply.get('error') or format(reply['seconds'], '.2f') + ' s'}")
    return replies


def summary(runs: list[list[Reply]]) -> Fit | str:
    """What an engine did, or the first error that it gave."""
    errors = [reply["error"] for rounds in runs for reply in rounds if "error" in reply]
    return errors[0] if errors else Fit.of(runs)


def table_row(name: str, shape: tuple[int, ...], found: dict[str, Fit | str]) -> str:
    """A line of the table; an engine that failed has a dash everywhere."""
    gpflow = found["GPflow"]
    cells = [name, f"{shape[0]:,} × {shape[1]}", cell(gpflow, "seconds", ".2f"), cell(gpflow, "graph_seconds", ".2f")]
    for ours in (found[engine] for engine in ENGINES[1:]):
        cells += [cell(ours, "seconds", ".2f"), ratio(gpflow, ours)]
    for measure, form in (("n_iter", ".0f"), ("bound", ".1f"), ("rmse", ".4g"), ("nlpd", ".3f")):
        cells.append(" / ".join(cell(found[engine], measure, form) for engine in ENGINES))
    return f"| {' | '.join(cells)} |"


def cell(fit: Fit | str, measure: str, form: str) -> str:
    if isinstance(fit, str):
        return "–"
    more = "> " if fit.stopped and measure == "seconds" else ""
    return more + format(getattr(fit, measure), form)


def ratio(gpflow: Fit | str, ours: Fit | str) -> str:
    if isinstance(gpflow, str) or isinstance(ours, str):
        return "–"
    return f"{'> ' if gpflow.stopped else ''}{gpflow.seconds / ours.seconds:.1f}×"


def remarks(name: str, found: dict[str, Fit | str]) -> Iterator[str]:
    """What went wrong, in sentences."""
    for engine, fit in found.items():
        if isinstance(fit, str):
            yield f"{name}: {engine} failed: {fit}"
        elif fit.stopped:
            yield f"{name}: {engine} did not end by itself ({fit.stopped}); its numbers are what it had reached"


def compare(
    names: list[str], n_runs: int, n_rounds: int, python: str, max_seconds: float, write: Callable[[str], None]
) -> None:
    """Write the table, a line as soon as a data set is done."""
    import torch

    from experiments.runs import rows_of

    torch.set_num_threads(1)  # as the experiments train their networks
    write(HEADER)
    all_remarks: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        for name in names:
            runs = []
            for run in range(n_runs):
                rows = rows_of(name, run, "network", CACHE)
                np.savez(path, **problem_arrays(rows))
                label = f"{name}, run {run}, "
                with open_peer(python, path) as peer:
                    runs.append(fit_by_turns(peer, run, n_rounds, max_seconds, partial(tell, label)))
                    versions = peer.ask(task="versions")
            found = {engine: summary([replies[engine] for replies in runs]) for engine in ENGINES}
            write(table_row(name, rows.X_train.shape, found))
            all_remarks += remarks(name, found)
    write("\n" + "  \n".join([LEGEND, *all_remarks, setting(versions)]))


def setting(versions: dict[str, str]) -> str:
    libraries = versions.get("error") or ", ".join(f"{library} {number}" for library, number in versions.items())
    return f"{N_JOBS} processors, float64; {libraries}"


def tell(*texts: str) -> None:
    print("".join(texts), file=sys.stderr, flush=True)


def writer(output: Path | None) -> Callable[[str], None]:
    """To standard output and, if there is one, to the end of a file."""

    def write(text: str) -> None:
        show(text)
        if output is not None:
            with output.open("a", encoding="utf-8") as file:
                file.write(text + "\n")

    return write


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers-python", default=".venv-peers/bin/python", help="default: %(default)s")
    parser.add_argument("--datasets", help="names separated by commas (default: all that are there)")
    parser.add_argument("--runs", type=int, default=1, help="number of random splits (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of fits on each split at most (default: %(default)s)")
    parser.add_argument("--max-seconds", type=float, default=600.0, help="for a fit of GPflow (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="a Markdown file that the table is added to")
    options = parser.parse_args(arguments)
    if options.runs < 1 or options.rounds < 1 or not options.max_seconds > 0.0:
        parser.error("--runs and --rounds have to be at least 1, --max-seconds more than 0")
    names, missing = available(chosen(options.datasets, list(DATASETS), "datasets", parser), download=False)
    for reason in missing.values():
        tell(f"left out: {reason}")
    if not names:
        sys.exit(f"there are no data to fit: {HOW_TO_GET_DATA}")
    if not Path(options.peers_python).exists():
        parser.error(f"{options.peers_python} is not there: `make bench` sets it up, or name one with --peers-python")
    compare(names, options.runs, options.rounds, options.peers_python, options.max_seconds, writer(options.output))


if __name__ == "__main__":
    main()
