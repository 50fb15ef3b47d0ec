"""Stationary kernels agree with scikit-learn's; a new one is a function and an entry."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from rio_uq.gp.kernels import terms
from rio_uq.gp.kernels.io import Kernel, io_kernel
from rio_uq.gp.kernels.stationary import Stationary
from rio_uq.gp.kernels.terms import Term

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


@pytest.mark.parametrize("family", ["matern12", "matern32", "matern52", "rational_quadratic"])
def test_equal_rows_far_from_the_origin_have_distance_zero(family, rng):
    rows = 1e3 + rng.normal(size=(5, 3))
    kernel = Kernel((Term(family, "input", 0, 3),))
    matrix = kernel.matrix(np.zeros(kernel.n_parameters), rows, rows)
    np.testing.assert_array_equal(matrix.diagonal(), 1.0)


def test_a_new_kernel_is_one_function_and_one_entry(rows, rng, monkeypatch, numerical_gradient):
    """The Cauchy kernel v/(1 + ρ)."""

    def cauchy(log_variance, shape, saved, scratch):
        value, slope = saved
        np.reciprocal(value + 1.0, out=slope)
        np.multiply(np.exp(log_variance), slope, out=value)
        slope *= value

    monkeypatch.setitem(terms._REGISTRY, "cauchy", Stationary(cauchy, lambda shape: 1.0, lambda shape: -1.0))
    kernel = io_kernel(3, 1, input_family="cauchy", output_family="cauchy+linear", ard=True)
    theta, adjoint = rng.normal(scale=0.4, size=kernel.n_parameters), rng.normal(size=(13, 7))
    distance = ((rows[0][:, None, :3] - rows[1][None, :, :3]) ** 2 * np.exp(-2.0 * theta[1:4])).sum(axis=2)
    part, part_theta = kernel.restricted(kernel.part("input"), theta)
    np.testing.assert_allclose(part.matrix(part_theta, *rows), np.exp(theta[0]) / (1.0 + distance), rtol=1e-12)
    by_theta, _ = kernel.pullback(theta, *rows, adjoint)
    expected = numerical_gradient(lambda x: np.sum(adjoint * kernel.matrix(x, *rows)), theta)
    np.testing.assert_allclose(by_theta, expected, rtol=1e-6, atol=1e-7)
