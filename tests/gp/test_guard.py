"""The share of corrections that left-out rows support, and the errors that remain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_uq.gp.guard import gain_of_all_rows, shared_with_clones, supported_share


def test_the_gain_of_all_rows(rng):
    errors = rng.normal(size=(100, 2))
    np.testing.assert_allclose(gain_of_all_rows([1.0, 0.9] * errors, errors, np.ones(100)), [1.0, 0.9])
    np.testing.assert_allclose(gain_of_all_rows([3.0, 0.1] * errors, errors, np.ones(100)), [1.0, 0.75])
    np.testing.assert_array_equal(gain_of_all_rows(errors, np.zeros((100, 2)), np.ones(100)), 1.0)


def test_shares(rng):
    mean = rng.normal(size=500)
    noise = rng.normal(size=500)
    weight = np.ones(500)
    assert supported_share(mean + 0.1 * noise, mean, weight) == 1.0
    assert supported_share(noise, mean, weight) == 0.0
    assert supported_share(-mean, mean, weight) == 0.0
    assert supported_share(0.5 * mean + 0.1 * noise, mean, weight) == pytest.approx(0.5, abs=0.02)
    assert supported_share(noise, np.zeros(500), weight) == 1.0


def test_few_rows_support_less(rng):
    mean = rng.normal(size=400)
    residual = 0.7 * mean + 2.0 * rng.normal(size=400)
    shares = [supported_share(residual[:n], mean[:n], np.ones(n)) for n in (5, 400)]
    assert shares[0] < 0.1 < shares[1]


def test_a_few_outliers_that_foretell_each_other_are_no_evidence(rng):
    mean, residual = 0.1 * rng.normal(size=1000), rng.normal(size=1000)
    mean[:4], residual[:4] = (3.4, 4.1, 5.2, 6.9), (14.2, 9.1, 7.3, 3.3)
    assert supported_share(residual, mean, np.ones(1000)) == 0.0
    mean[:50], residual[:50] = 5.0, rng.normal(6.0, 3.0, size=50)
    assert supported_share(residual, mean, np.ones(1000)) > 0.9


@given(st.floats(0.01, 100.0), st.integers(0, 1000))
def test_shares_do_not_depend_on_units(unit, seed):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=30)
    residual = mean + rng.normal(size=30)
    weight = rng.uniform(0.5, 2.0, size=30)
    share = supported_share(residual, mean, weight)
    assert 0.0 <= share <= 1.0
    assert supported_share(unit * residual, unit * mean, weight) == pytest.approx(share, abs=1e-9)
    assert supported_share(residual, mean, unit * weight) == pytest.approx(share, abs=1e-9)


def test_corrections_that_the_model_does_not_need_are_not_made(rng):
    mean, noise, weight = rng.normal(size=400), 0.3 * rng.normal(size=400), np.ones(400)
    like_clones = 0.8 * mean + noise, mean  # a fifth of what clones have left was fitted

    def share(residual):
        return shared_with_clones((residual, mean), like_clones, weight)

    assert share(0.8 * mean + 1.1 * noise) == 1.0
    assert share(noise) == pytest.approx(0.0, abs=0.05)
    assert share(0.4 * mean + noise) == pytest.approx(0.5, abs=0.05)


def test_of_a_model_that_has_fitted_all_rows_nothing_is_known(rng):
    mean, weight = rng.normal(size=100), np.ones(100)
    assert shared_with_clones((np.zeros(100), mean), (0.1 * mean, mean), weight) == 1.0
    assert shared_with_clones((mean, np.zeros(100)), (mean, np.zeros(100)), weight) == 1.0
