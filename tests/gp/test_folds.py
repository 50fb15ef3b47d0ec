"""Rows as GPs expect them that were trained without."""

import numpy as np
import pytest

from rio_uq.gp.folds import FoldSearch, predict_folds, random_folds
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.priors import Prior

KERNEL = io_kernel(1, 1)
N_PARAMETERS = KERNEL.n_parameters + 1
HOW = FoldSearch(
    np.zeros(N_PARAMETERS),
    np.zeros(N_PARAMETERS),
    np.tile([-5.0, 5.0], (N_PARAMETERS, 1)),
    Prior.flat(N_PARAMETERS),
    max_iter=10,
)


def data_of(rng, n=40):
    rows = rng.normal(size=(n, 2))
    return Observations(rows, np.sin(3.0 * rows[:, :1]) + 0.1 * rng.normal(size=(n, 1)))


@pytest.mark.parametrize("row", [0, 17])
def test_what_is_expected_of_a_row_does_not_depend_on_its_outcome(rng, row):
    data = data_of(rng)
    before = predict_folds(KERNEL, data, random_folds(len(data)), HOW)
    data.targets[row] += 5.0
    after = predict_folds(KERNEL, data, random_folds(len(data)), HOW)
    assert after.mean[row] == before.mean[row]
    assert after.latent[row] == before.latent[row]
    assert (after.mean != before.mean).any()


def test_folds_predict_what_can_be_predicted(rng):
    data = data_of(rng, 150)
    errors = predict_folds(KERNEL, data, random_folds(len(data)), HOW)
    assert np.mean((data.targets - errors.mean) ** 2) < 0.1 * np.var(data.targets)
    assert (errors.latent > 0.0).all()


def test_at_the_optimum_of_all_rows_folds_are_predicted_as_by_hand(rng):
    data, fold = data_of(rng), random_folds(40)
    at_optimum = predict_folds(KERNEL, data, fold, HOW).mean_at_optimum
    inside, outside = fold != 0, fold == 0
    offset = data.targets[inside].mean()
    matrix = KERNEL.matrix(HOW.optimum[:-1], data.rows, data.rows)
    weights = np.linalg.solve(matrix[np.ix_(inside, inside)] + np.eye(inside.sum()), data.targets[inside] - offset)
    np.testing.assert_allclose(at_optimum[outside], offset + matrix[np.ix_(outside, inside)] @ weights)


def test_the_likelier_of_two_optima_counts(rng):
    """From a start at which the GP is all noise, the optimum is not found within a few iterations."""
    data, fold = data_of(rng, 60), random_folds(60)
    optimum = np.array([0.0, -0.5, -5.0, 0.0, -4.0])[:N_PARAMETERS]
    lost = HOW._replace(start=np.full(N_PARAMETERS, 5.0), optimum=np.full(N_PARAMETERS, 5.0), max_iter=1)
    errors = [
        np.mean((data.targets - predict_folds(KERNEL, data, fold, how).mean) ** 2)
        for how in (lost, lost._replace(optimum=optimum))
    ]
    assert errors[1] < 0.5 * errors[0]


def test_rows_of_one_fold_are_left_out_together(rng):
    data = data_of(rng)
    fold = np.repeat(np.arange(4), 10)
    before = predict_folds(KERNEL, data, fold, HOW).mean
    data.targets[5] += 5.0
    after = predict_folds(KERNEL, data, fold, HOW).mean
    np.testing.assert_array_equal(after[:10], before[:10])
    assert (after[10:] != before[10:]).all()


def test_known_optima_of_folds_spare_the_search_from_the_start(rng):
    """Folds that begin where they have ended before stay there, and find what a start that leads nowhere does not."""
    data, fold = data_of(rng, 60), random_folds(60)
    first = predict_folds(KERNEL, data, fold, HOW._replace(max_iter=25))
    assert set(first.optima) == set(range(10))
    lost = np.full(N_PARAMETERS, 5.0)
    again = predict_folds(KERNEL, data, fold, HOW._replace(start=lost, optimum=lost, optima=first.optima))
    np.testing.assert_allclose(again.mean, first.mean, atol=0.1)
