"""Shared by all tests: data, finite differences, a small trained problem.

The process that hands tests out to others reads this file too: what is large is imported where it is used.
"""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # one of scikit-learn's checks asks for it; SciPy reads it on import

import numpy as np
import pytest
from hypothesis import settings

# No test depends on time or on chance: the same examples are tried in every run.
settings.register_profile("rio", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("rio")


def finite_differences(function, x, step=1e-5):
    """Central differences of a scalar function of an array."""
    gradient = np.empty(x.size)
    for i in range(x.size):
        shift = np.zeros(x.size)
        shift[i] = step
        shift = shift.reshape(x.shape)
        gradient[i] = (function(x + shift) - function(x - shift)) / (2 * step)
    return gradient.reshape(x.shape)


@pytest.fixture
def numerical_gradient():
    return finite_differences


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def draw_friedman(rng):
    X = rng.uniform(size=(120, 4))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + rng.normal(scale=0.3, size=120)
    return X, y


@pytest.fixture
def friedman(rng):
    """A smooth function of four features with noise: X (120, 4), y (120,)."""
    return draw_friedman(rng)


@pytest.fixture(scope="module")
def few_iterations():
    """All steps of a fit with its defaults, but few iterations of each, for tests that hold at any hyperparameters and
    need the guard, the choice of a scale or the shape of errors.
    """
    from rio_uq import RIORegressor, outcome_scaling, trainer
    from rio_uq.gp import averaged, folds
    from rio_uq.gp.noise import varying

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RIORegressor.__init__.__kwdefaults__, "tol", 1e-2)
        patch.setattr(trainer, "PLAIN_ITERATIONS", 20)
        patch.setattr(averaged, "N_STEPS", 4)
        patch.setattr(folds, "NEUTRAL_ITERATIONS", 3)
        patch.setattr(folds, "NEAR_ITERATIONS", 1)
        patch.setattr(folds, "NEUTRAL_ROWS", 0)
        patch.setattr(outcome_scaling, "SCALE_ROWS", 150)
        patch.setattr(outcome_scaling, "SCALE_ITERATIONS", 8)
        patch.setattr(varying, "FIELD_POINTS", 30)
        patch.setattr(varying, "FIELD_ITERATIONS", 8)
        patch.setattr(varying, "FIELD_TOLERANCE", 1e-2)
        yield


@pytest.fixture(scope="module")
def quick_fits(few_iterations):
    """Few iterations, one start, normal outcomes as they are and no guard as defaults, for tests that hold at any
    hyperparameters.
    """
    from rio_uq import RIORegressor, Training

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RIORegressor.__init__.__kwdefaults__, "scale", "identity")
        patch.setitem(RIORegressor.__init__.__kwdefaults__, "distribution", "normal")
        patch.setitem(Training.__init__.__kwdefaults__, "starts", "rio")
        patch.setitem(Training.__init__.__kwdefaults__, "guard", False)
        yield


@pytest.fixture(scope="session")
def fitted_rio():
    """A linear model of the rows of ``friedman``, corrected, with normal outcomes: for tests that only ask it."""
    from sklearn.linear_model import LinearRegression

    from rio_uq import RIORegressor

    X, y = draw_friedman(np.random.default_rng(0))
    options = {"scale": "identity", "distribution": "normal", "training": {"guard": False}, "random_state": 0}
    return RIORegressor(LinearRegression().fit(X, y), **options).fit(X, y)
