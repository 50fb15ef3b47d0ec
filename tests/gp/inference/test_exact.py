"""The exact GP equals scikit-learn's; its gradient equals finite differences; leave-one-out equals leaving out."""

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from rio_uq.gp.inference import exact
from rio_uq.gp.kernels import symmetric
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.kernels.terms import FAMILIES
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import covariance, predict

ABSENT = 1e8  # a lengthscale so long that the column does not matter


@pytest.fixture
def data(rng):
    rows = rng.normal(size=(40, 4))
    targets = np.column_stack([np.sin(rows[:, 0]) + 0.3 * rows[:, 3], rows[:, 1] ** 2])
    return Observations(rows, targets + 0.1 * rng.normal(size=targets.shape))


def reference(theta, noise):
    """scikit-learn's GP with the sum of two anisotropic RBF kernels, on columns 0–2 and on column 3."""
    v_in, *l_in, v_out, l_out = np.exp(theta)
    kernel = (
        sk.ConstantKernel(v_in) * sk.RBF([*l_in, ABSENT])
        + sk.ConstantKernel(v_out) * sk.RBF([ABSENT] * 3 + [l_out])
        + sk.WhiteKernel(noise)
    )
    return GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_equals_scikit_learn(data, rng, n_jobs):
    kernel = io_kernel(3, 1, ard=True)
    theta, noise = rng.normal(scale=0.3, size=kernel.n_parameters), 0.2
    single = Observations(data.rows, data.targets[:, :1], n_jobs=n_jobs)
    gp = reference(theta, noise).fit(single.rows, single.targets[:, 0])
    value, _ = exact.MarginalLikelihood(kernel, single)(theta, np.log([noise]))
    np.testing.assert_allclose(value, gp.log_marginal_likelihood_value_, rtol=1e-8)

    new = rng.normal(size=(15, 4))
    posterior = exact.posterior(kernel, theta, np.log([noise]), single)
    mean, variance = predict(posterior, new, n_jobs=n_jobs)
    expected_mean, expected_std = gp.predict(new, return_std=True)
    np.testing.assert_allclose(mean[:, 0], expected_mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(variance[:, 0] + noise), expected_std, rtol=1e-8)
    _, expected_covariance = gp.predict(new, return_cov=True)
    matrix = covariance(posterior, new)[0] + noise * np.eye(15)
    np.testing.assert_allclose(matrix, expected_covariance, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("family", [*FAMILIES, "rbf+linear"])
def test_gradient_agrees_with_finite_differences(family, ard, is_weighted, n_outputs, data, rng, numerical_gradient):
    kernel = io_kernel(3, 1, input_family=family, output_family=family, ard=ard)
    weight = rng.integers(1, 4, size=40).astype(float) if is_weighted else None
    problem = Observations(data.rows, data.targets[:, :n_outputs], weight)
    p = kernel.n_parameters
    x = rng.normal(scale=0.3, size=p + n_outputs) - 0.5

    def value(x):
        return exact.MarginalLikelihood(kernel, problem)(x[:p], x[p:])[0]

    _, gradients = exact.MarginalLikelihood(kernel, problem)(x[:p], x[p:])
    expected = numerical_gradient(value, x)
    np.testing.assert_allclose(np.concatenate(gradients), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("family", ["matern52+linear", "rational_quadratic", "rbf"])
def test_blocks_of_rows_give_what_one_piece_gives(family, n_outputs, data, monkeypatch):
    kernel = io_kernel(3, 1, input_family=family, output_family="rbf+linear", ard=True)
    problem = Observations(data.rows, data.targets[:, :n_outputs])
    theta, log_noise = np.full(kernel.n_parameters, -0.3), np.log([0.1, 0.2])[:n_outputs]
    value, gradients = exact.MarginalLikelihood(kernel, problem)(theta, log_noise)
    monkeypatch.setattr(symmetric, "BLOCK_COLUMNS", 7)
    by_blocks, its_gradients = exact.MarginalLikelihood(kernel, problem)(theta, log_noise)
    assert by_blocks == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(np.concatenate(its_gradients), np.concatenate(gradients), rtol=1e-9)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_value_and_mean_alone_are_those_of_the_gradient_and_the_posterior(n_outputs, data, rng):
    kernel = io_kernel(3, 1, input_family="matern52", output_family="rbf+linear", ard=True)
    weight = rng.integers(1, 4, size=len(data)).astype(float)
    objective = exact.ExactObjective(kernel, Observations(data.rows, data.targets[:, :n_outputs], weight))
    x, new = rng.normal(scale=0.3, size=kernel.n_parameters + n_outputs), rng.normal(size=(5, 4))
    assert objective.value(x) == pytest.approx(objective(x)[0], rel=1e-12)
    np.testing.assert_allclose(objective.mean(x, new), predict(objective.posterior(x), new)[0])


def test_likelihood_of_several_blocks_of_columns(rng, numerical_gradient):
    rows = rng.normal(size=(600, 3))
    problem = Observations(rows, rng.normal(size=(600, 1)))
    kernel = io_kernel(2, 1, ard=True)
    theta, noise = np.zeros(kernel.n_parameters), np.log([0.5])
    matrix = kernel.matrix(theta, rows, rows) + 0.5 * np.eye(600)
    sign, log_determinant = np.linalg.slogdet(matrix)
    expected = -0.5 * (
        problem.targets[:, 0] @ np.linalg.solve(matrix, problem.targets[:, 0])
        + log_determinant
        + 600 * np.log(2 * np.pi)
    )
    value, (by_theta, _) = exact.MarginalLikelihood(kernel, problem)(theta, noise)
    assert sign == 1
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    numerical = numerical_gradient(lambda x: exact.MarginalLikelihood(kernel, problem)(x, noise)[0], theta)
    np.testing.assert_allclose(by_theta, numerical, rtol=1e-6)


@pytest.mark.parametrize("family", ["rbf", "rbf+linear"])
def test_a_weight_of_two_is_two_rows(family, data, rng):
    kernel = io_kernel(3, 1, input_family=family, ard=True)
    theta, log_noise = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.1])
    weight = rng.integers(1, 4, size=40)
    repeated = Observations(np.repeat(data.rows, weight, axis=0), np.repeat(data.targets, weight, axis=0))
    weighted = Observations(data.rows, data.targets, weight.astype(float))
    one = exact.MarginalLikelihood(kernel, weighted)(theta, log_noise)
    other = exact.MarginalLikelihood(kernel, repeated)(theta, log_noise)
    np.testing.assert_allclose(one[0], other[0], rtol=1e-9)
    np.testing.assert_allclose(np.concatenate(one[1]), np.concatenate(other[1]), rtol=1e-7, atol=1e-7)
    new = rng.normal(size=(9, 4))
    for a, b in zip(
        predict(exact.posterior(kernel, theta, log_noise, weighted), new),
        predict(exact.posterior(kernel, theta, log_noise, repeated), new),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_leave_one_out_is_what_leaving_out_gives(is_weighted, data, rng):
    kernel = io_kernel(3, 1, output_family="rbf+linear", ard=True)
    theta, log_noise = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.1])
    weight = rng.integers(1, 4, size=40).astype(float) if is_weighted else None
    problem = Observations(data.rows, data.targets, weight)
    residual, variance = exact.posterior(kernel, theta, log_noise, problem).leave_one_out(problem)
    for i in (0, 17, 39):
        others = problem.subset(np.delete(np.arange(40), i))
        mean, latent = predict(exact.posterior(kernel, theta, log_noise, others), data.rows[[i]])
        np.testing.assert_allclose(residual[i], data.targets[i] - mean[0], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(variance[i], latent[0], rtol=1e-8)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_precision_is_the_noise_of_a_row(is_weighted, data, rng, numerical_gradient):
    kernel = io_kernel(3, 1, ard=True)
    theta, log_noise = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.1])
    precision = rng.uniform(0.2, 3.0, size=40)
    weight = rng.integers(1, 4, size=40) if is_weighted else np.ones(40, dtype=int)
    problem = Observations(data.rows, data.targets, weight.astype(float) if is_weighted else None, precision)
    value, gradients = exact.MarginalLikelihood(kernel, problem)(theta, log_noise)
    rows, targets = np.repeat(data.rows, weight, axis=0), np.repeat(data.targets, weight, axis=0)
    expected = sum(
        stats.multivariate_normal(
            cov=kernel.matrix(theta, rows, rows) + np.diag(noise / np.repeat(precision, weight))
        ).logpdf(target)
        for noise, target in zip(np.exp(log_noise), targets.T, strict=True)
    )
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    p = kernel.n_parameters
    numerical = numerical_gradient(
        lambda x: exact.MarginalLikelihood(kernel, problem)(x[:p], x[p:])[0], np.concatenate([theta, log_noise])
    )
    np.testing.assert_allclose(np.concatenate(gradients), numerical, rtol=1e-6, atol=1e-6 * np.abs(numerical).max())


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_evaluations_in_the_same_memory_do_not_see_each_other(data, rng, n_outputs):
    kernel = io_kernel(3, 1, input_family="matern52", output_family="rbf+linear", ard=True)
    problem = Observations(
        np.tile(data.rows, (4, 1)), np.tile(data.targets[:, :n_outputs], (4, 1))
    )  # more than one block
    likelihood = exact.MarginalLikelihood(kernel, problem)
    log_noise = np.log(np.full(n_outputs, 0.2))
    for theta in rng.normal(scale=0.5, size=(3, kernel.n_parameters)):
        value, gradients = likelihood(theta, log_noise)
        expected, expected_gradients = exact.MarginalLikelihood(kernel, problem)(theta, log_noise)
        assert value == expected
        np.testing.assert_array_equal(np.concatenate(gradients), np.concatenate(expected_gradients))
