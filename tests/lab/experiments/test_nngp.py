"""NNGP: the kernel is that of wide networks, the posterior that of a GP, the search ends as the paper says."""

import math
from dataclasses import replace

import numpy as np
import pytest

from experiments import nngp as module
from experiments.nngp import Network, grid_search, nngp, predict
from lab.runs import Rows
from rio_uq import metrics

NETWORK = Network(weight_variance=1.7, bias_variance=0.3)


def kernel_matrix(network, X, Z):
    d = X.shape[1]
    return network.kernel(X @ Z.T / d, np.sum(X**2, axis=1) / d, np.sum(Z**2, axis=1) / d)


def kernel_of_two(network, x, z):
    """The recursion for one pair, as the formulas stand."""
    w, b = network.weight_variance, network.bias_variance
    xx, xz, zz = (b + w * float(a @ c) / len(x) for a, c in ((x, x), (x, z), (z, z)))
    for _ in range(network.depth):
        scale = math.sqrt(xx * zz)
        angle = math.acos(max(-1.0, min(1.0, xz / scale)))
        xz = b + w / (2 * math.pi) * scale * (math.sin(angle) + (math.pi - angle) * math.cos(angle))
        xx, zz = b + w / 2 * xx, b + w / 2 * zz
    return xz


def covariance_of_wide_networks(network, X, width, n_networks, rng):
    """Covariance of the outputs over random output weights, averaged over random hidden layers."""
    total = np.zeros((len(X), len(X)))
    for _ in range(n_networks):
        signals = X.T
        for _ in range(network.depth):
            weights = rng.normal(scale=math.sqrt(network.weight_variance / len(signals)), size=(width, len(signals)))
            biases = rng.normal(scale=math.sqrt(network.bias_variance), size=(width, 1))
            signals = np.maximum(weights @ signals + biases, 0.0)
        total += network.bias_variance + network.weight_variance * signals.T @ signals / width
    return total / n_networks


@pytest.fixture
def rows(friedman):
    X, y = friedman
    return Rows(X[:90], y[:90], y[:90], X[90:], y[90:], y[90:], base_seconds=0.0)


@pytest.mark.parametrize("depth", [1, 2])
def test_the_kernel_is_the_covariance_of_wide_random_networks(depth, rng):
    X = rng.normal(size=(5, 3))
    network = replace(NETWORK, depth=depth)
    sampled = covariance_of_wide_networks(network, X, width=1500, n_networks=4, rng=rng)
    np.testing.assert_allclose(kernel_matrix(network, X, X), sampled, rtol=0.05)


def test_the_kernel_matrix_is_symmetric_and_positive_with_the_known_diagonal(rng):
    X = rng.normal(size=(150, 4))
    matrix = kernel_matrix(NETWORK, X, X)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-13)
    assert np.linalg.eigvalsh(matrix).min() > -1e-10
    squares = np.sum(X**2, axis=1) / 4
    diagonal = 0.3 + 0.85 * (0.3 + 0.85 * (0.3 + 1.7 * squares))
    np.testing.assert_allclose(np.diagonal(matrix), diagonal, rtol=1e-7)
    np.testing.assert_allclose(NETWORK.variances(squares)[-1], diagonal)
    np.testing.assert_allclose(np.tril(NETWORK.lower_kernel(X @ X.T / 4, squares)), np.tril(matrix), rtol=1e-13)


def test_without_biases_the_weights_only_scale_the_kernel(rng):
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    once, thrice = (kernel_matrix(Network(factor * 0.6, 0.0), X, Z) for factor in (1, 3))
    np.testing.assert_allclose(thrice, 3**3 * once)


def test_the_posterior_is_that_of_a_gaussian_process(rng):
    X, y, X_new = rng.normal(size=(70, 3)), rng.normal(size=70), rng.normal(size=(5, 3))
    everything = np.vstack([X, X_new])
    full = np.array([[kernel_of_two(NETWORK, x, z) for z in everything] for x in everything])
    inverse = np.linalg.inv(full[:70, :70] + 0.05 * np.eye(70))
    mean, variance = predict(NETWORK, X, y, X_new, noise_variance=0.05)
    np.testing.assert_allclose(mean, full[70:, :70] @ inverse @ y)
    covariance = full[70:, 70:] - full[70:, :70] @ inverse @ full[:70, 70:]
    np.testing.assert_allclose(variance, np.diagonal(covariance) + 0.05)


def test_the_search_finds_the_least_error_on_rows_held_out(rng):
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    validation = np.arange(60) % 3 == 0
    grid = [Network(w, b) for w in (0.1, 1.0, 5.0) for b in (0.0, 2.0)]
    errors = []
    for network in grid:
        mean, _ = predict(network, X[~validation], y[~validation], X[validation])
        errors.append(np.mean((mean - y[validation]) ** 2))
    search = grid_search(X, y, validation, np.array([0.1, 1.0, 5.0]), np.array([0.0, 2.0]))
    assert search.network == grid[int(np.argmin(errors))]
    assert search.squared_error == pytest.approx(min(errors))
    assert search.n_evaluated == 6
    assert search.seconds_each > 0.0


def test_the_search_ends_when_a_cholesky_decomposition_fails(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    X[7] = 0.0  # without biases and noise, its variance is zero
    validation = np.arange(30) % 3 == 0
    search = grid_search(X, y, validation, np.array([0.5, 1.0]), np.array([1.0, 0.0]), noise_variance=0.0)
    assert search.n_evaluated == 1
    assert search.network == Network(0.5, 1.0)
    with pytest.raises(np.linalg.LinAlgError, match="first point"):
        grid_search(X, y, validation, np.array([0.5, 1.0]), np.array([0.0, 1.0]), noise_variance=0.0)


def test_the_grid_is_the_papers():
    assert (module.WEIGHT_VARIANCES[0], module.WEIGHT_VARIANCES[-1], len(module.WEIGHT_VARIANCES)) == (0.1, 5.0, 30)
    assert (module.BIAS_VARIANCES[0], module.BIAS_VARIANCES[-1], len(module.BIAS_VARIANCES)) == (0.0, 2.0, 30)


def test_as_a_method_it_learns_and_answers_in_the_units_of_y(rows):
    answer = nngp(rows, 0)
    assert metrics.rmse(rows.y_test, answer.mean) < 0.5 * rows.y_test.std()
    assert answer.std.min() > 0.1 * rows.y_train.std()  # the fixed noise
    assert answer.noise_variance is None
    other = replace(rows, X_train=5 * rows.X_train - 3, X_test=5 * rows.X_test - 3, y_train=100 + 7 * rows.y_train)
    scaled = nngp(other, 0)
    np.testing.assert_allclose(scaled.mean, 100 + 7 * answer.mean)
    np.testing.assert_allclose(scaled.std, 7 * answer.std)
