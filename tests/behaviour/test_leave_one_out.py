"""`loo_`: what would be predicted for a training row without it."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import TimeSeriesSplit

import rio_uq
from rio_uq import RIORegressor
from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict

pytestmark = pytest.mark.usefixtures("few_iterations")


def data(rng, n=60, q=None):
    X = rng.uniform(size=(n, 2))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)
    return X, y if q is None else np.column_stack([y, -2.0 * y + 0.1 * rng.normal(size=n)][:q])


def constant(X):
    return np.zeros(len(X))


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_it_is_what_the_gp_of_the_other_rows_predicts(rng, inference):
    X, y = data(rng)
    points = {"inducing": np.column_stack([rng.normal(size=(12, 2)), np.zeros(12)])} if inference == "sparse" else {}
    options = {"inference": inference, "n_inducing": 12, "noise": "constant", "random_state": 0}
    rio = RIORegressor(constant, training={**points, "guard": False}, **options).fit(X, y)
    row = 17
    others = np.delete(np.arange(len(y)), row)
    gp = rio.fitted_.gp

    rows = gp._rows(X, np.zeros((len(y), 1)))
    rest = Observations(rows[others], gp.targets.apply(y[others, None]))
    posterior, log_noise = gp.posterior, np.log(gp.posterior.noise_variance)
    if inference == "exact":
        refit = exact.posterior(posterior.kernel, posterior.theta, log_noise, rest)
    else:
        refit = sparse.posterior(posterior.kernel, posterior.theta, log_noise, posterior.points, rest)

    mean, variance = predict(refit, rows[[row]])
    expected = gp.targets.offset + gp.targets.scale * mean
    std = gp.targets.scale * np.sqrt(variance + gp.posterior.noise_variance)
    assert rio.loo_.mean[row] == pytest.approx(float(expected[0, 0]), rel=1e-5)
    assert rio.loo_.std[row] == pytest.approx(float(std[0, 0]), rel=1e-5)
    np.testing.assert_allclose(rio.loo_.z, (y - rio.loo_.mean) / rio.loo_.std)


@pytest.mark.parametrize("inference", ["exact", "sparse", "svgp", "nearest"])
@pytest.mark.parametrize("q", [None, 2])
def test_it_has_the_shape_and_the_order_of_y(rng, inference, q):
    X, y = data(rng, n=40, q=q)
    model = LinearRegression().fit(X, y)
    rio = RIORegressor(model, inference=inference, n_inducing=10, max_iter=100, tol=1e-2, random_state=0).fit(X, y)
    for values in rio.loo_[:3]:
        assert values.shape == y.shape
    shown = np.corrcoef(np.ravel(rio.loo_.mean), np.ravel(rio.predict(X)))[0, 1]
    assert shown > 0.98
    assert 0.6 < np.sqrt(np.mean(rio.loo_.z**2)) < 1.5


def test_copies_share_theirs_and_rows_without_weight_have_none(rng):
    X, y = data(rng, n=30)
    twice = np.r_[np.arange(30), np.arange(5)]
    weight = np.ones(35)
    weight[7] = 0.0
    rio = RIORegressor(constant, random_state=0).fit(X[twice], y[twice], sample_weight=weight)
    np.testing.assert_array_equal(rio.loo_.mean[:5], rio.loo_.mean[30:])
    assert np.flatnonzero(np.isnan(rio.loo_.z)).tolist() == [7]


def test_rows_that_no_fold_predicts_have_none(rng):
    X, y = data(rng)
    rio = RIORegressor(LinearRegression(), cv=TimeSeriesSplit(5), random_state=0).fit(X, y)
    np.testing.assert_array_equal(np.isnan(rio.loo_.mean), np.arange(60) < 10)


def test_scores_of_seen_and_held_out_rows_are_each_in_units_of_their_own_noise(rng):
    X, y = data(rng, n=200)
    held_out = np.arange(200) >= 100
    shrunk = np.where(held_out, 1.0, 0.2)
    clean = np.sin(6.0 * X[:, 0]) + X[:, 1]
    rio = RIORegressor(random_state=0, noise="constant").fit(X, y, y_pred=y - shrunk * (y - clean), held_out=held_out)
    for rows in (held_out, ~held_out):
        assert np.sqrt(np.mean(rio.loo_.z[rows] ** 2)) == pytest.approx(1.0, abs=0.15)


def test_it_is_gone_where_it_would_be_of_another_gp_and_after_load(rng, tmp_path):
    X, y = data(rng)
    rio = RIORegressor(constant, random_state=0).fit(X[:50], y[:50])
    rio.save(tmp_path / "model.rio")
    assert len(rio.loo_.z) == 50
    for other in (rio_uq.load(tmp_path / "model.rio", estimator=constant), rio.partial_fit(X[50:], y[50:])):
        with pytest.raises(AttributeError, match="after fit to rows in memory"):
            _ = other.loo_
