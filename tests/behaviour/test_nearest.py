"""inference="nearest": rough functions of many rows, and every answer that other ways of inference give."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import rio_uq
from rio_uq import RIORegressor, metrics
from rio_uq.gp.inference import nearest

pytestmark = pytest.mark.usefixtures("few_iterations")

NEAREST = {"inference": "nearest", "training": {"n_neighbors": 25}, "random_state": 0, "scale": "identity"}


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 100)


def rough(rng, n=700, n_outputs=None):
    X = 3.0 * rng.uniform(size=(n, 2))
    y = np.sin(5.0 * X[:, 0]) * np.cos(5.0 * X[:, 1]) + 0.5 * X[:, 0]
    y = y if n_outputs is None else np.column_stack([y, -y + X[:, 1]])[:, :n_outputs]
    return X, y + 0.05 * rng.normal(size=y.shape)


def line(X):
    return 0.4 * X[:, 0]


def lines(X):
    return np.column_stack([0.4 * X[:, 0], X[:, 1]])


def test_what_is_rough_is_seen(rng):
    X, y = rough(rng)
    train, test = slice(0, 500), slice(500, None)
    error = {}
    for inference in ("nearest", "sparse"):
        rio = RIORegressor(line, **{**NEAREST, "inference": inference}, n_inducing=30).fit(X[train], y[train])
        error[inference] = metrics.rmse(y[test], rio.predict(X[test]))
        if inference == "nearest":
            covered = metrics.coverage(y[test], rio.predict_dist(X[test]))
    assert error["nearest"] < 0.5 * error["sparse"]
    assert error["nearest"] < 0.15
    assert covered > 0.85


@pytest.mark.parametrize("n_outputs", [None, 2])
def test_every_answer_is_given(n_outputs, rng, tmp_path):
    X, y = rough(rng, 300, n_outputs)
    model = line if n_outputs is None else lines
    rio = RIORegressor(model, **NEAREST).fit(X[:250], y[:250], sample_weight=rng.integers(1, 3, size=250))
    new = X[250:260]
    mean, std = rio.predict(new, return_std=True)
    latent = rio.predict(new, return_std=True, include_noise=False)[1]
    covariance = rio.predict(new, return_cov=True, include_noise=False)[1]
    each = np.moveaxis(covariance, -1, 0) if covariance.ndim == 3 else covariance[None]
    np.testing.assert_allclose(np.sqrt(np.diagonal(each, axis1=1, axis2=2)).T.reshape(latent.shape), latent, rtol=1e-6)
    assert (latent < std).all()
    draws = rio.sample_y(new, n_samples=2000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=-1), mean, atol=0.2)
    parts = rio.decompose(new)
    assert np.isfinite(rio.trust_).all()
    assert np.isfinite(rio.loo_.z).all()
    assert rio.summary().n_rows == 250
    path = tmp_path / "model.rio"
    rio.save(path)
    loaded = rio_uq.load(path, estimator=model)
    for regressor in (rio, loaded):
        regressor.partial_fit(X[260:], y[260:])
    np.testing.assert_array_equal(loaded.predict(new, return_std=True), rio.predict(new, return_std=True))
    assert loaded.bound_ == rio.bound_
    assert parts is not None


def test_the_order_of_rows_and_threads_do_not_matter(rng):
    X, y = rough(rng, 300)
    order = rng.permutation(300)
    one = RIORegressor(line, **NEAREST).fit(X, y)
    other = RIORegressor(line, **NEAREST, n_jobs=2).fit(X[order], y[order])
    np.testing.assert_allclose(other.predict(X, return_std=True), one.predict(X, return_std=True), rtol=1e-9)
    np.testing.assert_array_equal(one.predict(X[:1]), one.predict(X)[:1])


def test_rows_that_are_added_are_near(rng):
    """At a place without rows, further ones say what is there."""
    X, y = rough(rng, 600)
    is_left = X[:, 0] < 1.5
    rio = RIORegressor(line, **NEAREST).fit(X[is_left], y[is_left])
    right = np.flatnonzero(~is_left)
    before = metrics.rmse(y[right[:50]], rio.predict(X[right[:50]]))
    rio.partial_fit(X[right[50:]], y[right[50:]])
    assert metrics.rmse(y[right[:50]], rio.predict(X[right[:50]])) < 0.5 * before


def test_outliers_do_not_bend_predictions(rng, monkeypatch):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 250)
    X, y = rough(rng, 400)
    spoilt = y.copy()
    spoilt[::25] += 10.0
    rio = RIORegressor(line, noise="student", tol=1e-5, **NEAREST).fit(X, spoilt)
    assert rio.summary().tails is not None
    error = rio.predict(X) - y
    assert np.median(np.abs(error - np.median(error))) < 0.1  # predictions are means, outliers included
    rio.partial_fit(X[:10], spoilt[:10])


def test_groups_are_left_out_together(rng):
    X, y = rough(rng, 300)
    groups = rng.integers(0, 12, size=300)
    level = rng.normal(size=12)[groups]
    rio = RIORegressor(LinearRegression(), **NEAREST).fit(X, y + level, groups=groups)
    assert np.std(rio.loo_.z_by_fold) == pytest.approx(1.0, abs=0.3)


def test_few_rows_are_all_near(rng):
    X, y = rough(rng, 12)
    rio = RIORegressor(line, **NEAREST).fit(X, y)
    assert np.isfinite(rio.predict(X, return_std=True)).all()


@pytest.mark.parametrize("n_neighbors", [0, "many"])
def test_n_neighbors_has_to_be_a_number_or_auto(rng, n_neighbors):
    with pytest.raises(ValueError, match="n_neighbors has to be a whole number of at least 1"):
        RIORegressor(line, inference="nearest", training={"n_neighbors": n_neighbors}).fit(*rough(rng, 20))


def test_one_row_and_rows_that_are_all_equal():
    X, y = np.ones((5, 1)), np.full(5, 2.0)
    for n in (1, 5):
        rio = RIORegressor(inference="nearest", random_state=0).fit(X[:n], y[:n], y_pred=X[:n, 0], held_out=True)
        mean, std = rio.predict(X[:1], y_pred=[1.0], return_std=True)
        assert np.isfinite(mean).all()
        assert std[0] > 0.0
