"""n_inducing="auto": as many inducing points as pay."""

import numpy as np
import pytest
from scipy.linalg import lapack

from rio_uq import RIORegressor, fitting
from rio_uq.gp import inducing
from rio_uq.gp.kernels.io import io_kernel

pytestmark = pytest.mark.usefixtures("quick_fits")


def data(rng, frequency, n=600):
    X = rng.uniform(size=(n, 2))
    return X, np.sin(frequency * X[:, 0]) * np.cos(frequency * X[:, 1]) + 0.1 * rng.normal(size=n)


def fitted(X, y, **options):
    usual = {"n_inducing": "auto", "inference": "sparse", "noise": "constant", "tol": 1e-3, "random_state": 0}
    return RIORegressor(lambda X: 0.0 * X[:, 0], **{**usual, **options}).fit(X, y)


def test_smooth_data_get_few_points_and_rough_data_many(rng):
    smooth, rough = (fitted(*data(rng, frequency, n=250)).n_inducing_ for frequency in (1.0, 15.0))
    assert smooth <= 20
    assert rough >= 80


def test_a_smaller_budget_never_gives_more_points(rng, monkeypatch):
    monkeypatch.setattr(fitting, "clock", lambda: 0.0)
    X, y = data(rng, 15.0, n=100)
    chosen = [fitted(X, y, training={"time_budget": seconds}, tol=1e-2).n_inducing_ for seconds in (0.01, 0.1, 60.0)]
    assert chosen == sorted(chosen)
    assert chosen[0] < chosen[-1]
    assert chosen[-1] == fitted(X, y, tol=1e-2).n_inducing_


def test_what_is_chosen_leaves_little_to_gain(rng):
    """Twice the points that were chosen gain less than a hundredth of a nat for a row."""
    X, y = data(rng, 6.0, n=200)
    rio = fitted(X, y)
    twice = fitted(X, y, n_inducing=2 * rio.n_inducing_)
    assert 0.0 < twice.bound_ - rio.bound_ < 2.0 * inducing.GAIN_PER_ROW * len(X)
    few = fitted(X, y, n_inducing=rio.n_inducing_ // 4)
    assert rio.bound_ - few.bound_ > inducing.GAIN_PER_ROW * len(X)


@pytest.mark.slow
def test_rough_data_are_not_taken_for_noise(rng):
    """With long lengthscales they look like it, and ten points would be enough."""
    X, y = data(rng, 36.0, n=1500)
    rio = fitted(X, y, tol=1e-2)
    assert rio.n_inducing_ > 300
    assert rio.noise_variance_ < 0.25 * y.var()


@pytest.mark.parametrize("method", inducing.METHODS)
def test_every_method_and_few_rows(method, rng):
    X, y = data(rng, 3.0, n=12)
    assert 1 <= fitted(X, y, training={"inducing": method}, max_iter=500).n_inducing_ <= 12


def test_points_given_are_as_many_as_they_are(rng):
    X, y = data(rng, 1.0, n=100)
    assert fitted(X, y, training={"inducing": rng.normal(size=(7, 3))}).n_inducing_ == 7


def test_exact_inference_has_its_rows_as_points(rng):
    X, y = data(rng, 1.0, n=60)
    assert fitted(X, y, inference="exact").n_inducing_ == 60


def test_pivots_are_those_of_lapack_and_know_the_conditional_variance_of_other_rows(rng):
    kernel, theta, rows = io_kernel(2, 1), np.zeros(4), rng.normal(size=(30, 3))
    matrix = kernel.matrix(theta, rows, rows)
    found = list(inducing._pivots(kernel, theta, rows))
    pivots = [pivot.row for pivot in found]
    _, expected, rank, _ = lapack.dpstrf(matrix, tol=1e-5, lower=1)
    assert pivots[:rank] == list(expected[:rank] - 1)
    for m in (0, 1, 7):
        taken, others = pivots[:m], np.setdiff1d(np.arange(30), pivots[:m])
        cross = matrix[np.ix_(taken, others)]
        left = matrix.diagonal()[others] - (cross * np.linalg.solve(matrix[np.ix_(taken, taken)], cross)).sum(axis=0)
        assert found[m].unexplained == pytest.approx(left.mean(), rel=1e-6)


def test_copies_of_rows_are_not_taken_twice(rng):
    rows = np.repeat(rng.normal(size=(6, 3)), 5, axis=0)
    points = inducing.greedy(io_kernel(2, 1), np.zeros(4), rows, 20)
    assert len(points) == len(np.unique(points, axis=0)) == 6


def test_more_seconds_or_fewer_rows_afford_more_points():
    points = [inducing.affordable(seconds, 10_000) for seconds in (1e-3, 1.0, 10.0, 1e6)]
    assert points == sorted(points)
    assert points[0] == inducing.FEWEST_POINTS
    assert points[-1] == inducing.MOST_POINTS
    assert points[1] < points[2] < inducing.affordable(10.0, 5000)


def test_rows_without_any_variance_are_one_point():
    kernel = io_kernel(2, 1, input_family="linear", output_family="linear", ard=True)
    assert inducing.greedy(kernel, np.zeros(3), np.zeros((5, 3)), 5).shape == (1, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_inducing": "many"}, "at least 1, or 'auto'; got 'many'"),
        ({"n_inducing": 0}, "n_inducing has to be a whole number of at least 1"),
        ({"training": {"time_budget": -1.0}}, "a number of seconds above 0; got -1.0"),
        ({"training": {"time_budget": "1 minute"}}, "a number of seconds above 0"),
        ({"training": {"time_budget": True}}, "a number of seconds above 0"),
    ],
)
def test_what_cannot_be_is_said(options, message, rng):
    with pytest.raises(ValueError, match=message):
        fitted(*data(rng, 1.0, n=20), **options)
