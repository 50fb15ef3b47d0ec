"""Hyperparameters by errors and density of left-out rows given their nearest others."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import norm

from rio_uq.gp.inference import exact
from rio_uq.gp.inference.full_density import LeftOutFit, moved_to_full_density
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.posterior import predict

NUMBERS = np.arange(7, 12)


def make(*, is_weighted, is_precise=False, output_family="rbf+linear"):
    rng = np.random.default_rng(0)
    rows, targets = rng.normal(size=(40, 4)), rng.normal(size=(40, 2))
    weight = rng.integers(1, 4, size=40).astype(float) if is_weighted else None
    precision = rng.uniform(0.3, 2.0, size=40) if is_precise else None
    kernel = io_kernel(3, 1, ard=True, input_family="matern32", output_family=output_family)
    x = np.concatenate([rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.05])])
    return kernel, x, Observations(rows, targets, weight, precision)


def nearest_of(k):
    rng = np.random.default_rng(1)
    return np.stack([rng.choice(np.setdiff1d(np.arange(40), [number]), k, replace=False) for number in NUMBERS])


@pytest.mark.parametrize("is_precise", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_errors_and_density_are_those_of_the_exact_gp_of_the_neighbours(is_weighted, is_precise):
    kernel, x, data = make(is_weighted=is_weighted, is_precise=is_precise, output_family="rbf")
    nearest = nearest_of(6)
    log_density, squares, total = 0.0, 0.0, 0.0
    for number, near in zip(NUMBERS, nearest, strict=True):
        posterior = exact.posterior(kernel, x[:-2], x[-2:], data.subset(near))
        mean, latent = predict(posterior, data.rows[[number]])
        effective = 1.0 if data.effective_weight is None else data.effective_weight[number]
        weight = 1.0 if data.weight is None else data.weight[number]
        std = np.sqrt(latent[0] + np.exp(x[-2:]) / effective)
        log_density += weight * norm.logpdf(data.targets[number], mean[0], std).sum()
        squares, total = squares + weight * ((data.targets[number] - mean[0]) ** 2).sum(), total + weight
    expected = 0.5 * log_density - 0.5 * total * np.log(squares / (2.0 * total))  # there are two outputs
    np.testing.assert_allclose(LeftOutFit(kernel, data, NUMBERS, nearest)(x)[0], expected, rtol=1e-7)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_gradients_are_those_of_finite_differences(is_weighted):
    kernel, x, data = make(is_weighted=is_weighted)
    fit = LeftOutFit(kernel, data, NUMBERS, nearest_of(6))
    by_differences = approx_fprime(x, lambda x: fit(x)[0], 1e-6)
    np.testing.assert_allclose(fit(x)[1], by_differences, rtol=1e-4, atol=1e-4)


def test_hyperparameters_move_to_what_neighbours_show(rng):
    """A lengthscale that is three times too long, and noise that is a hundred times too large."""
    kernel = io_kernel(2, 0, kind="input", input_family="matern52")
    rows = rng.uniform(size=(3000, 2))
    targets = np.sin(12.0 * rows[:, :1]) + 0.05 * rng.normal(size=(3000, 1))
    x, bounds = np.log([1.0, 1.0, 0.25]), np.tile([-10.0, 10.0], (3, 1))
    search = Search(50, 1e-6, np.random.default_rng(0))
    data = Observations(rows, targets)
    moved = moved_to_full_density(kernel, x, data, np.arange(500), 50, bounds, search)
    assert np.exp(moved[1]) < 0.7
    assert np.exp(moved[2]) < 0.02
