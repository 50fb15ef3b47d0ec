"""A table with names of its own, a model that errs in known places, and RIO on it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rio_uq import RIORegressor
from rio_uq.report.rows import ReportRows, gather

FAST = {
    "scale": "identity",
    "distribution": "normal",
    "training": {"starts": "rio", "guard": False},
    "random_state": 0,
    "tol": 1e-3,
}


def first_column(X):
    return np.asarray(X)[:, 0].astype(float)


@pytest.fixture(scope="session")
def table():
    """The model is the first column; it is too low by 3 where "b" is above 0.7, and noise grows with "c"."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(900, 3)), columns=["a", "b", "c"])
    noise = (0.1 + 0.4 * (X["c"] > 0.8)) * rng.normal(size=900)
    return X, (X["a"] + 3.0 * (X["b"] > 0.7) + noise).rename("price")


@pytest.fixture(scope="session")
def rio(table):
    X, y = table
    return RIORegressor(first_column, **FAST).fit(X[:300], y[:300])


@pytest.fixture(scope="session")
def rows(rio, table):
    X, y = table
    return gathered(rio, X[300:], y[300:])


def gathered(rio, X, y, **options) -> ReportRows:
    return gather(rio, X, y, rio.inputs(X, y_pred=options.pop("y_pred", None)), **options)


@pytest.fixture(scope="session")
def gather_rows():
    return gathered


@pytest.fixture
def made_rows():
    """Rows from arrays alone: normal error bars, no features unless given."""
    from scipy import stats

    from rio_uq.report.rows import LEVELS

    def make(outcome, y_pred, mean, std, features=None, names=(), relevance=None):
        outcome, y_pred, mean, std = (np.asarray(values, dtype=float) for values in (outcome, y_pred, mean, std))
        half = stats.norm.ppf(0.5 + 0.5 * LEVELS) * std[:, None]
        inside = np.abs(outcome - mean)[:, None] <= half
        features = np.empty((len(outcome), 0)) if features is None else np.asarray(features, dtype=float)
        relevance = np.ones(features.shape[1]) if relevance is None else np.asarray(relevance)
        z = stats.norm.ppf(0.95)
        return ReportRows(
            outcome, y_pred, mean, std, mean - y_pred, np.zeros_like(mean), LEVELS, inside, 0.9,
            mean - z * std, mean + z * std, features, list(names), relevance, True,
        )  # fmt: skip

    return make


@pytest.fixture(autouse=True, scope="module")
def _quick_fits(quick_fits):
    """These tests are about pages and the numbers on them."""
