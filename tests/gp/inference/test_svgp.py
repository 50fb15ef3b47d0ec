"""The uncollapsed bound: gradients, natural-gradient steps to the collapsed optimum, batches, training."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from rio_uq.gp.backend.linalg import BASE_JITTER, cholesky
from rio_uq.gp.inference import svgp
from rio_uq.gp.inference.collapsed import CollapsedBound
from rio_uq.gp.inference.svgp import Climb, Variational, batches, standing_for_all, uncollapsed
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict_mean
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, rio_start
from rio_uq.gp.training import train

M = 7


def make(rng, n=60, *, is_weighted=False, n_outputs=2, **options):
    rows = rng.normal(size=(n, 4))
    targets = np.column_stack([np.sin(2.0 * rows[:, 0]), rows[:, 1] ** 2])[:, :n_outputs]
    weight = rng.integers(1, 4, size=n).astype(float) if is_weighted else None
    data = Observations(rows, targets + 0.1 * rng.normal(size=targets.shape), weight, **options)
    return data, io_kernel(3, 1, output_family="rbf+linear", ard=True)


def somewhere(rng, n_outputs):
    """A q(v) that is not the optimum of anything."""
    root = rng.normal(size=(M, M))
    return Variational(root @ root.T, rng.normal(size=(M, n_outputs)))


def bound_at(kernel, data, q):
    return CollapsedBound(kernel, data, M, partial(uncollapsed, q))


def fixed(kernel, data, theta, log_noise, points):
    """A search that moves q(v) only."""
    x = np.concatenate([theta, log_noise])
    free = np.tile([-np.inf, np.inf], (len(x), 1))
    p = kernel.n_parameters
    return Climb(kernel, x, lambda x: (x[:p], x[p:], points), free, Prior.flat(len(x)))


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_precise", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_gradient_agrees_with_finite_differences(n_outputs, is_weighted, is_precise, rng, numerical_gradient):
    data, kernel = make(rng, is_weighted=is_weighted, n_outputs=n_outputs, block_rows=32, n_jobs=2)
    if is_precise:
        data = replace(data, precision=rng.uniform(0.5, 2.0, size=60))
    variational, p = somewhere(rng, n_outputs), kernel.n_parameters
    x = np.concatenate([rng.normal(scale=0.3, size=p + n_outputs) - 0.5, rng.normal(size=4 * M)])

    def call(x):
        theta, log_noise, points = x[:p], x[p : p + n_outputs], x[p + n_outputs :].reshape(M, 4)
        factor, _ = cholesky(kernel.matrix(theta, points, points), BASE_JITTER)
        q = variational.following(
            np.asfortranarray(np.eye(M)), factor
        )  # the information about u stays while K_uu moves
        return bound_at(kernel, data, q)(theta, log_noise, points)

    gradient = np.concatenate([part.ravel() for part in call(x)[1]])
    expected = numerical_gradient(lambda x: call(x)[0], x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("is_weighted", [False, True])
def test_one_natural_step_on_all_rows_reaches_the_collapsed_optimum(is_weighted, rng):
    data, kernel = make(rng, is_weighted=is_weighted)
    at = (rng.normal(scale=0.3, size=kernel.n_parameters), np.log([0.1, 0.3]), rng.normal(size=(M, 4)))
    expected, gradients = CollapsedBound(kernel, data, M)(*at)
    state = fixed(kernel, data, *at)
    state.q = somewhere(rng, 2)
    before = state.step(data, 1.0, 0.0)
    value, same = bound_at(kernel, data, state.q)(*at)
    assert before < value
    assert value == pytest.approx(expected, rel=1e-9)
    # At the optimum of q the gradients agree, too.
    for one, other in zip(same, gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7 * np.abs(other).max())


def test_every_other_distribution_has_a_lower_bound(rng):
    data, kernel = make(rng)
    at = (np.zeros(kernel.n_parameters), np.log([0.1, 0.3]), rng.normal(size=(M, 4)))
    highest, _ = CollapsedBound(kernel, data, M)(*at)
    for _ in range(20):
        assert bound_at(kernel, data, somewhere(rng, 2))(*at)[0] < highest


def test_a_natural_step_goes_uphill(rng):
    data, kernel = make(rng)
    at = (np.zeros(kernel.n_parameters), np.log([0.1, 0.3]), rng.normal(size=(M, 4)))
    state, values = fixed(kernel, data, *at), []
    for _ in range(10):
        values.append(state.step(data, 0.3, 0.0))
    assert (np.diff(values) > 0.0).all()


def test_batches_are_unbiased(rng, monkeypatch):
    """The mean over the batches of one pass is the bound of all rows, and so is that of its gradient."""
    monkeypatch.setattr(svgp, "BATCH_ROWS", 10)
    data, kernel = make(rng)
    q, at = somewhere(rng, 2), (np.zeros(kernel.n_parameters), np.log([0.1, 0.3]), rng.normal(size=(M, 4)))
    parts = [bound_at(kernel, standing_for_all(data, rows), q)(*at) for rows in batches(data, rng)]
    assert len(parts) == 6
    value, gradients = bound_at(kernel, data, q)(*at)
    assert np.mean([part[0] for part in parts]) == pytest.approx(value, rel=1e-10)
    for i, gradient in enumerate(gradients):
        np.testing.assert_allclose(np.mean([part[1][i] for part in parts], axis=0), gradient, rtol=1e-7, atol=1e-7)


def test_smaller_and_smaller_steps_on_batches_converge_to_the_collapsed_optimum(rng, monkeypatch):
    monkeypatch.setattr(svgp, "BATCH_ROWS", 50)
    data, kernel = make(rng, n=480, is_weighted=True)
    at = (np.zeros(kernel.n_parameters), np.log([0.1, 0.3]), rng.normal(size=(M, 4)))
    optimum, _ = CollapsedBound(kernel, data, M)(*at)
    state, gaps = fixed(kernel, data, *at), []
    n_steps = 0
    for _ in range(12):
        for rows in batches(data, rng):
            n_steps += 1
            state.step(standing_for_all(data, rows), 1.0 / n_steps, 0.0)
        gaps.append(optimum - bound_at(kernel, data, state.q)(*at)[0])
    assert min(gaps) > 0.0
    assert gaps[-1] < 0.1
    assert gaps[-1] < 0.2 * gaps[0]


def problem(rng, n):
    rows = rng.normal(size=(n, 3))
    data = Observations(rows, np.sin(2.0 * rows[:, :1]) + 0.1 * rng.normal(size=(n, 1)))
    kernel = io_kernel(2, 1, output_family="rbf", ard=True)
    scales = Scales.of(data, 2, 1.0)
    return kernel, data, rio_start(kernel, 1, scales), bounds_of(kernel, 1, scales)


@pytest.mark.parametrize("optimize_inducing", [False, True])
def test_training_on_batches_comes_close_to_training_on_all_rows(optimize_inducing, rng, monkeypatch):
    monkeypatch.setattr(svgp, "BATCH_ROWS", 64)
    kernel, data, start, bounds = problem(rng, 500)
    settings = Settings(n_inducing=25, inducing="kmeans", optimize_inducing=optimize_inducing, tolerance=1e-5)
    of_batches, of_all = (
        train(kernel, data, [start], bounds, replace(settings, inference=name), np.random.default_rng(0))
        for name in ("svgp", "sparse")
    )
    assert of_batches.posterior.noise_variance[0] == pytest.approx(0.01, rel=0.3)
    assert of_all.bound - (30.0 if optimize_inducing else 5.0) < of_batches.bound < of_all.bound + 1.0
    new = rng.normal(size=(50, 3))
    np.testing.assert_allclose(predict_mean(of_batches.posterior, new)[:, 0], np.sin(2 * new[:, 0]), atol=0.35)


def test_passes_are_counted_and_may_run_out(rng):
    kernel, data, start, bounds = problem(rng, 100)
    settings = Settings(inference="svgp", n_inducing=10, inducing="first", max_iter=3)
    trained = train(kernel, data, [start], bounds, settings, rng)
    assert trained.n_iter == 3
    assert not trained.converged
    assert "run out" in trained.message


def test_the_same_seed_gives_the_same(rng):
    kernel, data, start, bounds = problem(rng, 100)
    settings = Settings(inference="svgp", n_inducing=10, max_iter=5)
    one, other = (train(kernel, data, [start], bounds, settings, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.posterior.theta, other.posterior.theta)


def test_knowledge_of_the_inducing_variables_stays_when_the_kernel_changes(rng):
    """V̂ = Lᵀ Λ L and β̂ = Lᵀ λ: from one factor to another and back."""
    q, roots = somewhere(rng, 2), rng.normal(size=(2, M, 2 * M))
    one, other = (cholesky(root @ root.T)[0] for root in roots)
    moved = q.following(one, other)
    back = np.linalg.inv(one)
    np.testing.assert_allclose(moved.v, other.T @ back.T @ q.v @ back @ other)
    np.testing.assert_allclose(moved.beta, other.T @ back.T @ q.beta)
    np.testing.assert_allclose(moved.following(other, one).v, q.v)
