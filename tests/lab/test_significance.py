"""Tests that are corrected for overlapping splits, and for being many."""

import numpy as np
import pytest
from scipy import stats

from lab.significance import corrected_p_value, holm


def test_one_run_in_all_rows_is_the_test_of_nadeau_and_bengio():
    differences = np.array([0.1, 0.3, 0.2, 0.4, 0.1])
    n_train, n_test = 80, 20
    variance = differences.var(ddof=1) * (1 / 5 + n_test / n_train)
    expected = stats.t.sf(differences.mean() / np.sqrt(variance), 4)
    assert corrected_p_value(differences, n_test / (n_train + n_test)) == pytest.approx(expected)


def test_without_overlap_it_is_the_t_test():
    differences = np.array([0.1, 0.3, -0.2, 0.4, 0.1])
    expected = stats.ttest_1samp(differences, 0.0, alternative="greater").pvalue
    assert corrected_p_value(differences, 0.0) == pytest.approx(expected)


def test_equal_differences():
    assert corrected_p_value(np.zeros(3), 0.3) == 1.0
    assert corrected_p_value(np.full(3, 0.5), 0.3) == 0.0


def test_holm():
    assert holm(np.array([0.04, 0.01, 0.03, 0.5])) == pytest.approx([0.09, 0.04, 0.09, 0.5])


def test_both_sides():
    differences = np.array([0.1, 0.3, -0.2, 0.4, 0.1])
    one_sided = corrected_p_value(differences, 0.2)
    assert corrected_p_value(differences, 0.2, two_sided=True) == pytest.approx(2.0 * one_sided)
    assert corrected_p_value(-differences, 0.2, two_sided=True) == pytest.approx(2.0 * one_sided)
    assert corrected_p_value(np.full(3, -0.5), 0.3, two_sided=True) == 0.0


def test_nothing_is_sure_of_a_single_split():
    assert corrected_p_value(np.array([1.0]), 0.1, two_sided=True) == 1.0
