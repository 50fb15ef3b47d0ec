"""Clones that lack two folds."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, TimeSeriesSplit

from rio_uq.models.cross_fitting import make_folds
from rio_uq.models.nested import nested_folds


class Remembers(BaseEstimator):
    """Predicts the set of rows that it has seen, as a sum of powers of two."""

    def fit(self, X, y):
        self.seen_ = float(np.sum(2.0 ** X[:, 0]))
        return self

    def predict(self, X):
        return np.full((len(X), 1), self.seen_)


@pytest.fixture
def rows():
    return np.arange(20.0)[:, None], np.zeros((20, 1))


def seen(prediction):
    return {row for row in range(20) if int(prediction) >> row & 1}


@pytest.mark.parametrize("splitter", [KFold(4), TimeSeriesSplit(3)], ids=["folds", "time"])
def test_nothing_that_is_learnt_from_has_seen_the_fold_that_is_tested(splitter, rows):
    X, y = rows
    folds = [(train, test) for train, test in splitter.split(X)]
    for fold in nested_folds(Remembers(), X, y, None, folds, {}):
        assert not set(fold.learnt) & set(fold.tested)
        for row, (prediction,) in zip(fold.learnt, fold.of_learnt, strict=True):
            assert not seen(prediction) & {row, *fold.tested}
        for (prediction,) in fold.of_tested:
            assert not seen(prediction) & set(fold.tested)


def test_all_rows_but_those_of_the_fold_are_learnt_from(rows):
    X, y = rows
    nested = nested_folds(Remembers(), X, y, None, list(KFold(5).split(X)), {})
    assert [len(fold.learnt) for fold in nested] == [16] * 5
    assert sorted(row for fold in nested for row in fold.tested) == list(range(20))


def test_folds_keep_the_shares_of_labels(rng):
    labels = np.repeat([0, 1, 2], [40, 15, 5])
    X = np.zeros((60, 2))  # all rows are near each other, and are no copies
    folds = make_folds(5, X, np.eye(3)[labels], X, None, None, rng, labels)
    assert [np.bincount(labels[test]).tolist() for _, test in folds] == [[8, 3, 1]] * 5
