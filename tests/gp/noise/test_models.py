"""Every noise model answers to the contract."""

from types import SimpleNamespace

import numpy as np
import pytest

from rio_uq.gp.inference import exact
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.noise import NOISES, _of_unseen_rows, learn_noise
from rio_uq.gp.noise.constant import Constant, noise_of_unseen_rows
from rio_uq.gp.noise.contract import LearntNoise
from rio_uq.gp.noise.varying import Varying, fit_varying
from rio_uq.gp.observations import Observations


def learn(name, rng, spread, n=300, held_out=None):
    rows = rng.uniform(-1.0, 1.0, size=(n, 2))
    scale = 0.3 * np.exp(spread * rows[:, :1])
    data = Observations(rows, np.sin(rows[:, 1:]) + scale * rng.normal(size=(n, 1)))
    posterior = exact.posterior(io_kernel(1, 1, ard=True), np.zeros(4), np.log([0.09]), data)
    left_out = posterior.leave_one_out(data)
    posterior, noise, left_out_variance = learn_noise(name, posterior, data, left_out, 1, held_out, rng)
    return data, scale, posterior, noise, left_out_variance


@pytest.mark.parametrize("name", NOISES)
def test_a_response_is_the_target_and_all_rows_are_equally_precise(name, rng):
    data, _, posterior, noise, _ = learn(name, rng, 1.2)
    response = noise.response(data.rows, data.targets, posterior)
    np.testing.assert_array_equal(response.targets, data.targets)
    assert response.precision is None


def test_constant_noise_is_the_same_for_all_rows(rng):
    data, _, posterior, noise, _ = learn("constant", rng, 1.2)
    assert noise == Constant()
    assert not noise.varies
    np.testing.assert_array_equal(noise.variance(data.rows, np.array([2.0, 3.0])), [[2.0, 3.0]] * len(data))
    np.testing.assert_array_equal(posterior.noise_variance, np.exp(np.log([0.09])))


def test_varying_noise_follows_the_rows_around_the_level(rng):
    data, scale, posterior, noise, _ = learn("io", rng, 1.2)
    assert isinstance(noise, Varying)
    assert noise.varies
    variance = noise.variance(data.rows, posterior.noise_variance)
    assert variance.shape == (len(data), 1)
    assert np.corrcoef(np.log(variance[:, 0]), np.log(scale[:, 0]))[0, 1] > 0.9
    level = np.exp(np.log(variance).mean(axis=0))
    np.testing.assert_allclose(level, posterior.noise_variance, rtol=1e-9)


def test_where_nothing_speaks_for_varying_noise_it_is_constant(rng):
    assert learn("io", rng, 0.0)[3] == Constant()


def learnt_from(rng, n, std, latent):
    """Noise of rows whose left-out residuals have these standard deviations, by their places (n, 3), and this latent
    variance.
    """
    rows = rng.uniform(-1.0, 1.0, size=(n, 3))
    residual, data = std(rows) * rng.normal(size=n), Observations(rows, np.zeros((n, 1)))
    posterior = exact.posterior(io_kernel(2, 1, ard=True), np.zeros(5), np.zeros(1), data)
    learnt = fit_varying(posterior, data, 2, residual, np.full(n, latent), rng)
    return rows, learnt


def test_noise_that_is_loud_in_few_rows_varies(rng):
    """Logarithms hardly show a corner with a fortieth of the rows, and squares do."""

    def is_loud(rows):
        return (rows[:, 0] > 0.55) & (rows[:, 1] > 0.55) & (rows[:, 2] > 0.0)

    rows, learnt = learnt_from(rng, 900, lambda rows: np.where(is_loud(rows), 8.0, 1.0), 0.1)
    assert learnt.noise.varies
    variance = learnt.level * learnt.noise.factor(rows)
    assert variance[is_loud(rows)].mean() > 5.0 * variance[~is_loud(rows)].mean()


def test_noise_may_be_larger_than_a_large_latent_variance(rng):
    """Where errors are ten times what the GP expects, which is much more than the noise that it has learnt."""
    rows, learnt = learnt_from(rng, 600, lambda rows: np.where(rows[:, 0] > 0.3, 60.0, 6.0), 36.0)
    assert learnt.noise.varies
    total = 36.0 + learnt.level * learnt.noise.factor(rows)
    assert np.median(total[rows[:, 0] > 0.5]) > 0.4 * 60.0**2
    assert np.median(total[rows[:, 0] < 0.1]) < 3.0 * 6.0**2


def test_the_level_is_that_of_held_out_rows(rng):
    held_out = np.arange(300) % 2 == 0
    blind, informed = (learn("constant", np.random.default_rng(1), 0.0, held_out=mask)[2] for mask in (None, held_out))
    assert informed.noise_variance == pytest.approx(blind.noise_variance, rel=0.3)
    assert informed.noise_variance != blind.noise_variance
    np.testing.assert_array_equal(informed.weights, blind.weights)


def test_constant_noise_is_the_same_without_a_row(rng):
    _, _, posterior, _, left_out = learn("constant", rng, 0.0)
    np.testing.assert_array_equal(left_out, np.tile(posterior.noise_variance, (300, 1)))


def test_varying_noise_at_a_row_follows_that_row_less_if_it_is_left_out(rng):
    data, scale, posterior, noise, left_out = learn("io", rng, 1.2)
    inside = noise.variance(data.rows, posterior.noise_variance)
    assert np.corrcoef(np.log(left_out[:, 0]), np.log(scale[:, 0]))[0, 1] > 0.9
    assert np.log(left_out).mean() == pytest.approx(np.log(inside).mean(), abs=0.1)
    squares = np.log((data.targets - np.sin(data.rows[:, 1:])) ** 2)
    seen, unseen = (
        np.cov(np.log(variance / scale**2).T, (squares - 2 * np.log(scale)).T)[0, 1] for variance in (inside, left_out)
    )
    assert unseen < seen


def test_each_output_has_noise_of_its_own(rng):
    rows = rng.uniform(-1.0, 1.0, size=(300, 2))
    scale = np.column_stack([0.3 * np.exp(1.2 * rows[:, 0]), np.full(300, 0.3)])
    data = Observations(rows, scale * rng.normal(size=(300, 2)))
    posterior = exact.posterior(io_kernel(1, 1, ard=True), np.zeros(4), np.log([0.09, 0.09]), data)
    left_out = posterior.leave_one_out(data)
    posterior, noise, variance = learn_noise("io", posterior, data, left_out, 1, None, rng)
    assert [model.varies for model in noise.models] == [True, False]
    assert variance.shape == (300, 2)
    first, second = noise.variance(rows, posterior.noise_variance).T
    assert np.corrcoef(np.log(first), rows[:, 0])[0, 1] > 0.9
    assert np.ptp(second) == 0.0


def test_rows_without_residuals_do_not_make_those_of_others_small(rng):
    held_out = np.arange(200) >= 160
    residual = np.where(held_out, 1.0, 0.0)[:, None] * rng.normal(size=(200, 1))
    _, unseen = noise_of_unseen_rows(residual, np.full((200, 1), 1e-3), np.ones(200), held_out)
    assert unseen == pytest.approx(1.0, rel=0.5)


class TestUnseenRows:
    """Of 200 rows whose noise is learnt to be that of ``factor``, the last 80 are held out."""

    held_out = np.arange(200) >= 120
    factor = np.where(np.arange(200) % 2 == 0, 0.1, 4.0)
    learnt = LearntNoise(SimpleNamespace(varies=True), 1.5, factor)

    def of(self, variance, rng):
        residual = np.sqrt(variance[self.held_out]) * rng.normal(size=80)
        return _of_unseen_rows(self.learnt, residual, np.full(80, 1e-6), np.ones(80), self.held_out)

    def test_noise_that_varies_there_too_gets_their_level(self, rng):
        noise, level, left_out = self.of(3.0 * self.factor, rng)
        assert noise is self.learnt.noise
        assert level / 1.5 == pytest.approx(3.0, rel=0.35)
        np.testing.assert_allclose(left_out[self.held_out], level / 1.5 * self.factor[self.held_out])
        np.testing.assert_array_equal(left_out[~self.held_out], self.factor[~self.held_out])

    def test_noise_that_does_not_vary_there_is_constant(self, rng):
        noise, level, left_out = self.of(np.full(200, 2.0), rng)
        assert not noise.varies
        assert level == pytest.approx(2.0, rel=0.35)
        np.testing.assert_array_equal(left_out[self.held_out], level)
