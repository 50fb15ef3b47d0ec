"""Outcomes on a scale of their own, as users meet it."""

from copy import copy

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer, PowerTransformer

import rio_uq
from rio_uq import RIORegressor, metrics
from rio_uq.onnx import export

pytestmark = pytest.mark.usefixtures("few_iterations")

LEVELS = [0.5, 0.8, 0.9, 0.95]
UNGUARDED = {"starts": "rio", "guard": False}
"""For facts about scales that hold whatever is trained on them."""


def prices(n, seed=0):
    """Outcomes with errors in proportion, a model that misses a wave, and its predictions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.exp(2.0 + X[:, 0] + 0.3 * np.sin(3.0 * X[:, 1]) + 0.3 * rng.normal(size=n))
    return X, y


def model(X):
    return np.exp(2.0 + X[:, 0])


def fit(n=250, **options):
    X, y = prices(n)
    return RIORegressor(model, random_state=0, **options).fit(X, y, held_out=True)


@pytest.fixture(scope="module")
def rio(few_iterations):
    return fit()


@pytest.fixture(scope="module")
def as_they_are(few_iterations):
    return fit(scale="identity", noise="constant")


@pytest.fixture(scope="module")
def new():
    return prices(3000, seed=1)


def test_prices_are_taken_on_the_log_scale_and_predicted_better(rio, as_they_are, new):
    X, y = new
    assert rio.scale_.scales[0].kind == "log"
    assert as_they_are.scale_.scales[0].kind == "identity"
    assert "the logarithm of outcomes" in str(rio.summary())
    after, before = rio.predict_dist(X), as_they_are.predict_dist(X)
    assert metrics.crps(y, after) < 0.9 * metrics.crps(y, before)
    assert metrics.nlpd(y, after) < metrics.nlpd(y, before) - 0.1
    assert metrics.rmse(y, rio.predict(X)) < metrics.rmse(y, model(X))
    shares = [metrics.coverage(y, after, confidence_level=level) for level in LEVELS]
    np.testing.assert_allclose(shares, LEVELS, atol=0.05)


def test_intervals_stay_in_the_range_of_outcomes(rio, as_they_are, new):
    assert (rio.predict_interval(new[0], confidence_level=0.999)[:, 0] > 0.0).all()
    assert (as_they_are.predict_interval(new[0])[:, 0] < 0.0).any()
    bounded = fit(scale="identity", bounds=(0, None), noise="constant")
    band = bounded.predict_interval(new[0])
    assert (band[:, 0] >= 0.0).all()
    assert (band[:, 0] == 0.0).any()
    np.testing.assert_array_equal(band[:, 1], as_they_are.predict_interval(new[0])[:, 1])


def test_the_distribution_agrees_with_itself(rio, new):
    X, y = new[0][:60], new[1][:60]
    distribution = rio.predict_dist(X)
    mean, std = rio.predict(X, return_std=True)
    np.testing.assert_allclose(distribution.mean(), mean)
    np.testing.assert_allclose(distribution.std(), std)
    np.testing.assert_allclose(distribution.cdf(distribution.ppf(0.3)), 0.3, rtol=1e-9)
    np.testing.assert_allclose(
        np.stack(distribution.interval(0.9), axis=1), rio.predict_interval(X, confidence_level=0.9)
    )
    slope = (distribution.cdf(1.0001 * y) - distribution.cdf(0.9999 * y)) / (0.0002 * y)
    np.testing.assert_allclose(distribution.pdf(y), slope, rtol=1e-3, atol=1e-6)
    assert (distribution.cdf(-1.0) == 0.0).all()
    assert (distribution.logpdf(np.full(60, -1.0)) == -np.inf).all()
    draws = distribution.rvs(size=(20_000, 60), random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), mean, rtol=0.05)
    np.testing.assert_allclose(draws.std(axis=0), std, rtol=0.2)
    score = np.abs(draws - y).mean(axis=0) - 0.5 * np.abs(draws - np.roll(draws, 1, axis=0)).mean(axis=0)
    np.testing.assert_allclose(distribution.crps(y).mean(), score.mean(), rtol=0.02)


def test_mean_and_median(rio, new):
    X, y = new
    mean, median = rio.predict(X), rio.predict(X, point="median")
    np.testing.assert_allclose(median, rio.predict_quantiles(X, quantiles=0.5))
    assert (mean > median).all()
    assert np.mean(y < median) == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ValueError, match="point has to be one of 'mean', 'median'"):
        rio.predict(X, point="mode")


def test_parts_add_up_to_the_correction(rio, new):
    X = new[0][:50]
    parts = rio.decompose(X)
    np.testing.assert_allclose(parts.input + parts.output, rio.predict_residual(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model(X) + rio.predict_residual(X), rio.predict(X))


def test_joint_draws_have_the_mean_of_predictions(rio, new):
    X = new[0][:20]
    draws = rio.sample_y(X, 20_000)
    assert (draws > 0.0).all()
    np.testing.assert_allclose(draws.mean(axis=1), rio.predict(X), rtol=0.05)


def test_left_out_rows_are_scored_on_the_scale(rio):
    _, y = prices(250)
    assert np.std(rio.loo_.z) == pytest.approx(1.0, abs=0.1)
    assert (rio.loo_.mean > 0.0).all()
    assert np.corrcoef(rio.loo_.mean, y)[0, 1] > 0.9


@pytest.mark.parametrize("method", ["conformal", "variance", "isotonic"])
def test_calibration_is_made_on_the_scale(rio, new, method):
    X, y = new
    calibrated = copy(rio).calibrate(X[:500], y[:500], method=method)
    band = calibrated.predict_interval(X[500:], confidence_level=0.9)
    assert (band > 0.0).all()
    assert np.mean((band[:, 0] <= y[500:]) & (y[500:] <= band[:, 1])) == pytest.approx(0.9, abs=0.04)
    mean, std = calibrated.predict(X[500:], return_std=True)
    assert np.isfinite([mean, std]).all()


def test_outcomes_beyond_the_scale_are_outside_of_every_conformal_interval(rio, new, tmp_path):
    X, y = new[0][:200], np.where(np.arange(200) < 10, -1.0, new[1][:200])
    assert (rio.fitted_.scales.forward(y[:, None])[:10] == -np.inf).all()
    for method in ("conformal", "conformal-asymmetric"):
        with pytest.warns(UserWarning, match="10 outcomes that have no place.* outside of every interval"):
            calibrated = copy(rio).calibrate(X, y, method=method)
        wider = calibrated.predict_interval(X, confidence_level=0.9)
        plain = copy(rio).calibrate(X[10:], y[10:], method=method).predict_interval(X, confidence_level=0.9)
        assert (wider[:, 1] > plain[:, 1]).all() if method == "conformal" else (wider[:, 0] < plain[:, 0]).all()
        everything = calibrated.predict_interval(X, confidence_level=0.98)
        np.testing.assert_array_equal(everything[:, 0], 0.0)
        calibrated.save(tmp_path / f"{method}.rio")
        loaded = rio_uq.load(tmp_path / f"{method}.rio", estimator=model)
        np.testing.assert_array_equal(loaded.predict_interval(X, confidence_level=0.98), everything)
    for method in ("variance", "isotonic"):
        with pytest.raises(ValueError, match=r"10 outcomes that have no place.* cannot count infinite scores"):
            copy(rio).calibrate(X, y, method=method)
    with (
        pytest.warns(UserWarning, match="outside of every interval"),
        pytest.raises(ValueError, match="not even the 68% interval has an end"),
    ):
        copy(rio).calibrate(X, -y)


def test_further_rows_come_on_the_same_scale(new):
    X, y = prices(250)
    half = RIORegressor(model, random_state=0, scale="log", training=UNGUARDED).fit(X[:200], y[:200], held_out=True)
    grown = half.partial_fit(X[200:], y[200:])
    assert grown.scale_.scales[0].kind == "log"
    np.testing.assert_array_equal(np.sort(grown.fitted_.kept.outcome[:, 0]), np.sort(y))
    error = np.log(grown.predict(new[0], point="median")) - np.log(new[1])
    assert np.std(error) < 0.36
    with pytest.raises(ValueError, match=r"1 outcome that has no place on the scale of fit .*-1 in row 1: fit again"):
        grown.partial_fit(X[:2], np.array([1.0, -1.0]))


def test_a_file_holds_the_scale(rio, new, tmp_path):
    rio.save(tmp_path / "a.rio")
    loaded = rio_uq.load(tmp_path / "a.rio", estimator=model)
    X = new[0][:30]
    np.testing.assert_array_equal(loaded.predict(X, return_std=True), rio.predict(X, return_std=True))
    np.testing.assert_array_equal(loaded.predict_interval(X), rio.predict_interval(X))
    assert loaded.scale_.gains == rio.scale_.gains


def test_a_transformer_is_given_to_load(new, tmp_path):
    rio = fit(80, scale=FunctionTransformer(np.log, np.exp), training=UNGUARDED)
    named = fit(80, scale="log", training=UNGUARDED)
    X = new[0][:30]
    np.testing.assert_allclose(rio.predict_interval(X), named.predict_interval(X), rtol=1e-6)
    rio.save(tmp_path / "a.rio")
    with pytest.raises(TypeError, match="give it as scale="):
        rio_uq.load(tmp_path / "a.rio", estimator=model)
    for wrong, reason in (
        (FunctionTransformer(np.sqrt, np.square), r"it makes .* is stored"),
        (PowerTransformer(), "it is not fitted"),
        ("log", "it raises AttributeError"),
    ):
        with pytest.raises(ValueError, match=rf"a.rio: what was given as scale is not the transformer.*{reason}"):
            rio_uq.load(tmp_path / "a.rio", estimator=model, scale=wrong)
    loaded = rio_uq.load(tmp_path / "a.rio", estimator=model, scale=rio.scale_.scales[0].transformer)
    np.testing.assert_array_equal(loaded.predict_interval(X), rio.predict_interval(X))
    with pytest.raises(TypeError, match="no form in ONNX"):
        export(rio)


@pytest.mark.parametrize(
    ("options", "transform"),
    [
        ({"scale": "log"}, lambda y: y),
        ({"scale": "sqrt"}, np.floor),
        ({"scale": "logit"}, lambda y: y / (1.0 + y)),
        ({"scale": "sqrt", "bounds": (None, 0)}, np.negative),
        ({"scale": "identity", "bounds": (0, None)}, lambda y: y),
    ],
)
def test_the_onnx_graph_says_the_same(options, transform, new):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = prices(80)
    y_pred = transform(model(X))
    rio = RIORegressor(random_state=0, max_iter=20, training=UNGUARDED, **options).fit(
        X, transform(y), y_pred=y_pred, held_out=True
    )
    rows = new[0][:40]
    prediction = transform(model(rows))
    session = onnxruntime.InferenceSession(export(rio, levels=[0.9]).SerializeToString())
    outputs = session.run(None, {"X": rows, "y_pred": prediction[:, None]})
    mean, std = rio.predict(rows, y_pred=prediction, return_std=True)
    band = rio.predict_interval(rows, y_pred=prediction, confidence_level=0.9)
    for value, expected in zip(outputs, (mean, std, band[:, 0], band[:, 1]), strict=True):
        np.testing.assert_allclose(value[:, 0], expected, rtol=1e-8, atol=1e-8)


def test_a_transformer_gives_no_density_to_outcomes_beyond_its_range(new):
    rio = fit(80, scale=PowerTransformer("box-cox"), training=UNGUARDED)
    X = new[0][:5]
    distribution = rio.predict_dist(X)
    beyond = np.array([-1.0, 0.0, -5.0, 0.0, -1.0])
    np.testing.assert_array_equal(distribution.logpdf(beyond), -np.inf)
    np.testing.assert_array_equal(distribution.cdf(beyond), 0.0)
    assert np.isfinite(distribution.logpdf(new[1][:5])).all()
    assert metrics.nlpd(beyond, distribution) == np.inf


def test_each_output_has_its_scale(new):
    X, y = prices(150)
    both = np.column_stack([y, X[:, 0] + X[:, 1] ** 2])
    y_pred = np.column_stack([model(X), X[:, 0]])
    rio = RIORegressor(random_state=0, training=UNGUARDED).fit(X, both, y_pred=y_pred, held_out=True)
    assert rio.scale_.scales[0].kind in ("log", "sqrt")
    assert rio.scale_.scales[1].kind == "identity"
    band = rio.predict_interval(X, y_pred=y_pred)
    assert band.shape == (150, 2, 2)
    assert (band[:, 0] >= 0.0).all()
    assert (band[:, 1] < 0.0).any()
    distribution = rio.predict_dist(X, y_pred=y_pred)
    np.testing.assert_allclose(distribution.mean(), rio.predict(X, y_pred=y_pred))
    np.testing.assert_allclose(distribution.cdf(distribution.median()), 0.5)
    assert distribution.logpdf(both).shape == both.shape


def test_a_few_predictions_beyond_the_range_are_moved_to_its_end(new, tmp_path):
    X, y = prices(200)

    def low(X):
        return model(X) - 1.0

    n_beyond = int((low(X) <= 0.0).sum())
    assert 1 < n_beyond < 0.1 * len(y)
    rio = RIORegressor(low, random_state=0, training=UNGUARDED).fit(X, y, held_out=True)
    kind = rio.scale_.scales[0].kind
    assert kind in ("log", "sqrt")
    assert rio.scale_.beyond[0].n_rows == n_beyond
    assert f"for {n_beyond} rows, which has no place on the scale {kind!r}: it counts as" in str(rio.summary())
    options = {"scale": "identity", "training": UNGUARDED, "random_state": 0}
    as_they_are = RIORegressor(low, **options).fit(X, y, held_out=True)
    assert metrics.crps(new[1], rio.predict_dist(new[0])) < metrics.crps(new[1], as_they_are.predict_dist(new[0]))
    rio.save(tmp_path / "a.rio")
    assert str(rio_uq.load(tmp_path / "a.rio", estimator=low).summary()) == str(rio.summary())


def test_an_outcome_that_was_not_among_the_rows_that_scales_are_compared_on_counts(monkeypatch):
    monkeypatch.setattr("rio_uq.outcome_scaling.SCALE_ROWS", 24)
    X, y = prices(60)
    for row in range(0, 60, 15):
        outcome = np.where(np.arange(60) == row, 0.0, y)
        rio = RIORegressor(model, random_state=0, training=UNGUARDED).fit(X, outcome, held_out=True)
        assert rio.scale_.scales[0].kind != "log"
        assert np.isfinite(rio.predict(X)).all()


def test_clear_errors(new):
    X, y = prices(60)
    with pytest.raises(ValueError, match=r"takes outcomes from 0 on, the lower end excluded, and y has 60 others"):
        RIORegressor(model, scale="log").fit(X, -y, held_out=True)
    with pytest.raises(ValueError, match="predictions within the range of outcomes, and the model has 60 others"):
        RIORegressor(scale="log").fit(X, y, y_pred=-y, held_out=True)
    with pytest.raises(ValueError, match="sample_y"):
        fit(60, scale="log").predict(X, return_cov=True)
    with pytest.raises(TypeError, match="or a transformer with inverse_transform"):
        RIORegressor(model, scale=3).fit(X, y)
    for bounds in (3, (1,), (2, 1), ("a", None), (float("nan"), None)):
        with pytest.raises(ValueError, match="bounds"):
            RIORegressor(model, bounds=bounds).fit(X, y)
