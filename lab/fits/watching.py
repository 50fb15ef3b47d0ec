"""Where a fit of rio-uq stands, and since when: recorded while it runs, looked at afterwards.

Nothing but a clock and a copy of the parameters is added to an evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from lab.rio import fit
from rio_uq import RIORegressor
from rio_uq.gp import attempts, training
from rio_uq.gp.training import Trained
from rio_uq.trainer import Trainer

Arrays = dict[str, np.ndarray]


@contextmanager
def trained_by(train: Callable[..., Trained]) -> Iterator[None]:
    """The GP on residuals is trained like that, and no other: a plain GP and a Student likelihood, which may be tried
    later, are other problems, and so are the quick fits by which a scale of outcomes is chosen before.
    """
    usual, quickly = attempts.train, Trainer.quickly

    def quickly_as_usual(trainer: Trainer, *args: Any) -> Any:
        with patch.object(attempts, "train", usual):
            return quickly(trainer, *args)

    with (
        patch.object(attempts, "train", train),
        patch.object(Trainer, "quickly", quickly_as_usual),
        patch.object(Trainer, "may_do_without_model", lambda trainer, problem: False),
        patch("rio_uq.gp.fit.may_have_tails", lambda problem: False),
    ):
        yield


class CutOffError(Exception):
    """A fit has had its time."""


@dataclass(frozen=True)
class Visit:
    """The best parameters so far: since when, their bound in scaled units, and the problem that they solve."""

    seconds: float
    bound: float
    problem: Any
    x: np.ndarray

    def trained(self) -> Trained:
        return Trained(self.problem.posterior(self.x), self.bound, self.bound, 0, False, "stopped here", self.x)


@dataclass
class Watch:
    """Every improvement of the objective on all rows while the GP is trained; what is tried on a subset is not kept."""

    max_seconds: float
    clock: Callable[[], float] = time.perf_counter
    visits: list[Visit] = field(default_factory=list)
    total_weight: float = float("nan")
    n_evaluations: int = 0
    _best: float = -np.inf
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def elapsed(self) -> float:
        return self.clock() - self._began

    def note(self, problem: Any, x: np.ndarray, bound: float, objective: float, *, on_all_rows: bool) -> None:
        self.n_evaluations += on_all_rows
        if on_all_rows and objective > self._best:
            self._best = objective
            self.visits.append(Visit(self.elapsed, bound, problem, x.copy()))
        if self.elapsed > self.max_seconds and self.visits:
            raise CutOffError

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While a regressor is fitted: of all training, only that of the residual GP counts, not that of its noise.
        What may be tried after it is left out.
        """
        maximize, train = training._Trainer._maximize, training.train

        def watched_maximize(trainer: Any, problem: Any, *args: Any) -> Any:
            return maximize(trainer, _Watched(self, trainer, problem), *args)

        def watched_train(kernel: Any, data: Any, *args: Any) -> Trained:
            self.total_weight = data.total_weight
            with patch.object(training._Trainer, "_maximize", watched_maximize):
                return train(kernel, data, *args)

        with trained_by(watched_train):
            yield


class _Watched:
    """A problem whose evaluations are noted."""

    def __init__(self, watch: Watch, trainer: Any, problem: Any) -> None:
        self._watch, self._prior, self._problem = watch, trainer.prior, problem
        # Nearest rows learn from a subset, and predict from all.
        self._on_all_rows = len(getattr(problem, "all_rows", problem.data)) == len(trainer.data)

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        bound, gradient = self._problem(x)
        objective = bound + self._prior(x)[0]
        self._watch.note(self._problem, x, bound, objective, on_all_rows=self._on_all_rows)
        return bound, gradient

    def maximize(self, *args: Any) -> Any:
        return type(self._problem).maximize(self, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)


def fit_arrays(rio: RIORegressor, arrays: Arrays) -> RIORegressor:
    return fit(rio, arrays["X_train"], arrays["y_train"], y_pred=arrays["pred_train"])


def fit_at(visit: Visit, rio: RIORegressor, arrays: Arrays) -> RIORegressor:
    """The regressor as if training had ended with the visit: the rest of `fit` is done as ever."""
    with trained_by(lambda *args, **options: visit.trained()):
        return fit_arrays(clone(rio), arrays)
