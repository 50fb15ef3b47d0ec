"""Terms."""

import numpy as np
import pytest

from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.terms import FAMILIES, Term


def test_parameter_names_match_the_parameters():
    assert Term("rational_quadratic", "input", 0, 2, ard=True).parameter_names == (
        "variance",
        "lengthscale",
        "lengthscale",
        "shape",
    )
    assert Term("linear", "output", 0, 3).n_parameters == 1


@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_stack_of_rows_has_the_matrix_of_each(family, ard, rng):
    term = Term(family, "input", 1, 4, ard=ard)
    theta, x, z = rng.normal(scale=0.3, size=term.n_parameters), rng.normal(size=(5, 6, 4)), rng.normal(size=(5, 3, 4))
    kernel = Kernel((term,))
    expected = [kernel.matrix(theta, *pair) for pair in zip(x, z, strict=True)]
    np.testing.assert_allclose(term.between(theta, x, z), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_stack_of_rows_has_the_gradients_of_all(family, ard, rng):
    term = Term(family, "input", 1, 4, ard=ard)
    theta, x, adjoint = (
        rng.normal(scale=0.3, size=term.n_parameters),
        rng.normal(size=(5, 6, 4)),
        rng.normal(size=(5, 6, 6)),
    )
    kernel = Kernel((term,))
    expected = [kernel.pullback(theta, rows, rows, of_rows)[0] for rows, of_rows in zip(x, adjoint, strict=True)]
    np.testing.assert_allclose(term.by_theta_between(theta, x, adjoint), np.sum(expected, axis=0), rtol=1e-9)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "linear"])
def test_values_part_faster_where_lengthscales_are_short(family):
    term = Term(family, "input", 0, 2, ard=True)
    theta = np.zeros(term.n_parameters)
    theta[:3] = np.log([2.0, 0.5, 4.0])
    np.testing.assert_allclose(term.roughness(theta), [8.0, 0.125])
