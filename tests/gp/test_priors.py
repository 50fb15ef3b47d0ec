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


def test_variances_cost_the_more_the_more_they_claim(rng):
    kernel, scales = io_kernel(2, 1, output_family="rbf+linear", ard=True), make_scales(rng)
    prior = weak_prior(kernel, 1, scales)
    x = prior.mean.copy()
    variances = np.flatnonzero(prior.rate)
    assert len(variances) == 3  # of the input term, the output term and the slope
    x[variances] = 2.0 * np.log(1.0 / prior.rate[variances])  # √v = 1/λ
    np.testing.assert_allclose(prior(x)[1][variances], 0.0, atol=1e-12)
    for variance in variances:
        small, large = x.copy(), x.copy()
        small[variance] -= 20.0
        large[variance] += 2.0 * np.log(30.0)
        assert prior(small)[1][variance] > 0.49  # from where nothing is learnt there is a way back
        assert prior(large)[0] < prior(x)[0] - 25.0
