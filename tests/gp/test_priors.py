"""The weak prior."""

import numpy as np

from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.priors import Prior, weak_prior
from rio_uq.gp.starts import Scales


def make_scales(rng):
    rows = rng.normal(size=(50, 3))
    return Scales.of(Observations(rows, np.sin(2 * rows[:, :1]) + 0.1 * rng.normal(size=(50, 1))), 2, 1.0)


def test_prior_and_its_gradient(rng, numerical_gradient):
    kernel, scales = io_kernel(2, 1, output_family="rbf+linear", ard=True), make_scales(rng)
    prior = weak_prior(kernel, 1, scales)
    x = rng.normal(size=kernel.n_parameters + 1 + 4)  # the last four are inducing points, which have none
    value, gradient = prior(x)
    np.testing.assert_allclose(gradient, numerical_gradient(lambda x: prior(x)[0], x), rtol=1e-6, atol=1e-8)
    assert not gradient[-4:].any()
    assert value < 0.0
    flat_value, flat_gradient = Prior.flat(3)(x)
    assert flat_value == 0.0
    assert not flat_gradient.any()
