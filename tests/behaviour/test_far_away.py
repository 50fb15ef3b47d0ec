"""Well beyond the range of predictions a correction stays what it was at the edge, and error bars grow."""

import numpy as np
import pytest

import rio_uq
from rio_uq import RIORegressor
from rio_uq.gp.edges import MARGIN

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("quick_fits")]

FAR = np.array([8.0, 20.0, 80.0, 320.0])


def half(n=40):
    """Outcomes are twice the prediction, which is between −2 and 2."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    return X, X[:, 0], 2.0 * X[:, 0] + 0.3 * rng.normal(size=n)


@pytest.fixture(params=["exact", "sparse"])
def rio(request):
    X, y_pred, y = half()
    options = {"inference": request.param, "n_inducing": 20, "scale": "identity", "random_state": 0}
    return RIORegressor(**options).fit(X, y, y_pred=y_pred, held_out=True)


def rows_at(y_pred):
    return np.zeros((len(y_pred), 2))


def test_a_slope_holds_within_the_range_and_its_value_at_the_edge_beyond(rio):
    _, seen, _ = half()
    within = np.linspace(seen.min(), seen.max(), 9)
    np.testing.assert_allclose(rio.predict(rows_at(within), y_pred=within), 2.0 * within, atol=0.5)
    margin = MARGIN * np.ptp(seen)
    for sign, edge in ((1.0, seen.max() + margin), (-1.0, seen.min() - margin)):
        correction = rio.predict(rows_at(FAR), y_pred=sign * FAR) - sign * FAR
        np.testing.assert_allclose(correction, edge, atol=1.0)


def test_error_bars_grow_by_what_a_slope_may_be(rio):
    near = rio.predict(rows_at(FAR), y_pred=np.zeros(4), return_std=True)[1]
    std = rio.predict(rows_at(FAR), y_pred=FAR, return_std=True)[1]
    assert (np.diff(std) > 0.0).all()
    assert std[0] > 1.5 * near[0]
    assert (3.0 * std > FAR - 4.0).all()  # were the slope to go on


def test_draws_covariances_and_parts_agree_with_means_and_variances(rio):
    y_pred = np.array([0.0, 1.0, 5.0, -20.0])
    X = rows_at(y_pred)
    mean, std = rio.predict(X, y_pred=y_pred, return_std=True, include_noise=False)
    _, covariance = rio.predict(X, y_pred=y_pred, return_cov=True, include_noise=False)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std, rtol=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9 * covariance.max()
    draws = rio.sample_y(X, 4000, y_pred=y_pred, include_noise=False, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=4.0 * std.max() / np.sqrt(4000))
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.06)
    parts = rio.decompose(X, y_pred=y_pred)
    np.testing.assert_allclose(y_pred + parts.input + parts.output, mean, rtol=1e-8, atol=1e-10)


def test_files_keep_the_range(rio, tmp_path):
    rio.save(tmp_path / "far.rio")
    loaded = rio_uq.load(tmp_path / "far.rio")
    for other in (rio, loaded):
        expected = rio.predict(rows_at(FAR), y_pred=FAR, return_std=True)
        np.testing.assert_array_equal(other.predict(rows_at(FAR), y_pred=FAR, return_std=True), expected)


def test_further_rows_widen_the_range(rio):
    X, y_pred, y = half()
    before = rio.predict(rows_at(FAR[:1]), y_pred=FAR[:1])[0]
    rio.partial_fit(3.0 * X, 3.0 * y, y_pred=3.0 * y_pred)
    after = rio.predict(rows_at(FAR[:1]), y_pred=FAR[:1])[0]
    assert before < 13.0
    assert after == pytest.approx(16.0, abs=1.2)


def test_outcomes_follow_predictions_wherever_they_are():
    X, y_pred, y = half()
    rio = RIORegressor(target="outcome", kernel="output", output_kernel="linear", scale="identity", random_state=0)
    rio.fit(X, y, y_pred=y_pred, held_out=True)
    np.testing.assert_allclose(rio.predict(rows_at(FAR), y_pred=FAR), 2.0 * FAR, rtol=0.1)


@pytest.fixture(scope="module")
def not_corrected():
    """The model has a slope of 0.8 where 1 is right, which forty rows do not show clearly enough."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2.0, 2.0, size=(40, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=40)
    options = {"scale": "identity", "training": {"guard": True}, "random_state": 0}
    return RIORegressor(**options).fit(X, y, y_pred=0.8 * X[:, 0], held_out=True)


class TestNoCorrection:
    def test_error_bars_grow_by_the_slope_that_errors_may_have(self, not_corrected):
        rio = not_corrected
        assert rio.correction_ == 0.0
        mean, std = rio.predict(rows_at(FAR), y_pred=0.8 * FAR, return_std=True)
        np.testing.assert_allclose(mean, 0.8 * FAR, atol=0.2)
        assert (np.abs(FAR - mean) < 2.0 * std).all()
        assert (std < 0.5 * FAR).all()

    def test_nothing_changes_within_the_range(self, not_corrected):
        gp = not_corrected.fitted_.gp
        assert gp.edges.open_slope[0] > 0.0
        assert not gp.edges.left_open(gp.outputs.apply(np.linspace(-1.2, 1.2, 5)[:, None])).any()

    def test_draws_and_covariances_agree(self, not_corrected):
        test_draws_covariances_and_parts_agree_with_means_and_variances(not_corrected)

    def test_files_keep_the_slope(self, not_corrected, tmp_path):
        test_files_keep_the_range(not_corrected, tmp_path)
