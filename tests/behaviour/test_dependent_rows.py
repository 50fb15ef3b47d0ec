"""Error bars hold on new rows where training rows depend on each other."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from rio_uq import DependentRowsWarning, RIORegressor

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


def persons(rng, n_persons):
    """Six rows of each person: two features that stay, one that does not, and an intercept of the person's own, which
    has a standard deviation of exactly one, so that no luck with few persons is in it.
    """
    intercept = rng.normal(size=n_persons)
    intercept = (intercept - intercept.mean()) / intercept.std()
    X = np.hstack([np.repeat(rng.normal(size=(n_persons, 2)), 6, axis=0), rng.normal(size=(6 * n_persons, 1))])
    y = X[:, 0] + 0.5 * X[:, 2] + np.repeat(intercept, 6) + 0.3 * rng.normal(size=len(X))
    return X, y, np.repeat(np.arange(n_persons), 6)


def right(X):
    return X[:, 0] + 0.5 * X[:, 2]


@pytest.mark.usefixtures("few_iterations")
@pytest.mark.parametrize(
    ("kind", "inference"),
    [
        ("given", "exact"),
        ("given", "sparse"),
        ("held out", "exact"),
        ("some held out", "sparse"),
        ("fitted", "exact"),
        ("unfitted", "sparse"),
    ],
)
def test_new_persons_where_groups_are_given(kind, inference, rng):
    X, y, person = persons(rng, 25)
    X_new, y_new, _ = persons(rng, 100)
    options = {"inference": inference, "n_inducing": 60, "random_state": 0}
    if kind == "given":
        rio = RIORegressor(right, **options).fit(X, y, y_pred=right(X), held_out=True, groups=person)
    elif kind == "held out":
        rio = RIORegressor(right, **options).fit(X, y, held_out=True, groups=person)
    elif kind == "some held out":
        rio = RIORegressor(right, **options).fit(X, y, held_out=np.arange(len(X)) % 6 > 1, groups=person)
    else:
        model = RandomForestRegressor(10, random_state=0)
        model = model.fit(X, y) if kind == "fitted" else model
        rio = RIORegressor(model, **options).fit(X, y, groups=person)
    assert share_inside(rio, X_new, y_new) > 0.91
    assert rio.correction_ == 0.0


@pytest.mark.usefixtures("few_iterations")
def test_what_all_groups_share_is_still_corrected(rng):
    X, _, person = persons(rng, 25)
    y = np.sin(2.0 * X[:, 2]) + 0.1 * rng.normal(size=len(X)) + 0.1 * np.repeat(rng.normal(size=25), 6)
    rio = RIORegressor(lambda X: 0.0 * X[:, 0], random_state=0).fit(X, y, held_out=True, groups=person)
    assert rio.correction_ == 1.0
    assert rio.score(X, y) > 0.9


def slowly(rng, shape, memory):
    """Values that go back to zero slowly."""
    steps = np.sqrt(1.0 - memory**2) * rng.normal(size=shape)
    steps[0] /= np.sqrt(1.0 - memory**2)
    for before, step in pairwise(steps):
        step += memory * before
    return steps


@pytest.mark.parametrize("kind", ["given", "fitted"])
def test_rows_in_the_order_of_time_are_noticed(kind, rng):
    """Disturbances last and features move slowly: the past errors of a model look like a function of its features."""
    X, n = slowly(rng, (1500, 2), 0.97), 300
    y = right_of_series(X) + slowly(rng, (1500, 1), 0.9)[:, 0]
    past, future = slice(0, n), slice(n, None)
    model, said = (right_of_series, {"held_out": True}) if kind == "given" else (Ridge().fit(X[past], y[past]), {})
    rio = RIORegressor(model, random_state=0)
    with pytest.warns(DependentRowsWarning, match="blocks of successive rows") as caught:
        rio.fit(X[past], y[past], **said)
    assert caught[0].filename == __file__
    assert rio.residuals_.evidence["successive"] > 0.25
    assert "err alike" in str(rio.summary())
    assert share_inside(rio, X[future], y[future]) > (0.91 if kind == "given" else 0.85)
    rio.fit(X[past], y[past], **said, groups=range(n))  # whoever says that rows are independent is believed
    assert "successive" not in rio.residuals_.evidence


@pytest.mark.usefixtures("few_iterations")
def test_rows_in_the_order_of_time_are_noticed_where_they_are_read_in_parts(rng, tmp_path):
    """A sample of them is in the order of time as well."""
    n = 1600
    X = slowly(rng, (2 * n, 2), 0.997)
    y = right_of_series(X) + slowly(rng, (2 * n, 1), 0.98)[:, 0]
    stored = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=(n, 2))
    stored[:] = X[:n]
    rio = RIORegressor(right_of_series, training={"sample_rows": 400}, random_state=0)
    with pytest.warns(DependentRowsWarning):
        rio.fit(stored, y[:n], held_out=True)
    assert rio.residuals_.evidence["successive"] > 0.25
    assert rio.summary().n_rows == n
    assert share_inside(rio, X[n:], y[n:]) > 0.85


def test_a_short_series_whose_errors_the_gp_has_learnt_is_noticed():
    """A hundred slow rows in three dimensions hardly meet again: their features tell the time, and so its errors."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, error = slowly(rng, (100, 3), 0.97), slowly(rng, (100, 1), 0.9)[:, 0]
        with pytest.warns(DependentRowsWarning):
            RIORegressor(right_of_series, random_state=0).fit(X, right_of_series(X) + error, held_out=True)


def right_of_series(X):
    return np.sin(X[:, 0])


def test_rows_without_weight_are_in_no_block_of_their_own(rng):
    """All rows that count are late ones."""
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + slowly(rng, (300, 1), 0.95)[:, 0]
    weight = np.where(np.arange(300) < 210, 0.0, 1.0)
    for model, said in ((Ridge(), {}), (right_of_series, {"held_out": True})):
        rio = RIORegressor(model, random_state=0)
        with pytest.warns(DependentRowsWarning):
            rio.fit(X, y, sample_weight=weight, **said)
        assert rio.residuals_.evidence["successive"] > 0.25


def test_predictions_of_clones_that_lack_a_group_do_not_foretell_its_outcomes(rng):
    """A clone without a group of high outcomes predicts low ones: no property of the model that has seen all groups."""
    group = np.repeat(np.arange(8), 20)
    X, X_new = rng.normal(size=(160, 2)), rng.normal(size=(2000, 2))
    y = 0.3 * X[:, 0] + np.linspace(-1.5, 1.5, 8)[group] + 0.3 * rng.normal(size=160)
    y_new = 0.3 * X_new[:, 0] + rng.uniform(-1.5, 1.5, size=2000) + 0.3 * rng.normal(size=2000)
    rio = RIORegressor(Ridge(), random_state=0).fit(X, y, groups=group)
    assert share_inside(rio, X_new, y_new) > 0.93
    assert rio.trust_ == 1.0
