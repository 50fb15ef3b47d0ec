"""Starts, and the bounds around them."""

import numpy as np
import pytest

from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.priors import weak_prior
from rio_uq.gp.starts import (
    Scales,
    bounds_of,
    in_other_units,
    plain_gp_start,
    random_starts,
    rio_start,
    unit_start,
)


def make_scales(rng):
    rows = rng.normal(size=(50, 3))
    return Scales.of(Observations(rows, np.sin(2 * rows[:, :1]) + 0.1 * rng.normal(size=(50, 1))), 2, 1.0)


@pytest.mark.parametrize("family", ["rbf", "linear", "rational_quadratic", "matern32+linear"])
@pytest.mark.parametrize("ard", [False, True])
def test_starts_are_inside_the_bounds(family, ard, rng):
    scales = make_scales(rng)
    kernel = io_kernel(2, 1, input_family=family, output_family=family, ard=ard)
    bounds = bounds_of(kernel, 1, scales)
    first = rio_start(kernel, 1, scales)
    for start in (first, plain_gp_start(kernel, 1, scales), unit_start(kernel, 1)):
        assert start.shape == (kernel.n_parameters + 1,)
        assert (bounds[:, 0] <= start).all()
        assert (start <= bounds[:, 1]).all()
    assert len(random_starts(first, 3, rng)) == 3
    assert weak_prior(kernel, 1, scales).mean.shape == first.shape


def test_a_model_that_leaves_nothing_cannot_be_beaten(rng):
    rows = rng.normal(size=(30, 3))
    assert Scales.of(Observations(rows, rows[:, :1]), 2, 1.0).model_can_be_beaten
    assert not Scales.of(Observations(rows, 1e-9 * rows[:, :1]), 2, 1.0).model_can_be_beaten
    assert not Scales.of(Observations(0.0 * rows, 0.0 * rows[:, :1]), 2, 1.0).model_can_be_beaten


def test_a_start_in_other_units_is_the_same_gp(rng):
    kernel = io_kernel(2, 1, input_family="rational_quadratic", output_family="rbf+linear", ard=True)
    rows, n = rng.normal(size=(10, 3)), kernel.n_parameters
    x = rng.normal(size=n + 1)
    other = in_other_units(kernel, x, np.array([3.0]), np.array([2.0]))
    np.testing.assert_allclose(4.0 * kernel.matrix(other[:n], rows, rows), 9.0 * kernel.matrix(x[:n], rows, rows))
    assert 4.0 * np.exp(other[-1]) == pytest.approx(9.0 * np.exp(x[-1]))
