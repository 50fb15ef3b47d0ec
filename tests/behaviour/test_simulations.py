"""Intervals hold as often as they say: where the model is the truth, and after calibration whatever the truth is."""

import numpy as np
import pytest
from scipy import stats

from rio_uq import RIORegressor, metrics
from rio_uq.calibration.calibration import calibration_of
from rio_uq.gp.kernels.io import io_kernel

pytestmark = pytest.mark.no_cover


@pytest.mark.slow
@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_coverage_over_draws_from_the_prior(inference):
    rng = np.random.default_rng(1)
    kernel = io_kernel(2, 1, input_family="matern52", ard=True)
    levels = np.array([0.68, 0.9, 0.95])
    covered = []
    for seed in range(30):
        X, y_pred = rng.uniform(-2, 2, size=(400, 2)), rng.uniform(-2, 2, size=400)
        rows = np.column_stack([X, y_pred])
        prior = kernel.matrix(np.zeros(kernel.n_parameters), rows, rows) + 0.05 * np.eye(400)
        y = y_pred + np.linalg.cholesky(prior) @ rng.normal(size=400)
        rio = RIORegressor(inference=inference, n_inducing=80, random_state=seed).fit(
            X[:200], y[:200], y_pred=y_pred[:200]
        )
        mean, std = rio.predict(X[200:], y_pred=y_pred[200:], return_std=True)
        covered.append(metrics.coverage_curve(y[200:], mean, std, confidence_levels=levels))
    np.testing.assert_allclose(np.mean(covered, axis=0), levels, atol=0.03)


NOISE = {"normal": stats.norm(0.5, 3.0), "skewed": stats.expon(-0.3, 2.0), "heavy": stats.t(2)}
"""Of scores which RIO takes for standard normal."""

DRAWS = 1500


def coverages(rng, noise, method, n_rows, level):
    """The coverage of intervals, worked out from the distribution of the noise, for many sets of calibration rows."""
    std = rng.uniform(0.1, 2.0, size=(n_rows, DRAWS))
    y = std * noise.rvs(size=(n_rows, DRAWS), random_state=rng)
    calibration = calibration_of(y / std, method=method)
    lower, upper = calibration.quantiles(0.5 + 0.5 * level * np.array([-1.0, 1.0]))[0].T
    return noise.cdf(upper) - noise.cdf(lower)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("method", "n_rows"), [("conformal", 19), ("conformal", 100), ("conformal-asymmetric", 41)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_conformal_coverage_is_the_level_or_a_little_more(noise, method, n_rows, level, rng):
    found = coverages(rng, NOISE[noise], method, n_rows, level)
    error = 4.0 * found.std() / np.sqrt(DRAWS)
    parts_too_many = 1 if method == "conformal" else 2
    assert level - error < found.mean() < level + parts_too_many / (n_rows + 1) + error


@pytest.mark.parametrize("noise", NOISE)
def test_isotonic_coverage_is_the_level_within_the_resolution_of_the_rows(noise, rng):
    for n_rows, level in ((60, 0.8), (100, 0.95)):
        found = coverages(rng, NOISE[noise], "isotonic", n_rows, level)
        assert found.mean() == pytest.approx(level, abs=2 / (n_rows + 1) + 4 * found.std() / np.sqrt(DRAWS))


def test_a_factor_on_the_variance_is_right_for_normal_noise_without_bias(rng):
    for n_rows in (100, 400):
        found = coverages(rng, stats.norm(0, 3), "variance", n_rows, 0.9)
        assert found.mean() == pytest.approx(0.9, abs=1 / n_rows)


def test_conformal_coverage_in_every_group(rng):
    noise = {"a": stats.expon(), "b": stats.norm(1.0, 5.0), "c": stats.t(3)}
    sizes = {"a": 25, "b": 60, "c": 19}
    groups = np.repeat(list(sizes), list(sizes.values()))
    y = np.concatenate([noise[name].rvs(size=(sizes[name], DRAWS), random_state=rng) for name in sizes])
    order = rng.permutation(len(groups))
    calibration = calibration_of(y[order], method="conformal", groups=groups[order])
    for name, quantiles in zip(calibration.groups, calibration.quantiles(np.array([0.05, 0.95])), strict=True):
        found = np.diff(noise[name].cdf(quantiles), axis=1)
        error = 4.0 * found.std() / np.sqrt(DRAWS)
        assert 0.9 - error < found.mean() < 0.9 + 1 / (sizes[name] + 1) + error


@pytest.mark.slow
@pytest.mark.parametrize("method", ["conformal", "conformal-asymmetric", "isotonic"])
def test_coverage_over_fits_that_are_wrong_about_the_noise(method):
    rng = np.random.default_rng(2)
    n_train, n_calibration = 60, 50
    covered, before = [], []
    for seed in range(100):
        X = rng.uniform(size=(n_train + n_calibration + 400, 2))
        y = 3 * np.sin(5 * X[:, 0]) + rng.exponential(0.2 + 2 * X[:, 1])
        train, calibration, test = np.split(np.arange(len(y)), [n_train, n_train + n_calibration])
        memory = 0.8 * y[train] + 0.2 * y[train].mean()  # the predictions of a model that has memorised its rows
        y_pred = np.concatenate([memory, 3 * np.sin(5 * X[n_train:, 0])])
        rio = RIORegressor(random_state=seed, tol=1e-3).fit(X[train], y[train], y_pred=y_pred[train])
        options = {"y_pred": y_pred[test], "confidence_level": 0.9}
        for found, band in (
            (before, rio.predict_interval(X[test], **options)),
            (
                covered,
                rio.calibrate(
                    X[calibration], y[calibration], y_pred=y_pred[calibration], method=method
                ).predict_interval(X[test], **options),
            ),
        ):
            found.append(np.mean((band[:, 0] <= y[test]) & (y[test] <= band[:, 1])))
    assert np.mean(before) < 0.8
    error = 3.0 * np.std(covered) / 10.0
    assert 0.9 - error < np.mean(covered) < 0.9 + 2 / (n_calibration + 1) + error
