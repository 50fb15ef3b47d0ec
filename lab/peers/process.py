"""Processes that answer requests, in another environment or in this one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

REPOSITORY = Path(__file__).resolve().parent.parent.parent
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


class Peer:
    """A process that answers requests for one engine on one problem.

    Parameters
    ----------
    python : str
        The interpreter.
    engine : str
    problem : Path
        File of arrays.
    program : sequence of str
        Arguments of the interpreter that name the program that answers; it reads one JSON request a line.
    threads : int or None
        Number of threads of every numerical library; None leaves it to them.
    repository : Path
        Where the process imports rio-uq and the packages beside it from.
    """

    def __init__(
        self,
        python: str,
        engine: str,
        problem: Path,
        *,
        program: Sequence[str] = ("-m", "lab.peers.engines"),
        threads: int | None = None,
        repository: Path = REPOSITORY,
    ) -> None:
        self.request = {"engine": engine, "problem": str(problem)}
        self.process = subprocess.Popen(
            [python, *program],
            env=peers_environment(threads, repository),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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


def peers_environment(threads: int | None, repository: Path = REPOSITORY) -> dict[str, str]:
    """This environment with rio-uq on the path, and every library on the same number of threads."""
    path = os.pathsep.join([str(repository), str(repository / "src")])
    limits = {} if threads is None else dict.fromkeys(THREAD_LIMITS, str(threads))
    return {**os.environ, **limits, "PYTHONPATH": path}


def add_peers_python(parser: ArgumentParser) -> None:
    """The option that names the interpreter of the peers."""
    parser.add_argument(
        "--peers-python", default=".venv-peers/bin/python", help="has GPflow and GPyTorch (default: %(default)s)"
    )


def check_peers_python(python: str) -> None:
    """Exit where the interpreter of the peers does not exist."""
    if not Path(python).exists():
        raise SystemExit(f"{python} is not there: `make bench` sets it up, or name one with --peers-python")
