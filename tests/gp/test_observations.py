"""Training rows."""

import numpy as np

from rio_uq.gp.observations import Observations


def test_moments_are_weighted(rng):
    rows, weight = rng.normal(size=(50, 3)), rng.uniform(size=50)
    np.testing.assert_allclose(Observations(rows, rows[:, :1], weight).moments, weight @ rows**2)
    np.testing.assert_allclose(Observations(rows, rows[:, :1]).moments, (rows**2).sum(axis=0))
