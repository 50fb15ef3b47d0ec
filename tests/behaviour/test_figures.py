"""No figure moves unless somebody means to move it."""

import json

import numpy as np
import pytest

from tests.behaviour.figures import RECORDED, figures

RELATIVE = 1e-3
"""Other processors add up in another order, and an optimiser makes more of it."""


@pytest.fixture(scope="module")
def tables():
    return figures(), json.loads(RECORDED.read_text())


def test_the_same_fits_are_recorded(tables):
    now, recorded = tables
    assert set(now) == set(recorded)


def test_figures_have_not_moved(tables):
    now, recorded = tables
    moved = [
        f"{fit}: {name}"
        for fit, values in recorded.items()
        for name, value in values.items()
        if not np.allclose(now[fit][name], value, rtol=RELATIVE, atol=RELATIVE * np.abs(value).max(), equal_nan=True)
    ]
    assert not moved
