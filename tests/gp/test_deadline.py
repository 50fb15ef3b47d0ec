"""Searches and stages that have to end in time, by a clock that the tests set."""

from dataclasses import replace

import numpy as np
import pytest

from rio_uq.gp import training
from rio_uq.gp.deadline import NEVER, TIME_IS_UP, Deadline
from rio_uq.gp.folds import FoldSearch, predict_folds, random_folds
from rio_uq.gp.inference.exact import ExactObjective, MarginalLikelihood
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search, maximize, maximize_with_prior
from rio_uq.gp.posterior import predict
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, plain_gp_start, rio_start

BOUNDS = np.tile([-5.0, 5.0], (2, 1))


class Clock:
    """Stands still but for what is added to it."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def rosenbrock(x):
    value = -((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
    return value, np.array([2 * (1 - x[0]) + 400 * x[0] * (x[1] - x[0] ** 2), -200 * (x[1] - x[0] ** 2)])


def a_second_each(clock, objective, visited):
    def timed(x):
        clock.seconds += 1.0
        value, gradient = objective(x)
        visited.append(value)
        return value, gradient

    return timed


def test_parts_of_what_is_left():
    clock = Clock()
    deadline = Deadline.after(10.0, clock)
    clock.seconds = 2.0
    half = deadline.part(0.5)
    assert (deadline.left, half.left) == (8.0, 4.0)
    assert half.allows(4.0)
    assert not half.allows(4.1)
    clock.seconds = 11.0
    assert deadline.has_passed
    assert deadline.part(0.5) == deadline
    assert Deadline.after(None) == NEVER == NEVER.part(0.1)
    assert NEVER.allows(1e9)
    assert not NEVER.has_passed


def test_a_search_ends_at_the_best_point_when_there_is_no_time_for_another_evaluation():
    clock, visited = Clock(), []
    objective = a_second_each(clock, rosenbrock, visited)
    start, deadline = np.array([-1.2, 1.0]), Deadline.after(7.5, clock)
    optimum = maximize(objective, start, BOUNDS, max_iter=200, tolerance=1e-12, deadline=deadline)
    assert len(visited) == 7
    assert optimum.value == max(visited) == rosenbrock(optimum.x)[0]
    assert optimum.message == TIME_IS_UP
    assert not optimum.converged


def test_a_search_that_begins_too_late_evaluates_once():
    clock, visited = Clock(), []
    deadline = Deadline.after(-1.0, clock)
    objective, start = a_second_each(clock, rosenbrock, visited), np.array([-1.2, 1.0])
    search = Search(200, 1e-12, np.random.default_rng(0), curvature=np.eye(2), deadline=deadline)
    optimum = maximize_with_prior(objective, start, BOUNDS, Prior.flat(2), search)
    np.testing.assert_array_equal(optimum.x, start)
    assert len(visited) == 1
    assert optimum.message == TIME_IS_UP


def test_time_that_suffices_changes_nothing():
    clock, start = Clock(), np.array([-1.2, 1.0])
    objective = a_second_each(clock, rosenbrock, [])
    limits = {"max_iter": 200, "tolerance": 1e-12}
    in_time = maximize(objective, start, BOUNDS, **limits, deadline=Deadline.after(1e3, clock))
    assert in_time.converged
    np.testing.assert_array_equal(in_time.x, maximize(rosenbrock, start, BOUNDS, **limits).x)


@pytest.fixture
def clock_of_evaluations(monkeypatch):
    """A clock on which an evaluation of the likelihood takes a second, and nothing else takes time."""
    clock, evaluate = Clock(), MarginalLikelihood.__call__

    def timed(self, *arguments):
        clock.seconds += 1.0
        return evaluate(self, *arguments)

    monkeypatch.setattr(MarginalLikelihood, "__call__", timed)
    return clock


def problem(rng, n=120):
    rows = rng.normal(size=(n, 3))
    data = Observations(rows, np.sin(2.0 * rows[:, :1]) + 0.1 * rng.normal(size=(n, 1)))
    kernel = io_kernel(2, 1, output_family="rbf+linear", ard=True)
    scales = Scales.of(data, 2, 1.0)
    starts = [rio_start(kernel, 1, scales), plain_gp_start(kernel, 1, scales)]
    return kernel, data, starts, bounds_of(kernel, 1, scales)


@pytest.mark.parametrize("seconds", [0.0, 5.0, 20.0])
def test_training_ends_in_time_but_for_an_evaluation_of_each_search(seconds, rng, clock_of_evaluations):
    kernel, data, starts, bounds = problem(rng)
    settings = Settings("exact", deadline=Deadline.after(seconds, clock_of_evaluations))
    trained = training.train(kernel, data, starts, bounds, settings, rng)
    assert not trained.converged
    assert trained.message == TIME_IS_UP
    searches, others = 3, 1  # of two starts and from the better one; the likelihood without a signal
    assert clock_of_evaluations.seconds <= seconds + searches + others
    mean, variance = predict(trained.posterior, data.rows)
    assert np.isfinite(mean).all()
    assert (variance > 0.0).all()


def test_more_time_never_gives_a_lower_bound(rng, clock_of_evaluations):
    kernel, data, starts, bounds = problem(rng)
    bounds_reached = []
    for seconds in (0.0, 8.0, 1e4):
        clock_of_evaluations.seconds = 0.0
        settings = Settings("exact", deadline=Deadline.after(seconds, clock_of_evaluations))
        bounds_reached.append(training.train(kernel, data, starts[:1], bounds, settings, rng).bound)
    assert bounds_reached == sorted(bounds_reached)
    assert bounds_reached[-1] > bounds_reached[0] + 1.0


def test_folds_without_time_keep_the_optimum_of_all_rows(rng, clock_of_evaluations):
    kernel, data, starts, bounds = problem(rng, 60)
    how = FoldSearch(starts[0], starts[0], bounds, Prior.flat(len(bounds)), max_iter=10)
    late = how._replace(deadline=Deadline.after(0.0, clock_of_evaluations))
    by_fold = predict_folds(kernel, data, random_folds(len(data)), late)
    assert clock_of_evaluations.seconds == 0.0
    np.testing.assert_array_equal(by_fold.mean, by_fold.mean_at_optimum)
    assert all(x is starts[0] for x in by_fold.optima.values())


def test_folds_share_the_time(rng, clock_of_evaluations):
    kernel, data, starts, bounds = problem(rng, 60)
    deadline = Deadline.after(30.0, clock_of_evaluations)
    how = FoldSearch(starts[0], starts[0], bounds, Prior.flat(len(bounds)), max_iter=10, deadline=deadline)
    by_fold = predict_folds(kernel, replace(data, n_jobs=1), random_folds(len(data)), how)
    assert clock_of_evaluations.seconds <= 30.0
    assert not any(np.array_equal(x, starts[0]) for x in by_fold.optima.values())


def test_the_exact_objective_hears_of_the_deadline(rng, clock_of_evaluations):
    kernel, data, starts, bounds = problem(rng)
    search = Search(100, 1e-9, rng, deadline=Deadline.after(4.0, clock_of_evaluations))
    ExactObjective(kernel, data).maximize(starts[0], bounds, Prior.flat(len(bounds)), search)
    assert clock_of_evaluations.seconds == 4.0
