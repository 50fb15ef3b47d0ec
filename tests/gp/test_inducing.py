"""Inducing points."""

import numpy as np
import pytest

from rio_uq.gp.inducing import METHODS, choose, greedy
from rio_uq.gp.kernels.io import io_kernel


@pytest.fixture
def kernel():
    return io_kernel(2, 1)


@pytest.mark.parametrize("method", METHODS)
def test_as_many_points_as_asked_for(method, kernel, rng):
    rows = rng.normal(size=(500, 3))
    points = choose(method, 20, rows, kernel, np.zeros(4), rng)
    assert points.shape == (20, 3)
    assert len(np.unique(points, axis=0)) == 20


@pytest.mark.parametrize("method", METHODS)
def test_never_more_points_than_rows(method, kernel, rng):
    rows = rng.normal(size=(7, 3))
    assert len(choose(method, 50, rows, kernel, np.zeros(4), rng)) == 7


def test_copies_of_a_row_are_one_centre(kernel, rng):
    rows = np.repeat(rng.normal(size=(6, 3)), 50, axis=0)
    np.testing.assert_allclose(np.unique(rows, axis=0), choose("kmeans", 20, rows, kernel, np.zeros(4), rng))


def test_centres_follow_the_seed_and_the_clusters(kernel, rng):
    middles = 10.0 * rng.normal(size=(5, 3))
    rows = np.vstack([middle + 0.01 * rng.normal(size=(40, 3)) for middle in middles])
    one, other = (choose("kmeans", 30, rows, kernel, np.zeros(4), np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    distances = np.linalg.norm(one[:, None] - middles, axis=2).min(axis=1)
    assert distances.max() < 0.1


def test_first_are_the_first(kernel, rng):
    rows = rng.normal(size=(30, 3))
    np.testing.assert_array_equal(choose("first", 5, rows, kernel, np.zeros(4), rng), rows[:5])


def test_greedy_takes_the_row_with_the_largest_conditional_variance(kernel, rng):
    rows, theta = rng.normal(size=(40, 3)), np.zeros(4)
    points = greedy(kernel, theta, rows, 6)
    taken = points[:3]
    matrix, cross = kernel.matrix(theta, taken, taken), kernel.matrix(theta, taken, rows)
    left = kernel.diagonal(theta, rows) - np.einsum("ij,ij->j", cross, np.linalg.solve(matrix, cross))
    np.testing.assert_array_equal(points[3], rows[left.argmax()])


def test_greedy_stops_where_nothing_is_left_to_know(kernel, rng):
    rows = np.repeat(rng.normal(size=(4, 3)), 10, axis=0)
    assert len(greedy(kernel, np.zeros(4), rows, 20)) == 4
