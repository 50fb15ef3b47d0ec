"""Error bars hold on new rows where training rows depend on each other."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from rio_uq import RIORegressor

pytestmark = pytest.mark.no_cover


def truth(X):
    return np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2


def share_inside(rio, X, y):
    low, high = rio.predict_interval(X, confidence_level=0.95).T
    return np.mean((low <= y) & (y <= high))


@pytest.mark.parametrize("model", [truth, Ridge()])
def test_each_measurement_is_recorded_several_times_with_jitter(model, rng):
    X, X_new = rng.normal(size=(40, 2)), rng.normal(size=(1000, 2))
    y, y_new = (truth(rows) + 0.5 * rng.normal(size=len(rows)) for rows in (X, X_new))
    X, y = np.repeat(X, 3, axis=0) + 1e-3 * rng.normal(size=(120, 2)), np.repeat(y, 3)
    rio = RIORegressor(model, random_state=0).fit(X, y, held_out=True if model is truth else None)
    assert share_inside(rio, X_new, y_new) > 0.9
