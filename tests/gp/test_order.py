"""Rows that follow each other and err alike."""

import numpy as np
import pytest
from scipy import stats

from rio_uq.gp.order import (
    blocks_of_successive,
    correlations_with_rows_before,
    dependence,
    is_foretold_by_neighbours,
)


def of_errors(scores, outcome):
    """Of a GP that has learnt nothing, so that its errors are the residuals."""
    return dependence(scores, outcome, scores, scores)


def test_the_correlation_is_that_of_ranks(rng):
    values = np.cumsum(rng.standard_t(2, size=2000))
    reference = [stats.spearmanr(values[lag:], values[:-lag]).statistic for lag in (1, 4)]
    np.testing.assert_allclose(correlations_with_rows_before(values, np.array([1, 4])), reference, atol=0.01)


def test_independent_errors_are_seldom_called_dependent():
    found = 0
    for seed in range(300):
        draws = np.random.default_rng(seed).standard_t(2, size=(60, 2))
        found += of_errors(draws, draws) is not None
    assert found == 0


def test_one_of_several_outputs_is_enough(rng):
    steps = rng.normal(size=(300, 2))
    alike = np.column_stack([steps[:, 0], np.cumsum(steps[:, 1])])
    assert of_errors(steps, steps) is None
    assert of_errors(alike, steps) == pytest.approx(correlations_with_rows_before(alike[:, 1], np.array([1]))[0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_errors_of_rows_that_are_sorted_by_their_outcome_say_nothing(sign, rng):
    y = sign * np.sort(rng.normal(size=(200, 1)), axis=0)
    errors = y + 0.5 * rng.normal(size=(200, 1))
    assert of_errors(errors, y) is None
    assert of_errors(errors, rng.permutation(y)) is not None


def test_few_rows_and_equal_errors_are_no_evidence():
    assert of_errors(np.zeros((0, 1)), np.zeros((0, 1))) is None
    assert of_errors(np.ones((1, 1)), np.ones((1, 1))) is None
    assert of_errors(np.ones((500, 1)), np.arange(500.0)[:, None] % 7) is None
    assert of_errors(np.arange(10.0)[:, None], np.arange(10.0)[:, None] % 3) is None


def test_rows_of_a_few_series_in_turn_are_noticed(rng):
    series = np.cumsum(rng.normal(size=(100, 4)), axis=0)
    series -= series.mean(axis=0)
    assert of_errors(series.reshape(-1, 1), rng.normal(size=(400, 1))) > 0.5


def test_one_sorted_output_is_enough_to_say_nothing(rng):
    first = np.sort(rng.normal(size=200))
    both = np.column_stack([first, first + 0.3 * rng.normal(size=200)])
    assert of_errors(both, both) is None


def test_a_course_that_the_gp_has_learnt_is_noticed_by_rows_that_tell_more(rng):
    residual = np.cumsum(rng.normal(size=(200, 1)), axis=0)
    residual -= residual.mean()
    outcome, noise = rng.normal(size=(2, 200, 1))
    knows_less, knows_more = 5.0 * noise, 0.1 * noise
    assert dependence(noise, outcome, residual, knows_less) == pytest.approx(
        correlations_with_rows_before(residual[:, 0], np.array([1]))[0]
    )
    assert dependence(noise, outcome, residual, knows_more) is None


def test_neighbours_are_the_rows_on_both_sides(rng):
    wave = np.sin(np.arange(300) / 10.0)
    steps = rng.normal(size=300)
    lags = np.array([1, 5])
    assert is_foretold_by_neighbours(wave, 0.2 * steps, lags).all()
    assert not is_foretold_by_neighbours(steps, 0.9 * steps, lags).any()


def test_blocks_are_of_successive_rows_and_of_one_size(rng):
    is_counted = rng.uniform(size=300) < 0.3
    is_counted[:100] = False
    blocks = blocks_of_successive(is_counted)
    assert (np.diff(blocks) >= 0).all()
    assert np.ptp(np.bincount(blocks[is_counted])) <= 1
    assert set(blocks[is_counted]) == set(range(5))
