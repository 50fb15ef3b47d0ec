"""The paper's networks and forests."""

import numpy as np
import pytest

pytest.importorskip("torch")

from lab import base_models
from lab.base_models import train_forest, train_network


def test_a_network_learns_and_holds_rows_out(friedman):
    X, y = friedman
    X = 100 + 7 * X  # inputs are normalised
    network = train_network(X, y, (32, 32), seed=0)
    assert network.validation.sum() == 24
    assert 10 < network.n_epochs <= 1000
    assert np.corrcoef(network.predict(X), y)[0, 1] > 0.8


def test_the_seed_decides_and_nothing_else(friedman, monkeypatch):
    monkeypatch.setattr(base_models, "MAX_EPOCHS", 3)
    first, again, other = (train_network(*friedman, (8,), seed).predict(friedman[0]) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_forest_is_the_papers(friedman):
    forest = train_forest(*friedman, max_depth=5, seed=0)
    assert (forest.n_estimators, forest.min_samples_leaf, forest.max_depth) == (100, 10, 5)
