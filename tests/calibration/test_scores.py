"""Distributions of scores: what a quantile is, how it goes with the distribution function, and what is guaranteed."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.integrate import quad
from sklearn.isotonic import IsotonicRegression

from rio_uq.calibration.conformal import SymmetricConformal, TwoSidedConformal
from rio_uq.calibration.isotonic import Recalibrated
from rio_uq.calibration.normal import ScaledNormal
from rio_uq.calibration.scores import ONE_SIGMA

KINDS = [SymmetricConformal, TwoSidedConformal, ScaledNormal, Recalibrated]
every_kind = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.no_cover
laws = settings(max_examples=12, deadline=None, derandomize=True)
GRID = np.arange(1, 1000) / 1000


def some_scores(least=6, most=60):
    """Scores with ties and outliers, not all of them zero."""
    values = st.one_of(st.floats(-4, 4).map(lambda z: round(z, 1)), st.floats(-300, 300).map(lambda z: round(z, 6)))
    return arrays(float, st.integers(least, most), elements=values).filter(lambda z: np.abs(z).max() > 0.1)


def supported(kind, n_rows, p=GRID):
    return p[np.abs(2 * p - 1) <= 1 - kind.parts_beyond / (n_rows + 1)]


@every_kind
@laws
@given(z=some_scores())
def test_quantiles_are_monotone_and_finite(kind, z):
    quantiles = kind.of(z).ppf(supported(kind, len(z)))
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles) >= -1e-12 * np.abs(z).max()).all()


@every_kind
@laws
@given(z=some_scores())
def test_the_distribution_function_goes_with_the_quantiles(kind, z):
    scores, p = kind.of(z), supported(kind, len(z))
    quantiles = scores.ppf(p)
    assert (scores.cdf(quantiles) >= p - 1e-9).all()
    at = np.sort(np.concatenate([z, np.linspace(-400, 400, 50)]))
    probability = scores.cdf(at)
    assert (np.diff(probability) >= 0).all()
    assert (probability >= 0).all()
    assert (probability <= 1).all()
    for value, share in zip(at, probability, strict=True):
        assert (quantiles[p < share - 1e-9] <= value + 1e-9 * np.abs(z).max()).all()


@every_kind
@laws
@given(z=some_scores(), exponent=st.integers(-20, 20))
def test_scaled_scores_have_scaled_quantiles(kind, z, exponent):
    one, other, p = kind.of(z), kind.of(2.0**exponent * z), supported(kind, len(z))
    np.testing.assert_allclose(other.ppf(p), 2.0**exponent * one.ppf(p), rtol=1e-12)
    assert other.std == pytest.approx(2.0**exponent * one.std, rel=1e-9)
    assert other.mean == pytest.approx(2.0**exponent * one.mean, rel=1e-9, abs=1e-12 * 2.0**exponent)


@every_kind
@laws
@given(z=some_scores())
def test_mirrored_scores_have_mirrored_quantiles(kind, z):
    one, other, p = kind.of(z), kind.of(-z), supported(kind, len(z))
    np.testing.assert_allclose(other.ppf(1 - p), -one.ppf(p), rtol=1e-6, atol=1e-9)
    assert other.std == pytest.approx(one.std, rel=1e-9)


@every_kind
@laws
@given(z=some_scores(), seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(kind, z, seed):
    shuffled = np.random.default_rng(seed).permutation(z)
    np.testing.assert_allclose(kind.of(z).ppf(np.array([0.3, 0.6])), kind.of(shuffled).ppf(np.array([0.3, 0.6])))


def n_covered(kind, z, level):
    """How many of the scores are inside the interval that is made of all the others."""
    p = 0.5 + 0.5 * level * np.array([-1.0, 1.0])
    bounds = np.array([kind.of(np.delete(z, i)).ppf(p) for i in range(len(z))])
    return ((bounds[:, 0] <= z) & (z <= bounds[:, 1])).sum()


@pytest.mark.parametrize("kind", [SymmetricConformal, TwoSidedConformal])
@laws
@given(z=some_scores(least=20, most=30), level=st.sampled_from([0.5, 0.68, 0.8, 0.9]))
def test_the_conformal_guarantee(kind, z, level):
    """Of n + 1 exchangeable rows each is as likely to be the new one: the share of those covered is the coverage."""
    assert n_covered(kind, z, level) >= level * len(z) - 1e-9


@pytest.mark.parametrize(("kind", "excess"), [(SymmetricConformal, 1), (TwoSidedConformal, 2)])
def test_conformal_intervals_are_not_wider_than_they_have_to_be(kind, excess, rng):
    z = rng.normal(size=45)
    for level in (0.5, 0.7, 0.9):
        assert n_covered(kind, z, level) < level * 45 + excess


def test_recalibrated_quantiles_hold_within_one_row(rng):
    z = rng.exponential(size=40) - 0.7
    for p in (0.1, 0.35, 0.5, 0.77, 0.9):
        below = sum(z[i] <= Recalibrated.of(np.delete(z, i)).ppf(np.array(p)) for i in range(40))
        assert abs(below - 40 * p) <= 1.0


@pytest.mark.parametrize("n_rows", [9, 19, 99, 199, 999])
def test_ranks_are_not_off_by_one_from_rounding(n_rows):
    z = np.arange(1.0, n_rows + 1)
    ranks = np.arange(1, n_rows + 1)
    level = ranks / (n_rows + 1)
    np.testing.assert_array_equal(SymmetricConformal.of(z).ppf(0.5 + 0.5 * level), z)
    np.testing.assert_array_equal(SymmetricConformal.of(z).ppf(0.5 - 0.5 * level), -z)
    np.testing.assert_array_equal(TwoSidedConformal.of(z).ppf(level), z)


def test_percentages_of_99_rows():
    percent = np.arange(1, 100)
    np.testing.assert_array_equal(SymmetricConformal.of(-percent).ppf(0.5 + 0.5 * (percent / 100)), percent)
    np.testing.assert_array_equal(TwoSidedConformal.of(percent).ppf(percent / 100), percent)


@pytest.mark.parametrize("n_rows", [7, 8])
def test_medians(n_rows, rng):
    z = rng.normal(size=n_rows)
    assert SymmetricConformal.of(z).ppf(np.array(0.5)) == 0.0
    assert TwoSidedConformal.of(z).ppf(np.array(0.5)) == np.median(z)
    assert Recalibrated.of(z).ppf(np.array(0.5)) == pytest.approx(np.median(z))


def test_conformal_std_is_half_the_width_of_the_one_sigma_interval(rng):
    z = rng.exponential(size=200)
    for kind in (SymmetricConformal, TwoSidedConformal):
        lower, upper = kind.of(z).ppf(0.5 + 0.5 * ONE_SIGMA * np.array([-1, 1]))
        assert kind.of(z).std == (upper - lower) / 2


def test_the_factor_on_the_variance_is_the_likeliest(rng):
    z = rng.standard_t(4, size=50)
    factor = ScaledNormal.of(z).std
    likelihood = [stats.norm(scale=factor * change).logpdf(z).sum() for change in (0.99, 1.0, 1.01)]
    assert np.argmax(likelihood) == 1


@laws
@given(z=some_scores())
def test_recalibration_is_isotonic_regression(z):
    scores = Recalibrated.of(z)
    ordered = np.sort(z)
    frequency = np.arange(1, len(z) + 1) / (len(z) + 1)
    expected = IsotonicRegression().fit(ordered, frequency).predict(scores.points)
    np.testing.assert_allclose(scores.probabilities, expected, rtol=1e-9)


@settings(laws, max_examples=8)
@given(z=some_scores(most=12))
def test_recalibrated_moments_are_those_of_its_quantiles(z):
    scores = Recalibrated.of(z)
    joints = [0.0, *scores.probabilities, 1.0]

    def integral(power):
        return sum(quad(lambda p: float(scores.ppf(np.array(p))) ** power, *piece)[0] for piece in pairwise(joints))

    assert scores.mean == pytest.approx(integral(1), rel=1e-5, abs=1e-5 * scores.scale)
    assert scores.std == pytest.approx(np.sqrt(integral(2) - integral(1) ** 2), rel=1e-5)


def test_recalibration_of_normal_scores_is_nearly_nothing():
    n = 2000
    z = stats.norm.ppf(np.arange(1, n + 1) / (n + 1))
    scores, p = Recalibrated.of(z), np.array([1e-6, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-6])
    np.testing.assert_allclose(scores.ppf(p), stats.norm.ppf(p), rtol=0.01, atol=1e-9)
    np.testing.assert_allclose(scores.cdf(scores.ppf(p)), p, rtol=1e-9)
    assert scores.std == pytest.approx(1.0, rel=0.01)
