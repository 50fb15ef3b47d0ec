"""Left-out rows of a GP, in the units of the data."""

import numpy as np
import pytest

from rio_uq.gp.fit import KernelChoice, fit_residual_gp
from rio_uq.gp.problem import Problem
from rio_uq.gp.settings import Settings


def left_out_of(targets, features, rng, **options):
    problem = Problem(features, np.zeros((len(features), 3)), targets, None, False)
    return fit_residual_gp(
        problem,
        KernelChoice("io", "matern52", "rbf", True),
        Settings("exact", max_iter=20),
        standardize_output=True,
        starts="rio",
        n_restarts=0,
        prior="weak",
        noise="constant",
        walk_options={"n_jobs": 1},
        rng=rng,
        **options,
    ).left_out


@pytest.mark.parametrize("options", [{"guard": True}, {"guard": False}], ids=["by fold", "one by one"])
def test_what_is_expected_of_left_out_rows_is_in_the_units_of_the_data(rng, options):
    x = rng.uniform(size=(250, 1))
    targets = 70.0 + 30.0 * np.sin(6.0 * x) + rng.normal(size=x.shape)
    left_out = left_out_of(targets, x, rng, **options)
    errors = targets - left_out.of_rows(left_out.expected)
    assert 0.9 < np.sqrt(np.mean(errors**2)) < 1.2


def test_what_is_expected_of_a_fold_has_nothing_of_its_targets(rng):
    """Errors of folds are scaled to those of all rows, but what was expected of them is not."""
    features, targets = rng.normal(size=(250, 6)), rng.normal(size=(250, 1))
    left_out = left_out_of(targets, features, rng, guard=True)
    expected = left_out.of_rows(left_out.expected)
    assert np.corrcoef(expected[:, 0], targets[:, 0])[0, 1] < 0.15 or np.std(expected) < 1e-6
