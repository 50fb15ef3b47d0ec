"""Factors, jitter and their errors."""

import numpy as np
import pytest

from rio_uq.gp.backend.linalg import (
    NotPositiveDefiniteError,
    cholesky,
    inverse,
    log_determinant,
    lower_inverse,
    lower_product,
    solve_lower,
    triangular_inverse,
)


@pytest.fixture
def matrix(rng):
    root = rng.normal(size=(8, 8))
    return root @ root.T + np.eye(8)


@pytest.mark.parametrize("n_columns", [1, 5])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_triangular_product_is_a_product(order, n_columns, rng):
    lower, right = np.tril(rng.normal(size=(8, 8))), np.asarray(rng.normal(size=(8, n_columns)), order=order)
    before = right.copy()
    np.testing.assert_allclose(lower_product(lower, right), lower @ right)
    np.testing.assert_array_equal(right, before)


def test_identities(matrix, rng):
    factor, jitter = cholesky(matrix)
    assert jitter == 0.0
    np.testing.assert_allclose(factor @ factor.T, matrix)
    np.testing.assert_allclose(inverse(factor), np.linalg.inv(matrix))
    np.testing.assert_allclose(triangular_inverse(factor) @ factor, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(log_determinant(factor), np.linalg.slogdet(matrix)[1])
    right = rng.normal(size=(8, 3))
    np.testing.assert_allclose(factor @ solve_lower(factor, right), right)
    np.testing.assert_allclose(factor.T @ solve_lower(factor, right, transposed=True), right)


@pytest.mark.parametrize("n", [1, 64, 65, 131, 300])
@pytest.mark.parametrize("order", ["C", "F"])
def test_factors_are_inverted_by_halves(n, order, rng):
    root = rng.normal(size=(n, n))
    matrix = root @ root.T + n * np.eye(n)
    factor = np.asarray(cholesky(matrix)[0], order=order)
    before = factor.copy()
    np.testing.assert_allclose(triangular_inverse(factor) @ factor, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(lower_inverse(factor), np.tril(np.linalg.inv(matrix)), atol=1e-13)
    np.testing.assert_array_equal(factor, before)


def test_jitter_grows_until_it_works(matrix):
    singular = np.ones((5, 5))
    factor, jitter = cholesky(singular)
    assert 0.0 < jitter < 1e-9
    np.testing.assert_allclose(factor @ factor.T, singular, atol=1e-8)


def test_indefinite_matrices_are_refused_with_the_cause():
    with pytest.raises(NotPositiveDefiniteError, match="duplicate rows"):
        cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_infinite_matrices_are_refused_with_the_cause():
    with pytest.raises(NotPositiveDefiniteError, match="not finite"):
        cholesky(np.array([[1.0, np.inf], [np.inf, 1.0]]))
