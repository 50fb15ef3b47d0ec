"""The GP in the units of the data, with as many predictions as targets or not."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from rio_uq.gp import noise as noise_models
from rio_uq.gp.fit import KernelChoice, fit_residual_gp
from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.noise.constant import Constant
from rio_uq.gp.noise.contract import LearntNoise, Response
from rio_uq.gp.problem import Problem
from rio_uq.gp.settings import Settings
from rio_uq.storage.archive import Archive
from rio_uq.storage.fields import Arrays, Fields, member
from rio_uq.storage.gp import read_gp, write_gp

N, D = 60, 2


def make(p, q, *, is_residual=False, n=N):
    rng = np.random.default_rng(0)
    features, y_pred = rng.uniform(size=(n, D)), 5.0 + rng.normal(size=(n, p))
    signal = np.sin(4.0 * features[:, :1]) + 0.5 * y_pred[:, :1]
    targets = signal * np.arange(1, q + 1) + 0.1 * rng.normal(size=(n, q))
    return Problem(features, y_pred, targets, None, is_residual)


def fit(problem, inference, kind="io", noise="constant"):
    return fit_residual_gp(
        problem,
        KernelChoice(kind, "rbf", "rbf+linear", ard=True),
        Settings(inference, n_inducing=15, max_iter=20),
        standardize_output=True,
        starts="auto",
        n_restarts=0,
        prior="weak",
        noise=noise,
        walk_options={},
        rng=np.random.default_rng(0),
    ).gp


def stored(gp):
    arrays = {}
    manifest = write_gp(gp, lambda name, array: arrays.setdefault(member(name), np.asarray(array)))
    archive = Archive("memory", manifest, arrays)
    return archive, manifest


shapes = pytest.mark.parametrize(("p", "q"), [(3, 1), (1, 2), (2, 2)])
both = pytest.mark.parametrize("inference", ["exact", "sparse"])


@shapes
@both
@pytest.mark.parametrize("noise", ["constant", "io"])
def test_it_predicts_and_its_parts_add_up(p, q, inference, noise):
    problem = make(p, q)
    gp, rows = fit(problem, inference, noise=noise), (problem.features, problem.y_pred, 1)
    mean, variance = gp.mean_and_variance(*rows)
    assert mean.shape == variance.shape == gp.noise_at(*rows).shape == (N, q)
    assert np.mean((mean - problem.targets) ** 2) < 0.1 * problem.targets.var()
    parts = gp.part("input", *rows) + gp.part("output", *rows)
    np.testing.assert_allclose(gp.targets.offset + parts, mean, rtol=1e-8)
    assert gp.covariance(problem.features[:4], problem.y_pred[:4]).shape == (q, 4, 4)
    assert gp.sample(problem.features[:4], problem.y_pred[:4], 7, np.random.default_rng(0)).shape == (4, q, 7)
    assert np.size(gp.hyperparameters()["output:rbf"]["lengthscale"]) == p
    for value in gp.trust():
        assert value.shape == (q,)
        assert np.isnan(value).all() == (p != q)


@shapes
def test_a_part_that_the_kernel_has_not_is_zero_for_each_target(p, q):
    problem = make(p, q)
    gp = fit(problem, "exact", kind="input")
    np.testing.assert_array_equal(gp.part("output", problem.features, problem.y_pred, 1), np.zeros((N, q)))


@shapes
@both
@pytest.mark.parametrize("noise", ["constant", "io"])
def test_a_file_gives_the_same(p, q, inference, noise):
    problem = make(p, q)
    gp = fit(problem, inference, noise=noise)
    archive, manifest = stored(gp)
    assert ("n_predictions" in manifest) == (p != q)
    again = read_gp(Fields(archive, manifest), Arrays(archive), D, q)
    rows = (problem.features, problem.y_pred, 1)
    np.testing.assert_array_equal(again.mean_and_variance(*rows), gp.mean_and_variance(*rows))
    np.testing.assert_array_equal(again.noise_at(*rows), gp.noise_at(*rows))
    np.testing.assert_array_equal(again.trust(), gp.trust())


@shapes
@both
def test_rows_that_are_added_give_the_posterior_of_all_rows(p, q, inference):
    problem = make(p, q)
    gp = fit(problem.subset(np.arange(N) < 40), inference)
    grown = gp.with_rows(problem.subset(np.arange(N) >= 40), {})
    old, data = gp.posterior, gp._data(problem, {})
    log_noise = np.log(old.statistics.noise_variance)
    if inference == "exact":
        whole = exact.posterior(old.kernel, old.theta, log_noise, data)
    else:
        whole = sparse.posterior(old.kernel, old.theta, log_noise, old.points, data)
    expected = replace(gp, posterior=whole).mean_and_variance(problem.features, problem.y_pred, 1)
    actual = grown.mean_and_variance(problem.features, problem.y_pred, 1)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-8)


@shapes
@both
def test_leave_one_out_is_what_leaving_out_gives(p, q, inference):
    problem = make(p, q)
    gp = fit(problem, inference)
    order = np.lexsort(np.hstack([problem.features, problem.y_pred]).T[::-1])
    problem = problem.subset(order) if inference == "exact" else problem  # the exact GP sorts its rows
    posterior, data = gp.posterior, gp._data(problem, {})
    residual, variance = posterior.leave_one_out(data)
    log_noise = np.log(posterior.statistics.noise_variance)
    for i in (0, 31, N - 1):
        others = data.subset(np.delete(np.arange(N), i))
        if inference == "exact":
            without = exact.posterior(posterior.kernel, posterior.theta, log_noise, others)
        else:
            without = sparse.posterior(posterior.kernel, posterior.theta, log_noise, posterior.points, others)
        left_out = replace(gp, posterior=without)
        mean, latent = left_out.mean_and_variance(problem.features[[i]], problem.y_pred[[i]], 1)
        np.testing.assert_allclose(gp.targets.scale * residual[i], problem.targets[i] - mean[0], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(gp.targets.scale**2 * variance[i], latent[0], rtol=1e-5, atol=1e-8)


def test_residuals_have_a_trust_for_each_target():
    trust, std = fit(make(2, 2, is_residual=True), "exact").trust()
    assert trust.shape == std.shape == (2,)
    assert np.isfinite(trust).all()


@dataclass(frozen=True)
class Shifted(Constant):
    """Noise that gives inference targets that are shifted, and rows that count half if they have a precision."""

    precision: float | None

    def response(self, rows, targets, posterior):
        return Response(targets + 1.0, None if self.precision is None else np.full(len(rows), self.precision))


@both
@pytest.mark.parametrize("precision", [None, 0.5])
def test_inference_takes_the_response_and_the_precision_that_the_noise_gives(inference, precision, monkeypatch):
    monkeypatch.setitem(
        noise_models.NOISES, "shifted", lambda *_: LearntNoise(Shifted(precision), 3.0, np.full(N, 3.0))
    )
    problem = make(1, 1)
    usual, gp = fit(problem, inference), fit(problem, inference, noise="shifted")
    np.testing.assert_allclose(gp.posterior.noise_variance, 3.0 * usual.posterior.noise_variance)
    assert gp.posterior.statistics.noise_variance == pytest.approx(usual.posterior.noise_variance)
    data = usual._data(problem, {})
    response = replace(data, targets=data.targets + 1.0, precision=precision and np.full(N, precision))
    shifted = usual.posterior.of_rows(response)
    expected = replace(usual, posterior=shifted).mean_and_variance(problem.features, problem.y_pred, 1)
    np.testing.assert_allclose(
        gp.mean_and_variance(problem.features, problem.y_pred, 1), expected, rtol=1e-6, atol=1e-9
    )
    assert gp.bound == pytest.approx(shifted.log_likelihood() - N * np.log(gp.targets.scale).sum())
    assert gp.bound != pytest.approx(usual.bound)
    assert (gp._data(make(1, 1, n=20), {}).precision is None) == (precision is None)


def test_a_file_refuses_noise_and_statistics_that_it_has_no_form_for():
    gp = fit(make(1, 1), "exact")
    with pytest.raises(TypeError, match="noise of class Shifted has no form"):
        stored(replace(gp, noise=Shifted(None)))
    other = replace(gp.posterior, statistics=SimpleNamespace(noise_variance=np.ones(1), sums=None, jitter=0.0))
    with pytest.raises(TypeError, match="statistics of class SimpleNamespace have no form"):
        stored(replace(gp, posterior=other))
