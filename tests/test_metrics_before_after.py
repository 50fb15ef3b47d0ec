"""Measures of a model before its predictions are corrected, and after."""

import numpy as np
import pytest

from rio_uq import metrics


def test_measures_are_those_of_the_single_functions():
    rng = np.random.default_rng(0)
    y, y_pred, mean = rng.normal(size=(3, 40))
    std = rng.uniform(0.5, 2.0, size=40)
    both = metrics.before_after(y, y_pred, mean, std, metrics.normal_intervals(mean, std, [0.5, 0.9]))
    one = np.full(40, metrics.rmse(y, y_pred))
    for side, centre, spread in ((both.before, y_pred, one), (both.after, mean, std)):
        for name in ("rmse", "mae", "nlpd", "crps"):
            assert getattr(side, name) == pytest.approx(getattr(metrics, name)(y, centre, spread)), name
        for level in (0.5, 0.9):
            options = {"confidence_level": level}
            assert side.coverage[level] == pytest.approx(metrics.coverage(y, centre, spread, **options))
            assert side.width[level] == pytest.approx(metrics.interval_width(y, centre, spread, **options))
    assert both.n_rows == 40
    assert both.improvement_ratio == metrics.improvement_ratio(y, mean, y_pred)


def test_no_one_error_bar_has_a_smaller_nlpd():
    y = np.random.default_rng(0).normal(size=50)
    best = metrics.one_error_bar(y)
    for factor in (0.9, 1.1):
        assert metrics.nlpd(y, np.zeros(50), factor * best) > metrics.nlpd(y, np.zeros(50), best)


def test_a_model_without_errors_has_no_density():
    y, std = np.arange(3.0), np.ones(3)
    both = metrics.before_after(y, y, y, std, metrics.normal_intervals(y, std, [0.9]))
    assert both.before.rmse == 0.0
    assert np.isnan([both.before.nlpd, both.before.crps]).all()
    assert both.before.coverage == {0.9: 1.0}
    assert np.isfinite(both.after.nlpd)
