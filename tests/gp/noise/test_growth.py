"""Noise beyond the largest predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_uq import RIORegressor
from rio_uq.gp.noise.growth import LARGEST, Growth, fit_growth


def proportional(rng, n=400, power=1.0):
    y_pred = rng.uniform(1.0, 10.0, size=(n, 1))
    return y_pred, 0.2 * y_pred**power * rng.normal(size=(n, 1)), np.ones(n)


def test_the_slope_of_proportional_noise_is_two(rng):
    growth = fit_growth(*proportional(rng))
    assert growth.slope == pytest.approx(1.9, abs=0.2)
    assert growth.reach == pytest.approx(10.0, abs=0.1)


def test_constant_noise_does_not_grow(rng):
    assert fit_growth(*proportional(rng, power=0.0)).is_none


def test_noise_of_predictions_of_both_signs_does_not_grow(rng):
    y_pred, residual, weight = proportional(rng)
    assert fit_growth(y_pred - 5.0, residual, weight).is_none


@given(st.floats(1e-3, 1e3), st.integers(0, 100))
def test_growth_does_not_depend_on_units(unit, seed):
    y_pred, residual, weight = proportional(np.random.default_rng(seed), n=60)
    before, after = (fit_growth(scale * y_pred, scale * residual, weight) for scale in (1.0, unit))
    np.testing.assert_allclose(after.slope, before.slope, rtol=1e-6)
    np.testing.assert_allclose(after.reach, unit * before.reach)


def test_factors_begin_at_the_reach_and_have_an_end():
    growth = Growth(np.array([2.0]), np.array([10.0]))
    factor = growth.factor(np.array([[0.1], [10.0], [20.0], [-20.0], [1e9]]))[:, 0]
    np.testing.assert_allclose(factor, [1.0, 1.0, 4.0, 4.0, LARGEST])


def test_error_bars_hold_at_predictions_twice_as_large(rng):
    y_pred, residual, _ = (values.ravel() for values in proportional(rng, n=200))
    X = rng.normal(size=(200, 1))
    rio = RIORegressor(None, scale="identity", training={"starts": "rio"}, random_state=0)
    rio.fit(X, y_pred + residual, y_pred=y_pred, held_out=True)
    far = np.full(2000, 20.0)
    outcome = far * (1.0 + 0.2 * rng.normal(size=2000))
    interval = rio.predict_interval(rng.normal(size=(2000, 1)), y_pred=far, confidence_level=0.9)
    covered = np.mean((interval[:, 0] <= outcome) & (outcome <= interval[:, 1]))
    assert 0.8 < covered < 0.97
