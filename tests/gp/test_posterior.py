"""Prediction: covariance, samples, parts, several outputs, large batches."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import covariance, predict, predict_mean, sample


@pytest.fixture(params=["exact", "sparse"])
def posterior(request, rng):
    rows = rng.normal(size=(60, 3))
    targets = np.column_stack([np.sin(rows[:, 0]), rows[:, 2]]) + 0.1 * rng.normal(size=(60, 2))
    kernel = io_kernel(2, 1, output_family="rbf+linear", ard=True)
    theta, log_noise, data = (
        rng.normal(scale=0.3, size=kernel.n_parameters),
        np.log([0.05, 0.2]),
        Observations(rows, targets),
    )
    if request.param == "exact":
        return exact.posterior(kernel, theta, log_noise, data)
    return sparse.posterior(kernel, theta, log_noise, rows[:15], data)


def test_a_row_alone_is_predicted_as_among_others(posterior, rng):
    new = rng.normal(size=(12, 3))
    mean, variance = predict(posterior, new)
    for i in range(12):
        np.testing.assert_allclose(predict(posterior, new[[i]]), (mean[[i]], variance[[i]]), rtol=1e-9, atol=1e-12)


def test_what_is_kept_for_speed_is_not_saved(posterior, rng):
    before = len(pickle.dumps(posterior))
    mean = predict_mean(posterior, rng.normal(size=(3, 3)))
    assert "at" in posterior.__dict__
    assert len(pickle.dumps(posterior)) == before
    assert "at" not in pickle.loads(pickle.dumps(posterior)).__dict__
    assert np.isfinite(mean).all()


def test_variance_is_the_diagonal_of_the_covariance(posterior, rng):
    new = rng.normal(size=(12, 3))
    _, variance = predict(posterior, new)
    matrices = covariance(posterior, new)
    assert matrices.shape == (2, 12, 12)
    np.testing.assert_allclose(np.diagonal(matrices, axis1=1, axis2=2).T, variance, rtol=1e-8, atol=1e-10)


def test_samples_have_the_moments_of_the_posterior(posterior, rng):
    new = rng.normal(size=(4, 3))
    mean, variance = predict(posterior, new)
    draws = sample(posterior, new, 20_000, rng)
    assert draws.shape == (4, 2, 20_000)
    np.testing.assert_allclose(draws.mean(axis=2), mean, atol=5 * np.sqrt(variance.max() / 20_000))
    np.testing.assert_allclose(draws.var(axis=2), variance, rtol=0.06)
    for output, matrix in enumerate(covariance(posterior, new)):
        np.testing.assert_allclose(np.cov(draws[:, output]), matrix, atol=0.05 * matrix.max())


def test_means_of_the_parts_add_up(posterior, rng):
    new = rng.normal(size=(12, 3))
    parts = [predict_mean(posterior.of_terms(posterior.kernel.part(name)), new) for name in ("input", "output")]
    np.testing.assert_allclose(sum(parts), predict_mean(posterior, new), rtol=1e-9, atol=1e-12)


def test_many_rows_on_threads_equal_few_rows(posterior, rng):
    new = rng.normal(size=(9001, 3))
    mean, variance = predict(posterior, new, n_jobs=2)
    some = [0, 4095, 4096, 8999, 9000]
    expected_mean, expected_variance = predict(posterior, new[some])
    np.testing.assert_allclose(mean[some], expected_mean, rtol=1e-9)
    np.testing.assert_allclose(variance[some], expected_variance, rtol=1e-7, atol=1e-12)


def test_no_rows_give_no_predictions(posterior):
    mean, variance = predict(posterior, np.empty((0, 3)))
    assert mean.shape == variance.shape == (0, 2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_negative_variance_is_reported_once_at_the_line_of_the_caller(posterior, n_jobs, rng):
    too_sure = replace(posterior, variance_factors=tuple(3.0 * factor for factor in posterior.variance_factors))
    new = np.tile(posterior.points, (600, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, variance = predict(too_sure, new, n_jobs=n_jobs)
    assert variance.min() == 0.0
    (warning,) = caught
    assert warning.category is RuntimeWarning
    assert "was set to zero" in str(warning.message)
    assert warning.filename == __file__
