"""Copies among training rows."""

import numpy as np
import pytest

from rio_uq.gp.problem import Problem


def make(features, targets, weight=None):
    features, targets = np.array(features, dtype=float)[:, None], np.array(targets, dtype=float)[:, None]
    return Problem(features, 2.0 * features, targets, weight, is_residual=True)


def test_copies_are_one_row_that_counts_as_often():
    merged = make([1.0, 0.0, 1.0, 2.0], [5.0, 3.0, 5.0, 4.0]).without_copies()[0]
    np.testing.assert_array_equal(merged.features[:, 0], [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(merged.targets[:, 0], [3.0, 5.0, 4.0])
    np.testing.assert_array_equal(merged.weight, [1.0, 2.0, 1.0])
    assert make([0.0, 1.0], [1.0, 2.0]).without_copies()[0].weight is None


def test_every_row_is_found_again_among_those_without_copies():
    problem = make([1.0, 0.0, 1.0, 2.0], [5.0, 3.0, 5.0, 4.0])
    merged, place = problem.without_copies()
    np.testing.assert_array_equal(merged.features[place], problem.features)
    np.testing.assert_array_equal(merged.targets[place], problem.targets)


def test_predictions_that_differ_by_rounding_are_copies():
    problem = make([1.0, 1.0, 3.0], [5.0, 5.0, 1.0])
    problem.y_pred[0] += 1e-14
    assert len(problem.without_copies()[0].features) == 2


def test_one_measurement_that_was_copied_counts_once_and_several_as_often_as_they_are():
    merged = make([0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 2.0, 3.0, 3.0]).without_copies()[0]
    np.testing.assert_array_equal(merged.weight, [2.0, 1.0, 2.0])
    np.testing.assert_array_equal(merged.learning_weight(), [1.0, 1.0, 2.0])


def test_weights_below_one_are_kept():
    merged = make([0.0, 1.0], [1.0, 2.0], weight=np.array([0.5, 3.0])).without_copies()[0]
    np.testing.assert_array_equal(merged.learning_weight(), [0.5, 1.0])


def test_a_subset_takes_everything_along():
    problem = make([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], weight=np.array([1.0, 2.0, 3.0]))
    some = problem.subset(np.array([True, False, True]))
    np.testing.assert_array_equal(some.targets[:, 0], [1.0, 3.0])
    np.testing.assert_array_equal(some.weight, [1.0, 3.0])
    assert some.held_out is None


def test_residuals_take_one_prediction_for_each_target():
    with pytest.raises(ValueError, match="got 3 predictions and 1 targets"):
        Problem(np.zeros((4, 2)), np.zeros((4, 3)), np.zeros((4, 1)), None, is_residual=True)
