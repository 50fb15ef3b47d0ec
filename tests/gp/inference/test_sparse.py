"""The sparse GP: identities with the exact GP, leave-one-out."""

from dataclasses import replace

import numpy as np
import pytest

from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.inference.collapsed import CollapsedBound
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict


def make_data(rng, n=70, n_outputs=2, **options):
    rows = rng.normal(size=(n, 4))
    targets = np.column_stack([np.sin(rows[:, 0]) + 0.3 * rows[:, 3], rows[:, 1] ** 2])[:, :n_outputs]
    return Observations(rows, targets + 0.1 * rng.normal(size=targets.shape), **options)


@pytest.fixture
def data(rng):
    return make_data(rng)


@pytest.fixture
def kernel():
    return io_kernel(3, 1, output_family="rbf+linear", ard=True)


def evaluate(kernel, data, points, theta=None, log_noise=None):
    theta = np.zeros(kernel.n_parameters) if theta is None else theta
    log_noise = np.log(np.full(data.n_outputs, 0.1)) if log_noise is None else log_noise
    value, gradients = CollapsedBound(kernel, data, len(points))(theta, log_noise, points)
    return value, np.concatenate([gradient.ravel() for gradient in gradients])


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("family", ["matern32", "rbf+linear"])
def test_with_every_row_as_inducing_point_it_is_the_exact_gp(family, is_weighted, data, rng):
    kernel = io_kernel(3, 1, input_family=family, output_family="rbf", ard=True)
    theta, log_noise = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.1])
    if is_weighted:
        data = replace(data, weight=rng.uniform(0.5, 3.0, size=len(data)))
    likelihood, _ = exact.MarginalLikelihood(kernel, data)(theta, log_noise)
    value, _ = evaluate(kernel, data, data.rows, theta, log_noise)
    np.testing.assert_allclose(value, likelihood, rtol=1e-5)
    new = rng.normal(size=(20, 4))
    mean, variance = predict(sparse.posterior(kernel, theta, log_noise, data.rows, data), new)
    expected_mean, expected_variance = predict(exact.posterior(kernel, theta, log_noise, data), new)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(variance, expected_variance, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_with_every_row_as_inducing_point_precision_means_what_it_does_in_the_exact_gp(is_weighted, kernel, rng):
    weight = rng.integers(1, 4, size=70).astype(float) if is_weighted else None
    data = make_data(rng, weight=weight, precision=rng.uniform(0.2, 3.0, size=70), block_rows=32)
    theta, log_noise = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.1])
    value, gradient = evaluate(kernel, data, data.rows, theta, log_noise)
    expected, parts = exact.MarginalLikelihood(kernel, data)(theta, log_noise)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_allclose(gradient[kernel.n_parameters :][:2], parts[1], rtol=1e-4)
    of_sparse = sparse.posterior(kernel, theta, log_noise, data.rows, data).leave_one_out(data)
    for one, other in zip(of_sparse, exact.posterior(kernel, theta, log_noise, data).leave_one_out(data), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_leave_one_out_is_what_leaving_out_gives(is_weighted, kernel, rng):
    data = make_data(rng, block_rows=32, n_jobs=2)
    if is_weighted:
        data = replace(data, weight=rng.integers(1, 4, size=70).astype(float), precision=rng.uniform(0.5, 2.0, size=70))
    theta, log_noise, points = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.1]), data.rows[:9]
    residual, variance = sparse.posterior(kernel, theta, log_noise, points, data).leave_one_out(data)
    for i in (0, 33, 69):
        others = data.subset(np.delete(np.arange(70), i))
        mean, latent = predict(sparse.posterior(kernel, theta, log_noise, points, others), data.rows[[i]])
        np.testing.assert_allclose(residual[i], data.targets[i] - mean[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(variance[i], latent[0], rtol=1e-6, atol=1e-8)
