"""The paper's networks and forests."""

import numpy as np
import pytest

pytest.importorskip("torch")

from experiments.base_models import train_forest, train_network


def test_a_network_learns_holds_rows_out_and_is_reproducible(friedman):
    X, y = friedman
    X = 100 + 7 * X  # inputs are normalised
    network = train_network(X, y, (32, 32), seed=0)
    assert network.validation.sum() == 24
    assert 10 < network.n_epochs <= 1000
    assert np.corrcoef(network.predict(X), y)[0, 1] > 0.8
    again = train_network(X, y, (32, 32), seed=0)
    np.testing.assert_array_equal(network.predict(X), again.predict(X))
    assert not np.array_equal(network.predict(X), train_network(X, y, (32, 32), seed=1).predict(X))


def test_the_forest_is_the_papers(friedman):
    forest = train_forest(*friedman, max_depth=5, seed=0)
    assert (forest.n_estimators, forest.min_samples_leaf, forest.max_depth) == (100, 10, 5)
