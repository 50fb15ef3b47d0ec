"""The sum of terms: parts, diagonal, trace, and pull-backs that agree with finite differences."""

import numpy as np
import pytest

from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.kernels.terms import FAMILIES


def random_theta(kernel, rng):
    return rng.normal(scale=0.4, size=kernel.n_parameters)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(13, 4)), rng.normal(size=(7, 4))


def test_io_kernel_is_the_sum_of_its_parts(rows, rng):
    kernel = io_kernel(3, 1, input_family="matern52+linear", output_family="rbf+linear", ard=True)
    theta = random_theta(kernel, rng)
    parts = [kernel.restricted(kernel.part(name), theta) for name in ("input", "output")]
    total = sum(part.matrix(part_theta, *rows) for part, part_theta in parts)
    np.testing.assert_allclose(kernel.matrix(theta, *rows), total, rtol=1e-12)


@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_diagonal_is_that_of_the_matrix(family, ard, rows, rng):
    kernel = io_kernel(2, 2, input_family=family, output_family=family, ard=ard)
    theta = random_theta(kernel, rng)
    np.testing.assert_allclose(
        kernel.diagonal(theta, rows[0]), kernel.matrix(theta, rows[0], rows[0]).diagonal(), rtol=1e-12
    )


@pytest.mark.parametrize("kind", ["io", "input", "output"])
@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("family", [*FAMILIES, "rbf+linear", "matern32+rational_quadratic+linear"])
def test_pullback_agrees_with_finite_differences(family, ard, kind, rows, rng, numerical_gradient):
    kernel = io_kernel(2, 2, input_family=family, output_family=family, ard=ard, kind=kind)
    theta, adjoint = random_theta(kernel, rng), rng.normal(size=(13, 7))
    by_theta, by_points = kernel.pullback(theta, *rows, adjoint)

    def value(theta, points):
        return np.sum(adjoint * kernel.matrix(theta, rows[0], points))

    expected_theta = numerical_gradient(lambda x: value(x, rows[1]), theta)
    expected_points = numerical_gradient(lambda x: value(theta, x), rows[1])
    np.testing.assert_allclose(by_theta, expected_theta, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(by_points, expected_points, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_trace_and_its_gradient(family, ard, rows, rng, numerical_gradient):
    kernel = io_kernel(2, 2, input_family=family, output_family=family, ard=ard)
    theta, weight = random_theta(kernel, rng), rng.uniform(size=13)
    value, gradient = kernel.trace(theta, weight.sum(), weight @ rows[0] ** 2)
    np.testing.assert_allclose(value, weight @ kernel.diagonal(theta, rows[0]))
    expected = numerical_gradient(lambda x: weight @ kernel.diagonal(x, rows[0]), theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
