"""This tree beside an earlier commit: both do the same work in turns, and processor seconds are compared.

The commit is unpacked into a temporary folder. Each tree has a process (`benchmarks.engine.worker`) with its own code
and one thread for BLAS. They take turns, and who begins changes with every round, so that other work on the machine
meets both; a ratio is that of neighbours.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path

import numpy as np

from benchmarks.engine.problems import EVALUATIONS, Problem
from lab.json_lines import Row
from lab.peers.process import REPOSITORY, Peer

FITTED = (Problem(1_000, 8, 0, ard=True), Problem(2_000, 9, 50, ard=True), Problem(2_000, 9, 500, ard=True))
WORKS = {
    "evaluate": EVALUATIONS,
    "fit": (
        Problem(500, 8, 0, ard=True),
        Problem(2_000, 8, 0, ard=True),
        Problem(5_000, 9, 50, ard=True),
        Problem(5_000, 9, 300, ard=True),
        Problem(36_584, 9, 50, ard=True),
    ),
    "predict 10,000 rows": FITTED,
    "predict 1 row": FITTED,
}
ROUNDS = (7, 21)
"""At least and at most; in between, as many as take `SECONDS` for each tree."""

SECONDS = 10.0
SECONDS_OF_TURN = 0.2
"""At least: shorter work is repeated within its turn."""

WORKER = ("-P", str(Path(__file__).with_name("worker.py")))
"""Without the folder of the file on the path, which is that of this tree."""


def git(*arguments: str) -> bytes:
    """The answer of git about this repository; exits with its message where it fails."""
    try:
        return subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True, check=True).stdout
    except FileNotFoundError:
        sys.exit("an earlier commit comes from git, which is not installed")
    except subprocess.CalledProcessError as error:
        sys.exit(f"git {' '.join(arguments)}: {error.stderr.decode().strip()}")


def commit_of(name: str) -> str:
    """The full hash of a commit, a branch or a tag."""
    return git("rev-parse", "--verify", f"{name}^{{commit}}").decode().strip()


def present_commit() -> str:
    """The last commit that changed the sources of this tree; a plus sign says that they have changed since."""
    last = git("log", "-1", "--format=%H", "--", "src").decode().strip()
    return last + ("+" if git("status", "--porcelain", "--", "src") else "")


def unpacked(commit: str, folder: Path) -> Path:
    """The repository at a commit, in a folder of that name."""
    tree = folder / commit
    if not tree.exists():
        with tarfile.open(fileobj=BytesIO(git("archive", commit))) as archive:
            archive.extractall(tree, filter="data")
    return tree


def largest_difference(before: Row, now: Row) -> float:
    """The largest difference between results, relative to the largest number of its kind.

    Examples
    --------
    >>> largest_difference({"mean": [1.0, 2.0], "std": [4.0, 5.0]}, {"mean": [1.0, 2.0], "std": [4.5, 5.0]})
    0.1
    """
    return max(
        float(np.max(np.abs(np.subtract(now[name], values))) / np.max(np.abs(values)))
        for name, values in before.items()
    )


def compare(problem: Problem, work: str, commit: str, folder: Path) -> Row:
    """Processor seconds of both trees in each round, and how much their results differ."""
    trees = {"before": unpacked(commit, folder), "now": REPOSITORY}
    path, present = problem.save(folder), present_commit()
    with ExitStack() as stack:
        workers = {
            side: stack.enter_context(Peer(sys.executable, work, path, program=WORKER, threads=1, repository=tree))
            for side, tree in trees.items()
        }
        first = {side: worker.ask(repeats=1) for side, worker in workers.items()}
        for side, reply in first.items():
            if "error" in reply:
                return {"present": present, "error": f"{side}: {reply['error']}"}
            if not Path(reply["source"]).is_relative_to(trees[side]):
                raise RuntimeError(f"rio-uq was imported from {reply['source']}, not from {trees[side]}")
        least = min(worker.ask(repeats=1)["seconds"] for worker in workers.values())  # now that they are warm
        repeats = max(1, round(SECONDS_OF_TURN / least))
        seconds: dict[str, list[float]] = {side: [] for side in workers}
        for i in range(int(np.clip(SECONDS / (repeats * least), *ROUNDS))):
            for side in sorted(workers, reverse=i % 2 == 1):
                seconds[side].append(float(f"{workers[side].ask(repeats=repeats)['seconds']:.4g}"))
    results = [first[side]["result"] for side in ("before", "now")]
    n_iter = [result["n_iter"][0] for result in results if "n_iter" in result]
    return {"present": present, "cpu_seconds": seconds, "difference": largest_difference(*results), "n_iter": n_iter}
