"""What all tests of models in MLflow share."""

from functools import cache

import pytest

from rio_uq.mlflow import folder


@pytest.fixture(autouse=True, scope="session")
def _packages_are_listed_once():
    """Which package a module is from does not change while tests run, and costs most of a save to find out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "packages_distributions", cache(folder.packages_distributions))
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        yield


@pytest.fixture(autouse=True, scope="module")
def _quick_fits(quick_fits):
    """These tests are about files, signatures and words."""
