"""The curvature near an optimum, and searches that begin with it."""

from dataclasses import replace

import numpy as np
import pytest

from rio_uq.gp import curvature as module
from rio_uq.gp.curvature import curvature, curvature_of_few
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search, maximize_with_prior
from rio_uq.gp.priors import Prior, weak_prior
from rio_uq.gp.starts import Scales, bounds_of, rio_start

BOUNDS = np.tile([-3.0, 3.0], (2, 1))
SEARCH = Search(100, 1e-12, np.random.default_rng(0))


@pytest.fixture
def problem(rng):
    rows = rng.normal(size=(120, 3))
    data = Observations(rows, np.sin(2.0 * rows[:, :1]) + 0.3 * rng.normal(size=(120, 1)))
    kernel = io_kernel(2, 1, output_family="rbf+linear", ard=True)
    scales = Scales.of(data, 2, 1.0)
    prior, bounds = weak_prior(kernel, 1, scales), bounds_of(kernel, 1, scales)
    objective = ExactObjective(kernel, data)
    optimum = objective.maximize(rio_start(kernel, 1, scales), bounds, prior, SEARCH)
    return objective, optimum, bounds, prior


def test_it_is_that_of_objective_and_prior(problem, numerical_gradient):
    objective, optimum, bounds, prior = problem
    shape = curvature(objective, optimum.x, bounds, prior, len(objective.data))

    def slope(x, i):
        return objective(x)[1][i] + prior(x)[1][i]

    rows = [numerical_gradient(lambda x, i=i: slope(x, i), optimum.x, step=1e-4) for i in range(len(optimum.x))]
    np.testing.assert_allclose(shape, -np.stack(rows), atol=0.03 * np.abs(rows).max())


def test_twice_the_rows_are_twice_as_curved(problem):
    objective, optimum, bounds, prior = problem
    once, twice = (curvature(objective, optimum.x, bounds, prior, n) for n in (120, 240))
    np.testing.assert_allclose(twice - once, once - np.diag(prior.curvature(optimum.x)))


def test_of_few_rows_it_is_that_of_all_of_them(problem):
    objective, optimum, bounds, prior = problem
    of_few = curvature_of_few(objective.kernel, objective.data, optimum.x, bounds, prior)
    np.testing.assert_array_equal(of_few, curvature(objective, optimum.x, bounds, prior, 120))


def test_there_is_none_where_nothing_can_be_factorised(problem):
    objective, optimum, bounds, prior = problem
    broken = replace(objective.data, rows=np.full_like(objective.data.rows, np.nan))
    assert curvature_of_few(objective.kernel, broken, optimum.x, bounds, prior) is None


def test_of_many_parameters_there_is_none(problem, monkeypatch):
    objective, optimum, bounds, prior = problem
    monkeypatch.setattr(module, "MOST_PARAMETERS", len(optimum.x) - 1)
    assert curvature_of_few(objective.kernel, objective.data, optimum.x, bounds, prior) is None


def test_a_search_with_the_curvature_leads_to_the_same_optimum_in_fewer_steps(problem):
    objective, optimum, bounds, prior = problem
    nearby = optimum.x + 0.2
    shape = curvature(objective, optimum.x, bounds, prior, len(objective.data))
    plain, whitened = (
        objective.maximize(nearby, bounds, prior, replace(SEARCH, tolerance=1e-7, curvature=known))
        for known in (None, shape)
    )
    assert whitened.value == pytest.approx(optimum.value, abs=1e-3)
    assert whitened.n_iter < plain.n_iter


def test_a_step_beyond_a_bound_is_taken_back():
    """A curvature that is far too small leads too far; the objective is flat there, and the optimum elsewhere."""

    def objective(x):
        return -0.5 * (x - 2.9) @ (x - 2.9), 2.9 - x

    shape = 1e-3 * np.eye(2)
    optimum = maximize_with_prior(objective, np.zeros(2), BOUNDS, Prior.flat(2), replace(SEARCH, curvature=shape))
    np.testing.assert_allclose(optimum.x, 2.9, atol=1e-3)


@pytest.mark.parametrize("shape", [np.diag([2.0, 8.0]), np.array([[1.0, 0.9], [0.9, 1.0]]), -np.eye(2)])
def test_bounds_are_kept(shape):
    """The objective would go on beyond the bound of its first parameter; an upward curvature is no obstacle."""

    def objective(x):
        return x[0] - 0.5 * x[1] ** 2, np.array([1.0, -x[1]])

    prior = Prior.flat(2)
    optimum = maximize_with_prior(objective, np.array([0.0, 1.0]), BOUNDS, prior, replace(SEARCH, curvature=shape))
    np.testing.assert_allclose(optimum.x, [3.0, 0.0], atol=1e-3)
