"""Student distributions of errors, and what errors say in spite of outliers."""

import numpy as np
import pytest
from scipy import stats

from rio_uq.gp.noise.tails import (
    EVIDENCE,
    FARTHEST,
    SKEW_EVIDENCE,
    gain_of_skew,
    gain_over_normal,
    likeliest_tails,
    may_have_tails,
    mean_beside_location,
    predicts_better,
    winsorised,
)
from rio_uq.gp.problem import Problem


def of(residual):
    return residual[:, None], np.ones(len(residual))


def test_the_likeliest_tails_are_those_of_scipy(rng):
    residual = 2.0 * rng.standard_t(3, size=400)
    tails = likeliest_tails(*of(residual))
    degrees, _, scale = stats.t.fit(residual, floc=0.0)
    assert tails.degrees == pytest.approx(degrees, rel=0.02)
    assert np.sqrt(tails.variance) == pytest.approx(scale, rel=0.01)


def test_a_gain_is_the_difference_of_log_likelihoods(rng):
    residual = 2.0 * rng.standard_t(3, size=100)
    tails = likeliest_tails(*of(residual))
    student = stats.t(tails.degrees, scale=np.sqrt(tails.variance[0])).logpdf(residual).sum()
    normal = stats.norm(scale=np.sqrt(np.mean(residual**2))).logpdf(residual).sum()
    assert gain_over_normal(tails, *of(residual)) == pytest.approx(student - normal)


def test_a_row_of_weight_two_is_the_row_twice(rng):
    residual, weight = of(rng.standard_t(3, size=50))
    weight[:10] = 2.0
    tails = likeliest_tails(residual, weight), likeliest_tails(*of(np.append(residual[:, 0], residual[:10, 0])))
    assert tails[0].degrees == pytest.approx(tails[1].degrees, rel=0.05)
    np.testing.assert_allclose(tails[0].variance, tails[1].variance, rtol=0.02)


def test_normal_errors_are_hardly_ever_taken_for_heavy_tails(rng):
    gains = [gain_over_normal(likeliest_tails(*one), *one) for one in (of(rng.normal(size=40)) for _ in range(50))]
    assert np.mean(np.array(gains) > EVIDENCE) <= 0.04
    heavy = of(rng.standard_t(2, size=200))
    assert gain_over_normal(likeliest_tails(*heavy), *heavy) > EVIDENCE


def test_errors_that_are_zero_have_no_tails():
    nought = of(np.zeros(10))
    assert gain_over_normal(likeliest_tails(*nought), *nought) == 0.0
    np.testing.assert_array_equal(winsorised(*nought), np.zeros((10, 1)))


def test_outliers_do_not_make_a_variance(rng):
    residual, weight = of(np.append(rng.normal(size=95), [1e4] * 5))
    assert np.abs(winsorised(residual, weight)).max() < 2.0 * FARTHEST


def test_the_mean_is_restored_where_noise_is_skewed(rng):
    skewed = rng.lognormal(size=300) - 1.0  # about its median
    symmetric = rng.standard_t(2, size=300)
    assert gain_of_skew(skewed, np.ones(300)) > SKEW_EVIDENCE > gain_of_skew(symmetric, np.ones(300))
    assert mean_beside_location(*of(skewed)) == pytest.approx(skewed.mean())
    assert mean_beside_location(*of(symmetric)) == 0.0
    assert mean_beside_location(*of(symmetric + 2.0)) == pytest.approx(symmetric.mean() + 2.0)


def test_one_outlier_does_not_decide_which_errors_are_smaller(rng):
    first, weight = of(rng.normal(size=200))
    second = 0.7 * first
    assert predicts_better(first, second, weight)
    assert not predicts_better(second, first, weight)
    first[0], second[0] = 100.0, 120.0
    assert predicts_better(first, second, weight)
    assert not predicts_better(first, first, weight)


def test_where_errors_are_skewed_outliers_count(rng):
    skewed, weight = of(rng.lognormal(sigma=1.5, size=300))
    mean = skewed.mean()
    assert not predicts_better(skewed - mean, skewed - np.median(skewed), weight)


@pytest.mark.parametrize(
    ("share", "n", "expected"), [(0.0, 100, True), (0.1, 100, True), (0.4, 100, False), (0.0, 10, False)]
)
def test_tails_take_rows_enough_and_outcomes_that_differ(share, n, expected, rng):
    outcome = np.where(np.arange(n) < share * n, 0.0, rng.normal(size=n))[:, None]
    y_pred = rng.normal(size=(n, 1))
    assert may_have_tails(Problem(y_pred, y_pred, outcome - y_pred, None, is_residual=True)) == expected
    assert may_have_tails(Problem(y_pred, y_pred, outcome, np.ones(n), is_residual=False)) == expected


def test_gross_errors_on_one_side_do_not_move_the_mean_by_much(rng):
    residual = rng.standard_t(4, size=(300, 1))
    residual[:9] += 1000.0
    shift = mean_beside_location(residual, np.ones(300))
    assert abs(shift[0]) < 2.0
    assert np.mean(residual) > 25.0
