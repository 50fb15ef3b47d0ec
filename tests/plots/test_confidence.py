"""Figures of a classifier: they hold the numbers that they show."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from rio_uq import RIOClassifier, plots

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classification(600, 4, n_informative=3, n_redundant=0, random_state=0)
    options = {"tol": 1e-3, "training": {"starts": "rio"}, "random_state": 0}
    return RIOClassifier(LogisticRegression(), **options).fit(X[:200], y[:200]), X[200:], y[200:]


def test_groups_have_the_mean_confidence_and_the_share_of_right_labels(fitted):
    rio, X, y = fitted
    display = plots.ConfidenceDisplay.from_estimator(rio, X, y, n_groups=5)
    right = rio.estimator_.predict(X) == y
    assert display.group_share.mean() == pytest.approx(right.mean())
    assert display.group_confidence.mean() == pytest.approx(1.0 - rio.error_score(X).mean())
    assert (np.diff(display.group_confidence) >= 0.0).all()
    assert display.ax_.get_ylabel() == "share of right labels"


def test_risk_of_a_classifier_is_the_share_of_wrong_labels(fitted):
    rio, X, y = fitted
    display = plots.RiskCoverageDisplay.from_estimator(rio, X, y, name="ours")
    assert display.risk[-1] == pytest.approx((rio.estimator_.predict(X) != y).mean())
    assert display.area < display.risk[-1]
    assert display.best_risk[100] == 0.0
    assert display.ax_.get_ylabel() == "share of wrong labels of these"


def test_bands_are_those_of_the_summary(fitted):
    rio, X, _ = fitted
    display = plots.ErrorBandsDisplay.from_estimator(rio, X)
    bars = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_allclose(bars, [band.correction for band in rio.summary(X).bands[:8]])


def test_without_a_correction_there_are_no_bands(rng):
    X = rng.normal(size=(60, 2))
    rio = RIOClassifier(random_state=0, tol=1e-3)
    rio.fit(X, rng.integers(2, size=60), y_proba=np.full(60, 0.5), held_out=True)
    with pytest.raises(ValueError, match="confidence is not corrected"):
        plots.ErrorBandsDisplay.from_estimator(rio)


def test_other_figures_are_of_regressors(fitted):
    rio, X, y = fitted
    with pytest.raises(TypeError, match="a fitted RIORegressor is needed"):
        plots.ReliabilityDisplay.from_estimator(rio, X, y)
