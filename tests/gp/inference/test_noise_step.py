"""The step at full density, and how much better one predicts than another."""

import numpy as np

from rio_uq.gp.inference.noise_step import Step


def step(residual, std):
    """Of rows that are predicted with these errors."""
    squares = (residual / std) ** 2
    return Step(np.zeros(1), 0.0, (np.log(std) + 0.5 * squares).sum(axis=1), residual**2)


def test_the_gain_of_twice_the_accuracy_is_the_logarithm_of_two(rng):
    """Errors and their standard deviations are half as large: log 2 nats by density, log 2 by squared errors."""
    residual = rng.normal(size=(50, 3))
    better, worse = step(residual, np.ones(3)), step(2.0 * residual, 2.0 * np.ones(3))
    np.testing.assert_allclose(better.gain(worse), np.log(2.0))
    np.testing.assert_allclose(worse.gain(better), -np.log(2.0))


def test_half_of_the_gain_is_by_density(rng):
    """Standard deviations that are too large cost density alone."""
    residual = rng.normal(size=(50, 2))
    wide = 3.0 * np.ones(2)
    by_density = (step(residual, wide).of_rows - step(residual, np.ones(2)).of_rows).mean() / 2.0
    np.testing.assert_allclose(step(residual, np.ones(2)).gain(step(residual, wide)), 0.5 * by_density)
