"""The ends of the range of predictions."""

import numpy as np
import pytest

from rio_uq.gp.edges import Edges, open_slope


def test_a_slope_that_is_not_corrected_has_the_second_moment_of_least_squares(rng):
    x, weight = rng.normal(size=(50, 2)), np.ones(50)
    r = 0.3 * x + rng.normal(size=(50, 2))
    for output in range(2):
        (slope, _), covariance = np.polyfit(x[:, output], r[:, output], 1, cov=True)
        expected = np.sqrt(slope**2 + covariance[0, 0])
        assert open_slope(x, r, weight, np.zeros(2))[output] == pytest.approx(expected)
    half, none = open_slope(x, r, weight, np.array([0.75, 1.0])) / open_slope(x, r, weight, np.zeros(2))
    assert (half, none) == (0.5, 0.0)


def test_weights_count_rows(rng):
    x, r = rng.normal(size=(2, 30, 1))
    weight = np.resize([0.0, 1.0], 30)
    chosen = weight > 0.0
    expected = open_slope(x[chosen], r[chosen], np.ones(15), np.zeros(1))
    np.testing.assert_allclose(open_slope(x, r, weight, np.zeros(1)), expected)
    np.testing.assert_allclose(open_slope(x, r, 1e-3 * weight, np.zeros(1)), expected)


def test_constant_predictions_have_no_slope(rng):
    assert open_slope(np.ones((5, 1)), rng.normal(size=(5, 1)), np.ones(5), np.zeros(1)) == 0.0


def test_it_opens_at_the_ends_of_the_range():
    edges = Edges.of(np.array([[1.0], [5.0]]), np.array([0.5]))
    assert (edges.middle, edges.half_width) == (3.0, 2.0)
    far = edges.left_open(np.array([[1.0], [3.0], [5.0], [3.0 + np.sqrt(13.0)], [3.0 - np.sqrt(13.0)]]))
    np.testing.assert_allclose(far[:, 0], [0.0, 0.0, 0.0, 1.5, -1.5])
