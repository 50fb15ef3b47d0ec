"""Weights and copies of rows: their scale does not matter, and what they are worth does not depend on inference."""

import numpy as np
import pytest

from rio_uq import RIORegressor

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("quick_fits")]


def draw(seed, n=40):
    """Predictions that lack a sine of the second input."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.4 * rng.normal(size=n)
    return X, y


def answers(X, y, new, **given):
    options = {name: given.pop(name) for name in ("inference", "weights") if name in given}
    rio = RIORegressor(n_inducing=25, noise="constant", random_state=0, **options)
    rio.fit(X, y, y_pred=X[:, 0], held_out=True, **given)
    return np.stack(rio.predict(new, y_pred=new[:, 0], return_std=True))


@pytest.mark.parametrize("inference", ["exact", "sparse"])
@pytest.mark.parametrize("factor", [1e-12, 1.0 / 40, 1000.0])
def test_their_scale_does_not_matter(inference, factor):
    (X, y), (new, _) = draw(0), draw(1)
    weight = np.random.default_rng(2).exponential(size=40)
    one, other = (answers(X, y, new, sample_weight=by * weight, inference=inference) for by in (1.0, factor))
    np.testing.assert_allclose(other, one, rtol=1e-6)


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_a_row_of_weight_two_is_the_row_twice(inference):
    (X, y), (new, _) = draw(0), draw(1)
    times = np.random.default_rng(2).integers(0, 4, size=40)
    repeated = answers(np.repeat(X, times, axis=0), np.repeat(y, times), new, inference=inference)
    weighted = answers(X, y, new, sample_weight=times.astype(float), inference=inference)
    np.testing.assert_allclose(repeated, weighted, rtol=1e-6)


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_all_rows_ten_times_tell_no_more_than_once(inference):
    (X, y), (new, _) = draw(0), draw(1)
    ten = answers(np.repeat(X, 10, axis=0), np.repeat(y, 10), new, inference=inference)
    np.testing.assert_allclose(ten, answers(X, y, new, inference=inference), rtol=1e-6)


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_error_bars_hold_with_copies_and_uneven_weights(inference):
    covered = []
    for seed in range(5):
        X, y = draw(seed)
        new, outcome = draw(100 + seed, 400)
        weight = np.random.default_rng(seed).exponential(size=400)
        copied = np.repeat(X, 10, axis=0), np.repeat(y, 10)
        mean, std = answers(*copied, new, sample_weight=50.0 * weight, inference=inference)
        covered.append(np.abs(outcome - mean) < 1.96 * std)
    assert 0.88 < np.mean(covered) < 0.99


def test_counts_are_more_measurements():
    (X, y), (new, _) = draw(0), draw(1)
    y = np.round(y)  # outcomes that recur: what varies continuously is not measured three times with the same result
    relative, counts = (
        answers(X, y, new, sample_weight=np.full(40, 3.0), weights=kind, inference="sparse")[1].mean()
        for kind in ("relative", "counts")
    )
    assert counts < 0.8 * relative


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_ninety_zeros_and_ten_ones_are_a_hundred_measurements(inference):
    X, y = np.zeros((100, 1)), np.repeat([0.0, 1.0], [90, 10])
    options = {"inference": inference, "distribution": "normal", "scale": "identity", "random_state": 0}
    rio = RIORegressor(**options).fit(X, y, y_pred=np.zeros(100), held_out=True)
    mean, std = rio.predict(X[:1], y_pred=np.zeros(1), return_std=True)
    latent = rio.predict(X[:1], y_pred=np.zeros(1), return_std=True, include_noise=False)[1]
    assert mean[0] == pytest.approx(0.1, abs=0.02)
    assert std[0] == pytest.approx(0.3, abs=0.03)
    assert latent[0] < 0.06


def test_new_rows_have_weights_in_the_unit_of_the_first():
    (X, y), (more, outcome), (new, _) = draw(0), draw(3), draw(1)
    std = []
    for factor in (1.0, 500.0):
        rio = RIORegressor(noise="constant", random_state=0)
        rio.fit(X, y, y_pred=X[:, 0], sample_weight=np.full(40, factor), held_out=True)
        rio.partial_fit(more, outcome, y_pred=more[:, 0], sample_weight=np.full(40, factor))
        std.append(rio.predict(new, y_pred=new[:, 0], return_std=True)[1])
    np.testing.assert_allclose(std[0], std[1], rtol=1e-6)


def test_counts_of_outcomes_that_never_recur_are_copies(rng):
    """Two measurements that agree in all digits would say that there is no noise."""
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    counts = rng.integers(1, 4, size=60)
    with pytest.warns(UserWarning, match=r"agreed in all digits.*weights are taken as relative"):
        found = RIORegressor(weights="counts", random_state=0).fit(
            X, y, y_pred=X[:, 0], sample_weight=counts, held_out=True
        )
    relative = RIORegressor(random_state=0).fit(X, y, y_pred=X[:, 0], sample_weight=counts, held_out=True)
    np.testing.assert_array_equal(*(rio.predict(X, y_pred=X[:, 0], return_std=True) for rio in (found, relative)))
    assert np.sqrt(found.noise_variance_) > 0.4


def test_counts_of_outcomes_that_recur_are_measurements(rng):
    X = np.repeat(np.arange(10.0), 2)[:, None]
    y = np.tile([0.0, 1.0], 10)
    rio = RIORegressor(weights="counts", random_state=0)
    rio.fit(X, y, y_pred=np.full(20, 0.5), sample_weight=rng.integers(1, 40, size=20), held_out=True)
    assert rio.fitted_.gp.weight_unit.are_counts
