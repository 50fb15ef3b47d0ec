"""The slope of the output part."""

import numpy as np
import pytest

from rio_uq.gp.inference import exact
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.trust import TRUST_ROWS, output_slope, spread_out


def posterior_of(rng, slope, **kernel):
    rows = rng.normal(size=(100, 3))
    kernel = io_kernel(2, 1, output_family="linear", **kernel)
    data = Observations(rows, slope * rows[:, 2:] + 0.01 * rng.normal(size=(100, 1)))
    return exact.posterior(kernel, np.zeros(kernel.n_parameters), np.log([1e-4]), data), rows[:, 2:]


def test_it_is_that_of_the_function(rng):
    posterior, y_pred = posterior_of(rng, -0.7)
    slope, std = output_slope(posterior, y_pred)
    assert slope == pytest.approx(-0.7, abs=0.2)
    assert 0.0 < std < 0.5


def test_it_is_zero_without_an_output_part_and_nan_where_predictions_are_constant(rng):
    posterior, y_pred = posterior_of(rng, 1.0, kind="input")
    np.testing.assert_array_equal(output_slope(posterior, y_pred), np.zeros((2, 1)))
    posterior, y_pred = posterior_of(rng, 1.0)
    assert np.isnan(output_slope(posterior, 0.0 * y_pred)).all()


def test_rows_are_spread_evenly(rng):
    y_pred = rng.normal(size=(1000, 2))
    chosen = spread_out(y_pred)
    assert chosen.shape == (TRUST_ROWS, 2)
    assert chosen[0, 0] == y_pred[:, 0].min()
    assert chosen[-1, 0] == y_pred[:, 0].max()
    assert len(spread_out(y_pred[:7])) == 7
