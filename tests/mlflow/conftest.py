"""Fixtures that all tests of models in MLflow share."""

import warnings
from functools import cache
from importlib import import_module

import pytest

from rio_uq.mlflow import folder


@pytest.fixture(scope="session")
def mlflow():
    """Imported where it is used: it is large, and only one of several processes may run these tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("skops", "mlflow.sklearn", "mlflow.pyfunc"):
            pytest.importorskip(name)
        return import_module("mlflow")


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
