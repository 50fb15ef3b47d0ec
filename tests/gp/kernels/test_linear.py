"""The linear kernel agrees with scikit-learn's."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.terms import Term


@pytest.fixture
def rows(rng):
    return rng.normal(size=(13, 4)), rng.normal(size=(7, 4))


def test_linear_equals_scikit_learn(rows):
    kernel = Kernel((Term("linear", "output", 0, 4),))
    expected = 2.5 * sk.DotProduct(sigma_0=0.0)(*rows)
    np.testing.assert_allclose(kernel.matrix(np.log([2.5]), *rows), expected, rtol=1e-12)


def test_linear_ard_has_a_variance_for_each_column(rows):
    kernel = Kernel((Term("linear", "output", 0, 4, ard=True),))
    variances = np.array([0.5, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(kernel.matrix(np.log(variances), *rows), (rows[0] * variances) @ rows[1].T, rtol=1e-12)
