"""Normal tails beyond the data, and moments of outcomes on another scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from rio_uq.calibration.moments import moments
from rio_uq.calibration.scores import normal_nodes
from rio_uq.calibration.skewed import SkewedStudent
from rio_uq.calibration.student import Student
from rio_uq.calibration.tails import LEAST, NormalTails
from rio_uq.scales.named import named_scale
from rio_uq.scales.outputs import OutcomeScales

INNER = st.builds(Student, st.just(50), st.floats(2.1, 50.0), st.floats(0.5, 2.0)) | st.builds(
    SkewedStudent, st.just(50), st.floats(2.1, 50.0), st.floats(0.5, 2.0), st.floats(0.5, 2.0)
)
TAILED = st.builds(NormalTails, INNER, st.floats(-6.0, -2.0), st.floats(2.0, 6.0))


@given(TAILED)
def test_quantiles_invert_the_distribution_function_and_the_density_is_its_slope(shape):
    p = np.concatenate([[1e-9, 1e-5], np.linspace(0.01, 0.99, 33), [1.0 - 1e-5, 1.0 - 1e-9]])
    z = shape.ppf(p)
    assert (np.diff(z) > 0.0).all()
    np.testing.assert_allclose(shape.cdf(z), p, rtol=1e-7)
    inside = z[np.abs(z[:, None] - [shape.lowest, shape.highest]).min(axis=1) > 1e-3]
    slope = (shape.cdf(inside + 1e-5) - shape.cdf(inside - 1e-5)) / 2e-5
    np.testing.assert_allclose(np.exp(shape.logpdf(inside)), slope, rtol=1e-4, atol=1e-9)


@given(TAILED)
def test_nothing_changes_within_the_data_and_the_exponential_has_a_mean(shape):
    z = np.linspace(shape.lowest, shape.highest, 20)[1:-1]
    np.testing.assert_array_equal(shape.cdf(z), shape.inner.cdf(z))
    np.testing.assert_array_equal(shape.logpdf(z), shape.inner.logpdf(z))
    u = np.linspace(-30.0, 30.0, 60_001)
    assert integrate.trapezoid(np.exp(u + shape.logpdf(u)), u) < 1e12


def test_a_few_scores_do_not_show_where_the_data_end():
    shape = NormalTails.of(Student(3, 4.0, 1.0), np.array([-0.1, 0.2, 3.0]))
    assert (shape.lowest, shape.highest) == (-LEAST, 3.0)


@pytest.mark.parametrize("spread", [0.1, 0.5, 1.0])
def test_moments_of_the_logarithm_are_those_of_the_lognormal_distribution(spread):
    scales = OutcomeScales((named_scale("log", np.array([1.0, 2.0])),))
    nodes, _ = normal_nodes()
    mean, std = moments(scales, np.array([[0.3]]), np.array([[spread]]), nodes[None, None])
    expected = stats.lognorm(spread, scale=np.exp(0.3))
    np.testing.assert_allclose([mean[0, 0], std[0, 0]], [expected.mean(), expected.std()], rtol=1e-8)


def test_moments_of_the_square_root_are_those_of_a_noncentral_chi_square():
    scales = OutcomeScales((named_scale("sqrt", np.array([0.0, 8.0 / 3.0])),))
    nodes, _ = normal_nodes()
    mean, std = moments(scales, np.array([[5.0]]), np.array([[0.5]]), nodes[None, None])
    np.testing.assert_allclose([mean[0, 0], std[0, 0]], [24.25, np.sqrt(2 * 0.5**4 + 4 * 25 * 0.25)], rtol=1e-8)
