import numpy as np
import pytest
from scipy.special import logsumexp

from rio_uq.gp import averaged
from rio_uq.gp.averaged import AveragedPosterior, average_around, average_of
from rio_uq.gp.curvature import curvature
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict, predict_mean, sample
from rio_uq.gp.priors import Prior, weak_prior
from rio_uq.gp.starts import Scales, bounds_of, rio_start
from rio_uq.gp.training import Search
from rio_uq.gp.trust import output_slope

KERNEL = io_kernel(1, 1, input_family="rbf", output_family="linear", ard=False, kind="io")
N_NEW = 5


def observations(weight=None) -> Observations:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(15, 2))
    return Observations(rows, (np.sin(2.0 * rows[:, :1]) + 0.5 * rng.normal(size=(15, 1))), weight)


@pytest.fixture(scope="module")
def data() -> Observations:
    return observations()


@pytest.fixture(scope="module")
def problem(data) -> tuple[ExactObjective, np.ndarray, np.ndarray, Prior]:
    scales = Scales.of(data, 1, 0.0)
    bounds, prior = bounds_of(KERNEL, 1, scales), weak_prior(KERNEL, 1, scales)
    objective = ExactObjective(KERNEL, data)
    search = Search(200, 1e-10, np.random.default_rng(0))
    return objective, objective.maximize(rio_start(KERNEL, 1, scales), bounds, prior, search).x, bounds, prior


@pytest.fixture(scope="module")
def average(problem, data) -> AveragedPosterior:
    objective, x, bounds, prior = problem
    return average_around(objective, objective.posterior(x), curvature(objective, x, bounds, prior, 15), bounds, prior)


@pytest.fixture(scope="module")
def new() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(N_NEW, 2))


def test_it_comes_close_to_the_integral_over_hyperparameters(problem, new, monkeypatch):
    objective, x, bounds, prior = problem
    monkeypatch.setattr(averaged, "N_STEPS", 600)
    hessian = curvature(objective, x, bounds, prior, 15)
    mean, variance = predict(average_around(objective, objective.posterior(x), hessian, bounds, prior), new)

    # A long random walk knows nothing of curvature or importance.
    rng, at, chain = np.random.default_rng(0), x, []
    value = objective(at)[0] + prior(at)[0]
    for step in range(12_000):
        proposal = at + 0.6 * rng.standard_normal(len(x))
        if (proposal > bounds[:, 0]).all() and (proposal < bounds[:, 1]).all():
            other = objective(proposal)[0] + prior(proposal)[0]
            if np.log(rng.random()) < other - value:
                at, value = proposal, other
        if step >= 2000 and step % 20 == 0:
            chain.append(predict(objective.posterior(at), new))
    means, variances = (np.stack(values)[:, :, 0] for values in zip(*chain, strict=True))
    expected, spread = means.mean(axis=0), variances.mean(axis=0) + means.var(axis=0)
    np.testing.assert_allclose(mean[:, 0], expected, atol=0.06)
    np.testing.assert_allclose(variance[:, 0], spread, rtol=0.25)


def test_mean_and_covariance_are_those_of_a_mixture(average, new):
    shares = np.array([share for share, _ in average.members])
    assert shares.sum() == pytest.approx(1.0)
    assert len(shares) > 5
    each = [predict(one, new) for _, one in average.members]
    means = np.stack([mean[:, 0] for mean, _ in each])
    mean, variance = predict(average, new)
    np.testing.assert_allclose(mean[:, 0], shares @ means)
    second = shares @ np.stack([v[:, 0] + m[:, 0] ** 2 for m, v in each])
    np.testing.assert_allclose(variance[:, 0], second - (shares @ means) ** 2)
    np.testing.assert_allclose(np.diagonal(average.covariance(new)[0]), variance[:, 0])
    draws = sample(average, new, 20_000, np.random.default_rng(0))[:, 0]
    np.testing.assert_allclose(np.cov(draws), average.covariance(new)[0], atol=0.03)


def test_one_member_is_that_posterior(average, data, new):
    alone = average.members[0].posterior
    of_one = average_of(alone, np.ones(1), [alone])
    for values in zip(predict(of_one, new), predict(alone, new), strict=True):
        np.testing.assert_allclose(*values)
    for values in zip(of_one.leave_one_out(data), alone.leave_one_out(data), strict=True):
        np.testing.assert_allclose(*values)
    np.testing.assert_allclose(of_one.covariance(new), alone.covariance(new))


def test_further_rows_change_shares_by_their_density(average, data, new):
    further = Observations(new, np.ones((N_NEW, 1)))
    grown = average.with_rows(further)
    logs = []
    for share, one in average.members:
        mean, covariance = predict_mean(one, new)[:, 0], one.covariance(new)[0]
        outcome = covariance + one.noise_variance[0] * np.eye(N_NEW)
        misfit = (1.0 - mean) @ np.linalg.solve(outcome, 1.0 - mean)
        logs.append(np.log(share) - 0.5 * (np.linalg.slogdet(outcome)[1] + misfit))
    expected = np.exp(logs - logsumexp(logs))
    counted = expected >= averaged.LEAST_SHARE
    assert 1 < counted.sum() < len(counted)
    expected = expected[counted] / expected[counted].sum()
    np.testing.assert_allclose([share for share, _ in grown.members], expected, rtol=1e-6)
    both = Observations(np.vstack([data.rows, new]), np.vstack([data.targets, further.targets]))
    of_all = [one for (_, one), counts in zip(average.of_rows(both).members, counted, strict=True) if counts]
    np.testing.assert_allclose(predict_mean(grown, new), predict_mean(average_of(grown, expected, of_all), new))


@pytest.mark.parametrize("weight", [None, np.full(15, 0.5), np.arange(1.0, 16.0)])
def test_left_out_rows_are_those_of_an_average_that_never_saw_them(weight):
    """Its shares follow from those with the row, and its members from the other rows."""
    data = observations(weight)
    objective = ExactObjective(KERNEL, data)
    members = [objective.posterior(np.array([0.0, 0.0, -2.0, log_noise])) for log_noise in (-3.0, -1.6, -0.2)]
    shares = np.array([0.2, 0.5, 0.3])
    residual, latent = average_of(members[0], shares, members).leave_one_out(data)
    for row in (0, 7, 14):
        others = data.subset(np.delete(np.arange(len(data)), row))
        without = [one.of_rows(others) for one in members]
        logs = np.log(shares) + [
            one.log_likelihood() - all_rows.log_likelihood() for one, all_rows in zip(without, members, strict=True)
        ]
        weights = np.exp(logs - logs.max())
        weights = np.minimum(weights, np.sqrt(len(weights)) * weights.mean())
        mean, variance = predict(average_of(without[0], weights / weights.sum(), without), data.rows[[row]])
        assert residual[row, 0] == pytest.approx(data.targets[row, 0] - mean[0, 0], rel=1e-3)
        assert latent[row, 0] == pytest.approx(variance[0, 0], rel=1e-3)


def test_many_lengthscales_change_together():
    kernel = io_kernel(9, 1, input_family="matern52", output_family="linear", ard=True, kind="io")
    rng = np.random.default_rng(0)
    data = Observations(rng.normal(size=(20, 10)), rng.normal(size=(20, 1)))
    scales = Scales.of(data, 9, 0.0)
    bounds, prior, x = bounds_of(kernel, 1, scales), weak_prior(kernel, 1, scales), rio_start(kernel, 1, scales)
    objective = ExactObjective(kernel, data)
    found = average_around(objective, objective.posterior(x), curvature(objective, x, bounds, prior, 20), bounds, prior)
    changes = np.stack([one.theta[1:10] - x[1:10] for _, one in found.members])
    beside = changes - changes.mean(axis=1, keepdims=True)
    assert changes.mean(axis=1).std() > 0.1
    assert 0.1 < beside.std() < 0.5  # the prior alone would leave a standard deviation of one


def test_parts_and_slopes_add_up(average, new):
    parts = [predict_mean(average.of_terms([term]), new) for term in range(len(KERNEL.terms))]
    np.testing.assert_allclose(sum(parts), predict_mean(average, new))
    slope, std = output_slope(average, np.linspace(-1.0, 1.0, 9)[:, None])
    slopes = [output_slope(one, np.linspace(-1.0, 1.0, 9)[:, None])[0][0] for _, one in average.members]
    shares = [share for share, _ in average.members]
    assert slope[0] == pytest.approx(np.dot(shares, slopes))
    assert std[0] > np.sqrt(np.dot(shares, (np.array(slopes) - slope[0]) ** 2))
