"""Kernels agree with scikit-learn's, and their pull-backs with finite differences."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from rio_uq.gp.kernels.io import Kernel, io_kernel
from rio_uq.gp.kernels.terms import FAMILIES, Term

LENGTHSCALES = np.array([0.7, 1.3, 2.1])
REFERENCE = {
    "rbf": sk.RBF(LENGTHSCALES),
    "matern12": sk.Matern(LENGTHSCALES, nu=0.5),
    "matern32": sk.Matern(LENGTHSCALES, nu=1.5),
    "matern52": sk.Matern(LENGTHSCALES, nu=2.5),
}


@pytest.fixture
def rows(rng):
    return rng.normal(size=(13, 4)), rng.normal(size=(7, 4))


def random_theta(kernel, rng):
    return rng.normal(scale=0.4, size=kernel.n_parameters)


@pytest.mark.parametrize("family", REFERENCE)
def test_matrix_equals_scikit_learn(family, rows):
    kernel = Kernel((Term(family, "input", 1, 4, ard=True),))
    theta = np.log([2.5, *LENGTHSCALES])
    expected = 2.5 * REFERENCE[family](rows[0][:, 1:], rows[1][:, 1:])
    np.testing.assert_allclose(kernel.matrix(theta, *rows), expected, rtol=1e-12)


def test_rational_quadratic_equals_scikit_learn(rows):
    kernel = Kernel((Term("rational_quadratic", "input", 0, 4),))
    expected = 2.5 * sk.RationalQuadratic(length_scale=1.7, alpha=0.6)(*rows)
    np.testing.assert_allclose(kernel.matrix(np.log([2.5, 1.7, 0.6]), *rows), expected, rtol=1e-12)


def test_linear_equals_scikit_learn(rows):
    kernel = Kernel((Term("linear", "output", 0, 4),))
    expected = 2.5 * sk.DotProduct(sigma_0=0.0)(*rows)
    np.testing.assert_allclose(kernel.matrix(np.log([2.5]), *rows), expected, rtol=1e-12)


def test_linear_ard_has_a_variance_for_each_column(rows):
    kernel = Kernel((Term("linear", "output", 0, 4, ard=True),))
    variances = np.array([0.5, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(kernel.matrix(np.log(variances), *rows), (rows[0] * variances) @ rows[1].T, rtol=1e-12)


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


@pytest.mark.parametrize("family", ["matern12", "matern32", "matern52", "rational_quadratic"])
def test_equal_rows_far_from_the_origin_have_distance_zero(family, rng):
    rows = 1e3 + rng.normal(size=(5, 3))
    kernel = Kernel((Term(family, "input", 0, 3),))
    matrix = kernel.matrix(np.zeros(kernel.n_parameters), rows, rows)
    np.testing.assert_array_equal(matrix.diagonal(), 1.0)


def test_parameter_names_match_the_parameters():
    assert Term("rational_quadratic", "input", 0, 2, ard=True).parameter_names == (
        "variance",
        "lengthscale",
        "lengthscale",
        "shape",
    )
    assert Term("linear", "output", 0, 3).n_parameters == 1
