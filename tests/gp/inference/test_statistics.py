"""Rows added to a posterior: the law that it does not matter in which batches they come."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.inference.collapsed import CollapsedBound
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict

N = 40


def make(seed, *, is_weighted=False, is_precise=False):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(N, 4))
    targets = np.column_stack([np.sin(rows[:, 0]), rows[:, 1] ** 2]) + 0.1 * rng.normal(size=(N, 2))
    weight = rng.integers(1, 4, size=N).astype(float) if is_weighted else None
    precision = rng.uniform(0.3, 2.0, size=N) if is_precise else None
    kernel = io_kernel(3, 1, input_family="matern52", output_family="rbf+linear", ard=True)
    theta, log_noise = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.05])
    return Observations(rows, targets, weight, precision), kernel, theta, log_noise, rng.normal(size=(9, 4))


def posterior_of(inference, data, kernel, theta, log_noise, points):
    if inference == "exact":
        return exact.posterior(kernel, theta, log_noise, data)
    return sparse.posterior(kernel, theta, log_noise, points, data)


@pytest.mark.parametrize("inference", ["exact", "sparse"])
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cuts=st.sets(st.integers(1, N - 1), min_size=1, max_size=6),
    order=st.permutations(range(N)),
    is_weighted=st.booleans(),
    is_precise=st.booleans(),
)
def test_any_batches_in_any_order_give_the_same_posterior(inference, seed, cuts, order, is_weighted, is_precise):
    data, *at = make(seed, is_weighted=is_weighted, is_precise=is_precise)
    whole = posterior_of(inference, data, *at)
    first, *others = (data.subset(np.array(batch)) for batch in np.split(np.array(order), sorted(cuts)))
    grown = posterior_of(inference, first, *at)
    for batch in others:
        grown = grown.with_rows(batch)
    new = np.random.default_rng(seed).normal(size=(15, 4))
    for one, other in zip(predict(grown, new), predict(whole, new), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(grown.log_likelihood(), whole.log_likelihood(), rtol=1e-9)
    np.testing.assert_allclose(grown.total_weight, whole.total_weight, rtol=1e-12)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_precise", [False, True])
def test_the_likelihood_is_that_of_training(is_weighted, is_precise):
    data, kernel, theta, log_noise, points = make(1, is_weighted=is_weighted, is_precise=is_precise)
    of_exact = exact.posterior(kernel, theta, log_noise, data)
    expected, _ = exact.MarginalLikelihood(kernel, data)(theta, log_noise)
    assert of_exact.log_likelihood() == pytest.approx(expected, rel=1e-10)
    assert of_exact.total_weight == data.total_weight
    of_sparse = sparse.posterior(kernel, theta, log_noise, points, data)
    expected, _ = CollapsedBound(kernel, data, len(points))(theta, log_noise, points)
    assert of_sparse.log_likelihood() == pytest.approx(expected, rel=1e-9)
    assert of_sparse.total_weight == data.total_weight


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_a_noise_variance_that_was_set_later_stays_and_does_not_weigh_rows(inference):
    data, *at = make(2)
    first = replace(posterior_of(inference, data.subset(np.arange(30)), *at), noise_variance=np.array([7.0, 8.0]))
    grown, whole = first.with_rows(data.subset(np.arange(30, N))), posterior_of(inference, data, *at)
    np.testing.assert_array_equal(grown.noise_variance, [7.0, 8.0])
    np.testing.assert_allclose(predict(grown, data.rows), predict(whole, data.rows), rtol=1e-7, atol=1e-9)


def test_float32_rows_are_whitened_as_those_before_them():
    data, *at = make(3)
    halves = [replace(data.subset(half), dtype=np.float32) for half in np.split(np.arange(N), 2)]
    grown = posterior_of("sparse", halves[0], *at).with_rows(halves[1])
    whole = posterior_of("sparse", replace(data, dtype=np.float32), *at)
    assert grown.statistics.jitter == whole.statistics.jitter
    np.testing.assert_allclose(predict(grown, data.rows), predict(whole, data.rows), rtol=1e-4, atol=1e-5)


def test_where_the_kernel_is_smooth_and_the_noise_small_sums_keep_their_digits(rng):
    y_pred = rng.normal(450.0, 17.0, size=(2000, 1))
    data, kernel = Observations(y_pred, y_pred + rng.normal(size=(2000, 1))), io_kernel(0, 1, kind="output")
    at = (kernel, np.log([3e5, 700.0]), np.log([1.0]), y_pred[:50])
    grown = posterior_of("sparse", data.subset(np.arange(200)), *at)
    for batch in np.split(np.arange(200, 2000), 9):
        grown = grown.with_rows(data.subset(batch))
    (mean, variance), (expected, expected_variance) = (
        predict(one, y_pred) for one in (grown, posterior_of("sparse", data, *at))
    )
    np.testing.assert_allclose(mean, expected, atol=1e-3)
    np.testing.assert_allclose(variance, expected_variance, atol=1e-3)


def test_a_posterior_without_statistics_takes_no_rows():
    data, *at = make(4)
    bare = replace(posterior_of("exact", data, *at), statistics=None)
    with pytest.raises(ValueError, match="rows cannot be added"):
        bare.with_rows(data)
    with pytest.raises(ValueError, match="without their sufficient statistics"):
        bare.log_likelihood()


def test_an_exact_gp_takes_no_rows_in_parts():
    data, *at = make(5)
    exact_gp, sparse_gp = (posterior_of(inference, data, *at) for inference in ("exact", "sparse"))
    for ask in (
        lambda: exact_gp.sums,
        lambda: exact_gp.sums_of(data),
        lambda: exact_gp.with_sums(sparse_gp.sums),
    ):
        with pytest.raises(ValueError, match="rows that are read in parts cannot be added to an exact GP"):
            ask()
    np.testing.assert_allclose(sparse_gp.with_sums(sparse_gp.sums_of(data)).weights, sparse_gp.weights, rtol=1e-9)
