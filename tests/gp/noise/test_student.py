"""The Student likelihood: its bound, its precisions, and rows that come later."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.noise.constant import Constant
from rio_uq.gp.noise.student import Student, bound, precision_of_new, train_student, updated
from rio_uq.gp.noise.tails import likeliest_degrees, precision_at
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict, predict_mean
from rio_uq.gp.training import Trained

KERNEL, THETA, LOG_NOISE = io_kernel(1, 1), np.zeros(4), np.log([0.2])


def rows_of(n, seed=0, outliers=(), n_outputs=1):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.5, 1.5, size=(n, 2))
    targets = np.sin(2.0 * rows[:, :1]) + 0.2 * rng.normal(size=(n, n_outputs))
    targets[list(outliers)] += 5.0
    return rows, targets


def log_noise_of(data):
    return np.repeat(LOG_NOISE, data.n_outputs)


def by_turns(data, degrees, n_turns=200, posterior_of=exact.posterior):
    """The optimum of the bound at fixed hyperparameters and fixed ν."""
    posterior = posterior_of(KERNEL, THETA, log_noise_of(data), data)
    for _ in range(n_turns):
        mean, variance = predict(posterior, data.rows)
        distance = (((data.targets - mean) ** 2 + variance) / np.exp(log_noise_of(data))).sum(axis=1)
        data = Observations(data.rows, data.targets, data.weight, precision_at(distance, degrees, data.n_outputs))
        posterior = posterior_of(KERNEL, THETA, log_noise_of(data), data)
    return posterior, data


def test_precisions_and_bound_are_the_numerical_optimum_over_all_independent_posteriors():
    rows, targets = rows_of(3, outliers=[1])
    degrees, noise, r = 3.0, np.exp(LOG_NOISE[0]), targets[:, 0]
    prior = KERNEL.matrix(THETA, rows, rows) + 1e-10 * np.eye(3)

    def loss(x):
        """Minus the bound, for f ~ N(m, L Lᵀ) and ρ_i ~ Gamma(a_i, b_i)."""
        mean, factor = x[:3], np.zeros((3, 3))
        factor[np.tril_indices(3)] = x[3:9]
        covariance, (a, b) = factor @ factor.T, np.exp(x[9:]).reshape(2, 3)
        log_rho, rho = digamma(a) - np.log(b), a / b
        squares = (r - mean) ** 2 + covariance.diagonal()
        likelihood = 0.5 * (log_rho - np.log(2.0 * np.pi * noise) - rho * squares / noise).sum()
        solved = np.linalg.solve(prior, covariance + np.outer(mean, mean))
        log_ratio = np.linalg.slogdet(prior)[1] - np.linalg.slogdet(covariance)[1]
        of_f = 0.5 * (np.trace(solved) - 3 + log_ratio)
        half = 0.5 * degrees
        of_rho = (a - half) * digamma(a) - gammaln(a) + gammaln(half) + half * np.log(b / half) + a * (half - b) / b
        return of_f + of_rho.sum() - likelihood

    start = np.concatenate([np.zeros(3), 0.5 * np.eye(3)[np.tril_indices(3)], np.zeros(6)])
    optimum = minimize(loss, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    posterior, data = by_turns(Observations(rows, targets), degrees)
    assert bound(posterior, data, degrees) == pytest.approx(-optimum.fun, abs=1e-5)
    a, b = np.exp(optimum.x[9:]).reshape(2, 3)
    np.testing.assert_allclose(data.precision, a / b, rtol=1e-3)
    np.testing.assert_allclose(predict_mean(posterior, rows)[:, 0], optimum.x[:3], atol=1e-3)


def test_the_bound_is_no_larger_than_the_likelihood_integrated_over_the_precisions():
    rows, targets = rows_of(2, outliers=[1])
    degrees, noise, prior = 4.0, np.exp(LOG_NOISE[0]), KERNEL.matrix(THETA, rows, rows)
    grid = np.linspace(-8.0, 3.0, 45)
    rho = np.exp(np.stack(np.meshgrid(grid, grid), axis=-1))  # (k, k, 2)
    covariance = prior + noise * np.eye(2) / rho[..., None]
    solved = np.linalg.solve(covariance, np.broadcast_to(targets, (*rho.shape[:2], 2, 1)))[..., 0]
    log_normal = -0.5 * (solved @ targets[:, 0] + np.log(np.linalg.det(2.0 * np.pi * covariance)))
    density = np.exp(log_normal) * np.prod(stats.gamma(0.5 * degrees, scale=2.0 / degrees).pdf(rho) * rho, axis=-1)
    evidence = np.log(density.sum() * (grid[1] - grid[0]) ** 2)
    posterior, data = by_turns(Observations(rows, targets), degrees)
    assert evidence - 1.0 < bound(posterior, data, degrees) < evidence


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_distances_in_closed_form_are_those_of_predictions(n_outputs):
    rows, targets = rows_of(30, outliers=[3], n_outputs=n_outputs)
    rng = np.random.default_rng(1)
    data = Observations(rows, targets, rng.uniform(0.5, 3.0, 30), rng.uniform(0.2, 2.0, 30))
    posterior = exact.posterior(KERNEL, THETA, log_noise_of(data), data)
    mean, variance = predict(posterior, rows)
    squares = (((targets - mean) ** 2 + variance) / posterior.likelihood_noise).sum(axis=1)
    degrees = likeliest_degrees(squares, n_outputs, data.weight)
    updated_data, found = updated(posterior, data)
    assert found == pytest.approx(degrees)
    np.testing.assert_allclose(updated_data.precision, precision_at(squares, degrees, n_outputs), rtol=1e-9)


def test_every_step_raises_the_bound():
    rows, targets = rows_of(40, outliers=[3, 17])
    data, values = Observations(rows, targets, precision=np.ones(40)), []
    posterior = exact.posterior(KERNEL, THETA, LOG_NOISE, data)
    for _ in range(5):
        data, degrees = updated(posterior, data)
        posterior = exact.posterior(KERNEL, THETA, LOG_NOISE, data)
        values.append(bound(posterior, data, degrees))
    assert (np.diff(values) > -1e-9).all()
    assert values[-1] > exact.posterior(KERNEL, THETA, LOG_NOISE, Observations(rows, targets)).log_likelihood()


def test_an_outlier_is_not_believed():
    rows, targets = rows_of(40)
    bent = targets.copy()
    bent[7] += 100.0
    without = np.delete(np.arange(40), 7)
    clean, _ = by_turns(Observations(rows[without], targets[without]), 3.0)
    robust, data = by_turns(Observations(rows, bent), 3.0)
    normal = exact.posterior(KERNEL, THETA, LOG_NOISE, Observations(rows, bent))
    assert data.precision[7] < 1e-3
    errors = [np.abs(predict_mean(one, rows) - predict_mean(clean, rows)).max() for one in (robust, normal)]
    assert errors[0] < 0.05 < 1.0 < errors[1]


def test_a_weight_of_two_is_the_row_twice():
    rows, targets = rows_of(12, outliers=[2])
    weight = np.ones(12)
    weight[[2, 5]] = 2.0
    again = np.append(np.arange(12), [2, 5])
    weighed, data = by_turns(Observations(rows, targets, weight), 3.0)
    doubled, all_rows = by_turns(Observations(rows[again], targets[again]), 3.0)
    np.testing.assert_allclose(data.precision, all_rows.precision[:12], rtol=1e-6)
    assert bound(weighed, data, 3.0) == pytest.approx(bound(doubled, all_rows, 3.0), abs=1e-6)


def test_points_at_the_rows_give_the_precisions_of_the_exact_gp():
    rows, targets = rows_of(20, outliers=[4])

    def sparsely(kernel, theta, log_noise, data):
        return sparse.posterior(kernel, theta, log_noise, rows, data)

    _, exactly = by_turns(Observations(rows, targets), 3.0, 20)
    _, by_points = by_turns(Observations(rows, targets), 3.0, 20, sparsely)
    np.testing.assert_allclose(by_points.precision, exactly.precision, rtol=1e-3)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_new_row_has_the_precision_that_it_would_have_among_the_others(n_outputs):
    rows, targets = rows_of(15, outliers=[14], n_outputs=n_outputs)
    old, degrees = Observations(rows[:-1], targets[:-1]), 3.0
    posterior = exact.posterior(KERNEL, THETA, log_noise_of(old), old)
    response = Student(Constant(), degrees).response(rows[-1:], targets[-1:], posterior)
    precision = np.ones(15)
    for _ in range(50):
        both = exact.posterior(KERNEL, THETA, log_noise_of(old), Observations(rows, targets, precision=precision))
        mean, variance = predict(both, rows[-1:])
        distance = (((targets[-1:] - mean) ** 2 + variance) / np.exp(LOG_NOISE)).sum(axis=1)
        precision[-1] = precision_at(distance, degrees, n_outputs)[0]
    np.testing.assert_allclose(response.precision, precision[-1:], rtol=1e-6)
    np.testing.assert_array_equal(response.targets, targets[-1:])
    assert response.precision[0] < 0.1


def test_a_new_row_where_nothing_is_known_is_believed():
    far = precision_of_new(np.array([[3.0], [3.0]]), np.array([[100.0], [0.0]]), np.array([0.1]), 3.0)
    assert far[0] > 0.9
    assert far[1] < 0.1


def test_training_ends_with_the_precisions_of_its_posterior():
    rows, targets = rows_of(30, outliers=[4, 9])
    data = Observations(rows, targets, precision=np.ones(30))
    starts = []

    def train(data, x):
        starts.append(x)
        posterior = exact.posterior(KERNEL, THETA, LOG_NOISE, data)
        return Trained(posterior, 0.0, 0.0, 2, True, "", x)

    trained, data, degrees = train_student(train(data, np.append(THETA, LOG_NOISE)), data, train)
    np.testing.assert_array_equal(trained.posterior.statistics.effective_weight, data.precision)
    assert trained.n_iter == 2 * len(starts)
    assert trained.bound == bound(trained.posterior, data, degrees)
    assert 1.0 <= degrees < 5.0
