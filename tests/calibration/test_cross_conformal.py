"""calibrate(method="cross-conformal"): intervals from the rows of fit themselves, each without its fold."""

from copy import copy

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge

from rio_uq import RIORegressor, load

QUICK = {
    "scale": "identity",
    "noise": "constant",
    "distribution": "normal",
    "training": {"starts": "rio"},
    "max_iter": 30,
    "tol": 1e-2,
    "random_state": 0,
}


def draw(rng, n, d=2, noise="normal"):
    X = rng.uniform(size=(n, d))
    errors = {
        "normal": rng.normal(size=n),
        "heavy": 0.5 * rng.standard_t(2.2, size=n),
        "varying": (0.2 + 2 * X[:, 0]) * rng.normal(size=n),
        "discrete": rng.choice([-1.0, 0.0, 4.0], size=n),
    }
    return X, 3 * np.sin(5 * X[:, 0]) + errors[noise]


@pytest.fixture(scope="module")
def data():
    return draw(np.random.default_rng(0), 60)


@pytest.fixture(scope="module")
def fitted(data):
    return RIORegressor(Ridge(), **QUICK).fit(*data)


def test_intervals_are_ranks_of_out_of_fold_scores(fitted, data):
    rio = copy(fitted).calibrate(method="cross-conformal")
    assert repr(rio.calibration_) == "Calibration(method='cross-conformal', groups=None)"
    assert rio.calibration_.n_rows == (60,)
    assert "calibrated on the rows of fit, each without its fold" in str(rio.summary())
    z = np.sort(np.abs(rio.loo_.z_by_fold))
    mean, std = fitted.predict(data[0]), fitted.fitted_.mean_and_std(fitted.inputs(data[0]), 1)[1][:, 0]
    band = rio.predict_interval(data[0], confidence_level=0.9)
    np.testing.assert_allclose(band[:, 1], mean + z[int(np.ceil(61 * 0.9)) - 1] * std)
    np.testing.assert_array_equal(rio.predict(data[0]), mean)
    with pytest.raises(ValueError, match=r"level 0.99 .* needs at least 99 calibration rows, and there are 60"):
        rio.predict_interval(data[0], confidence_level=0.99)


def test_scores_are_those_of_gps_that_have_not_seen_the_fold(fitted):
    assert 0.5 < np.corrcoef(fitted.loo_.z_by_fold, fitted.loo_.z)[0, 1] < 0.9999


def test_the_same_twice(fitted, data):
    one, other = (copy(fitted).calibrate(method="cross-conformal").predict_interval(data[0]) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_groups_are_those_of_the_rows_of_fit(data):
    X, y = data
    side = np.where(np.arange(60) % 2, "wild", "calm")
    y = y + np.where(side == "wild", 5.0, 0.0) * np.random.default_rng(1).normal(size=60)
    rio = RIORegressor(Ridge(), **QUICK).fit(X, y).calibrate(method="cross-conformal", groups=side)
    assert rio.calibration_.n_rows == (30, 30)
    widths = [np.ptp(rio.predict_interval(X[:1], groups=[name], confidence_level=0.9)) for name in ("calm", "wild")]
    assert widths[1] > 2 * widths[0]
    with pytest.raises(ValueError, match=r"groups has to have shape \(60,\)"):
        rio.calibrate(method="cross-conformal", groups=side[:5])


def test_weights_of_rows_count(data):
    X, y = data
    weight = np.where(np.arange(60) < 20, 0.0, np.where(np.arange(60) < 40, 1.0, 3.0))
    rio = RIORegressor(Ridge(), **QUICK).fit(X, y, sample_weight=weight).calibrate(method="cross-conformal")
    assert rio.calibration_.n_rows == (40,)
    assert rio.calibration_.n_effective == (pytest.approx(80**2 / 200),)
    equal = RIORegressor(Ridge(), **QUICK).fit(X, y, sample_weight=np.full(60, 2.0)).calibrate(method="cross-conformal")
    assert not equal.calibration_.is_weighted


def test_of_seen_and_held_out_rows_the_held_out_ones_count(data):
    X, y = data
    held_out = np.arange(60) >= 25
    model = RandomForestRegressor(10, random_state=0).fit(X[:25], y[:25])
    rio = RIORegressor(lambda X: model.predict(X), **QUICK).fit(X, y, held_out=held_out)
    assert rio.calibrate(method="cross-conformal").calibration_.n_rows == (35,)


def test_several_outputs_each_for_itself(data):
    X, y = data
    rio = RIORegressor(LinearRegression(), **QUICK).fit(X, np.column_stack([y, -2 * y]))
    band = rio.calibrate(method="cross-conformal").predict_interval(X[:4], confidence_level=[0.5, 0.9])
    assert band.shape == (4, 2, 2, 2)


def test_rows_to_come(fitted, data):
    rng = np.random.default_rng(3)
    rio = copy(fitted).calibrate(method="cross-conformal", X_new=rng.uniform(0.1, 1.0, size=(80, 2)))
    assert 25 < rio.calibration_.n_effective[0] < 59
    most = RIORegressor(Ridge(), inference="sparse", n_inducing=5, **QUICK).fit(*draw(rng, 2100))
    assert most.calibrate(method="cross-conformal").calibration_.n_rows == (2100,)
    with pytest.raises(ValueError, match="RIO keeps those of 2,000 rows at most: keep some rows apart"):
        most.calibrate(method="cross-conformal", X_new=data[0])


def test_files_hold_it(fitted, data, tmp_path):
    rio = copy(fitted).calibrate(method="cross-conformal")
    rio.save(tmp_path / "a.rio")
    other = load(tmp_path / "a.rio", estimator=rio.estimator_)
    assert other.calibration_.method == "cross-conformal"
    np.testing.assert_array_equal(other.predict_interval(data[0]), rio.predict_interval(data[0]))
    with pytest.raises(ValueError, match="not after partial_fit or load: calibrate before saving"):
        other.calibrate(method="cross-conformal")


def test_rows_that_were_seen_are_refused(data):
    X, y = data
    model = Ridge().fit(X, y)
    cases = [
        (RIORegressor(model, residuals="in-sample", **QUICK), {}),
        (RIORegressor(lambda X: model.predict(X), **QUICK), {}),
        (RIORegressor(lambda X: model.predict(X), **QUICK), {"held_out": False}),
        (RIORegressor(**QUICK), {"y_pred": model.predict(X)}),
    ]
    for rio, given in cases:
        rio.fit(X, y, **given)
        with pytest.raises(ValueError, match=r"residuals of rows that the model has not seen.*residuals='cross-fit'"):
            rio.calibrate(method="cross-conformal")
    rio = RIORegressor(**QUICK).fit(X, y, y_pred=model.predict(X), held_out=True)
    assert rio.calibrate(method="cross-conformal").calibration_ is not None


def test_wrong_use(fitted, data):
    rio = copy(fitted)
    with pytest.raises(ValueError, match="takes the rows of fit: leave X, y and y_pred out"):
        rio.calibrate(*data, method="cross-conformal")
    rio.partial_fit(*draw(np.random.default_rng(9), 5))
    with pytest.raises(ValueError, match="not after partial_fit or load"):
        rio.calibrate(method="cross-conformal")


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("n", "d", "noise", "model"),
    [
        (60, 2, "normal", Ridge()),
        (60, 2, "heavy", Ridge()),
        (100, 5, "varying", RandomForestRegressor(15, random_state=0)),
        (80, 2, "discrete", Ridge()),
        (40, 15, "normal", Ridge()),
    ],
)
def test_coverage_is_about_the_level(n, d, noise, model):
    """There is no guarantee: within four percent, and better than leave-one-out scores at fixed hyperparameters."""
    covered = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, y = draw(rng, n + 500, d, noise)
        rio = RIORegressor(model, random_state=seed).fit(X[:n], y[:n]).calibrate(method="cross-conformal")
        low, high = rio.predict_interval(X[n:], confidence_level=0.9).T
        covered.append(np.mean((low <= y[n:]) & (y[n:] <= high)))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.04 + 2 * np.std(covered) / 5)
