"""Cases that are hard but allowed: they work, quietly, and give sensible numbers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from rio_uq import RIORegressor

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("few_iterations")]

QUICK = {"scale": "identity", "distribution": "normal", "training": {"starts": "rio", "guard": False}}
"""For cases that are hard for the kernel or for the arrays alone."""

INFERENCES = pytest.mark.parametrize("inference", ["exact", "sparse"])


def fit(X, y, y_pred, **options):
    return RIORegressor(random_state=0, n_inducing=20, **options).fit(X, y, y_pred=y_pred)


def check(rio, X, y_pred):
    mean, std = rio.predict(X, y_pred=y_pred, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std > 0).all()
    return mean, std


@INFERENCES
def test_one_row(inference):
    X, y = np.array([[1.0, 2.0]]), np.array([3.0])
    rio = fit(X, y, np.array([2.0]), inference=inference)
    mean, std = check(rio, X, np.array([2.0]))
    assert 2.0 < mean[0] <= 3.0
    assert 0.1 < std[0] < 10.0


@pytest.mark.parametrize("n_rows", [2, 3])
@pytest.mark.parametrize("model", [LinearRegression(), DecisionTreeRegressor()])
def test_error_bars_of_two_or_three_rows_are_no_smaller_than_the_outcomes_spread(model, n_rows, rng):
    """A model that goes through all of its rows leaves no residuals to learn from."""
    for _ in range(5):
        X = rng.normal(size=(n_rows, 2))
        y = X[:, 0] + rng.normal(size=n_rows)
        rio = RIORegressor(model, random_state=0).fit(X, y)
        _, std = rio.predict(rng.normal(size=(50, 2)), return_std=True)
        assert std.min() >= 0.999 * np.std(y, ddof=1)


def test_fewer_rows_than_points(rng):
    X = rng.normal(size=(6, 2))
    rio = RIORegressor(inference="sparse", n_inducing=500, random_state=0).fit(X, X[:, 0], y_pred=np.zeros(6))
    check(rio, X, np.zeros(6))


@INFERENCES
def test_duplicate_rows(inference, rng):
    X = np.repeat(rng.normal(size=(10, 2)), 8, axis=0)
    y = X[:, 0] + 0.1 * rng.normal(size=80)
    rio = fit(X, y, np.zeros(80), inference=inference)
    mean, std = check(rio, X, np.zeros(80))
    np.testing.assert_allclose(mean, X[:, 0], atol=0.2)
    np.testing.assert_allclose(std, 0.1, rtol=0.5)


@INFERENCES
def test_a_constant_column(inference, friedman):
    X, y = friedman
    X = np.column_stack([X, np.full(len(X), 1e6)])
    rio = fit(X, y, X[:, 0], inference=inference)
    check(rio, X, X[:, 0])
    moved = X.copy()
    moved[:, 4] += 1.0
    check(rio, moved, X[:, 0])


@INFERENCES
def test_a_constant_residual(inference, friedman):
    X, y = friedman
    rio = fit(X, y, y - 2.5, inference=inference)
    mean, std = check(rio, X, y - 2.5)
    np.testing.assert_allclose(mean, y, rtol=1e-9)
    assert (std < 1e-6).all()


@INFERENCES
def test_a_perfect_model(inference, friedman):
    X, y = friedman
    rio = fit(X, y, y, inference=inference)
    mean, std = check(rio, X, y)
    np.testing.assert_allclose(mean, y, rtol=1e-9)
    assert (std < 1e-6).all()
    assert rio.trust_ == pytest.approx(1.0, abs=1e-6)


@INFERENCES
def test_everything_zero(inference, rng):
    X = rng.normal(size=(20, 2))
    mean, std = check(fit(X, np.zeros(20), np.zeros(20), inference=inference), X, np.zeros(20))
    np.testing.assert_allclose(mean, 0.0, atol=1e-100)
    assert (std < 1e-50).all()


def test_a_constant_model(friedman):
    X, y = friedman
    rio = fit(X, y, np.full(120, 7.0))
    assert np.isnan(rio.trust_)
    mean, _ = check(rio, X, np.full(120, 7.0))
    assert np.corrcoef(mean, y)[0, 1] > 0.99


def test_one_constant_output_of_two(friedman):
    X, y = friedman
    other = X[:, 0] + 0.5
    both = fit(X, np.column_stack([y, other]), np.column_stack([np.full(120, 7.0), 0.8 * other]))
    assert np.isnan(both.trust_).tolist() == [True, False]
    assert both.trust_[1] == pytest.approx(1.0, abs=0.5)


@INFERENCES
def test_extreme_scales(inference, friedman):
    X, y = (values[:40] for values in friedman)
    y_pred = LinearRegression().fit(X, y).predict(X)
    expected_mean, expected_std = check(fit(X, y, y_pred, inference=inference), X, y_pred)
    for x_scale, y_scale in ((1e-8, 1e8), (1e8, 1e-8)):
        rio = fit(x_scale * X, y_scale * y, y_scale * y_pred, inference=inference)
        mean, std = check(rio, x_scale * X, y_scale * y_pred)
        np.testing.assert_allclose(mean / y_scale, expected_mean, rtol=1e-2, atol=0.02)
        np.testing.assert_allclose(std / y_scale, expected_std, rtol=5e-2)


@INFERENCES
def test_four_hundred_features(inference, rng):
    X = rng.normal(size=(100, 400))
    y = X[:, 0] + 0.1 * rng.normal(size=100)
    mean, _ = check(fit(X, y, 0.5 * X[:, 0], inference=inference, tol=1e-4, **QUICK), X, 0.5 * X[:, 0])
    assert np.corrcoef(mean, y)[0, 1] > 0.9


def test_float32_input_and_read_only_arrays(friedman):
    X, y = (array.astype(np.float32) for array in friedman)
    y_pred = (10 * X[:, 0]).astype(np.float32)
    for array in (X, y, y_pred):
        array.flags.writeable = False
    before = X.copy(), y.copy(), y_pred.copy()
    rio = fit(X, y, y_pred, **QUICK)
    mean, _ = check(rio, X, y_pred)
    assert mean.dtype == np.float64
    for array, copy in zip((X, y, y_pred), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_fortran_order_and_strides(friedman):
    X, y = (values[:60] for values in friedman)
    y_pred = X[:, 0]
    expected = fit(X, y, y_pred, **QUICK).predict(X, y_pred=y_pred)
    wide = np.zeros((120, 8))
    wide[::2, ::2] = X
    for other in (np.asfortranarray(X), wide[::2, ::2]):
        np.testing.assert_allclose(fit(other, y, y_pred, **QUICK).predict(X, y_pred=y_pred), expected, rtol=1e-6)


def test_far_from_the_data_the_std_is_that_of_the_prior(friedman):
    X, y = friedman
    training = {"average": False}
    rio = fit(X, y, np.zeros(120), kernel="input", distribution="normal", scale="identity", training=training)
    _, near = rio.predict(X, y_pred=np.zeros(120), return_std=True)
    _, far = rio.predict(X + 100, y_pred=np.zeros(120), return_std=True)
    prior = np.sqrt(rio.hyperparameters_["input:matern52"]["variance"] + rio.noise_variance_)
    np.testing.assert_allclose(far, prior, rtol=1e-6)
    assert far.min() > 3 * near.max()


@pytest.mark.parametrize(
    ("kernel", "inference"),
    [("rbf", "exact"), ("matern12", "sparse"), ("matern52", "exact"), ("rational_quadratic", "sparse")],
)
def test_a_row_far_away_does_not_touch_the_others(inference, kernel, friedman):
    X, y = friedman
    rio = fit(X, y, X[:, 0], inference=inference, input_kernel=kernel, noise="constant", **QUICK)
    expected = rio.predict(X, y_pred=X[:, 0], return_std=True)
    for value in (1e4, 1e7, 1e20, 1e200):
        moved = X.copy()
        moved[0, 0] = value
        mean, std = check(rio, moved, X[:, 0])
        np.testing.assert_allclose(mean[1:], expected[0][1:], rtol=1e-9)
        np.testing.assert_allclose(std[1:], expected[1][1:], rtol=1e-7)


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12])
def test_a_large_offset_of_y_does_not_merge_rows(offset, rng):
    y = offset + 50 * rng.normal(size=300)
    rio = RIORegressor(kernel="output", random_state=0).fit(np.zeros((300, 1)), y, y_pred=np.full(300, offset))
    assert np.sqrt(rio.noise_variance_) == pytest.approx(50.0, rel=0.15)
    assert rio.predict(np.zeros((1, 1)), y_pred=[offset])[0] == pytest.approx(y.mean(), abs=5.0)


def test_extreme_units_of_the_features(friedman):
    X, y = (values[:60] for values in friedman)
    expected, _ = check(fit(X, y, X[:, 0], **QUICK), X, X[:, 0])
    for scale in (1e-200, 1e200):
        mean, _ = check(fit(scale * X, y, X[:, 0], **QUICK), scale * X, X[:, 0])
        np.testing.assert_allclose(mean, expected, rtol=1e-3)


def test_several_threads_at_once(friedman):
    X, y = friedman
    rio = fit(X, y, X[:, 0], **QUICK)
    expected = rio.predict(X, y_pred=X[:, 0])
    with ThreadPoolExecutor(4) as executor:
        for answer in executor.map(lambda _: rio.predict(X, y_pred=X[:, 0]), range(20)):
            np.testing.assert_array_equal(answer, expected)


def copied(rng, n=120):
    """Rows of which a third stand twice, with an outcome that is mostly noise."""
    X = rng.uniform(size=(n, 3))
    y = np.sin(3.0 * X[:, 0]) + rng.normal(size=n)
    return np.vstack([X, X[: n // 3]]), np.concatenate([y, y[: n // 3]])


def test_copies_of_rows_do_not_tell_that_there_is_no_noise(rng):
    X, y = copied(rng)
    rio = RIORegressor(noise="constant", scale="identity", random_state=0).fit(X, y, y_pred=np.zeros(len(y)))
    alone = RIORegressor(noise="constant", scale="identity", random_state=0).fit(X[:120], y[:120], y_pred=np.zeros(120))
    assert rio.noise_variance_ == pytest.approx(1.0, rel=0.5)
    assert rio.noise_variance_ == pytest.approx(alone.noise_variance_, rel=0.1)


def test_repeated_measurements_tell_how_large_the_noise_is(rng):
    X = np.repeat(rng.uniform(size=(40, 2)), 2, axis=0)
    y = (rng.uniform(size=80) < 0.5).astype(float)  # equal outcomes are common, and no copies
    rio = RIORegressor(noise="constant", scale="identity", random_state=0).fit(X, y, y_pred=np.zeros(80))
    assert rio.noise_variance_ == pytest.approx(0.25, rel=0.35)
