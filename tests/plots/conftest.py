"""Fixtures that all tests of this folder share."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _quick_fits(quick_fits):
    """These tests are about what is drawn."""
