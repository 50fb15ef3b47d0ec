"""The choice between nearest rows and inducing points: by what is left out, and as good as the better one."""

import numpy as np
import pytest

from rio_uq.gp.inference import chosen, nearest, sparse
from rio_uq.gp.inference.chosen import Chosen
from rio_uq.gp.inference.nearest import NearestPosterior
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.posterior import predict, predict_mean
from rio_uq.gp.priors import weak_prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, rio_start, rough_start

SMOOTH, ROUGH = (1.0, 1.0), (12.0, 0.1)
"""Frequency, and standard deviation of the noise."""


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 200)
    monkeypatch.setattr(nearest, "SHARED_POINTS", 30)


def train(rng, frequency, noise, n=900):
    """A GP of the chosen kind, its rows without noise, and what it was trained on."""
    rows = np.hstack([rng.uniform(-1.0, 1.0, size=(n, 2)), np.zeros((n, 1))])
    truth = np.sin(frequency * rows[:, :1]) * np.cos(frequency * rows[:, 1:2])
    data = Observations(rows, truth + noise * rng.normal(size=(n, 1)))
    kernel = io_kernel(2, 1, kind="input", input_family="matern52")
    scales = Scales.of(data, 2, 0.0)
    bounds, prior = bounds_of(kernel, 1, scales), weak_prior(kernel, 1, scales)
    start = rio_start(kernel, 1, scales)
    x = start if frequency < 2.0 else rough_start(kernel, start)
    objective = Chosen().objective(kernel, data, x, Settings(n_inducing=30, n_neighbors=20), rng, 1)
    optimum = objective.maximize(x, bounds, prior, Search(100, 1e-6, rng))
    return objective, optimum, objective.posterior(optimum.x), rows, truth


def test_what_is_rough_is_left_to_nearest_rows(few, rng):
    objective, optimum, posterior, rows, truth = train(rng, *ROUGH)
    assert isinstance(posterior, NearestPosterior)
    assert optimum.is_estimate
    assert np.sqrt(np.mean((predict_mean(posterior, rows) - truth) ** 2)) < 0.1
    assert objective.n_points in (0, 30)


def test_what_is_smooth_is_left_to_points(few, rng):
    objective, optimum, posterior, rows, truth = train(rng, *SMOOTH)
    assert not isinstance(posterior, NearestPosterior)
    assert not optimum.is_estimate
    assert np.sqrt(np.mean((predict_mean(posterior, rows) - truth) ** 2)) < 0.2
    assert objective.n_points == len(posterior.points)


def test_points_have_to_be_clearly_worse(few, monkeypatch, rng):
    monkeypatch.setattr(chosen, "WORTH", 10.0)
    assert not isinstance(train(rng, *ROUGH)[2], NearestPosterior)


def test_another_noise_gives_the_posterior_at_that_noise(rng):
    rows = rng.normal(size=(80, 3))
    data, kernel = Observations(rows, np.sin(rows[:, :1])), io_kernel(2, 1)
    theta, points = np.zeros(kernel.n_parameters), rows[:15]
    one = sparse.with_noise(sparse.posterior(kernel, theta, np.log([0.5]), points, data), np.array([0.1]))
    other = sparse.posterior(kernel, theta, np.log([0.1]), points, data)
    np.testing.assert_allclose(predict(one, rows), predict(other, rows), rtol=1e-10)


def test_the_noise_of_another_kind_of_posterior_is_not_changed(rng):
    rows = rng.normal(size=(30, 3))
    kernel, data = io_kernel(2, 1), Observations(rows, np.sin(rows[:, :1]))
    posterior = nearest.posterior_of(kernel, np.zeros(kernel.n_parameters), np.ones(1), data, 5, 0)
    with pytest.raises(TypeError, match="sparse inference"):
        sparse.with_noise(posterior, np.ones(1))
