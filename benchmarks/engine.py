"""Speed of the engine side by side with its peers, in one run, as ratios.

    python -m benchmarks.engine                    everything, about 20 minutes
    python -m benchmarks.engine --quick            the two smallest problems
    python -m benchmarks.engine --peers-python P   the interpreter of the environment with GPflow and GPyTorch

On the same data, from the same start values: one evaluation of the bound and its gradient; a whole fit to the same
bound; prediction of a million rows with standard deviations. The roofline is the time of the bare BLAS and LAPACK calls
and ``exp``s on arrays of the same shapes, in the same blocks and on the same threads, measured in the same run.
Everybody takes turns, and the median counts: this is meant for machines that others use too.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.problems import Problem
from benchmarks.roofline import Roofline
from rio_uq.gp.inference import sparse
from rio_uq.gp.kernels.io import Kernel, io_kernel
from rio_uq.gp.optimize import maximize
from rio_uq.gp.posterior import predict
from rio_uq.gp.rows import Rows, single_blas_thread
from rio_uq.gp.starts import Scales, bounds_of
from rio_uq.gp.training import _Sparse

PEERS = ("GPflow SGPR", "GPflow SVGP", "GPyTorch SGPR")
EVALUATIONS = (
    Problem(1_000, 8, 50),
    Problem(36_584, 9, 50),
    Problem(36_584, 9, 500),
    Problem(42_800, 384, 50),
    Problem(463_715, 90, 50),
)
FITS = (Problem(1_000, 8, 50), Problem(36_584, 9, 50))
PREDICTIONS = (Problem(2_000, 9, 50), Problem(2_000, 9, 500))
N_JOBS = os.cpu_count() or 1


class Ours:
    """The same problem in our engine."""

    def __init__(self, problem: Problem) -> None:
        arrays = problem.arrays()
        self.kernel: Kernel = io_kernel(problem.d, 1, ard=problem.ard)
        self.data = Rows(arrays["rows"], arrays["residuals"], n_jobs=N_JOBS)
        self.points = arrays["points"]
        log_lengthscales = np.full(problem.d if problem.ard else 1, np.log(arrays["lengthscale"]))
        self.theta = np.concatenate([[0.0], log_lengthscales, [0.0, 0.0]])
        self.log_noise = np.log(arrays["noise_variance"]).reshape(1)
        self.bound = sparse.CollapsedBound(self.kernel, self.data, problem.m)

    def evaluate(self) -> float:
        return self.bound(self.theta, self.log_noise, self.points)[0]

    def fit(self, max_iter: int) -> list[tuple[float, float]]:
        trace: list[tuple[float, float]] = []
        problem = _Sparse(self.kernel, self.data, self.points, move_points=True)
        x = np.concatenate([self.theta, self.log_noise])
        began = time.perf_counter()

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = problem(x)
            trace.append((time.perf_counter() - began, value))
            return value, gradient

        scales = Scales.of(self.data, self.data.rows.shape[1] - 1, 0.0)
        bounds = problem.bounds(bounds_of(self.kernel, 1, scales))
        maximize(objective, problem.start(x), bounds, max_iter=max_iter, tolerance=2.2e-9)
        return trace

    def predict(self, n_rows: int) -> float:
        posterior = sparse.posterior(self.kernel, self.theta, self.log_noise, self.points, self.data)
        rows = np.random.default_rng(0).standard_normal((n_rows, self.data.rows.shape[1]))
        began = time.perf_counter()
        predict(posterior, rows, n_jobs=N_JOBS)
        return time.perf_counter() - began


class Peer:
    """A process in the peers' environment that answers requests for one engine on one problem."""

    def __init__(
        self,
        python: str,
        engine: str,
        problem: Path,
        *,
        script: str = "peers.py",
        environment: dict[str, str] | None = None,
    ) -> None:
        self.request = {"engine": engine, "problem": str(problem)}
        self.process = subprocess.Popen(
            [python, str(Path(__file__).with_name(script))],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, **task: object) -> dict:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.poll() is None:
            self.process.stdin.write(json.dumps({**self.request, **task}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            if line:
                return json.loads(line)
        code = self.process.wait()
        return {"error": "out of memory" if code == -signal.SIGKILL else f"its process ended with code {code}"}


def timed(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def show(text: str = "") -> None:
    print(text, flush=True)


def evaluations(problems: tuple[Problem, ...], python: str, folder: Path) -> None:
    show("\n## One evaluation of the bound and its gradient\n")
    show("| problem | engine | ms | ours is faster by | bound |\n| --- | --- | --- | --- | --- |")
    for problem in problems:
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
                            seconds["rio-uq"].append(timed(ours.evaluate))
                            seconds["roofline"].append(timed(roofline))
        medians = {name: float(np.median(values)) for name, values in seconds.items() if values}
        own = medians["rio-uq"]
        for name, median in medians.items():
            note = "" if name == "rio-uq" else f"{median / own:.1f}×"
            if name == "roofline":
                shares = np.array(seconds["roofline"]) / np.array(seconds["rio-uq"])  # each beside its neighbour
                note = f"{100 * np.median(shares):.0f} % of the roofline reached"
            bound = f"{bounds[name]:.2f}" if name in bounds else ""
            show(f"| {problem.name} | {name} | {1e3 * median:.2f} | {note} | {bound} |")
        for name, failure in failures.items():
            show(f"| {problem.name} | {name} | {failure} | | |")


def fits(problems: tuple[Problem, ...], python: str, folder: Path, max_iter: int) -> None:
    show(f"\n## A whole fit to the same bound (at most {max_iter} iterations of L-BFGS-B, inducing points move)\n")
    show("| problem | peer | both reach | peer, s | ours, s | ours is faster by | last bound of peer | ours |")
    show("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for problem in problems:
        path = problem.save(folder)
        for name in PEERS:
            with Peer(python, name, path) as peer:
                reply = peer.ask(task="fit", max_iter=max_iter)
            if "error" in reply:
                show(f"| {problem.name} | {name} | {reply['error']} | | | | | |")
                continue
            with single_blas_thread:
                own = Ours(problem).fit(max_iter)
            best = max(bound for _, bound in own)
            level = min(best, max(bound for _, bound in reply["trace"]))
            ours_s, peer_s = (next(s for s, bound in trace if bound >= level) for trace in (own, reply["trace"]))
            show(
                f"| {problem.name} | {name} | {level:.1f} | {peer_s:.2f} | {ours_s:.2f} | {peer_s / ours_s:.1f}× "
                f"| {reply['trace'][-1][1]:.1f} | {best:.1f} |"
            )


def predictions(problems: tuple[Problem, ...], python: str, folder: Path, n_rows: int) -> None:
    show(f"\n## Prediction of {n_rows:,} rows with standard deviations\n")
    show("| m | engine | s | ours is faster by |\n| --- | --- | --- | --- |")
    for problem in problems:
        path = problem.save(folder)
        own = float(np.median([Ours(problem).predict(n_rows) for _ in range(3)]))
        show(f"| {problem.m} | rio-uq | {own:.2f} | |")
        for name in PEERS:
            with Peer(python, name, path) as peer:
                reply = peer.ask(task="predict", n_rows=n_rows)
            seconds = reply.get("seconds")
            shown = f"{seconds:.2f} | {seconds / own:.1f}×" if seconds else f"{reply['error']} |"
            show(f"| {problem.m} | {name} | {shown} |")


def memory(problem: Problem) -> None:
    """Peak memory of one evaluation beyond the data, measured in a process of its own (on Linux)."""
    ours = Ours(problem)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
    before = _peak_kib()
    ours.evaluate()
    print((_peak_kib() - before) / 1024)


def _peak_kib() -> int:
    # Not getrusage: its peak of a new process begins with that of the parent.
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def show_memory(problem: Problem) -> None:
    arguments = [sys.executable, "-m", "benchmarks.engine", "--memory", str(problem.n), str(problem.d), str(problem.m)]
    peak = float(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    show(f"\nPeak memory of an evaluation beyond the data at {problem.name}: {peak:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="only the two smallest problems, and fewer rows to predict"
    )
    parser.add_argument("--ard", action="store_true", help="one lengthscale for each feature")
    parser.add_argument("--only", choices=["evaluate", "fit", "predict", "memory"], help="one part")
    parser.add_argument("--peers-python", default=".venv-peers/bin/python", help="default: %(default)s")
    parser.add_argument("--memory", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        memory(Problem(*options.memory))
        return
    if not Path(options.peers_python).exists():
        parser.error(f"{options.peers_python} is not there: `make bench` sets it up, or name one with --peers-python")
    python = options.peers_python
    parts = [options.only] if options.only else ["evaluate", "fit", "predict", "memory"]
    problems = tuple(Problem(p.n, p.d, p.m, options.ard) for p in EVALUATIONS[: 2 if options.quick else None])
    show(f"rio-uq and its peers on {N_JOBS} processors, float64")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "evaluate" in parts:
            evaluations(problems, python, folder)
        if "fit" in parts:
            fits(FITS[: 1 if options.quick else None], python, folder, max_iter=100)
        if "predict" in parts:
            predictions(PREDICTIONS, python, folder, 100_000 if options.quick else 1_000_000)
        if "memory" in parts:
            show_memory(problems[-1])


if __name__ == "__main__":
    main()
