"""Asking for whole fits: a process for each library, which works on the same arrays."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np

from lab.json_lines import Row
from lab.peers.process import Peer
from lab.runs import Rows
from rio_uq.gp.scaling import Scaling
from rio_uq.options import PAPER_SETTINGS

LIBRARIES = {
    "rio-uq": ("numpy", "scipy", "scikit-learn"),
    "GPflow": ("gpflow", "tensorflow"),
    "GPyTorch": ("gpytorch", "torch"),
}


def problem_arrays(rows: Rows) -> dict[str, np.ndarray]:
    """The rows of a run, and the same as the paper's GP sees them: for the peers, which do not scale."""
    inputs = Scaling.standardizing(rows.X_train)
    train, test = (
        np.hstack([inputs.apply(X), prediction[:, None]])
        for X, prediction in ((rows.X_train, rows.pred_train), (rows.X_test, rows.pred_test))
    )
    unscaled = {name: value for name, value in asdict(rows).items() if name not in ("base_seconds", "validation")}
    return {
        **unscaled,
        "rows": train,
        "residuals": (rows.y_train - rows.pred_train)[:, None],
        "test_rows": test,
        "points": train[: PAPER_SETTINGS["n_inducing"]],
        "lengthscale": np.array(1.0),
        "noise_variance": np.array(1.0),
        "ard": np.array(False),
    }


class Fitters:
    """A process for each library, started when it is first asked, each warmed up by a short fit of each engine.

    The peers hold back NumPy in their environment, so that rio-uq has this one.
    """

    def __init__(self, python: str, problem: Path, threads: int) -> None:
        self._peers_python, self._problem, self._threads = python, problem, threads
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
            program = ("-m", "lab.fits.server")
            peer = Peer(python, library, self._problem, program=program, threads=self._threads)
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
