"""Every way of inference answers to the contract."""

import numpy as np
import pytest

from rio_uq.gp.inference import EXACT_ROWS, INFERENCES, inference_for
from rio_uq.gp.inference.chosen import Chosen
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.posterior import predict
from rio_uq.gp.priors import weak_prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, rio_start


@pytest.fixture(params=INFERENCES)
def inference(request):
    return INFERENCES[request.param]


@pytest.fixture
def problem(rng):
    rows = rng.normal(size=(50, 3))
    data = Observations(rows, np.sin(2.0 * rows[:, :1]) + 0.1 * rng.normal(size=(50, 1)))
    kernel = io_kernel(2, 1, ard=True)
    return kernel, data, Scales.of(data, 2, 1.0)


@pytest.mark.parametrize("optimize_inducing", [False, True])
def test_the_gradient_of_an_objective_agrees_with_finite_differences(
    inference, optimize_inducing, problem, rng, numerical_gradient
):
    kernel, data, scales = problem
    settings = Settings(n_inducing=6, optimize_inducing=optimize_inducing)
    x = rio_start(kernel, 1, scales)
    objective = inference.objective(kernel, data, x, settings, rng, 1)
    start, bounds = objective.start(x), objective.bounds(bounds_of(kernel, 1, scales))
    assert bounds.shape == (len(start), 2)
    assert objective.n_points == (0 if inference.sorts_rows else 6)
    expected = numerical_gradient(lambda x: objective(x)[0], start)
    np.testing.assert_allclose(objective(start)[1], expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_an_optimum_is_better_than_its_start_and_its_posterior_has_its_value(inference, problem, rng):
    kernel, data, scales = problem
    settings, x = Settings(n_inducing=10, max_iter=15), rio_start(kernel, 1, scales)
    objective = inference.objective(kernel, data, x, settings, rng, 1)
    prior, bounds = weak_prior(kernel, 1, scales), bounds_of(kernel, 1, scales)
    optimum = objective.maximize(x, bounds, prior, Search(15, 1e-6, rng))
    assert objective(optimum.x)[0] + prior(optimum.x)[0] > objective(objective.start(x))[0] + prior(x)[0]
    posterior = objective.posterior(optimum.x)
    assert posterior.log_likelihood() == pytest.approx(objective(optimum.x)[0], rel=1e-6)
    assert posterior.total_weight == len(data)
    again = posterior.of_rows(data)
    np.testing.assert_allclose(predict(again, data.rows), predict(posterior, data.rows), rtol=1e-8, atol=1e-10)


def test_rounds_end_with_the_training(inference, problem):
    for inducing in ("greedy", "first"):
        assert inference.rounds(Settings(inducing=inducing, max_iter=7), problem[1])[-1] == 7


def test_few_rows_are_exact_and_left_out_ones_choose_for_many():
    assert inference_for(Settings(), EXACT_ROWS) is INFERENCES["exact"]
    assert isinstance(inference_for(Settings(), EXACT_ROWS + 1), Chosen)
    assert inference_for(Settings("svgp"), 10) is INFERENCES["svgp"]
