"""Rows that are nearly equal are records of one measurement; rows that are near each other by chance are not."""

import numpy as np
import pytest

from rio_uq.gp.copies import as_measurements, measurement_of
from rio_uq.gp.near_copies import GAP, near_copies, share_with_twins
from rio_uq.gp.problem import Problem


def with_twins(rng, n_measurements=60, n_copies=3, d=3, jitter=1e-3):
    X, y = rng.normal(size=(n_measurements, d)), rng.normal(size=(n_measurements, 1))
    order = rng.permutation(n_measurements * n_copies)
    measurement = np.repeat(np.arange(n_measurements), n_copies)[order]
    return X[measurement] + jitter * rng.normal(size=(len(order), d)), y[measurement], measurement


def same_sets(one, other):
    pairs = np.unique(np.column_stack([one, other]), axis=0)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))


@pytest.mark.parametrize("n_copies", [2, 3, 10])
@pytest.mark.parametrize("d", [2, 5, 50])
def test_records_of_each_measurement_are_told_apart(n_copies, d, rng):
    X, y, measurement = with_twins(rng, n_copies=n_copies, d=d)
    assert same_sets(near_copies(X, y, y), measurement)
    assert same_sets(measurement_of(X, y), measurement)


def test_outcomes_may_differ_as_little_as_inputs(rng):
    X, y, measurement = with_twins(rng)
    y = y + 1e-3 * rng.normal(size=y.shape)
    assert same_sets(near_copies(X, y, y), measurement)


def test_more_rows_than_are_looked_at(rng):
    X, y, measurement = with_twins(rng, n_measurements=700, n_copies=2, d=5)
    assert same_sets(near_copies(X, y, y), measurement)


def test_a_third_of_the_measurements_recorded_twice(rng):
    X, y = rng.normal(size=(150, 3)), rng.normal(size=(150, 1))
    twins = X[:50] + 1e-3 * rng.normal(size=(50, 3))
    found = near_copies(np.vstack([X, twins]), np.vstack([y, y[:50]]), np.vstack([y, y[:50]]))
    assert same_sets(found, np.concatenate([np.arange(150), np.arange(50)]))


@pytest.mark.parametrize("distribution", ["normal", "uniform", "lognormal"])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("n", [30, 100, 400])
def test_rows_drawn_at_random_are_all_distinct(distribution, d, n, rng):
    for noise in (0.0, 0.5):
        X = getattr(rng, distribution)(size=(n, d))
        y = np.sin(2.0 * X).sum(axis=1, keepdims=True) + noise * rng.normal(size=(n, 1))
        assert near_copies(X, y, y) is None


def series(rng):
    t = np.linspace(0.0, 10.0, 200)
    return np.column_stack([t, np.sin(t)]), np.sin(t)


def grid(rng):
    X = np.stack(np.meshgrid(np.arange(20.0), np.arange(4.0), np.arange(3.0)), axis=-1).reshape(-1, 3)
    return X, X @ [1.0, 0.3, 0.1]


def coarse_features(rng):
    X = rng.integers(0, 5, size=(200, 2)).astype(float)
    return X, X.sum(axis=1) + 1e-3 * rng.normal(size=200)


def replicates(rng):
    X = np.repeat(rng.uniform(size=(40, 2)), 5, axis=0) + 1e-3 * rng.normal(size=(200, 2))
    return X, np.sin(5.0 * X).sum(axis=1) + 0.3 * rng.normal(size=200)


def persons(rng):
    X = np.hstack([np.repeat(np.eye(20), 10, axis=0), rng.normal(size=(200, 1))])
    return X, X @ rng.normal(size=21) + 0.1 * rng.normal(size=200)


@pytest.mark.parametrize("rows", [series, grid, coarse_features, replicates, persons])
def test_rows_that_are_near_each_other_for_another_reason_are_distinct(rows, rng):
    X, y = rows(rng)
    assert near_copies(X, y[:, None], y[:, None]) is None


def test_replicates_are_distinct_where_the_model_has_left_nothing_but_their_noise(rng):
    X = np.repeat(rng.uniform(size=(40, 2)), 5, axis=0) + 1e-3 * rng.normal(size=(200, 2))
    noise = 0.02 * rng.normal(size=(200, 1))
    y = np.sin(5.0 * X).sum(axis=1, keepdims=True) + noise
    assert near_copies(X, y, y) is not None
    assert near_copies(X, y, noise) is None


@pytest.mark.parametrize("d", [1, 2])
def test_the_share_with_twins_by_chance_is_that_of_the_derivation(d, rng):
    X = rng.uniform(size=(4000, d))
    distances = np.sqrt(((X[:1000, None] - X) ** 2).sum(axis=2))
    volume = GAP**d
    expected = (1.0 - 1.0 / volume) ** (volume - 1.0) / volume
    share, _ = share_with_twins(np.sort(distances, axis=1)[:, 1:33])
    assert share == pytest.approx(expected, rel=0.3)


def test_nothing_to_compare():
    assert near_copies(np.empty((5, 0)), np.arange(5.0)[:, None], np.arange(5.0)[:, None]) is None
    assert near_copies(np.ones((1, 2)), np.ones((1, 1)), np.ones((1, 1))) is None
    assert near_copies(np.ones((2, 2)), np.ones((2, 1)), np.ones((2, 1))) is None
    assert near_copies(np.array([[np.nan], [1.0]]), np.ones((2, 1)), np.ones((2, 1))) is None


@pytest.mark.parametrize("is_sorted", [False, True])
def test_a_gp_gets_one_row_for_each_measurement(is_sorted, rng):
    X, y, measurement = with_twins(rng)
    problem = Problem(X, X[:, :1], y - X[:, :1], None, is_residual=True)
    rows, place, unit = as_measurements(problem, is_sorted=is_sorted)
    assert len(rows.features) == 60
    assert rows.weight is None
    assert unit.value == 3.0
    assert same_sets(place, measurement)
    np.testing.assert_allclose(rows.features[place], X, atol=0.01)


def test_seen_and_held_out_records_stay_apart(rng):
    X, y, _ = with_twins(rng)
    held_out = rng.random(len(X)) < 0.5
    rows, place, _ = as_measurements(Problem(X, X[:, :1], y - X[:, :1], None, is_residual=True, held_out=held_out))
    np.testing.assert_array_equal(rows.held_out[place], held_out)
