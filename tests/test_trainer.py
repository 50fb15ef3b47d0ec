"""The choice between a GP on residuals and a plain one, and when clones are fitted for it."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_info, threadpool_limits

from rio_uq import RIORegressor, outcome_scaling, trainer
from rio_uq.gp.deadline import NEVER, Deadline
from rio_uq.gp.fit import TrainedGP
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.problem import Problem
from rio_uq.scales.choice import ScaleChoice
from rio_uq.scales.outputs import OutcomeScales
from rio_uq.trainer import with_or_without_model

ERRORS = np.random.default_rng(0).normal(size=(400, 1))
IDENTITY = OutcomeScales(ScaleChoice.of_outcomes_as_they_are(1).scales)


@dataclass
class Training:
    """Of GPs whose left-out rows err by these; the plain one by nine tenths of the other's."""

    size: float = 1.0
    deadline: Deadline = NEVER

    def __call__(self, problem, *, keeps_constant, first_end=None):
        std = np.full_like(ERRORS, self.size)
        left_out = LeftOut(self.size * ERRORS, std, ERRORS, np.zeros_like(ERRORS), np.ones(400), None)
        return TrainedGP(SimpleNamespace(posterior=SimpleNamespace(kernel=None), size=self.size), left_out)

    def may_do_without_model(self, problem):
        return True

    def trains_folds(self, problem):
        return False

    def without_model(self, kernel):
        return Training(0.9, self.deadline)


def size_of_choice(training, gain):
    problem = Problem(np.zeros((400, 1)), np.zeros((400, 1)), ERRORS, None, is_residual=True)
    gp, _, choice = with_or_without_model(problem, IDENTITY, training, may_choose=True, gain_of_model=gain)
    return gp.size, choice


@pytest.mark.parametrize(("gain", "size"), [(None, 0.9), (lambda: 1.0, 0.9), (lambda: 0.85, 1.0)])
def test_clones_are_not_the_model(gain, size):
    chosen, choice = size_of_choice(Training(), gain)
    assert chosen == size
    assert choice.gain == (1.0 if gain is None else gain())


def test_no_clones_are_fitted_after_the_end_of_a_time_budget():
    """The clock passes the end while the plain GP is trained."""
    seconds = iter([0.0, 1.0, 2.0, 3.0])

    def fit_clones():
        raise AssertionError

    deadline = Deadline.after(10.0, lambda: next(seconds, 11.0))
    chosen, choice = size_of_choice(Training(deadline=deadline), fit_clones)
    assert (chosen, choice) == (1.0, None)
    assert deadline.left_out == ["a GP without the model"]


def test_blas_has_one_thread_while_gps_and_shapes_are_fitted(monkeypatch, rng):
    """Threads that wait for work on small matrices take more of the processor than the work."""
    n_threads = set()

    def noted(function):
        def with_note(*args, **kwargs):
            n_threads.update(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")
            return function(*args, **kwargs)

        return with_note

    for module, name in ((trainer, "fit_residual_gp"), (outcome_scaling, "fit_shape")):
        monkeypatch.setattr(module, name, noted(getattr(module, name)))
    X = rng.normal(size=(40, 2))
    with threadpool_limits(2, user_api="blas"):
        RIORegressor(LinearRegression(), random_state=0).fit(X, X[:, 0] + rng.normal(size=40))
    assert n_threads == {1}
