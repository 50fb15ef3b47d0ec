"""Noise of unseen rows, and noise that depends on the row."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from rio_uq import RIORegressor, metrics
from rio_uq.gp.noise.constant import likeliest_variance, noise_of_unseen_rows

pytestmark = pytest.mark.usefixtures("quick_fits")


def test_likeliest_variance_is_that_of_the_noise(rng):
    latent = rng.uniform(0.0, 3.0, size=20_000)
    residual = np.sqrt(latent + 2.0) * rng.normal(size=20_000)
    assert likeliest_variance(residual, latent, np.ones(20_000)) == pytest.approx(2.0, rel=0.1)


def test_without_latent_variance_it_is_the_weighted_mean_square(rng):
    residual, weight = rng.normal(size=50), rng.uniform(size=50)
    expected = np.average(residual**2, weights=weight)
    assert likeliest_variance(residual, np.zeros(50), weight) == pytest.approx(expected, rel=1e-4)


def test_few_residuals_hardly_move_it():
    surprising = likeliest_variance(np.array([10.0]), np.zeros(1), np.ones(1), near=1.0)
    assert 1.0 < surprising < 20.0


def test_noise_of_two_kinds_of_rows(rng):
    held_out = np.arange(4000) < 1000
    residual = np.where(held_out, 2.0, 1.0)[:, None] * rng.normal(size=(4000, 2))
    seen, unseen = noise_of_unseen_rows(residual, np.zeros((4000, 2)), np.ones(4000), held_out)
    assert seen == pytest.approx(1.0, rel=0.1)
    assert unseen == pytest.approx(4.0, rel=0.1)


@pytest.fixture
def overfitted(rng):
    """A model that has fitted a part of the noise of its training rows, and the rows that were held out from it."""
    X = rng.uniform(size=(600, 2))
    y = np.sin(5.0 * X[:, 0]) + 0.5 * rng.normal(size=600)
    held_out = np.arange(600) % 4 == 0
    model = KNeighborsRegressor(2).fit(X[~held_out], y[~held_out])
    return model, X, y, held_out


def test_held_out_rows_tell_the_noise_of_new_rows(overfitted, rng):
    model, X, y, held_out = overfitted
    new = rng.uniform(size=(2000, 2))
    truth = np.sin(5.0 * new[:, 0]) + 0.5 * rng.normal(size=2000)

    def fit(**options):
        settings = {"noise": "constant", "training": {"starts": "rio"}, "tol": 1e-3, "random_state": 0}
        rio = RIORegressor(model, residuals="in-sample", **settings).fit(X, y, **options)
        mean, std = rio.predict(new, return_std=True)
        return mean, metrics.coverage(truth, mean, std, confidence_level=0.9)

    mean, blind = fit()
    same_mean, told = fit(held_out=held_out)
    np.testing.assert_array_equal(mean, same_mean)
    assert blind < 0.87
    assert abs(told - 0.9) < abs(blind - 0.9)
    assert abs(told - 0.9) < 0.04


def test_a_mask_without_difference_changes_nothing(overfitted):
    model, X, y, _ = overfitted
    X, y = X[:150], y[:150]
    options = {"residuals": "in-sample", "tol": 1e-3, "random_state": 0}
    alone = RIORegressor(model, **options).fit(X, y)
    for mask in (np.ones(150, dtype=bool), np.zeros(150, dtype=bool)):
        masked = RIORegressor(model, **options).fit(X, y, held_out=mask)
        np.testing.assert_array_equal(alone.predict(X, return_std=True)[1], masked.predict(X, return_std=True)[1])


@pytest.mark.parametrize("held_out", [np.arange(600), np.zeros(599, dtype=bool)])
def test_a_mask_has_to_be_one(held_out, overfitted):
    model, X, y, _ = overfitted
    with pytest.raises(ValueError, match="True, False, or a mask, True or False for each of the 600 rows"):
        RIORegressor(model).fit(X, y, held_out=held_out)


def test_gaps_in_a_mask_are_named(overfitted):
    model, X, y, _ = overfitted
    with pytest.raises(ValueError, match="with 1 other values, None among them"):
        RIORegressor(model).fit(X, y, held_out=np.array([True] * 599 + [None]))


def heteroscedastic(rng, n, spread):
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    scale = np.exp(spread * X[:, 0])
    return X, np.sin(3.0 * X[:, 1]) + 0.3 * scale * rng.normal(size=n), 0.3 * scale


@pytest.mark.parametrize("n_rows", [400, 2100])
def test_noise_that_depends_on_the_row_is_found(n_rows, rng):
    """By exact and by sparse inference."""
    X, y, scale = heteroscedastic(rng, n_rows + 1000, 1.2)
    train, test = slice(0, n_rows), slice(n_rows, None)
    prediction = np.zeros(len(y))
    measures = {}
    for noise in ("constant", "io"):
        rio = RIORegressor(noise=noise, n_inducing=30, tol=1e-3, random_state=0)
        rio.fit(X[train], y[train], y_pred=prediction[train])
        mean, std = rio.predict(X[test], y_pred=prediction[test], return_std=True)
        measures[noise] = mean, metrics.nlpd(y[test], mean, std), metrics.crps(y[test], mean, std)
    np.testing.assert_array_equal(measures["io"][0], measures["constant"][0])
    assert measures["io"][1] < measures["constant"][1] - 0.1
    assert measures["io"][2] < measures["constant"][2]
    assert np.corrcoef(np.log(std), np.log(scale[test]))[0, 1] > 0.9
    assert rio.noise_variance_ == pytest.approx(np.exp(np.log(scale**2).mean()), rel=0.25)


def test_noise_that_is_the_same_everywhere_stays_so(rng):
    found = []
    for _ in range(4):
        X, y, _ = heteroscedastic(rng, 200, 0.0)
        rio = RIORegressor(tol=1e-3, random_state=0).fit(X, y, y_pred=np.zeros(200))
        found.append(rio.summary().noise == "varying")
    assert sum(found) <= 1


def test_the_forms_of_the_distribution_agree(rng):
    X, y, _ = heteroscedastic(rng, 300, 1.2)
    prediction = np.zeros(300)
    rio = RIORegressor(tol=1e-3, random_state=0).fit(X, y, y_pred=prediction)
    few = slice(0, 5)
    _, std = rio.predict(X[few], y_pred=prediction[few], return_std=True)
    _, covariance = rio.predict(X[few], y_pred=prediction[few], return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std, rtol=1e-6)
    draws = rio.sample_y(X[few], 4000, y_pred=prediction[few])
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.08)
    assert std.max() > 1.5 * std.min()


def test_scaling_the_outcomes_scales_the_noise(rng):
    X, y, _ = heteroscedastic(rng, 200, 1.2)
    stds = [
        RIORegressor(random_state=0)
        .fit(X, c * y, y_pred=np.zeros(200))
        .predict(X, y_pred=np.zeros(200), return_std=True)[1]
        for c in (1.0, 64.0)
    ]
    np.testing.assert_allclose(64.0 * stds[0], stds[1], rtol=5e-4)


def test_noise_far_from_the_rows_is_within_what_was_seen(rng):
    X, y, _ = heteroscedastic(rng, 400, 1.2)
    prediction = 5.0 * X[:, 0]
    rio = RIORegressor(tol=1e-3, random_state=0).fit(X, prediction + y, y_pred=prediction)

    def noise_at(X, y_pred):
        (_, outcome), (_, latent) = (
            rio.predict(X, y_pred=y_pred, return_std=True, include_noise=include) for include in (True, False)
        )
        return outcome**2 - latent**2

    near, far = noise_at(X, prediction), noise_at(50.0 * X, 50.0 * prediction)
    assert near.max() > 5.0 * near.min()
    assert near.min() * (1.0 - 1e-6) <= far.min()
    assert far.max() <= near.max() * (1.0 + 1e-6)


@pytest.mark.parametrize("outlier", [5.0, 1e6])
def test_an_outlier_does_not_run_away_with_the_noise(outlier, rng):
    X, y, _ = heteroscedastic(rng, 200, 1.2)
    y[0] = outlier
    rio = RIORegressor(tol=1e-3, random_state=0).fit(X, y, y_pred=np.zeros(200))
    _, std = rio.predict(X, y_pred=np.zeros(200), return_std=True)
    constant = RIORegressor(noise="constant", tol=1e-3, random_state=0).fit(X, y, y_pred=np.zeros(200))
    assert np.isfinite(std).all()
    assert std.max() < 20.0 * np.sqrt(constant.noise_variance_)


def test_copies_are_no_evidence_for_varying_noise(rng):
    found = []
    for _ in range(3):
        X, y, _ = heteroscedastic(rng, 150, 0.0)
        twice = RIORegressor(tol=1e-3, random_state=0).fit(
            np.repeat(X, 2, axis=0), np.repeat(y, 2), y_pred=np.zeros(300)
        )
        found.append(twice.summary().noise == "varying")
    assert sum(found) <= 1


def test_small_weights_are_kept_where_noise_is_learnt(rng):
    X, y, _ = heteroscedastic(rng, 200, 0.0)
    y[100:] += 10.0 * rng.normal(size=100)
    weight = np.where(np.arange(200) < 100, 1.0, 1e-6)
    small = RIORegressor(noise="constant", random_state=0).fit(X, y, y_pred=np.zeros(200), sample_weight=weight)
    without = RIORegressor(noise="constant", random_state=0).fit(X[:100], y[:100], y_pred=np.zeros(100))
    assert small.noise_variance_ == pytest.approx(without.noise_variance_, rel=0.2)


@pytest.mark.parametrize("seed", [1, 3])
def test_noise_with_heavy_tails_is_not_taken_for_small_noise(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(6000, 1))
    y = (1.0 + X[:, 0]) * (np.exp(1.4 * rng.normal(size=6000)) - np.exp(0.98))
    train, zero = slice(0, 3000), np.zeros(3000)
    found = {}
    for noise in ("constant", "io"):
        rio = RIORegressor(noise=noise, inference="sparse", n_inducing=20, max_iter=30, tol=1e-3, random_state=0)
        mean, std = rio.fit(X[train], y[train], y_pred=zero).predict(X[3000:], y_pred=zero, return_std=True)
        found[noise] = metrics.nlpd(y[3000:], mean, std)
    assert found["io"] < found["constant"] + 0.05
