"""The collapsed bound: gradients, identities with the uncollapsed bound, ways of walking."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, stats

from rio_uq.gp import inducing
from rio_uq.gp.backend.linalg import BASE_JITTER
from rio_uq.gp.inference import collapsed, exact, sparse
from rio_uq.gp.inference.collapsed import CollapsedBound
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.kernels.terms import FAMILIES
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


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("family", [*FAMILIES, "rbf+linear"])
def test_gradient_agrees_with_finite_differences(family, ard, is_weighted, n_outputs, rng, numerical_gradient):
    data = make_data(rng, n_outputs=n_outputs, block_rows=32, n_jobs=2)
    if is_weighted:
        data = replace(data, weight=rng.integers(1, 4, size=70).astype(float))
    kernel = io_kernel(3, 1, input_family=family, output_family=family, ard=ard)
    bound, p, q = CollapsedBound(kernel, data, 6), kernel.n_parameters, n_outputs
    x = np.concatenate([rng.normal(scale=0.3, size=p + q) - 0.5, rng.normal(size=24)])

    def call(x):
        return bound(x[:p], x[p : p + q], x[p + q :].reshape(6, 4))

    gradient = np.concatenate([part.ravel() for part in call(x)[1]])
    expected = numerical_gradient(lambda x: call(x)[0], x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 30))
def test_the_bound_is_below_the_likelihood_and_grows_with_the_points(seed, m):
    rng = np.random.default_rng(seed)
    data = make_data(rng, n=40, n_outputs=1)
    kernel = io_kernel(3, 1, output_family="rbf+linear", ard=True)
    theta, log_noise = rng.normal(scale=0.5, size=kernel.n_parameters), rng.normal(size=1) - 1.0
    likelihood, _ = exact.MarginalLikelihood(kernel, data)(theta, log_noise)
    fewer, _ = evaluate(kernel, data, data.rows[:m], theta, log_noise)
    more, _ = evaluate(kernel, data, data.rows[: m + 5], theta, log_noise)
    slack = 1e-5 * abs(likelihood)
    assert fewer <= more + slack
    assert more <= likelihood + slack


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"block_rows": 512, "n_jobs": 1, "cache_bytes": 0},
        {"block_rows": 600, "n_jobs": 2},
        {"block_rows": 700, "n_jobs": 3, "cache_bytes": 0},
        {"block_rows": 10_000, "n_jobs": 2},
    ],
)
def test_blocks_threads_and_memory_change_nothing(options, is_weighted, kernel, rng):
    data = make_data(rng, n=2500)
    if is_weighted:
        data = replace(data, weight=rng.uniform(0.5, 2.0, size=2500))
    points = rng.normal(size=(20, 4))
    value, gradient = evaluate(kernel, data, points)
    other_value, other_gradient = evaluate(kernel, replace(data, **options), points)
    np.testing.assert_allclose(other_value, value, rtol=1e-10)
    np.testing.assert_allclose(other_gradient, gradient, rtol=1e-7, atol=1e-7 * np.abs(gradient).max())


def test_a_second_evaluation_in_the_same_memory_gives_the_same(kernel, data, rng):
    points = rng.normal(size=(9, 4))
    bound = CollapsedBound(kernel, data, 9)
    theta, log_noise = np.zeros(kernel.n_parameters), np.log([0.1, 0.2])
    first = bound(theta, log_noise, points)
    bound(theta + 0.3, log_noise, points + 0.1)
    again = bound(theta, log_noise, points)
    assert first[0] == again[0]
    for one, other in zip(first[1], again[1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_order_of_rows_changes_nothing(kernel, rng):
    data = make_data(rng, n=1500)
    points = rng.normal(size=(20, 4))
    order = rng.permutation(1500)
    value, gradient = evaluate(kernel, data, points)
    other_value, other_gradient = evaluate(kernel, data.subset(order), points)
    np.testing.assert_allclose(other_value, value, rtol=1e-10)
    np.testing.assert_allclose(other_gradient, gradient, rtol=1e-6, atol=1e-7 * np.abs(gradient).max())


def test_float32_blocks_are_right_to_their_precision(kernel, rng):
    data = make_data(rng, n=2000)
    points = rng.normal(size=(20, 4))
    value, gradient = evaluate(kernel, data, points)
    other_value, other_gradient = evaluate(kernel, replace(data, dtype=np.float32), points)
    np.testing.assert_allclose(other_value, value, rtol=1e-3)
    np.testing.assert_allclose(other_gradient, gradient, rtol=1e-2, atol=1e-2 * np.abs(gradient).max())


def test_a_weight_of_two_is_two_rows(kernel, data, rng):
    weight = rng.integers(1, 4, size=len(data))
    repeated = Observations(np.repeat(data.rows, weight, axis=0), np.repeat(data.targets, weight, axis=0))
    points = rng.normal(size=(10, 4))
    value, gradient = evaluate(kernel, replace(data, weight=weight.astype(float)), points)
    other_value, other_gradient = evaluate(kernel, repeated, points)
    np.testing.assert_allclose(value, other_value, rtol=1e-10)
    np.testing.assert_allclose(gradient, other_gradient, rtol=1e-7, atol=1e-7 * np.abs(gradient).max())


@pytest.mark.parametrize("options", [{}, {"cache_bytes": 0}, {"is_weighted": True}])
def test_rows_whitened_before_they_are_summed_up_give_the_same(options, kernel, rng, monkeypatch):
    weight = rng.integers(1, 4, size=70).astype(float) if options.pop("is_weighted", False) else None
    data = make_data(rng, weight=weight, block_rows=32, n_jobs=2, **options)
    theta, points = rng.normal(scale=0.3, size=kernel.n_parameters), rng.normal(size=(6, 4))
    expected = evaluate(kernel, data, points, theta)
    monkeypatch.setattr(collapsed, "ROUNDING_ALLOWED", 0.0)
    value, gradient = evaluate(kernel, data, points, theta)
    np.testing.assert_allclose(value, expected[0], rtol=1e-9)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-6, atol=1e-8 * np.abs(expected[1]).max())


def test_the_bound_is_right_where_the_kernel_is_smooth_and_the_noise_small(rng):
    """Outcomes around 450 without a mean, as those of a power plant: Φ alone would be lost in rounding."""
    y_pred = rng.normal(450.0, 17.0, size=(600, 1))
    data = Observations(y_pred, y_pred + rng.normal(size=(600, 1)))
    kernel = io_kernel(0, 1, kind="output")
    theta, noise, points = np.log([3e5, 700.0]), 1.0, y_pred[:50]
    value, gradient = evaluate(kernel, data, points, theta, np.log([noise]))
    kuu = kernel.matrix(theta, points, points)
    factor = np.linalg.cholesky(kuu + BASE_JITTER * kuu.diagonal().mean() * np.eye(50))
    a = linalg.solve_triangular(factor, kernel.matrix(theta, points, data.rows), lower=True)
    covariance = a.T @ a + noise * np.eye(600)
    expected = stats.multivariate_normal(cov=covariance).logpdf(data.targets[:, 0])
    expected -= 0.5 * (600 * 3e5 - (a**2).sum()) / noise
    np.testing.assert_allclose(value, expected, rtol=1e-4)
    mean, _ = predict(sparse.posterior(kernel, theta, np.log([noise]), points, data), data.rows)
    assert np.sqrt(np.mean((mean - data.targets) ** 2)) < 1.1
    raised = theta + np.array([0.0, 1e-4])
    slope = (evaluate(kernel, data, points, raised, np.log([noise]))[0] - value) / 1e-4
    np.testing.assert_allclose(gradient[1], slope, rtol=0.05, atol=0.5)


def test_several_outputs_add_up(kernel, data, rng):
    points, log_noise = rng.normal(size=(10, 4)), np.log([0.1, 0.3])
    together, _ = evaluate(kernel, data, points, log_noise=log_noise)
    apart = [
        evaluate(kernel, replace(data, targets=data.targets[:, [q]]), points, log_noise=log_noise[[q]])[0]
        for q in (0, 1)
    ]
    np.testing.assert_allclose(together, sum(apart), rtol=1e-12)


def test_the_uncollapsed_bound_at_the_collapsed_optimum_has_the_same_value(rng):
    """Σ_i E_q log N(r_i | f_i, σ²) − KL(q(u) ‖ p(u)), written out with q(u) = N(m, S) at its optimum."""
    data = make_data(rng, n=50, n_outputs=1)
    kernel = io_kernel(3, 1, output_family="rbf", ard=True)
    theta, noise = rng.normal(scale=0.3, size=kernel.n_parameters), 0.15
    points = rng.normal(size=(8, 4))
    kuu = kernel.matrix(theta, points, points)
    kuu += 1e-8 * kuu.diagonal().mean() * np.eye(8)
    kfu, r = kernel.matrix(theta, data.rows, points), data.targets[:, 0]
    sigma = kuu + kfu.T @ kfu / noise
    mean = kuu @ np.linalg.solve(sigma, kfu.T @ r) / noise
    spread = kuu @ np.linalg.solve(sigma, kuu)
    projection = np.linalg.solve(kuu, kfu.T).T
    latent_mean = projection @ mean
    latent_variance = kernel.diagonal(theta, data.rows) - np.einsum("ij,ij->i", projection @ (kuu - spread), projection)
    expected_likelihood = -0.5 * np.sum(np.log(2 * np.pi * noise) + ((r - latent_mean) ** 2 + latent_variance) / noise)
    divergence = 0.5 * (
        np.trace(np.linalg.solve(kuu, spread))
        + mean @ np.linalg.solve(kuu, mean)
        - 8
        + np.linalg.slogdet(kuu)[1]
        - np.linalg.slogdet(spread)[1]
    )
    value, _ = evaluate(kernel, data, points, theta, np.log([noise]))
    np.testing.assert_allclose(value, expected_likelihood - divergence, rtol=1e-7)


def test_memory_does_not_grow_with_rows_when_asked(kernel, rng):
    data = make_data(rng, n=3000, n_outputs=1, cache_bytes=0, block_rows=512)
    bound = CollapsedBound(kernel, data, 10)
    bound(np.zeros(kernel.n_parameters), np.log([0.1]), data.rows[:10])
    assert sorted(bound._kept) == [(0, 3000 % 512), (0, 512)]  # one for all blocks that are as long
    assert sum(array.nbytes for array in bound._shared.values()) == 20 * 512 * 8
    assert CollapsedBound(kernel, replace(data, cache_bytes=2**30), 10).is_cached


def test_the_bound_is_smooth_where_the_kernel_matrix_is_badly_conditioned(rng):
    """Long lengthscales and little noise: a line search would fail on rounding."""
    kernel, theta = io_kernel(2, 1), np.array([0.0, 1.5, 0.0, 1.5])
    rows = rng.normal(size=(3000, 3))
    points = inducing.greedy(kernel, theta, rows[:1000], 60)
    bound = CollapsedBound(kernel, Observations(rows, np.sin(2.0 * rows[:, :1])), len(points))
    steps = np.arange(8)
    values = [bound(theta + 1e-10 * step, np.array([-5.0]), points)[0] for step in steps]
    line = np.polynomial.Polynomial.fit(steps, values, 1)
    assert np.abs(values - line(steps)).max() < 1e-4
