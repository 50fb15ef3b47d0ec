"""Where a fit of rio-uq stands, and since when: recorded while it runs, looked at afterwards.

Nothing but a clock and a copy of the parameters is added to an evaluation.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from lab.rio import fit
from rio_uq import RIORegressor
from rio_uq.gp import attempts, training
from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.optimize import Optimum, Search, maximize_with_prior
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior
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
    """The best parameters so far, since when, and the problem that they solve.

    Attributes
    ----------
    seconds : float
    problem : rio_uq.gp.inference.contract.Objective
        On all rows. It may learn from some of them: its posterior is that of all.
    x : array
    evaluated : float or None
        The bound in scaled units, for all rows where it is that of some; None where a search has ended at parameters
        at which it was not evaluated.
    """

    seconds: float
    problem: Any
    x: np.ndarray
    evaluated: float | None

    @cached_property
    def bound(self) -> float:
        return self.posterior.log_likelihood() if self.evaluated is None else self.evaluated

    @property
    def posterior(self) -> Posterior:
        return self.problem.posterior(self.x)

    @property
    def input_family(self) -> str:
        """Of the kernel, which may have been chosen by the rows."""
        return str(self.problem.kernel.terms[0].family)

    def trained(self) -> Trained:
        return Trained(self.posterior, self.bound, self.bound, 0, False, "stopped here", self.x)


@dataclass
class Watch:
    """Every improvement of the objective of all rows while the GP is trained; what is tried on a subset to choose a
    start is not kept. Ways of inference that learn from some rows and predict from all are watched on these rows.
    """

    max_seconds: float
    clock: Callable[[], float] = time.perf_counter
    visits: list[Visit] = field(default_factory=list)
    total_weight: float = float("nan")
    n_evaluations: int = 0
    _best: float = -np.inf
    _n_rows: int = 0
    _began: float = 0.0
    _thread: threading.local = field(default_factory=threading.local)

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def elapsed(self) -> float:
        return self.clock() - self._began

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While a regressor is fitted: of all training, only that of the residual GP counts, not that of its noise.
        What may be tried after it is left out.
        """
        maximize, train = training._Trainer._maximize, training.train

        def watched_maximize(trainer: Any, problem: Any, *args: Any) -> Optimum:
            is_of_all_rows = len(getattr(problem, "all_rows", problem.data)) == len(trainer.data)
            self._thread.problem = problem if is_of_all_rows else None
            optimum = maximize(trainer, problem, *args)
            if is_of_all_rows and optimum.is_estimate:
                self.visits.append(Visit(self.elapsed, problem, optimum.x.copy(), None))
            return optimum

        def watched_search(objective: Any, start: Any, bounds: Any, prior: Prior, search: Search) -> Optimum:
            return maximize_with_prior(self._watched(objective, prior), start, bounds, prior, search)

        def watched_train(kernel: Any, data: Any, *args: Any) -> Trained:
            self.total_weight = data.total_weight
            with (
                patch.object(training._Trainer, "_maximize", watched_maximize),
                patch.object(exact, "maximize_with_prior", watched_search),
                patch.object(sparse, "maximize_with_prior", watched_search),
            ):
                return train(kernel, data, *args)

        with trained_by(watched_train):
            yield

    def _watched(self, objective: Any, prior: Prior) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
        """An objective whose evaluations are noted as ones of the problem that this thread is at."""
        problem = getattr(self._thread, "problem", None)
        data = objective.data
        if problem is not None and len(data) != self._n_rows:  # values on other rows cannot be compared
            self._best, self._n_rows = -np.inf, len(data)

        def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
            bound, gradient = objective(x)
            if problem is not None:
                of_all_rows = bound * (self.total_weight / data.total_weight)
                self._note(problem, x, of_all_rows, bound + prior(x)[0])
            if self.elapsed > self.max_seconds and self.visits:
                raise CutOffError
            return bound, gradient

        return evaluate

    def _note(self, problem: Any, x: np.ndarray, bound: float, value: float) -> None:
        self.n_evaluations += 1
        if value > self._best:
            self._best = value
            self.visits.append(Visit(self.elapsed, problem, x.copy(), bound))


def fit_arrays(rio: RIORegressor, arrays: Arrays) -> RIORegressor:
    return fit(rio, arrays["X_train"], arrays["y_train"], y_pred=arrays["pred_train"])


def fit_at(visit: Visit, rio: RIORegressor, arrays: Arrays) -> RIORegressor:
    """The regressor as if training had ended with the visit: the rest of `fit` is done as ever."""
    with (
        trained_by(lambda *args, **options: visit.trained()),
        patch("rio_uq.gp.fit.likeliest_order", lambda *args: visit.input_family),
    ):
        return fit_arrays(clone(rio), arrays)
