"""Training rows."""

import numpy as np
import pytest

from rio_uq.gp.problem import Problem


def make(features, targets, weight=None):
    features, targets = np.array(features, dtype=float)[:, None], np.array(targets, dtype=float)[:, None]
    return Problem(features, 2.0 * features, targets, weight, is_residual=True)


def test_a_subset_takes_everything_along():
    problem = make([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], weight=np.array([1.0, 2.0, 3.0]))
    some = problem.subset(np.array([True, False, True]))
    np.testing.assert_array_equal(some.targets[:, 0], [1.0, 3.0])
    np.testing.assert_array_equal(some.weight, [1.0, 3.0])
    assert some.held_out is None


def test_residuals_take_one_prediction_for_each_target():
    with pytest.raises(ValueError, match="got 3 predictions and 1 targets"):
        Problem(np.zeros((4, 2)), np.zeros((4, 3)), np.zeros((4, 1)), None, is_residual=True)
