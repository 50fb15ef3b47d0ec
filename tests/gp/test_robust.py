"""A GP of rows some of which are outliers: what is chosen, and what is left of them in it."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor
from rio_uq.gp.inference import exact
from rio_uq.gp.noise.student import Student
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict_mean


def world(n=100, seed=0, outliers=0.08, n_outputs=1):
    """A model that knows half of the truth, and its predictions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    mean = np.tile((X[:, 0] + np.sin(2.0 * X[:, 1]))[:, None], (1, n_outputs))
    noise = np.where(rng.uniform(size=(n, 1)) < outliers, 30.0, 0.3) * rng.normal(size=mean.shape)
    return X, (mean + noise).squeeze(), (0.5 * mean).squeeze(), mean.squeeze()


def fit(X, y, y_pred, **options):
    training = {"starts": "rio", "average": False}
    rio = RIORegressor(None, scale="identity", training=training, random_state=0, tol=1e-3, **options)
    return rio.fit(X, y, y_pred=y_pred, held_out=True)


@pytest.fixture(scope="module")
def robust():
    X, y, y_pred, _ = world()
    return fit(X, y, y_pred)


def error(rio, seed=9):
    X, _, y_pred, mean = world(500, seed)
    return np.sqrt(np.mean((rio.predict(X, y_pred=y_pred) - mean) ** 2))


def test_outliers_neither_bend_the_mean_nor_blow_up_the_noise(robust):
    X, y, y_pred, _ = world()
    normal = fit(X, y, y_pred, noise="constant")
    assert isinstance(robust.fitted_.gp.noise, Student)
    assert error(robust) < 0.4 < error(normal)
    assert np.sqrt(robust.noise_variance_) < 1.0 < np.sqrt(normal.noise_variance_)


def test_normal_noise_is_left_as_it_is():
    X, y, y_pred, _ = world(outliers=0.0)
    assert not isinstance(fit(X, y, y_pred).fitted_.gp.noise, Student)


def test_a_student_likelihood_can_be_asked_for():
    X, y, y_pred, _ = world(outliers=0.0)
    rio = fit(X, y, y_pred, noise="student")
    assert isinstance(rio.fitted_.gp.noise, Student)
    assert rio.fitted_.gp.noise_choice == "student"
    assert error(rio) < 0.3


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_further_rows_with_outliers_do_not_bend_the_mean(inference):
    X, y, y_pred, _ = world()
    rio = fit(X[:60], y[:60], y_pred[:60], inference=inference, n_inducing=40, noise="student")
    rows = X[60:], np.where(np.arange(40) % 10 == 0, 500.0, y[60:])
    rio.partial_fit(*rows, y_pred=y_pred[60:])
    assert error(rio) < 0.1


def test_left_out_rows_are_predicted_as_without_them(robust):
    gp, loo = robust.fitted_.gp, robust.fitted_.loo
    posterior, unit = gp.posterior, gp.targets.scale
    points, statistics = posterior.points, posterior.statistics
    row = int(np.argmin(statistics.effective_weight))
    others = np.delete(np.arange(len(points)), row)
    data = Observations(points[others], statistics.targets[others], precision=statistics.effective_weight[others])
    without = exact.posterior(posterior.kernel, posterior.theta, np.log(statistics.noise_variance), data)
    mean = gp.constant + gp.correction * unit * predict_mean(without, points[[row]])
    X, _, y_pred, _ = world()
    place = int(np.argmin(np.abs(gp.inputs.apply(X) - points[row, :2]).sum(axis=1)))
    assert y_pred[place] + mean[0, 0] == pytest.approx(loo.mean[place], rel=1e-6)


def test_outputs_share_the_precisions_of_their_rows():
    X, y, y_pred, mean = world(n_outputs=2)
    rio = fit(X, y, y_pred)
    assert isinstance(rio.fitted_.gp.noise, Student)
    assert rio.fitted_.gp.posterior.statistics.effective_weight.shape == (len(X),)
    X, _, y_pred, mean = world(500, 9, n_outputs=2)
    assert np.sqrt(np.mean((rio.predict(X, y_pred=y_pred) - mean) ** 2)) < 0.4


def test_weights_and_a_model_that_is_fitted_here():
    X, y, _, _ = world()
    weight = np.random.default_rng(1).exponential(size=len(X))
    rio = RIORegressor(LinearRegression(), random_state=0, tol=1e-3).fit(X, y, sample_weight=weight)
    assert isinstance(rio.fitted_.gp.noise, Student)
    X, _, _, mean = world(500, 9)
    assert np.sqrt(np.mean((rio.predict(X) - mean) ** 2)) < 0.6


def test_skewed_noise_does_not_bias_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    mean = X[:, 0] + np.sin(2.0 * X[:, 1])
    y = mean + rng.lognormal(sigma=1.2, size=120) - np.exp(0.5 * 1.2**2)
    rio = fit(X, y, 0.5 * mean, noise="student")
    bias = np.mean(rio.predict(X, y_pred=0.5 * mean) - y)
    assert abs(bias) < 0.5 < np.mean(y - mean) - np.median(y - mean)
