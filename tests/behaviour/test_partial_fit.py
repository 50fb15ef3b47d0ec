"""partial_fit: what all rows at once would have given, at the same hyperparameters."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from rio_uq import RIORegressor
from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.observations import Observations
from rio_uq.rows.kept import KeptRows, keep_more

pytestmark = pytest.mark.usefixtures("quick_fits")


def make(rng, n=150, n_outputs=1):
    X = rng.uniform(size=(n, 3))
    y = np.column_stack([np.sin(5.0 * X[:, 0]), X[:, 1] ** 2 - X[:, 2]])[:, :n_outputs]
    y = y + 0.1 * rng.normal(size=y.shape)
    return X, y[:, 0] if n_outputs == 1 else y


def model(X):
    return 2.0 * X[:, 0] - 1.0


def fitted(X, y, **options):
    return RIORegressor(model, **{"noise": "constant", "n_inducing": 20, "random_state": 0, **options}).fit(X, y)


def all_at_once(rio, X, y, weight=None):
    """The GP of a regressor, computed from all rows with its hyperparameters, scalings and inducing points."""
    gp = rio.fitted_.gp
    prediction, weight = rio.fitted_.predictions(X), gp.weight_unit.measurements(weight, len(X))
    data = Observations(gp._rows(X, prediction), gp.targets.apply(y.reshape(prediction.shape) - prediction), weight)
    known = gp.posterior
    log_noise = np.log(known.statistics.noise_variance)
    if rio.inference == "exact":
        whole = exact.posterior(known.kernel, known.theta, log_noise, data)
    else:
        whole = sparse.posterior(known.kernel, known.theta, log_noise, known.points, data)
    return replace(gp, posterior=replace(whole, noise_variance=known.noise_variance))


@pytest.mark.parametrize("inference", ["exact", "sparse"])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_it_is_a_fit_of_all_rows_at_the_same_hyperparameters(inference, n_outputs, is_weighted, rng):
    X, y = make(rng, n_outputs=n_outputs)
    weight = rng.integers(0, 3, size=150).astype(float) if is_weighted else np.ones(150)
    estimator = LinearRegression().fit(X, y)
    options = {"inference": inference, "noise": "constant", "n_inducing": 20, "random_state": 0, "max_iter": 20}
    rio = RIORegressor(estimator, residuals="in-sample", tol=1e-3, **options)
    rio.fit(X[:80], y[:80], sample_weight=weight[:80])
    theta = rio.fitted_.gp.posterior.theta
    rio.partial_fit(X[80:110], y[80:110], sample_weight=weight[80:110])
    rio.set_params(n_jobs=2).partial_fit(X[110:], y[110:], sample_weight=weight[110:])
    kept = weight > 0.0
    whole = all_at_once(rio, X[kept], y[kept], weight[kept])
    new = rng.uniform(size=(20, 3))
    prediction = rio.fitted_.predictions(new)
    mean, std = rio.predict(new, return_std=True, include_noise=False)
    expected, variance = whole.mean_and_variance(new, prediction, 1)
    np.testing.assert_allclose(mean.reshape(expected.shape), prediction + expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(std.reshape(expected.shape), np.sqrt(variance), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(np.reshape(rio.trust_, -1), whole.trust()[0], rtol=1e-5, atol=1e-7)
    assert rio.fitted_.gp.posterior.theta is theta
    assert rio.summary().n_rows == kept.sum()


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_the_bound_is_that_of_all_rows(inference, rng):
    X, y = make(rng)
    rio = fitted(X[:75], y[:75], inference=inference).partial_fit(X[75:], y[75:])
    whole = all_at_once(rio, X, y).posterior
    expected = whole.log_likelihood()
    assert whole.total_weight == 150
    assert rio.bound_ == pytest.approx(expected - 150 * np.log(rio.fitted_.gp.targets.scale[0]), rel=1e-8)


def test_before_fit_it_is_fit(rng):
    X, y = make(rng, n=60)
    options = {"random_state": 0, "noise": "constant"}
    one, other = RIORegressor(Ridge(), **options).fit(X, y), RIORegressor(Ridge(), **options).partial_fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_noise_and_model_stay_and_given_predictions_count(rng):
    X, y = make(rng, n=400)
    y = y + X[:, 2] * rng.normal(size=400)
    rio = RIORegressor(Ridge(), random_state=0).fit(X[:300], y[:300])
    estimator, noise = rio.estimator_, rio.noise_variance_
    assert rio.summary().noise == "varying"

    def noise_of_rows():
        return np.subtract(*(rio.predict(X, return_std=True, include_noise=one)[1] ** 2 for one in (True, False)))

    of_rows = noise_of_rows()
    other = pickle.loads(pickle.dumps(rio))
    rio.partial_fit(X[300:], y[300:])
    assert rio.estimator_ is estimator
    np.testing.assert_allclose(noise_of_rows(), of_rows, rtol=1e-6)
    assert rio.noise_variance_ == noise
    other.partial_fit(X[300:], y[300:], y_pred=estimator.predict(X[300:]))
    np.testing.assert_array_equal(rio.predict(X), other.predict(X))


def test_calibration_is_dropped_with_a_warning(rng):
    X, y = make(rng)
    rio = fitted(X[:60], y[:60]).calibrate(X[60:100], y[60:100])
    with pytest.warns(UserWarning, match="its calibration is dropped: calibrate again"):
        rio.partial_fit(X[100:], y[100:])
    assert rio.calibration_ is None
    rio.partial_fit(X[60:100], y[60:100])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: {"X": X[:, :2], "y": y}, "2 features"),
        (lambda X, y: {"X": X, "y": y[:-1]}, "they have to be the same rows"),
        (lambda X, y: {"X": X, "y": np.column_stack([y, y])}, r"has to have shape \(50,\), as in fit"),
        (lambda X, y: {"X": X, "y": np.where(np.arange(50) == 3, np.nan, y)}, "y contains NaN"),
        (lambda X, y: {"X": np.where(X > 0.99, np.inf, X), "y": y}, "X contains infinity"),
        (lambda X, y: {"X": X, "y": y, "y_pred": y[:4]}, "y_pred should have shape"),
        (lambda X, y: {"X": X, "y": y, "sample_weight": -(y**2)}, "sample_weight has to be zero or more"),
        (lambda X, y: {"X": X[:0], "y": y[:0]}, "0 sample"),
    ],
)
@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_an_error_leaves_everything_as_it_was(change, message, inference, rng):
    X, y = make(rng)
    X[60, 0] = 1.0
    rio = fitted(X[:50], y[:50], inference=inference, max_iter=5, tol=0.5).calibrate(X[100:], y[100:])
    before = dict(rio.__dict__)
    expected = rio.predict(X, return_std=True)
    with pytest.raises(ValueError, match=message):
        rio.partial_fit(**change(X[50:100], y[50:100]))
    assert rio.__dict__.keys() == before.keys()
    assert all(rio.__dict__[name] is value for name, value in before.items())
    np.testing.assert_array_equal(rio.predict(X, return_std=True), expected)


def test_column_names_are_those_of_fit(rng):
    pandas = pytest.importorskip("pandas")
    X, y = make(rng)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    options = {"noise": "constant", "random_state": 0}
    rio = RIORegressor(lambda X: X["a"].to_numpy(), **options).fit(frame[:80], y[:80])
    rio.partial_fit(frame[80:], y[80:])
    with pytest.raises(ValueError, match="feature names"):
        rio.partial_fit(frame.rename(columns={"c": "d"}), y)


def test_rows_one_by_one(rng):
    X, y = make(rng, n=40)
    rio = fitted(X[:30], y[:30], inference="exact")
    together = pickle.loads(pickle.dumps(rio)).partial_fit(X[30:], y[30:])
    for i in range(30, 40):
        rio.partial_fit(X[[i]], y[[i]])
    np.testing.assert_allclose(rio.predict(X), together.predict(X), rtol=1e-8)
    assert rio.summary().n_rows == 40


def test_rows_of_the_summary_are_a_fair_sample(rng, monkeypatch):
    monkeypatch.setattr("rio_uq.rows.kept.MOST_ROWS", 500)

    def rows(value, n):
        return KeptRows(np.full((n, 1), value), np.zeros((n, 1)), np.zeros((n, 1)), np.ones(n), n)

    known = rows(0.0, 500)
    for _ in range(1500):
        known = keep_more(known, rows(1.0, 1), seed=3)
    assert len(known.weight) == 500
    assert known.n_fitted == 2000
    assert known.features.mean() == pytest.approx(0.75, abs=0.06)
    few = keep_more(rows(0.0, 3), rows(1.0, 4), seed=0)
    np.testing.assert_array_equal(few.features[:, 0], [0, 0, 0, 1, 1, 1, 1])


def test_memory_of_an_exact_gp_is_said_before_it_is_taken(monkeypatch):
    X = np.random.default_rng(0).uniform(size=(120, 2))
    rio = RIORegressor(lambda X: X[:, 0], inference="exact", noise="constant", tol=0.1, random_state=0)
    rio.fit(X[:50], X[:50, 1])
    before = rio.fitted_
    monkeypatch.setattr(exact, "memory_of_machine", lambda: 2 * 8 * 120**2 - 1)
    with pytest.raises(ValueError, match=r"120 rows needs 0\.0 GiB .* inference='sparse'"):
        rio.partial_fit(X[50:], X[50:, 1])
    assert rio.fitted_ is before
    with pytest.raises(ValueError, match=r"120 rows needs"):
        rio.fit(X, X[:, 1])
    monkeypatch.setattr(exact, "memory_of_machine", lambda: 2 * 8 * 120**2)
    monkeypatch.setattr(exact, "MUCH", 2 * 8 * 120**2 - 1)
    with pytest.warns(UserWarning, match="an exact GP of 120 rows needs"):
        rio.partial_fit(X[50:], X[50:, 1])
    assert exact.memory_needed(61_500, 1) > 56 * 2**30
