"""Copies among training rows, and the unit of weights."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_uq.gp.copies import MOST_SHARES, as_measurements, is_by_chance, unit_of_all_rows
from rio_uq.gp.problem import Problem


def make(features, targets, weight=None):
    features, targets = np.array(features, dtype=float)[:, None], np.array(targets, dtype=float)[:, None]
    return Problem(features, 2.0 * features, targets - 2.0 * features, weight, is_residual=True)


def repeated(problem, times):
    rows = np.repeat(np.arange(len(problem.features)), times)
    return replace(problem.subset(rows), weight=None)


@pytest.fixture
def continuous(rng):
    return make(rng.normal(size=40), rng.normal(size=40))


@pytest.fixture
def coarse(rng):
    """Zeros and ones at five places."""
    return make(np.repeat(np.arange(5.0), 40), rng.random(200) < 0.1)


@pytest.mark.parametrize("is_sorted", [False, True])
class TestCopies:
    def test_they_are_one_row_that_counts_more_beside_others(self, is_sorted):
        rows, place, unit = as_measurements(make([1.0, 0.0, 1.0, 2.0], [5.0, 3.0, 5.0, 4.0]), is_sorted=is_sorted)
        order = [0.0, 1.0, 2.0] if is_sorted else [1.0, 0.0, 2.0]
        np.testing.assert_array_equal(rows.features[:, 0], order)
        np.testing.assert_allclose(rows.weight, np.where(np.array(order) == 1.0, 1.0, 0.75))
        assert unit.value == pytest.approx(4.0 / 3.0)
        np.testing.assert_array_equal(rows.features[place, 0], [1.0, 0.0, 1.0, 2.0])

    def test_all_rows_copied_are_the_rows(self, is_sorted, continuous):
        once, ten = (as_measurements(rows, is_sorted=is_sorted) for rows in (continuous, repeated(continuous, 10)))
        assert once.problem.weight is ten.problem.weight is None
        np.testing.assert_array_equal(once.problem.features, ten.problem.features)
        assert (once.unit.value, ten.unit.value) == (1.0, pytest.approx(10.0))

    def test_a_row_of_weight_two_is_the_row_twice(self, is_sorted, continuous, rng):
        times = rng.integers(1, 5, size=40)
        one = as_measurements(replace(continuous, weight=times.astype(float)), is_sorted=is_sorted)
        other = as_measurements(repeated(continuous, times), is_sorted=is_sorted)
        np.testing.assert_allclose(one.problem.weight, other.problem.weight)
        assert one.unit.value == pytest.approx(other.unit.value)

    def test_predictions_that_differ_by_rounding_are_copies(self, is_sorted):
        problem = make([1.0, 1.0, 3.0], [5.0, 5.0, 1.0])
        problem.y_pred[0] += 1e-14
        assert len(as_measurements(problem, is_sorted=is_sorted).problem.features) == 2

    def test_those_in_two_folds_are_two_measurements(self, is_sorted):
        problem = replace(make([1.0, 1.0, 3.0], [5.0, 5.0, 1.0]), fold=np.array([0, 1, 0]))
        assert len(as_measurements(problem, is_sorted=is_sorted).problem.features) == 3

    @given(st.floats(1e-300, 1e300))
    def test_the_scale_of_weights_does_not_matter(self, is_sorted, factor):
        rng = np.random.default_rng(0)
        problem = make(rng.normal(size=20).round(1), rng.normal(size=20))
        weight = rng.uniform(0.1, 3.0, size=20)
        one, other = (
            as_measurements(replace(problem, weight=by * weight), is_sorted=is_sorted) for by in (1.0, factor)
        )
        np.testing.assert_allclose(other.problem.weight, one.problem.weight, rtol=1e-12)
        assert other.problem.weight.max() == 1.0


def test_a_hundred_zeros_and_ones_are_a_hundred_measurements():
    """In few rows, of which some can be left out."""
    rows, place, unit = as_measurements(make(np.zeros(100), np.arange(100) < 10), is_sorted=True)
    assert rows.weight.sum() == pytest.approx(100.0)
    assert (len(rows.features), unit) == (2 * MOST_SHARES, (1.0, False))
    np.testing.assert_array_equal(rows.targets[place, 0], np.arange(100) < 10)
    assert len(np.unique(place)) == len(rows.features)


@pytest.mark.parametrize("is_sorted", [False, True])
def test_equal_rows_by_chance_count_each(is_sorted, coarse):
    rows, _, unit = as_measurements(coarse, is_sorted=is_sorted)
    assert unit == (1.0, False)
    assert (len(rows.features) if rows.weight is None else rows.weight.sum()) == pytest.approx(200)
    weighted = as_measurements(replace(coarse, weight=np.full(200, 1e-3)), is_sorted=is_sorted)
    assert weighted.unit.value == pytest.approx(1e-3)


def test_what_is_by_chance(coarse, continuous, rng):
    assert is_by_chance(coarse)
    assert not is_by_chance(repeated(continuous, 3))
    labels = replace(continuous, targets=rng.integers(0, 2, size=(40, 1)) - continuous.y_pred)
    assert not is_by_chance(repeated(labels, 3))  # outcomes recur, places do not
    bootstrapped = make(np.arange(40) % 2, rng.normal(size=40)).subset(rng.integers(40, size=40))
    assert not is_by_chance(bootstrapped)  # places recur, outcomes do not


def test_counts_are_what_they_are(continuous):
    counts = replace(continuous, weight=np.full(40, 3.0))
    rows, _, unit = as_measurements(counts, are_counts=True)
    assert (rows.weight.sum(), unit) == (120.0, (1.0, True))
    apart, together = (
        as_measurements(rows, are_counts=True, is_sorted=True).problem for rows in (repeated(continuous, 3), counts)
    )
    np.testing.assert_array_equal(apart.features, together.features)
    assert apart.weight is together.weight is None
    assert len(apart.features) == 120


def test_a_measurement_that_matters_more_is_not_more_of_them(continuous):
    weight = np.where(np.arange(40) < 10, 10.0, 1.0)
    rows = as_measurements(replace(continuous, weight=weight)).problem
    np.testing.assert_allclose(rows.weight, np.where(np.arange(40) < 10, 1.0, 1.0 / 3.25))


def test_a_sample_tells_how_often_rows_were_copied(rng):
    values = rng.normal(size=20_000)
    every = np.repeat(values, 10)
    drawn = rng.choice(every, 5000, replace=False)
    assert unit_of_all_rows(make(drawn, drawn), len(every)).value == pytest.approx(10.0, rel=0.1)
    some = values[:5000]
    assert unit_of_all_rows(make(some, some, np.full(5000, 3.0)), 10**8) == (pytest.approx(3.0), False)


def test_zeros_and_ones_of_a_sample_are_no_copies(coarse):
    assert unit_of_all_rows(coarse, 10**6).value == 1.0
