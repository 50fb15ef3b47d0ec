"""Fixtures that all tests of this folder share."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _quick_fits(quick_fits):
    """A graph computes what the regressor does, whatever was fitted."""
