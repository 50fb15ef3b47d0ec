"""Means over training rows that a model keeps tell how many of the given rows are among them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rio_uq.models.overlap import Share, mean_share, of_cells, seen_share, share_of
from rio_uq.models.training_rows import training_evidence


def rows_with_overlap(rng, n, n_trained, n_both):
    """Random numbers of rows: the given ones, and the training rows."""
    pool = rng.permutation(n + n_trained)
    return pool[:n], np.concatenate([pool[:n_both], pool[n : n + n_trained - n_both]])


@given(n_both=st.integers(0, 200), n_trained=st.integers(200, 600), seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_counts_in_the_cells_of_many_partitions_tell_the_share(n_both, n_trained, seed):
    rng = np.random.default_rng(seed)
    given_rows, trained = rows_with_overlap(rng, 200, n_trained, n_both)
    partitions = rng.integers(4, size=(150, 200 + n_trained))
    means = [of_cells(cell[given_rows], np.bincount(cell[trained], minlength=4).astype(float)) for cell in partitions]
    share = share_of(means, 200)
    assert abs(share.value - n_both / 200) < 6.0 * share.error
    assert share.error < 0.25


@pytest.mark.parametrize(
    "model",
    [
        ExtraTreesRegressor(30, min_samples_leaf=2, random_state=0),
        RandomForestRegressor(30, min_samples_leaf=2, random_state=0),
        GradientBoostingRegressor(n_estimators=30, max_features=2, subsample=0.7, random_state=0),
        make_pipeline(StandardScaler(), ExtraTreesRegressor(30, max_depth=5, random_state=0)),
    ],
)
@pytest.mark.parametrize("n_both", [0, 150])
def test_trees_tell_the_share(model, n_both, rng):
    X = rng.normal(size=(800, 6))
    y = X[:, 0] * X[:, 1] + rng.normal(size=800)
    given_rows, trained = rows_with_overlap(rng, 300, 300, n_both)
    evidence = training_evidence(model.fit(X[trained], y[trained]), X[given_rows], y[given_rows])
    assert evidence.verdict is None
    assert abs(evidence.share.value - n_both / 300) < 3.0 * evidence.share.error
    assert evidence.share.error < 0.35


def test_a_scaler_tells_the_share(rng):
    X = rng.normal(size=(800, 60))
    given_rows, trained = rows_with_overlap(rng, 300, 400, 200)
    share = seen_share([(StandardScaler().fit(X[trained]), X[given_rows])])
    assert abs(share.value - 2.0 / 3.0) < 3.0 * share.error
    assert share.error < 0.2


def test_a_scaler_inside_of_a_transformer_of_columns_tells_the_same(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.normal(size=(300, 8)), columns=list("abcdefgh")).assign(town=rng.choice(["x", "y"], size=300))
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    parts = [("numbers", numbers, list("abcdefgh")), ("towns", OneHotEncoder(), ["town"]), ("none", "drop", [])]
    columns, scaler = ColumnTransformer(parts).fit(X[:150]), StandardScaler().fit(X[list("abcdefgh")][:150])
    assert seen_share([(columns, X[75:225])]) == seen_share([(scaler, X[list("abcdefgh")][75:225])])


def test_columns_whose_variance_is_made_by_few_rows_tell_nothing(rng):
    X = rng.normal(size=(400, 6))
    rare = np.where(rng.uniform(size=(400, 3)) < 0.02, 1000.0, 0.0) * rng.uniform(size=(400, 3))
    scaler, with_rare = StandardScaler().fit(X[:200]), np.hstack([X, rare])
    one = seen_share([(scaler, X[200:])])
    other = seen_share([(StandardScaler().fit(with_rare[:200]), with_rare[200:])])
    assert (one.value, one.error) == pytest.approx((other.value, other.error))


def test_rows_from_elsewhere_tell_nothing(rng):
    X = rng.normal(size=(300, 5))
    assert seen_share([(StandardScaler().fit(X[:150]), X[150:] + 1.0)]) is None
    assert seen_share([(object(), X)]) is None


def test_the_mean_of_shares_is_nearer_to_the_more_certain_one():
    assert mean_share([]) is None
    mean = mean_share([Share(0.4, 0.1), Share(0.9, 0.2)])
    assert (mean.value, mean.error) == pytest.approx((0.5, np.sqrt(0.008)))
