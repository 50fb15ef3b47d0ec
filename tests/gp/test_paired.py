"""Paired comparisons of left-out errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rio_uq.gp.paired import degrees_of_freedom, factor_of_few, is_clear_gain, student_factor


@given(st.integers(1, 50), st.floats(1e-150, 1e150))
def test_equal_parts_have_as_many_degrees_of_freedom(n_parts, size):
    assert degrees_of_freedom(np.full(n_parts, size)) == pytest.approx(n_parts)


def test_one_large_part_counts_for_all():
    assert degrees_of_freedom(np.append(np.full(1000, 1e-3), 1.0)) == pytest.approx(1.0, abs=0.01)
    assert degrees_of_freedom(np.zeros(7)) == 7


def test_few_rows_have_to_gain_more():
    assert student_factor(5.0) == pytest.approx(stats.t.ppf(0.975, 5) / stats.norm.ppf(0.975))
    assert factor_of_few(np.ones(5)) ** 2 == pytest.approx(student_factor(5.0))
    assert factor_of_few(np.ones(10**6)) == pytest.approx(1.0, abs=1e-4)


def test_a_gain_of_few_rows_is_not_clear(rng):
    weight, gain = np.ones(200), rng.normal(0.3, 1.0, size=200)
    assert is_clear_gain(gain, weight, 2.0)
    assert not is_clear_gain(-gain, weight, 2.0)
    few = np.append(rng.normal(0.0, 0.1, size=197), [40.0, 45.0, 60.0])
    assert not is_clear_gain(few, weight, 1.65)


def test_the_level_is_that_of_a_test():
    """Of means that are zero, about 2.3 % are called gains at two standard errors: of normal gains by their number, of
    heavy-tailed ones no more.
    """
    rng = np.random.default_rng(0)
    for draw in (rng.standard_normal, lambda size: rng.standard_t(2.5, size)):
        share = np.mean([is_clear_gain(draw(50), np.ones(50), 2.0) for _ in range(2000)])
        assert share < 0.03
