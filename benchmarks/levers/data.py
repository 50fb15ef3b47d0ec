"""Data of the benchmark, and the arguments with which a fit to them calls the training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from sklearn.linear_model import Ridge

from lab import generated
from lab.datasets import DATASETS, DataNotFoundError
from lab.rio import regressor
from rio_uq import RIORegressor
from rio_uq.gp import attempts

N_FEATURES = 9
REAL = ("CCPP", "protein")

Array = np.ndarray


@dataclass(frozen=True)
class Data:
    name: str
    X: Array
    y: Array
    model: Any

    @classmethod
    def generated(cls, n: int) -> Data:
        table = generated.rows(0, n, N_FEATURES)
        return cls("generated", table[:, :-1], table[:, -1], generated.model)

    @classmethod
    def real(cls, name: str, n: int) -> Data | None:
        """At most n rows of a data set; None where it is not there."""
        try:
            X, y = DATASETS[name].load()
        except DataNotFoundError:
            return None
        chosen = np.random.default_rng(0).permutation(len(X))[:n]
        return cls(name, X[chosen], y[chosen], Ridge().fit(X[chosen], y[chosen]))

    @classmethod
    def all_of(cls, n: int) -> list[Data]:
        candidates = [cls.generated(n), *(cls.real(name, n) for name in REAL)]
        return [data for data in candidates if data is not None]

    def rio(self, **options: Any) -> RIORegressor:
        return regressor(self.model, random_state=0, n_jobs=1, **options)


class _TrainingCalled(Exception):
    """Carries the arguments of `train`."""


def training_arguments(data: Data, **options: Any) -> dict[str, Any]:
    """The arguments with which a fit calls `rio_uq.gp.training.train`."""
    names = ("kernel", "data", "starts", "bounds", "settings", "rng", "prior", "rough", "first_end")

    def stop(*arguments: Any) -> None:
        raise _TrainingCalled(dict(zip(names, arguments, strict=True)))

    with mock.patch.object(attempts, "train", stop):
        try:
            data.rio(inference="sparse", **options).fit(data.X, data.y)
        except _TrainingCalled as call:
            return call.args[0]
    raise RuntimeError("the fit did not train")
