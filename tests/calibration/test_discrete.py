"""Discrete outcomes: ends of conformal intervals are outcomes themselves, and rounding must not leave them out."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rio_uq import RIORegressor
from rio_uq.calibration.calibration import calibration_of
from rio_uq.calibration.distributions import CalibratedDistribution

conformal = pytest.mark.parametrize("method", ["conformal", "conformal-asymmetric"])


def intervals(calibration, mean, std, level):
    """(n,) ends, as `CalibratedDistribution` gives them."""
    member = np.zeros(len(mean), dtype=np.intp)
    return CalibratedDistribution(mean[:, 0], std[:, 0], calibration, member).interval(level)


@conformal
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    values=st.lists(st.floats(-1e6, 1e6).map(lambda y: round(y, 3)), min_size=2, max_size=4, unique=True),
    centre=st.floats(-1e3, 1e3),
    spread=st.floats(1e-2, 1e4),
    seed=st.integers(0, 99),
)
def test_the_rank_that_is_promised_is_inside(method, values, centre, spread, seed):
    """As many calibration rows are inside as the level of n + 1 rows asks for, ties or not."""
    y = np.random.default_rng(seed).choice(values, size=(60, 1))
    mean, std = np.full_like(y, centre), np.full_like(y, spread)
    calibration = calibration_of((y - mean) / std, method=method)
    for level in (0.5, 0.8, 0.95):
        lower, upper = intervals(calibration, mean, std, level)
        assert np.mean((lower <= y[:, 0]) & (y[:, 0] <= upper)) >= level
        assert np.abs(np.array([lower, upper])).max() <= np.abs(y).max() + 2 * np.abs(y - mean).max()


@conformal
def test_two_outcomes_far_apart(method):
    """Without rounding outwards, 41 is 7e-15 outside for one prediction of 25, and coverage there is 46 %."""
    rng = np.random.default_rng(0)
    X = np.zeros((300, 1))
    y = np.where(rng.uniform(size=300) < 0.6, 0.0, 41.0)
    rio = RIORegressor(scale="identity", training={"starts": "rio"}, random_state=0).fit(
        X[:100], y[:100], y_pred=np.linspace(6.0, 9.0, 100), held_out=True
    )
    new, y_new = X[200:], y[200:]

    def covered(lower, upper):
        return np.mean((lower <= y_new) & (y_new <= upper))

    for y_pred in np.linspace(6.0, 9.0, 100)[:, None].repeat(100, axis=1):
        rio.calibrate(X[100:200], y[100:200], y_pred=y_pred, method=method)
        assert covered(*rio.predict_interval(new, y_pred=y_pred, confidence_level=0.95).T) >= 0.95
        assert covered(*rio.predict_dist(new, y_pred=y_pred).interval(0.95)) >= 0.95
    frame = rio.predict_frame(pd.DataFrame(new), y_pred=y_pred, confidence_level=0.95)
    assert covered(frame["lower"], frame["upper"]) >= 0.95


@conformal
def test_counts_of_rare_events(method, rng):
    """Coverage over many sets of calibration rows, with the mean and std of each row its own."""
    covered = []
    for _ in range(400):
        rate = rng.choice([0.3, 1.0, 4.0], size=(140, 1))
        y = rng.poisson(rate).astype(float)
        mean, std = rate + 0.1, np.sqrt(rate)
        calibration = calibration_of((y[:100] - mean[:100]) / std[:100], method=method)
        lower, upper = intervals(calibration, mean[100:], std[100:], 0.9)
        covered.append(np.mean((lower <= y[100:, 0]) & (y[100:, 0] <= upper)))
    assert np.mean(covered) >= 0.9


@conformal
def test_groups_of_discrete_outcomes(method, rng):
    """Each group has values and predictions of its own, and its level."""
    covered = {"few": [], "many": []}
    for _ in range(150):
        groups = rng.permutation(np.repeat(["few", "many"], [40, 150]))
        y = np.where(groups == "few", rng.choice([0.0, 41.0], size=190), 0.1 * rng.poisson(3.0, size=190))[:, None]
        mean, std = np.where(groups == "few", 17.3, 0.31)[:, None], np.where(groups == "few", 20.1, 0.17)[:, None]
        old = np.arange(190) < 140
        calibration = calibration_of((y[old] - mean[old]) / std[old], method=method, groups=groups[old])
        member = calibration.members(groups[~old], 50)
        dist = CalibratedDistribution(mean[~old, 0], std[~old, 0], calibration, member)
        lower, upper = dist.interval(0.8)
        inside = (lower <= y[~old, 0]) & (y[~old, 0] <= upper)
        for name, shares in covered.items():
            shares.extend(inside[groups[~old] == name])
    for shares in covered.values():
        assert np.mean(shares) >= 0.8 - 4 * 0.4 / np.sqrt(len(shares))


@conformal
def test_the_distribution_function_counts_ties(method, rng):
    y = rng.choice([0.0, 0.1, 41.3], size=(99, 1))
    mean, std = np.full_like(y, 7.1), np.full_like(y, 3.3)
    calibration = calibration_of((y - mean) / std, method=method)
    dist = CalibratedDistribution(mean[:, 0], std[:, 0], calibration, np.zeros(99, dtype=np.intp))
    for p in (0.05, 0.3, 0.7, 0.95):
        assert (dist.cdf(dist.ppf(p)) >= p - 1e-12).all()
    np.testing.assert_array_equal(dist.cdf(np.inf), dist.cdf(1e9))
    np.testing.assert_array_equal(dist.cdf(-np.inf), dist.cdf(-1e9))


def test_median_and_std_stay_as_they_were(rng):
    y = rng.normal(size=(50, 1))
    calibration = calibration_of((y - 0.3) / 1.7, method="conformal")
    dist = CalibratedDistribution(np.array([0.3]), np.array([1.7]), calibration, np.zeros(1, dtype=np.intp))
    assert dist.median() == dist.mean() == 0.3
