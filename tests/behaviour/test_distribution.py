"""The shape of the distribution of outcomes, as users meet it."""

from copy import copy
from functools import cache

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

import rio_uq
from rio_uq import RIORegressor, Training, metrics
from rio_uq.calibration.distributions import ShapedDistribution

pytestmark = pytest.mark.usefixtures("quick_fits")

LEVELS = np.array([0.5, 0.68, 0.8, 0.9, 0.95, 0.99])

NOISES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "student": lambda rng, n: rng.standard_t(3.0, n) / np.sqrt(3.0),
    "skewed": lambda rng, n: rng.exponential(size=n) - 1.0,
}


def make(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, np.sin(5.0 * X[:, 0]) + X[:, 1] + 0.3 * NOISES[kind](rng, n)


def linear(X):
    return X[:, 1]


@cache
def fitted_once(kind, n, seed, distribution, **options):
    X, y = make(kind, n, seed)
    options = {"noise": "constant", **options}
    return RIORegressor(linear, random_state=0, distribution=distribution, **options).fit(X, y)


def fit(kind, n=400, seed=0, distribution="auto", **options):
    """A regressor of its own, on what all tests that ask for the same fit share."""
    return copy(fitted_once(kind, n, seed, distribution, **options))


@pytest.fixture(scope="module")
def heavy():
    return fit("student")


@pytest.fixture(scope="module")
def new():
    return make("student", 4000, seed=1)


def off(rio, X, y):
    band = rio.predict_interval(X, confidence_level=LEVELS.tolist())
    return ((band[:, 0] <= y[:, None]) & (y[:, None] <= band[:, 1])).mean(axis=0) - LEVELS


def test_corrected_predictions_do_not_depend_on_the_distribution(heavy, new):
    normal = fit("student", distribution="normal")
    np.testing.assert_array_equal(heavy.predict(new[0]), normal.predict(new[0]))
    assert heavy.bound_ == normal.bound_
    assert normal.shape_ is None
    assert heavy.shape_.scores[0].kind == "student"


def test_intervals_of_heavy_tails_are_right_at_all_levels(heavy, new):
    normal = fit("student", distribution="normal")
    assert np.abs(off(heavy, *new)).max() < 0.035
    assert np.abs(off(normal, *new)).max() > 0.06


@pytest.mark.parametrize("kind", NOISES)
def test_auto_chooses_by_left_out_rows(kind):
    rio = fit(kind)
    assert rio.shape_.scores[0].kind == {"normal": "student"}.get(kind, kind)
    text = str(rio.summary())
    assert {
        "normal": "a nearly normal distribution: left-out rows show little evidence",
        "student": "Student distribution with",
        "skewed": "times as wide above",
    }[kind] in text


def test_normal_rows_have_a_distribution_of_scipy(new):
    rio = fit("normal", distribution="normal")
    distribution = rio.predict_dist(new[0][:5])
    mean, std = rio.predict(new[0][:5], return_std=True)
    assert distribution.dist.name == "norm"
    np.testing.assert_array_equal([distribution.mean(), distribution.std()], [mean, std])
    np.testing.assert_allclose(rio.predict_interval(new[0][:5]).T, stats.norm(mean, std).interval(0.95))


def test_all_answers_are_of_one_distribution(heavy, new):
    X, y = new[0][:6], new[1][:6]
    distribution = heavy.predict_dist(X)
    mean, std = heavy.predict(X, return_std=True)
    assert isinstance(distribution, ShapedDistribution)
    np.testing.assert_allclose(distribution.mean(), mean)
    np.testing.assert_allclose(distribution.std(), std)
    np.testing.assert_allclose(distribution.var(), std**2)
    np.testing.assert_allclose(
        np.transpose(distribution.interval(0.9)), heavy.predict_interval(X, confidence_level=0.9)
    )
    quantiles = heavy.predict_quantiles(X, quantiles=[0.1, 0.5])
    np.testing.assert_allclose(np.transpose([distribution.ppf(0.1), distribution.median()]), quantiles)
    np.testing.assert_allclose(distribution.cdf(quantiles[:, 0]), 0.1)
    np.testing.assert_allclose(distribution.sf(quantiles[:, 0]), 0.9)
    np.testing.assert_allclose(distribution.pdf(y), np.exp(distribution.logpdf(y)))
    np.testing.assert_array_equal(distribution.ppf(1.0), np.inf)
    draws = distribution.rvs(size=(20_000, 6), random_state=0)
    np.testing.assert_allclose(np.quantile(draws, 0.1, axis=0), quantiles[:, 0], atol=0.02)
    assert distribution.rvs().shape == (6,)
    covariance = heavy.predict(X, return_cov=True)[1]
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std)


@pytest.mark.parametrize("kind", ["student", "skewed"])
def test_joint_draws_have_the_moments_and_about_the_quantiles_of_the_distribution(kind, new):
    rio = fit(kind, n=300, training=Training(starts="auto"))
    X = new[0][:8]
    draws = rio.sample_y(X, 40_000, random_state=1)
    mean, std = rio.predict(X, return_std=True)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.01)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.1)
    for p in (0.05, 0.25, 0.75, 0.95):
        np.testing.assert_allclose(np.quantile(draws, p, axis=1), rio.predict_quantiles(X, quantiles=p), atol=0.03)
    latent = rio.sample_y(X, 40_000, random_state=1, include_noise=False)
    np.testing.assert_allclose(latent.std(axis=1), rio.predict(X, return_std=True, include_noise=False)[1], rtol=0.02)


def test_each_output_has_its_own_shape(new):
    X, heavy_tailed = make("student", 400)
    y = np.column_stack([heavy_tailed, make("normal", 400)[1]])
    rio = RIORegressor(random_state=0, noise="constant", distribution="auto")
    rio.fit(X, y, y_pred=np.column_stack([X[:, 1]] * 2))
    assert rio.shape_.scores[0].degrees < 10.0 < rio.shape_.scores[1].degrees
    given = {"X": new[0][:5], "y_pred": np.column_stack([new[0][:5, 1]] * 2)}
    distribution, (mean, std) = rio.predict_dist(**given), rio.predict(**given, return_std=True)
    np.testing.assert_allclose(distribution.std(), std)
    np.testing.assert_allclose(distribution.logpdf(mean)[:, 1], stats.norm(mean, std).logpdf(mean)[:, 1], atol=0.1)
    assert (distribution.logpdf(mean)[:, 0] > stats.norm(mean, std).logpdf(mean)[:, 0]).all()
    assert rio.sample_y(**given, n_samples=3).shape == (5, 2, 3)
    assert "Outcomes of output 1 follow a nearly normal distribution" in str(rio.summary())


def test_calibration_is_of_the_gp_and_takes_the_place_of_the_shape(new):
    X, y = new[0][:300], new[1][:300]
    for method in ("conformal", "conformal-asymmetric", "variance", "isotonic"):
        shaped, normal = (
            fit("student", distribution=kind).calibrate(X, y, method=method) for kind in ("auto", "normal")
        )
        np.testing.assert_array_equal(shaped.predict_interval(X[:9]), normal.predict_interval(X[:9]))
        np.testing.assert_array_equal(shaped.predict(X[:9], return_std=True), normal.predict(X[:9], return_std=True))
        assert "calibrated on other rows" in str(shaped.summary())


def test_further_rows_leave_the_shape_as_it_is(new):
    rio = fit("student")
    before = rio.shape_
    assert rio.partial_fit(new[0][:50], new[1][:50]).shape_ is before


@pytest.mark.parametrize("inference", ["exact", "sparse", "svgp", "nearest"])
def test_every_inference_finds_heavy_tails(inference, new):
    rio = fit("student", inference=inference, n_inducing=20)
    assert rio.shape_.scores[0].kind == "student"
    assert rio.shape_.scores[0].degrees < 6.0


@pytest.mark.parametrize(
    ("kind", "choice"),
    [("student", "auto"), ("skewed", "auto"), ("normal", "auto"), ("normal", "student"), ("student", "normal")],
)
def test_a_file_keeps_the_shape(kind, choice, new, tmp_path):
    rio = fit(kind, distribution=choice)
    rio.save(tmp_path / "model.rio")
    other = rio_uq.load(tmp_path / "model.rio", estimator=linear)
    assert other.distribution == choice
    levels = LEVELS.tolist()
    np.testing.assert_array_equal(
        other.predict_interval(new[0][:9], confidence_level=levels),
        rio.predict_interval(new[0][:9], confidence_level=levels),
    )
    np.testing.assert_array_equal(other.predict(new[0][:9], return_std=True), rio.predict(new[0][:9], return_std=True))
    assert str(other.summary()) == str(rio.summary())


def test_an_onnx_graph_has_the_same_intervals(new, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from rio_uq import onnx

    for kind in ("student", "skewed"):
        rio = fit(kind)
        onnx.export(rio, tmp_path / "model.onnx", levels=[0.9])
        session = runtime.InferenceSession(tmp_path / "model.onnx")
        X = new[0][:7]
        feeds = {"X": X, "y_pred": linear(X)[:, None]}
        answers = dict(zip([entry.name for entry in session.get_outputs()], session.run(None, feeds), strict=True))
        _, std = rio.predict(X, return_std=True)
        band = rio.predict_interval(X, confidence_level=0.9)
        np.testing.assert_allclose(np.ravel(answers["std"]), std, rtol=1e-5)
        np.testing.assert_allclose(np.ravel(answers["lower_0.9"]), band[:, 0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(np.ravel(answers["upper_0.9"]), band[:, 1], rtol=1e-4, atol=1e-5)


def test_measures_are_those_of_the_predicted_distribution(heavy, new):
    X, y = new
    distribution = heavy.predict_dist(X)
    mean, std = heavy.predict(X, return_std=True)
    assert metrics.nlpd(y, distribution) == pytest.approx(-distribution.logpdf(y).mean())
    assert metrics.nlpd(y, distribution) < metrics.nlpd(y, mean, std) - 0.05
    assert metrics.crps(y, distribution) < metrics.crps(y, mean, std)
    assert metrics.coverage(y, distribution, confidence_level=0.5) == pytest.approx(0.5 + off(heavy, X, y)[0])
    assert metrics.miscalibration_area(y, distribution) < metrics.miscalibration_area(y, mean, std)
    band = heavy.predict_interval(X)
    assert metrics.interval_width(y, distribution) == pytest.approx(np.mean(band[:, 1] - band[:, 0]))
    losses = -distribution.logpdf(y), distribution.crps(y)
    shown = metrics.before_after(y, linear(X), mean, std, {0.95: tuple(band.T)}, losses)
    assert shown.after.nlpd == pytest.approx(metrics.nlpd(y, distribution))
    assert shown.after.crps == pytest.approx(metrics.crps(y, distribution))


def test_a_scorer_asks_for_the_distribution(heavy, new):
    X, y = new[0][:500], new[1][:500]
    assert metrics.scorer(metrics.nlpd)(heavy, X, y) == pytest.approx(-metrics.nlpd(y, heavy.predict_dist(X)))
    assert metrics.scorer(metrics.rmse)(heavy, X, y) == pytest.approx(-metrics.rmse(y, heavy.predict(X)))
    scores = cross_val_score(
        RIORegressor(Ridge(), random_state=0), X[:90], y[:90], cv=2, scoring=metrics.scorer(metrics.crps)
    )
    assert scores.shape == (2,)


def test_measures_say_what_they_need(heavy, new):
    X, y = new[0][:300], new[1][:300]
    distribution = fit("student").calibrate(X, y).predict_dist(X)
    with pytest.raises(TypeError, match="with a density"):
        metrics.nlpd(y, distribution)
    with pytest.raises(TypeError, match="with a density"):
        metrics.crps(y, distribution)
    for arguments in ((y,), (heavy.predict_dist(X), y)):
        with pytest.raises(TypeError, match="give mean and std, or in place of both"):
            metrics.nlpd(y, *arguments)


def test_the_paper_has_a_normal_distribution():
    assert RIORegressor.paper().distribution == "normal"
    with pytest.raises(ValueError, match="distribution"):
        fit("normal", n=20, distribution="cauchy")


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("n", [100, 1000])
def test_coverage_of_simulated_outcomes_at_all_levels(kind, n):
    shifts = []
    defaults = {"scale": "auto", "distribution": "auto", "tol": 1e-6, "training": {"starts": "auto", "guard": True}}
    for seed in range(8):
        rio = RIORegressor(linear, random_state=0, **defaults).fit(*make(kind, n, seed))
        shifts.append(off(rio, *make(kind, 2000, seed=100 + seed)))
    assert np.abs(np.mean(shifts, axis=0)).max() < (0.07 if n == 100 else 0.025)
