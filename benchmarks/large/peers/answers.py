"""Peers as methods: in this process, or in one of another environment, whose seconds and memory are counted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.large.answers import Answer, of_gaussians
from benchmarks.large.peers.prediction import Prediction, predict_split
from benchmarks.large.problems import Split
from lab.peers.process import Peer

PYTHON = "RIO_UQ_PEERS_PYTHON"
"""The variable that names the interpreter of the other environment."""


def here(engine: str) -> Callable[[Split, int], Answer]:
    """A module of this package as a method."""

    def answer(split: Split, run: int) -> Answer:
        return _measured(split, predict_split(engine, split.X, split.y, split.X_test, run))

    return answer


def elsewhere(engine: str) -> Callable[[Split, int], Answer]:
    """The same by the interpreter that the variable `PYTHON` names."""

    def answer(split: Split, run: int) -> Answer:
        python = os.environ.get(PYTHON, "")
        if not Path(python).is_file():
            raise FileNotFoundError(f"{python!r} is no interpreter: name that of .venv-peers with --peers-python")
        with tempfile.TemporaryDirectory() as folder:
            problem, output = Path(folder) / "split.npz", Path(folder) / "prediction.npy"
            np.savez(problem, X=split.X, y=split.y, X_test=split.X_test)
            program = ("-m", "benchmarks.large.peers.prediction")
            with Peer(python, engine, problem, program=program, threads=1) as peer:
                reply = peer.ask(run=run, output=str(output))
            if "error" in reply:
                raise RuntimeError(f"{engine}: {reply['error']}")
            mean, std = np.load(output)
        return _measured(split, Prediction(mean, std, **reply))

    return answer


def _measured(split: Split, prediction: Prediction) -> Answer:
    measured = of_gaussians(split.y_test, prediction.mean, prediction.std)
    return Answer(measured, prediction.seconds, prediction.seconds_predicting, gib=prediction.gib)
