"""Rows added to a posterior: the law that it does not matter in which batches they come."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.inference.sparse import CollapsedBound
from rio_uq.gp.inference.updating import add_rows, log_likelihood
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.posterior import predict
from rio_uq.gp.rows import Rows

N = 40


def make(seed, *, is_weighted=False, is_precise=False):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(N, 4))
    targets = np.column_stack([np.sin(rows[:, 0]), rows[:, 1] ** 2]) + 0.1 * rng.normal(size=(N, 2))
    weight = rng.integers(1, 4, size=N).astype(float) if is_weighted else None
    precision = rng.uniform(0.3, 2.0, size=N) if is_precise else None
    kernel = io_kernel(3, 1, input_family="matern52", output_family="rbf+linear", ard=True)
    theta, log_noise = rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.2, 0.05])
    return Rows(rows, targets, weight, precision), kernel, theta, log_noise, rng.normal(size=(9, 4))


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
        grown = add_rows(grown, batch)
    new = np.random.default_rng(seed).normal(size=(15, 4))
    for one, other in zip(predict(grown, new), predict(whole, new), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(log_likelihood(grown), log_likelihood(whole), rtol=1e-9)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_precise", [False, True])
def test_the_likelihood_is_that_of_training(is_weighted, is_precise):
    data, kernel, theta, log_noise, points = make(1, is_weighted=is_weighted, is_precise=is_precise)
    of_exact, total = log_likelihood(exact.posterior(kernel, theta, log_noise, data))
    assert of_exact == pytest.approx(exact.log_marginal_likelihood(kernel, theta, log_noise, data)[0], rel=1e-10)
    assert total == data.total_weight
    of_sparse, total = log_likelihood(sparse.posterior(kernel, theta, log_noise, points, data))
    assert of_sparse == pytest.approx(CollapsedBound(kernel, data, len(points))(theta, log_noise, points)[0], rel=1e-9)
    assert total == data.total_weight


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_a_noise_variance_that_was_set_later_stays_and_does_not_weigh_rows(inference):
    data, *at = make(2)
    known = replace(posterior_of(inference, data.subset(np.arange(30)), *at), noise_variance=np.array([7.0, 8.0]))
    grown, whole = add_rows(known, data.subset(np.arange(30, N))), posterior_of(inference, data, *at)
    np.testing.assert_array_equal(grown.noise_variance, [7.0, 8.0])
    np.testing.assert_allclose(predict(grown, data.rows), predict(whole, data.rows), rtol=1e-7, atol=1e-9)


def test_float32_rows_are_whitened_as_those_before_them():
    data, *at = make(3)
    halves = [replace(data.subset(half), dtype=np.float32) for half in np.split(np.arange(N), 2)]
    grown = add_rows(posterior_of("sparse", halves[0], *at), halves[1])
    whole = posterior_of("sparse", replace(data, dtype=np.float32), *at)
    assert grown.evidence.jitter == whole.evidence.jitter
    np.testing.assert_allclose(predict(grown, data.rows), predict(whole, data.rows), rtol=1e-4, atol=1e-5)


def test_where_the_kernel_is_smooth_and_the_noise_small_sums_keep_their_digits(rng):
    y_pred = rng.normal(450.0, 17.0, size=(2000, 1))
    data, kernel = Rows(y_pred, y_pred + rng.normal(size=(2000, 1))), io_kernel(0, 1, kind="output")
    at = (kernel, np.log([3e5, 700.0]), np.log([1.0]), y_pred[:50])
    grown = posterior_of("sparse", data.subset(np.arange(200)), *at)
    for batch in np.split(np.arange(200, 2000), 9):
        grown = add_rows(grown, data.subset(batch))
    (mean, variance), (expected, known) = (predict(one, y_pred) for one in (grown, posterior_of("sparse", data, *at)))
    np.testing.assert_allclose(mean, expected, atol=1e-3)
    np.testing.assert_allclose(variance, known, atol=1e-3)


def test_a_posterior_without_evidence_takes_no_rows():
    data, *at = make(4)
    bare = replace(posterior_of("exact", data, *at), evidence=None)
    with pytest.raises(ValueError, match="rows cannot be added"):
        add_rows(bare, data)
    with pytest.raises(ValueError, match="without its evidence"):
        log_likelihood(bare)
