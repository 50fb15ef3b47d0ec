"""Folds that keep groups together, and what GPs expect of them."""

import numpy as np
import pytest

from rio_uq.gp.groups import group_folds, predict_groups
from rio_uq.gp.guard import supported_share
from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict


def test_folds_have_whole_groups_and_about_the_same_size(rng):
    groups = rng.integers(0, 30, size=300).tolist()
    fold = group_folds(groups)
    assert len({(label, number) for label, number in zip(groups, fold, strict=True)}) == len(set(groups))
    assert np.ptp(np.bincount(fold)) <= 15
    assert fold.max() == 9


def test_folds_do_not_depend_on_the_order_of_rows(rng):
    groups = np.array(["a", "b", "c", "d"])[rng.integers(0, 4, size=40)]
    order = rng.permutation(40)
    np.testing.assert_array_equal(group_folds(groups[order].tolist(), 2), group_folds(groups.tolist(), 2)[order])


def test_few_and_many_groups():
    assert set(group_folds([1, 1, 2, "b"])) == {0, 1, 2}
    assert group_folds(list(range(60))).max() == 4
    with pytest.raises(ValueError, match="one label, 'a', for all rows"):
        group_folds(["a", "a"])


@pytest.mark.parametrize("name", ["exact", "sparse"])
def test_each_fold_is_expected_by_the_others(name, rng):
    rows = rng.normal(size=(30, 3))
    data = Observations(rows, np.sin(rows[:, :1]) + 5.0)
    kernel, fold = io_kernel(2, 1), np.arange(30) % 3
    theta, points = np.zeros(kernel.n_parameters), () if name == "exact" else (rows[:10],)

    def posterior_of(data):
        return {"exact": exact, "sparse": sparse}[name].posterior(kernel, theta, np.log([0.1]), *points, data)

    posterior = posterior_of(data)
    by_fold = predict_groups(posterior, data, fold)
    rest = data.subset(np.flatnonzero(fold != 1))
    offset = rest.targets.mean(axis=0)
    centred = Observations(rest.rows, rest.targets - offset)
    mean, latent = predict(posterior_of(centred), rows[fold == 1])
    np.testing.assert_allclose(by_fold.mean[fold == 1], offset + mean)
    np.testing.assert_allclose(by_fold.latent[fold == 1], latent)


def test_rows_that_err_together_support_less(rng):
    """Ten groups of twenty rows, whose errors are the same: ten measurements, not two hundred."""
    fold = np.repeat(np.arange(10), 20)
    mean, error = np.repeat(np.resize([-1.0, 1.0], 10), 20), np.repeat(rng.normal(size=10), 20)
    residual = 0.5 * mean + error
    weight = np.ones(200)
    assert supported_share(residual, mean, weight) > 0.3
    assert supported_share(residual, mean, weight, fold) == 0.0
    assert supported_share(mean + 0.1 * error, mean, weight, fold) == 1.0
