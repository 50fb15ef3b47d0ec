"""Training: starts, prior, stages, both kinds of inference."""

import numpy as np
import pytest

from rio_uq.gp import training
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict_mean
from rio_uq.gp.priors import weak_prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, plain_gp_start, rio_start
from rio_uq.gp.training import train


def make(rng, n, n_inputs=2):
    rows = rng.normal(size=(n, n_inputs + 1))
    targets = np.sin(2 * rows[:, :1]) + 0.1 * rng.normal(size=(n, 1))
    kernel = io_kernel(n_inputs, 1, output_family="rbf+linear", ard=True)
    data = Observations(rows, targets)
    return kernel, data, Scales.of(data, n_inputs, 1.0)


def fit(kernel, data, scales, prior=None, **settings):
    starts = [rio_start(kernel, 1, scales), plain_gp_start(kernel, 1, scales)]
    return train(
        kernel, data, starts, bounds_of(kernel, 1, scales), Settings(**settings), np.random.default_rng(0), prior
    )


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_learns_noise_and_function(inference, rng):
    kernel, data, scales = make(rng, 300)
    trained = fit(kernel, data, scales, inference=inference, n_inducing=60)
    assert trained.converged
    assert trained.posterior.noise_variance[0] == pytest.approx(0.01, rel=0.3)
    new = rng.normal(size=(50, 3))
    np.testing.assert_allclose(predict_mean(trained.posterior, new)[:, 0], np.sin(2 * new[:, 0]), atol=0.25)


def test_stages_lead_to_the_optimum_of_all_rows(rng, monkeypatch):
    monkeypatch.setattr(training, "EXPLORING_ROWS", 100)
    kernel, data, scales = make(rng, 600)
    direct = fit(kernel, data, scales, inference="sparse", n_inducing=50, subset_rows=None)
    staged = fit(kernel, data, scales, inference="sparse", n_inducing=50, subset_rows=250)
    assert staged.bound == pytest.approx(direct.bound, abs=2.0)


def test_the_best_start_wins(rng):
    """Where ŷ is noise, the plain GP's optimum is the better one, and the RIO start alone does not find it."""
    rows = rng.normal(size=(200, 3))
    targets = 3 * np.sin(2 * rows[:, :1]) - 10 * rows[:, 2:] + 0.1 * rng.normal(size=(200, 1))
    kernel, data = io_kernel(2, 1, output_family="rbf+linear", ard=True), Observations(rows, targets)
    scales = Scales.of(data, 2, 10.0)
    bounds, settings = bounds_of(kernel, 1, scales), Settings()
    starts = [rio_start(kernel, 1, scales), plain_gp_start(kernel, 1, scales)]
    each = [train(kernel, data, [start], bounds, settings, rng).bound for start in starts]
    both = train(kernel, data, starts, bounds, settings, rng).bound
    assert both == pytest.approx(max(each), abs=0.5)


def test_bound_is_the_likelihood_without_the_prior(rng):
    kernel, data, scales = make(rng, 80)
    prior = weak_prior(kernel, 1, scales)
    trained = fit(kernel, data, scales, prior)
    x = np.concatenate([trained.posterior.theta, np.log(trained.posterior.noise_variance)])
    assert trained.objective == pytest.approx(trained.bound + prior(x)[0])
    assert trained.bound <= fit(kernel, data, scales).bound + 0.1


def test_the_lead_over_a_gp_without_signal_tells_a_signal_from_noise(rng):
    kernel, data, scales = make(rng, 120)
    noise = Observations(data.rows, rng.normal(size=(120, 1)))

    def lead_of(data, scales):
        start = rio_start(kernel, 1, scales)
        bounds, prior = bounds_of(kernel, 1, scales), weak_prior(kernel, 1, scales)
        return train(kernel, data, [start], bounds, Settings(), rng, prior, rough=start - 0.5).lead

    assert lead_of(noise, Scales.of(noise, 2, 1.0)) < 10.0
    assert lead_of(data, scales) > 100.0


def test_there_is_no_lead_where_starts_are_not_explored(rng):
    kernel, data, scales = make(rng, 60)
    assert fit(kernel, data, scales, subset_rows=None).lead == 0.0
