"""The optimiser and its progress bar."""

import io
import sys

import numpy as np
import pytest

from rio_uq.gp import progress
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError
from rio_uq.gp.optimize import Search, maximize, maximize_with_prior
from rio_uq.gp.priors import Prior
from rio_uq.gp.progress import ProgressBar

BOUNDS = np.array([[-5.0, 5.0], [-5.0, 5.0]])


def rosenbrock(x):
    value = -((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
    gradient = np.array([2 * (1 - x[0]) + 400 * x[0] * (x[1] - x[0] ** 2), -200 * (x[1] - x[0] ** 2)])
    return value, gradient


def test_finds_a_maximum():
    optimum = maximize(rosenbrock, np.array([-1.2, 1.0]), BOUNDS, max_iter=200, tolerance=1e-12)
    np.testing.assert_allclose(optimum.x, 1.0, atol=1e-4)
    assert optimum.converged
    assert 0 < optimum.n_iter <= 200


def test_keeps_to_its_bounds():
    optimum = maximize(
        rosenbrock, np.array([3.0, 9.0]), np.array([[2.0, 5.0], [-5.0, 5.0]]), max_iter=200, tolerance=1e-12
    )
    assert optimum.x[0] == 2.0


def test_says_so_when_it_stopped_early():
    optimum = maximize(rosenbrock, np.array([-1.2, 1.0]), BOUNDS, max_iter=3, tolerance=1e-12)
    assert not optimum.converged
    assert optimum.n_iter == 3
    assert "ITERATIONS" in optimum.message.upper()


def test_rounding_next_to_the_optimum_is_convergence():
    def rough(x):
        value, gradient = rosenbrock(x)
        return round(value, 6), gradient

    optimum = maximize(rough, np.array([1.001, 1.002]), BOUNDS, max_iter=200, tolerance=1e-9)
    assert optimum.converged


def test_a_step_that_went_too_far_is_taken_back():
    def fragile(x):
        if abs(x[0]) > 2.0:
            raise NotPositiveDefiniteError("too far")
        return -((x[0] - 1.5) ** 2) * 1e-3 - x[1] ** 2, np.array([-2e-3 * (x[0] - 1.5), -2 * x[1]])

    optimum = maximize(fragile, np.array([-1.9, 1.0]), BOUNDS, max_iter=100, tolerance=1e-12)
    np.testing.assert_allclose(optimum.x, [1.5, 0.0], atol=1e-2)
    with pytest.raises(NotPositiveDefiniteError):
        maximize(fragile, np.array([3.0, 0.0]), BOUNDS, max_iter=100, tolerance=1e-12)


CURVATURE = np.array([[4.0, 1.0], [1.0, 3.0]])


def quadratic(peak, evaluated):
    """Of that curvature, with its maximum, 5, at the peak."""

    def objective(x):
        evaluated.append(x.copy())
        away = x - peak
        return 5.0 - 0.5 * away @ CURVATURE @ away, -CURVATURE @ away

    return objective


def search_with_curvature():
    return Search(20, 1e-9, np.random.default_rng(0), curvature=CURVATURE)


def test_with_the_curvature_the_first_step_is_that_of_newton():
    evaluated = []
    objective = quadratic(np.array([1.0, -2.0]), evaluated)
    optimum = maximize_with_prior(objective, np.zeros(2), BOUNDS, Prior.flat(2), search_with_curvature())
    np.testing.assert_allclose(evaluated[1], [1.0, -2.0], atol=1e-12)
    np.testing.assert_allclose(optimum.x, [1.0, -2.0], atol=1e-12)
    assert optimum.value == pytest.approx(5.0)


@pytest.mark.parametrize("start", [[5.0, 0.0], [0.0, 0.0], [-5.0, 0.0]])
def test_with_the_curvature_a_maximum_beyond_a_bound_is_found_at_the_bound(start):
    peak = np.array([7.0, 1.0])
    optimum = maximize_with_prior(quadratic(peak, []), np.array(start), BOUNDS, Prior.flat(2), search_with_curvature())
    # At x₀ = 5 the slope by x₁ is zero where 3 (x₁ − 1) = −(5 − 7).
    np.testing.assert_allclose(optimum.x, [5.0, 1.0 + 2.0 / 3.0], atol=1e-5)


def test_what_is_pushed_against_its_bound_stays_there_without_further_evaluations():
    evaluated = []
    objective = quadratic(np.array([7.0, 1.0]), evaluated)
    maximize_with_prior(objective, np.array([5.0, 0.0]), BOUNDS, Prior.flat(2), search_with_curvature())
    assert len(evaluated) <= 3
    assert all(x[0] == 5.0 for x in evaluated)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_progress_bar_shows_bound_iteration_and_time_left(monkeypatch, stream):
    clock = iter(np.arange(0.0, 1000.0, 10.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(sys, "stderr", stream)
    bar = ProgressBar("on all rows", 100)
    bar.update(25, -12.5)
    bar.finish(30, -11.0)
    text = stream.getvalue()
    assert "on all rows" in text
    assert "iteration   25" in text
    assert "-12.5" in text
    assert "at most 30 s left" in text
    assert "done in 20.0 s" in text
    assert ("\r" in text) == stream.isatty()


def test_verbose_writes_to_stderr(capsys):
    maximize(rosenbrock, np.array([-1.2, 1.0]), BOUNDS, max_iter=50, tolerance=1e-9, verbose=True)
    captured = capsys.readouterr()
    assert "done in" in captured.err
    assert captured.out == ""
