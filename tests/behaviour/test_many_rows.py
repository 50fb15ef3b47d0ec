"""inference="auto" where rows are too many for the exact GP of all of them."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor

from rio_uq import RIORegressor, metrics
from rio_uq.gp import inference
from rio_uq.gp.inference import nearest


def test_one_row_more_than_exact_inference_takes_is_no_step(monkeypatch):
    """Something rough, just below and just above the number of rows from which on rows are too many."""
    monkeypatch.setattr(inference, "EXACT_ROWS", 500)
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 500)
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1501, 2))
    y = np.sin(12.0 * X[:, 0]) * np.cos(12.0 * X[:, 1]) + 0.1 * rng.normal(size=1501)
    errors = []
    for n in (500, 501):
        rio = RIORegressor(lambda X: 0.0 * X[:, 0], random_state=0).fit(X[:n], y[:n], held_out=True)
        errors.append(metrics.rmse(y[501:], rio.predict(X[501:])))
    assert errors[1] < 1.03 * errors[0] < 0.13


def test_a_plain_gp_may_take_over(monkeypatch):
    """Where a model knows most rows by heart and nothing of others, as up to the number that the exact GP takes."""
    monkeypatch.setattr(inference, "EXACT_ROWS", 300)
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 300)
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(1200, 3))
    y = np.sin(3.0 * X[:, 0]) + np.cos(3.0 * X[:, 1]) + 0.3 * rng.normal(size=1200)
    train, test = slice(0, 600), slice(600, None)
    neighbour = KNeighborsRegressor(1).fit(X[:400, 2:], y[:400])

    def by_heart(rows):
        return neighbour.predict(rows[:, 2:])

    rio = RIORegressor(by_heart, random_state=0).fit(X[train], y[train], held_out=np.arange(600) >= 400)
    assert not rio.model_choice_.uses_model
    assert metrics.rmse(y[test], rio.predict(X[test])) < 0.25 * metrics.rmse(y[test], by_heart(X[test]))


@pytest.mark.parametrize("n_validating", [0.1, 0.3])
def test_rows_that_tell_boosting_when_to_stop_are_its_own(n_validating):
    """They are among the rows that the model was given, though no leaf counts them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + rng.normal(size=400)
    stops = {"n_iter_no_change": 5, "validation_fraction": n_validating}
    model = GradientBoostingRegressor(max_depth=6, random_state=0, **stops).fit(X, y)
    rio = RIORegressor(model, random_state=0).fit(X, y)
    assert rio.residuals_.rows == "seen"
    assert "leaves" in rio.residuals_.reason


@pytest.mark.parametrize("inference_of_many", ["auto", "sparse"])
def test_one_typing_error_does_not_hide_what_there_is(inference_of_many, monkeypatch):
    monkeypatch.setattr(inference, "EXACT_ROWS", 300)
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 300)
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1000, 2))
    y = np.sin(12.0 * X[:, 0]) * np.cos(10.0 * X[:, 1]) + 0.1 * rng.normal(size=1000)
    y[5] = 100.0
    rio = RIORegressor(lambda X: 0.0 * X[:, 0], inference=inference_of_many, random_state=0)
    rio.fit(X[:500], y[:500], held_out=True)
    assert metrics.rmse(y[500:], rio.predict(X[500:])) < 0.15
