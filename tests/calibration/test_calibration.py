"""RIORegressor.calibrate: error bars are set right, all forms of them agree, predictions stay as they are."""

import pickle
from copy import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge

from rio_uq import RIORegressor, metrics, plots
from rio_uq.calibration.calibration import CROSS_CONFORMAL, calibration_of
from rio_uq.calibration.calibration import METHODS as ALL_METHODS
from rio_uq.calibration.scores import ONE_SIGMA

METHODS = {name: kind for name, kind in ALL_METHODS.items() if name != CROSS_CONFORMAL}  # that take fresh rows
pytestmark = pytest.mark.usefixtures("quick_fits")

every_method = pytest.mark.parametrize("method", METHODS)
not_normal = pytest.mark.parametrize("method", ["conformal", "conformal-asymmetric", "isotonic"])
LEVELS = np.array([0.1, 0.5, 0.68, 0.9, 0.95])


def draw(rng, n):
    """Skewed noise, whose size depends on the group and on the first feature."""
    X = rng.uniform(size=(n, 3))
    group = rng.choice(["calm", "wild"], size=n)
    noise = rng.exponential(size=n) * np.where(group == "wild", 4.0, 1.0) * (0.3 + X[:, 0])
    return X, 5 * np.sin(3 * X[:, 0]) + 10 * X[:, 1] ** 2 + noise, group


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    return {"train": draw(rng, 150), "calibration": draw(rng, 400), "test": draw(rng, 3000)}


@pytest.fixture(scope="module")
def overconfident(data):
    """Fitted to residuals of a forest on its own training rows, which are far too small."""
    X, y, _ = data["train"]
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    return RIORegressor(forest, residuals="in-sample", random_state=0, tol=1e-4).fit(X, y)


@pytest.fixture
def rio(overconfident):
    return copy(overconfident)


@pytest.fixture(scope="module")
def several(data):
    X, y, _ = data["train"]
    Y = np.column_stack([y, -3 * y + X[:, 0]])
    return RIORegressor(LinearRegression(), random_state=0, tol=1e-3).fit(X, Y)


def covered(band, y):
    return np.mean((band[:, 0] <= y) & (y <= band[:, 1]))


@every_method
def test_intervals_of_an_overconfident_model_hold_as_often_as_they_say(method, rio, data):
    X, y, _ = data["test"]
    before = rio.predict_interval(X, confidence_level=0.9)
    assert covered(before, y) < 0.8
    after = rio.calibrate(*data["calibration"][:2], method=method).predict_interval(X, confidence_level=0.9)
    assert covered(after, y) == pytest.approx(0.9, abs=0.035)


def test_each_tail_holds_where_noise_is_skewed(rio, data):
    X, y, _ = data["test"]
    for method in ("conformal-asymmetric", "isotonic"):
        rio.calibrate(*data["calibration"][:2], method=method)
        low, high = rio.predict_quantiles(X, quantiles=[0.1, 0.9]).T
        assert np.mean(y < low) == pytest.approx(0.1, abs=0.035)
        assert np.mean(y > high) == pytest.approx(0.1, abs=0.035)
        dist = rio.predict_dist(X)
        assert stats.kstest(dist.cdf(y), "uniform").statistic < 0.08


@every_method
def test_predictions_stay_as_they_are_to_the_last_bit(method, rio, data):
    X, Y = data["test"][0][:50], data["calibration"]
    mean, model, learnt = rio.predict(X), pickle.dumps(rio.estimator_), rio.fitted_.gp
    residual, parts = rio.predict_residual(X), rio.decompose(X)
    rio.calibrate(*Y[:2], method=method)
    np.testing.assert_array_equal(rio.predict(X), mean)
    np.testing.assert_array_equal(rio.predict(X, return_std=True)[0], mean)
    np.testing.assert_array_equal(rio.predict(X, return_cov=True)[0], mean)
    np.testing.assert_array_equal(rio.predict_residual(X), residual)
    np.testing.assert_array_equal(rio.decompose(X), parts)
    assert pickle.dumps(rio.estimator_) == model
    assert rio.fitted_.gp is learnt


@every_method
def test_intervals_quantiles_and_distribution_say_the_same(method, rio, data):
    X = data["test"][0][:20]
    rio.calibrate(*data["calibration"][:2], method=method)
    bands = rio.predict_interval(X, confidence_level=LEVELS)
    assert bands.shape == (20, 2, 5)
    lower, upper = (1 - LEVELS) / 2, (1 + LEVELS) / 2
    np.testing.assert_allclose(bands[:, 0], rio.predict_quantiles(X, quantiles=lower), rtol=1e-12)
    np.testing.assert_allclose(bands[:, 1], rio.predict_quantiles(X, quantiles=upper), rtol=1e-12)
    dist = rio.predict_dist(X)
    np.testing.assert_allclose(np.stack(dist.interval(0.9), axis=1), bands[:, :, 3], rtol=1e-12)
    np.testing.assert_allclose(dist.ppf(upper[:, None]), bands[:, 1].T, rtol=1e-12)
    np.testing.assert_allclose(dist.median(), rio.predict_quantiles(X, quantiles=0.5))
    np.testing.assert_allclose(dist.std(), rio.predict(X, return_std=True)[1])
    np.testing.assert_allclose(dist.var(), dist.std() ** 2)
    inside = dist.cdf(bands[:, 1].T + 1e-9) - dist.cdf(bands[:, 0].T - 1e-9)
    assert (inside >= LEVELS[:, None] - 1e-6).all()
    np.testing.assert_allclose(dist.sf(3.0) + dist.cdf(3.0), 1.0)


@every_method
def test_intervals_are_nested_and_quantiles_monotone(method, rio, data):
    X = data["test"][0][:10]
    rio.calibrate(*data["calibration"][:2], method=method)
    bands = rio.predict_interval(X, confidence_level=np.arange(1, 99) / 100)
    assert (np.diff(bands[:, 0], axis=1) <= 0).all()
    assert (np.diff(bands[:, 1], axis=1) >= 0).all()
    assert (np.diff(rio.predict_quantiles(X, quantiles=np.arange(1, 200) / 200), axis=1) >= 0).all()


def test_symmetric_intervals_are_the_mean_with_a_factor_on_the_std(rio, data):
    X = data["test"][0][:10]
    mean, std = rio.predict(X, return_std=True)
    residual = np.abs(data["calibration"][1] - rio.predict(data["calibration"][0]))
    score = np.sort(residual / rio.predict(data["calibration"][0], return_std=True)[1])
    rio.calibrate(*data["calibration"][:2])
    factor = score[int(np.ceil(401 * 0.9)) - 1]
    np.testing.assert_allclose(
        rio.predict_interval(X, confidence_level=0.9), np.stack([mean - factor * std, mean + factor * std], axis=1)
    )
    np.testing.assert_allclose(rio.predict_quantiles(X, quantiles=0.95), mean + factor * std)
    np.testing.assert_array_equal(rio.predict_quantiles(X, quantiles=0.5), mean)


@pytest.mark.parametrize("method", ["conformal", "conformal-asymmetric", "variance"])
def test_std_is_half_the_width_of_the_one_sigma_interval(method, rio, data):
    X = data["test"][0][:10]
    _, std = rio.calibrate(*data["calibration"][:2], method=method).predict(X, return_std=True)
    lower, upper = rio.predict_interval(X, confidence_level=ONE_SIGMA).T
    np.testing.assert_allclose(std, (upper - lower) / 2)


def test_after_variance_the_distribution_is_normal_still(rio, data):
    X, y, _ = data["calibration"]
    before = rio.predict_dist(X)
    after = rio.calibrate(X, y, method="variance").predict_dist(X)
    factor = np.sqrt(np.mean(((y - before.mean()) / before.std()) ** 2))
    np.testing.assert_allclose(after.std(), factor * before.std())
    assert rio.calibration_.std_factor == pytest.approx(factor)
    assert after.dist.name == "norm"
    assert after.logpdf(y).sum() > before.logpdf(y).sum()
    assert metrics.nlpd(y, *rio.predict(X, return_std=True)) == pytest.approx(-after.logpdf(y).mean())


@not_normal
def test_other_distributions_have_no_density(method, rio, data):
    dist = rio.calibrate(*data["calibration"][:2], method=method).predict_dist(data["test"][0])
    assert not hasattr(dist, "pdf")
    assert not hasattr(dist, "logpdf")
    assert np.isnan(dist.cdf(np.nan)).all()
    mean_is_rios = np.array_equal(dist.mean(), rio.predict(data["test"][0]))
    assert mean_is_rios == (method != "isotonic")


@every_method
def test_all_standard_deviations_have_one_factor(method, rio, data):
    X = data["test"][0][:8]
    options = [{}, {"include_noise": False}]
    stds = [rio.predict(X, return_std=True, **option)[1] for option in options]
    covariances = [rio.predict(X, return_cov=True, **option)[1] for option in options]
    rio.calibrate(*data["calibration"][:2], method=method)
    factor = rio.calibration_.std_factor[0, 0]
    assert factor > 1.3
    for option, std, covariance in zip(options, stds, covariances, strict=True):
        np.testing.assert_allclose(rio.predict(X, return_std=True, **option)[1], factor * std)
        np.testing.assert_allclose(rio.predict_residual(X, return_std=True, **option)[1], factor * std)
        np.testing.assert_allclose(rio.predict(X, return_cov=True, **option)[1], factor**2 * covariance)


def test_draws_follow_the_factor_on_the_variance(rio, data):
    X = data["test"][0][:5]
    mean, before = rio.predict(X), rio.sample_y(X, 50)
    after = rio.calibrate(*data["calibration"][:2], method="variance").sample_y(X, 50)
    factor = rio.calibration_.std_factor[0, 0]
    np.testing.assert_allclose(after - mean[:, None], factor * (before - mean[:, None]), rtol=1e-9)


@not_normal
def test_draws_from_what_is_not_normal_are_refused(method, rio, data):
    rio.calibrate(*data["calibration"][:2], method=method)
    with pytest.raises(ValueError, match=f"'{method}'.*method='variance'"):
        rio.sample_y(data["test"][0])


@not_normal
def test_each_group_is_calibrated_for_itself(method, rio, data, rng):
    (X, y, group), (X_new, y_new, group_new) = draw(rng, 2000), data["test"]
    together = rio.calibrate(X, y, method=method).predict_interval(X_new, confidence_level=0.8)
    apart = rio.calibrate(X, y, method=method, groups=group).predict_interval(
        X_new, confidence_level=0.8, groups=group_new
    )
    members = {name: group_new == name for name in ("calm", "wild")}
    before, after = (
        {name: covered(band[rows], y_new[rows]) for name, rows in members.items()} for band in (together, apart)
    )
    assert before["calm"] - before["wild"] > 0.08
    assert after == {name: pytest.approx(0.8, abs=0.04) for name in members}


@every_method
def test_a_group_gets_what_its_rows_alone_would_give(method, rio, data):
    (X, y, group), X_new = data["calibration"], data["test"][0][:6]
    wild = group == "wild"
    alone = copy(rio).calibrate(X[wild], y[wild], method=method)
    rio.calibrate(X, y, method=method, groups=group)
    groups = ["wild"] * 6
    assert set(rio.calibration_.groups) == {"calm", "wild"}
    assert dict(zip(rio.calibration_.groups, rio.calibration_.n_rows, strict=True))["wild"] == wild.sum()
    for name in ("predict_interval", "predict_quantiles"):
        np.testing.assert_allclose(getattr(rio, name)(X_new, groups=groups), getattr(alone, name)(X_new), rtol=1e-12)
    np.testing.assert_allclose(
        rio.predict(X_new, return_std=True, groups=groups), alone.predict(X_new, return_std=True), rtol=1e-12
    )
    np.testing.assert_allclose(
        rio.predict(X_new, return_cov=True, groups=groups)[1], alone.predict(X_new, return_cov=True)[1]
    )
    np.testing.assert_allclose(
        rio.predict_residual(X_new, return_std=True, groups=groups), alone.predict_residual(X_new, return_std=True)
    )
    np.testing.assert_allclose(rio.predict_dist(X_new, groups=groups).ppf(0.9), alone.predict_dist(X_new).ppf(0.9))
    if method == "variance":
        np.testing.assert_allclose(rio.sample_y(X_new, groups=groups), alone.sample_y(X_new))


def test_what_is_made_of_error_bars_takes_groups(rio, data):
    (X, y, group), (X_new, y_new, group_new) = data["calibration"], data["test"]
    rio.calibrate(X, y, groups=group)
    std = rio.predict(X_new, return_std=True, groups=group_new)[1]
    threshold = np.sort(rio.predict(X, return_std=True, groups=group)[1])[len(X) // 2 - 1]
    rejected = rio.reject(X_new, budget=0.5, groups=group_new, calibration=(X, None, None, group))
    np.testing.assert_array_equal(rejected, std > threshold)
    with pytest.raises(ValueError, match="groups"):
        rio.reject(X_new, budget=0.5)
    displays = [
        plots.ReliabilityDisplay,
        plots.ErrorBarDisplay,
        plots.ErrorUncertaintyDisplay,
        plots.RiskCoverageDisplay,
        plots.CorrectionDisplay,
    ]
    for display in displays:
        with pytest.raises(ValueError, match="groups"):
            display.from_estimator(rio, X_new, y_new)
        display.from_estimator(rio, X_new, y_new, groups=group_new)
    np.testing.assert_allclose(
        plots.ErrorUncertaintyDisplay.from_estimator(rio, X_new, y_new, groups=group_new).std, std
    )
    plt.close("all")


def test_means_and_scores_need_no_groups(rio, data):
    X, y, group = data["calibration"]
    before = rio.score(X, y)
    assert rio.calibrate(X, y, groups=group).score(X, y) == before
    for call in (rio.predict_interval, rio.predict_quantiles, rio.predict_dist):
        with pytest.raises(ValueError, match="give the group of each row"):
            call(X)
    with pytest.raises(ValueError, match="give the group of each row"):
        rio.predict(X, return_std=True)


@pytest.mark.parametrize(
    "labels",
    [
        lambda group: pd.Series(group, dtype="category"),
        lambda group: group.tolist(),
        lambda group: np.where(group == "wild", 1, 2),
        lambda group: np.array([("wild", 3), 7], dtype=object)[(group == "wild").astype(int)],
    ],
    ids=["categorical", "list", "numbers", "mixed"],
)
def test_labels_of_any_kind(labels, rio, data):
    (X, y, group), (X_new, _, group_new) = data["calibration"], data["test"]
    expected = rio.calibrate(X, y, groups=group).predict_interval(X_new, groups=group_new)
    band = rio.calibrate(X, y, groups=labels(group)).predict_interval(X_new, groups=labels(group_new))
    np.testing.assert_array_equal(band, expected)


def test_wrong_groups(rio, data):
    (X, y, group), X_new = data["calibration"], data["test"][0][:3]
    with pytest.raises(ValueError, match="have not been calibrated by group"):
        rio.predict_interval(X_new, groups=["calm"] * 3)
    with pytest.raises(ValueError, match=r"groups has to have shape \(400,\).*got \(399,\)"):
        rio.calibrate(X, y, groups=group[1:])
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match=r"groups has 1 missing labels \(2\)"):
            rio.calibrate(X, y, groups=["a", "b", missing] + ["a"] * 397)
    with pytest.raises(TypeError, match=r"have to be hashable.*got 'dict'"):
        rio.calibrate(X, y, groups=[{}] * 400)
    few = np.array(["many"] * 398 + ["few"] * 2)
    with pytest.raises(ValueError, match="needs at least 3 calibration rows, and there are 2 in group 'few'"):
        rio.calibrate(X, y, groups=few)
    rio.calibrate(X, y, groups=group)
    with pytest.raises(ValueError, match=r"groups has 'tame', 'odd', of which.*known are '(calm|wild)'"):
        rio.predict_interval(X_new, groups=["calm", "tame", "odd"])
    few[-10:] = "few"
    rio.calibrate(X, y, groups=few)
    with pytest.raises(ValueError, match="needs at least 19 calibration rows, and there are 10 in group 'few'"):
        rio.predict_interval(X_new, groups=["many"] * 3)


@every_method
def test_each_output_is_calibrated_for_itself(method, several, data):
    X, y, group = data["calibration"]
    Y = np.column_stack([y, -30 * y])  # the second output is far from what was learnt
    rio = copy(several).calibrate(X, Y, method=method, groups=group)
    new, groups = X[:7], group[:7]
    mean, raw = several.predict(new, return_std=True)
    _, std = rio.predict(new, return_std=True, groups=groups)
    assert (std[:, 1] / raw[:, 1] > 5 * std[:, 0] / raw[:, 0]).all()
    bands = rio.predict_interval(new, confidence_level=[0.5, 0.9], groups=groups)
    assert bands.shape == (7, 2, 2, 2)
    dist = rio.predict_dist(new, groups=groups)
    np.testing.assert_allclose(np.stack(dist.interval(0.9), axis=-1), bands[..., 1], rtol=1e-12)
    np.testing.assert_allclose(dist.std(), std)
    assert dist.cdf(mean).shape == dist.mean().shape == (7, 2)
    everywhere = rio.predict_interval(X, confidence_level=0.9, groups=group)
    share = ((everywhere[:, :, 0] <= Y) & (everywhere[:, :, 1] >= Y)).mean(axis=0)
    if method != "variance":
        np.testing.assert_allclose(share, 0.9, atol=0.02)  # of the calibration rows themselves
    assert rio.predict(new, return_cov=True, groups=groups)[1].shape == (7, 7, 2)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(method=st.sampled_from(list(METHODS)), exponent=st.integers(-30, 30), seed=st.integers(0, 1000))
def test_units_do_not_matter(method, exponent, seed):
    rng = np.random.default_rng(seed)
    y, mean, std = rng.exponential(size=(50, 2)), rng.normal(size=(50, 2)), rng.uniform(0.1, 1.0, size=(50, 2))
    groups, unit = rng.integers(2, size=50), 2.0**exponent
    p = np.array([0.1, 0.5, 0.85])
    one = calibration_of((y - mean) / std, method=method, groups=groups)
    other = calibration_of((unit * y - unit * mean) / (unit * std), method=method, groups=groups)
    np.testing.assert_array_equal(one.quantiles(p), other.quantiles(p))
    wider = calibration_of((y - mean) / (unit * std), method=method, groups=groups)  # errors of RIO's std are made good
    np.testing.assert_allclose(unit * wider.quantiles(p), one.quantiles(p), rtol=1e-9, atol=1e-12)


def test_levels_that_the_rows_cannot_support(rio, data):
    X, y, _ = data["calibration"]
    new = X[:2]
    for method, needed in (("conformal", 19), ("conformal-asymmetric", 39)):
        rio.calibrate(X[: needed - 1], y[: needed - 1], method=method)
        message = rf"level 0.95 \(quantiles 0.025 and 0.975\) needs at least {needed} .* there are {needed - 1}: "
        with pytest.raises(ValueError, match=message):
            rio.predict_interval(new, confidence_level=[0.5, 0.95])
        with pytest.raises(ValueError, match=message):
            rio.predict_quantiles(new, quantiles=0.025)
        with pytest.raises(ValueError, match=message):
            rio.predict_dist(new).ppf(0.975)
        assert np.isfinite(rio.predict(new, return_std=True)).all()
        rio.calibrate(X[:needed], y[:needed], method=method)
        assert np.isfinite(rio.predict_interval(new, confidence_level=0.95)).all()
        assert np.isfinite(rio.predict_dist(new).interval(0.95)).all()
    for method in ("variance", "isotonic"):
        rio.calibrate(X[:6], y[:6], method=method)
        assert np.isfinite(rio.predict_interval(new, confidence_level=0.999)).all()


@pytest.mark.parametrize(("method", "least"), [(name, kind.least_rows) for name, kind in METHODS.items()])
def test_too_few_rows(method, least, rio, data):
    X, y, _ = data["calibration"]
    with pytest.raises(ValueError, match=f"'{method}' needs at least {least} calibration rows, and there"):
        rio.calibrate(X[: least - 1], y[: least - 1], method=method)
    assert rio.calibrate(X[:least], y[:least], method=method).predict(X[:2], return_std=True)[1].min() > 0


@pytest.mark.parametrize("method", ["variance", "isotonic"])
def test_rows_without_an_error(method, rio, data):
    X = data["calibration"][0]
    with pytest.raises(ValueError, match="predicted exactly"):
        rio.calibrate(X, rio.predict(X), method=method)
    band = rio.calibrate(X, rio.predict(X)).predict_interval(X)
    np.testing.assert_allclose(band[:, 0], band[:, 1], rtol=1e-13)


def test_an_error_leaves_the_old_calibration_in_place(rio, data):
    X, y, _ = data["calibration"]
    old = rio.calibrate(X, y).calibration_
    for wrong, message in [
        ({"y": np.where(np.arange(400) == 3, np.nan, y)}, r"y contains NaN in 1 row \(3\): remove or impute"),
        ({"y": y[:-1]}, "X has 400 rows and y has 399"),
        ({"y": np.column_stack([y, y])}, r"y has shape \(400, 2\), and has to have shape \(400,\), as in fit"),
        ({"X": X[:, :2]}, "features"),
        ({"y_pred": y[:5]}, r"y_pred should have shape \(400,\)"),
        (
            {"method": "platt"},
            "method has to be one of 'conformal', 'conformal-asymmetric', 'cross-conformal', 'variance'",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            rio.calibrate(**{"X": X, "y": y, **wrong})
        assert rio.calibration_ is old


def test_several_outputs_are_said_in_the_message(several, data):
    X, y, _ = data["calibration"]
    with pytest.raises(ValueError, match=r"y has shape \(400,\), and has to have shape \(400, 2\), as in fit"):
        copy(several).calibrate(X, y)


def test_not_fitted(data):
    with pytest.raises(NotFittedError):
        RIORegressor(Ridge()).calibrate(*data["calibration"][:2])


def test_a_second_calibration_replaces_the_first_and_a_fit_clears_it(rio, data):
    X, y, group = data["calibration"]
    once = copy(rio).calibrate(X, y, method="variance").predict_interval(X)
    twice = rio.calibrate(X, y, groups=group).calibrate(X, y, method="variance").predict_interval(X)
    np.testing.assert_array_equal(once, twice)
    assert rio.fit(*data["train"][:2]).calibration_ is None
    assert rio.predict_dist(X).dist.name == "norm"


@every_method
def test_pickle_and_clone(method, rio, data):
    X, y, group = data["calibration"]
    rio.calibrate(X, y, method=method, groups=group)
    loaded = pickle.loads(pickle.dumps(rio))
    np.testing.assert_array_equal(loaded.predict_interval(X, groups=group), rio.predict_interval(X, groups=group))
    dist = pickle.loads(pickle.dumps(rio.predict_dist(X, groups=group)))
    np.testing.assert_array_equal(dist.cdf(y), rio.predict_dist(X, groups=group).cdf(y))
    assert not hasattr(clone(rio), "calibration_")


def test_predictions_alone_are_enough(rio, data):
    (X, y, _), new = data["calibration"], data["test"][0][:9]
    forest = rio.estimator_
    expected = copy(rio).calibrate(X, y).predict_interval(new)
    train = data["train"]
    bare = RIORegressor(residuals="in-sample", random_state=0, tol=1e-4).fit(
        *train[:2], y_pred=forest.predict(train[0])
    )
    bare.calibrate(X, y, y_pred=forest.predict(X))
    np.testing.assert_allclose(bare.predict_interval(new, y_pred=forest.predict(new)), expected)
