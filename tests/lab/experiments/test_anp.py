"""ANP: sets of contexts, the bound, mixtures over the latent, and that it learns."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from experiments import anp as module
from experiments.anp import AttentiveNeuralProcess, anp, predict, train
from lab.runs import Rows
from rio_uq import metrics


@pytest.fixture
def tasks():
    """A process without training, and three tasks of twelve points."""
    torch.manual_seed(0)
    return AttentiveNeuralProcess(2), torch.randn(3, 12, 2), torch.randn(3, 12, 1)


@pytest.fixture
def rows(friedman):
    X, y = friedman
    X, y = 4 * X - 9, 1000 + 50 * y
    return Rows(X[:90], y[:90], y[:90], X[90:], y[90:], y[90:], base_seconds=0.0)


def test_the_order_of_the_contexts_does_not_matter(tasks):
    process, x, y = tasks
    order = torch.randperm(12)
    latent, reordered = process.latent(x, y), process.latent(x[:, order], y[:, order])
    torch.testing.assert_close(latent.mean, reordered.mean)
    torch.testing.assert_close(latent.stddev, reordered.stddev)
    targets = torch.randn(3, 5, 2)
    torch.testing.assert_close(
        process.representation(x, y, targets), process.representation(x[:, order], y[:, order], targets)
    )
    assert not torch.allclose(process.representation(x, y, targets), process.representation(x, -y, targets))


def test_a_target_is_predicted_without_looking_at_the_others(tasks):
    process, x, y = tasks
    targets, z = torch.randn(3, 5, 2), torch.randn(3, module.N_LATENTS)
    together = process.decode(targets, process.representation(x, y, targets), z)
    alone = process.decode(targets[:, 2:3], process.representation(x, y, targets[:, 2:3]), z)
    assert together.mean.shape == (3, 5, 1)
    torch.testing.assert_close(together.mean[:, 2:3], alone.mean)
    torch.testing.assert_close(together.stddev[:, 2:3], alone.stddev)
    assert together.stddev.min() > 0.1


def test_the_loss_is_the_negative_bound_of_a_target(tasks):
    process, x, y = tasks
    context = x[:, :8], y[:, :8]
    posterior, prior = process.latent(x, y), process.latent(*context)
    ratio = posterior.variance / prior.variance
    shift = (posterior.mean - prior.mean) ** 2 / prior.variance
    divergence = 0.5 * (ratio + shift - 1 - ratio.log()).sum(dim=1)
    torch.manual_seed(5)
    z = posterior.mean + posterior.stddev * torch.randn(3, module.N_LATENTS)
    outcome = process.decode(x, process.representation(*context, x), z)
    log_density = -0.5 * math.log(2 * math.pi) - outcome.stddev.log() - 0.5 * ((y - outcome.mean) / outcome.stddev) ** 2
    bound = log_density.sum(dim=(1, 2)) - divergence
    torch.manual_seed(5)
    torch.testing.assert_close(process.loss(x, y, 8), -bound.mean() / 12)


def test_a_prediction_has_the_moments_of_a_mixture(tasks):
    process, x, y = tasks
    torch.manual_seed(1)
    draws = [predict(process, x[0], y[0], x[1], draws=1) for _ in range(4)]
    torch.manual_seed(1)
    mean, variance = predict(process, x[0], y[0], x[1], draws=4)
    assert mean.shape == variance.shape == (12,)
    torch.testing.assert_close(mean, sum(m for m, _ in draws) / 4)
    second_moment = sum(v + m**2 for m, v in draws) / 4
    torch.testing.assert_close(variance, second_moment - mean**2)


def test_it_learns_the_function_of_the_rows():
    torch.manual_seed(0)
    x = 2 * torch.randn(200, 1)
    y = torch.sin(x)
    process = train(x[:150], y[:150], 300)
    mean, variance = predict(process, x[:50], y[:50], x[150:])
    assert torch.mean((mean - y[150:, 0]) ** 2) < 0.5 * y.var()
    assert (variance > 0.01).all()


def test_tasks_that_differ_are_told_apart_by_their_contexts():
    torch.manual_seed(0)
    process = AttentiveNeuralProcess(1)
    optimizer = torch.optim.Adam(process.parameters(), lr=1e-3)
    for _ in range(200):
        x = torch.randn(16, 12, 1)
        slopes = torch.randint(0, 2, (16, 1, 1)) * 2.0 - 1.0
        optimizer.zero_grad()
        process.loss(x, slopes * x, 8).backward()
        optimizer.step()
    x = torch.linspace(-1, 1, 9)[:, None]
    for slope in (-1.0, 1.0):
        context_x = torch.randn(8, 1)
        mean, _ = predict(process, context_x, slope * context_x, x)
        torch.testing.assert_close(mean, slope * x[:, 0], rtol=0.0, atol=0.3)


def test_as_a_method_it_is_reproducible_and_answers_in_the_units_of_y(rows, monkeypatch):
    monkeypatch.setattr(module, "ITERATIONS", 30)
    answer, again, other = anp(rows, 0), anp(rows, 0), anp(rows, 1)
    np.testing.assert_array_equal(answer.mean, again.mean)
    np.testing.assert_array_equal(answer.std, again.std)
    assert not np.array_equal(answer.mean, other.mean)
    assert answer.mean.shape == answer.std.shape == (30,)
    assert answer.mean.dtype == answer.std.dtype == float
    assert answer.std.min() > 0.1 * rows.y_train.std()
    assert answer.noise_variance is None
    assert metrics.rmse(rows.y_test, answer.mean) < rows.y_test.std()


def test_few_rows_are_enough():
    torch.manual_seed(0)
    process = train(torch.randn(2, 1), torch.randn(2, 1), 2)
    assert all(torch.isfinite(parameter).all() for parameter in process.parameters())
