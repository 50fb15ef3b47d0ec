"""Conformal prediction with weights: laws of weighted ranks, and coverage under covariate shift."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor, load
from rio_uq.calibration.calibration import calibration_of, effective_rows
from rio_uq.calibration.conformal import SymmetricConformal, TwoSidedConformal
from rio_uq.calibration.shift import INVERSE_PENALTIES, relative_weight

pytestmark = pytest.mark.usefixtures("quick_fits")

every_kind = pytest.mark.parametrize("kind", [SymmetricConformal, TwoSidedConformal])
conformal = pytest.mark.parametrize("method", ["conformal", "conformal-asymmetric"])
laws = settings(max_examples=25, deadline=None, derandomize=True)
GRID = np.arange(1, 200) / 200
some_scores = arrays(float, st.integers(8, 40), elements=st.floats(-9, 9).map(lambda z: round(z, 1)))
some_weights = arrays(float, 40, elements=st.floats(0.01, 8).map(lambda w: round(w, 3)))


@every_kind
@laws
@given(z=some_scores)
def test_equal_weights_change_nothing(kind, z):
    plain, weighted = kind.of(z), kind.of(z, np.ones(len(z)))
    np.testing.assert_array_equal(weighted.ppf(GRID), plain.ppf(GRID))
    at = np.linspace(-10, 10, 99)
    np.testing.assert_allclose(weighted.cdf(at), plain.cdf(at), rtol=1e-12)
    assert weighted.std == plain.std


@every_kind
@laws
@given(z=some_scores, weights=some_weights)
def test_quantiles_are_monotone_and_go_with_the_distribution_function(kind, z, weights):
    scores = kind.of(z, weights[: len(z)])
    highest = 1 - kind.parts_beyond / (1 + weights[: len(z)].sum())
    p = GRID[np.abs(2 * GRID - 1) <= highest]
    quantiles = scores.ppf(p)
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles) >= 0).all()
    assert (scores.cdf(quantiles) >= p - 1e-9).all()
    assert (np.diff(scores.cdf(np.linspace(-10, 10, 99))) >= 0).all()


@every_kind
@laws
@given(z=some_scores, counts=arrays(int, 40, elements=st.integers(0, 3)))
def test_a_row_of_weight_k_is_k_rows(kind, z, counts):
    counts[:6] += 1
    n = counts[: len(z)]
    p = np.array([0.2, 0.3, 0.5, 0.66, 0.75])
    np.testing.assert_array_equal(kind.of(z, n.astype(float)).ppf(p), kind.of(np.repeat(z, n)).ppf(p))


@every_kind
@laws
@given(z=some_scores, weights=some_weights, level=st.sampled_from([0.5, 0.8, 0.9]))
def test_the_guarantee_with_known_weights(kind, z, weights, level):
    """Row i is the new one with a probability in proportion to its weight, and is covered at least as often as said."""
    w = weights[: len(z)]
    p = 0.5 + 0.5 * level * np.array([-1.0, 1.0])
    bounds = [kind.of(np.delete(z, i), np.delete(w, i) / w[i]).ppf(p) for i in range(len(z))]
    covered = [low <= score <= high for score, (low, high) in zip(z, bounds, strict=True)]
    assert w[covered].sum() >= (level - 1e-9) * w.sum()


def test_effective_rows():
    assert effective_rows(np.full(7, 3.0)) == pytest.approx(7.0)
    assert effective_rows(np.array([1.0, 0.0, 0.0])) == 1.0
    assert effective_rows(np.array([2.0, 1.0])) == pytest.approx(9 / 5)


def test_ratio_of_normal_distributions(rng):
    rows, new = rng.normal(size=(4000, 2)), rng.normal([0.8, 0.0], [0.7, 1.0], size=(4000, 2))
    weight = relative_weight(rows, new)
    truth = stats.norm(0.8, 0.7).pdf(rows[:, 0]) / stats.norm.pdf(rows[:, 0])
    assert np.corrcoef(weight, truth)[0, 1] > 0.98
    assert weight.mean() * np.mean(stats.norm(0.8, 0.7).pdf(new[:, 0]) / stats.norm.pdf(new[:, 0])) == pytest.approx(
        1.0, abs=0.15
    )


def test_rows_of_the_same_kind_have_about_equal_weights(rng):
    weight = relative_weight(rng.normal(size=(150, 5)), rng.normal(size=(300, 5)))
    assert effective_rows(weight) > 135
    assert weight.mean() == pytest.approx(1.0, abs=0.05)


@settings(laws, max_examples=2)
@given(exponent=st.integers(-20, 20), seed=st.integers(0, 9))
def test_units_of_features_do_not_matter(exponent, seed):
    rng = np.random.default_rng(seed)
    rows, new, unit = rng.normal(size=(30, 2)), rng.normal(0.5, 1.0, size=(20, 2)), 2.0**exponent
    np.testing.assert_allclose(relative_weight(unit * rows, unit * new), relative_weight(rows, new), rtol=1e-6)


def coverage(rng, kind, shift, n_columns, method="conformal", n_rows=300):
    """Of 90 % intervals for shifted rows, with and without weights; noise grows with the first column."""
    rows, new = rng.normal(size=(n_rows, n_columns)), rng.normal(size=(400, n_columns))
    new[:, : len(shift)] += shift

    def spread(X):
        return 0.3 + np.exp(0.8 * X[:, 0])

    scores = spread(rows)[:, None] * kind.rvs(size=(n_rows, 1), random_state=rng)
    weight = relative_weight(rows, new)
    shares = []
    for w in (None, weight):
        low, high = calibration_of(scores, method=method, weight=w).quantiles(np.array([0.05, 0.95]))[0, 0]
        shares.append(np.mean(kind.cdf(high / spread(new)) - kind.cdf(low / spread(new))))
    return shares


@pytest.mark.parametrize(("shift", "n_columns"), [([1.0], 1), ([0.7, 0.7], 5)], ids=["one column", "five columns"])
def test_coverage_under_covariate_shift(shift, n_columns):
    rng = np.random.default_rng(5)
    plain, weighted = np.mean([coverage(rng, stats.norm, shift, n_columns) for _ in range(4)], axis=0)
    assert plain < 0.82
    assert weighted == pytest.approx(0.9, abs=0.05)


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore:the 300 calibration rows count as")  # in a draw or two
@conformal
@pytest.mark.parametrize("kind", [stats.norm, stats.t(3), stats.expon(-1)], ids=["normal", "heavy", "skewed"])
@pytest.mark.parametrize(("shift", "n_columns"), [([1.0], 1), ([0.7, 0.7], 5), ([], 4)], ids=["one", "five", "none"])
def test_coverage_under_covariate_shift_over_many_draws(shift, n_columns, kind, method):
    rng = np.random.default_rng(6)
    shares = np.array([coverage(rng, kind, shift, n_columns, method) for _ in range(60)])
    plain, weighted = shares.mean(axis=0)
    error = 4.0 * shares[:, 1].std() / np.sqrt(len(shares))
    assert 0.885 - error < weighted < 0.93 + error
    assert (plain < 0.85) == bool(shift)


def draw(rng, n, shift=0.0):
    X = rng.normal([shift, 0.0], 1.0, size=(n, 2))
    return X, X[:, 0] + np.exp(0.8 * X[:, 0]) * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted(quick_fits):
    rng = np.random.default_rng(0)
    data = {"train": draw(rng, 80), "fresh": draw(rng, 300), "new": draw(rng, 300, 1.0), "test": draw(rng, 2000, 1.0)}
    options = {"noise": "constant", "random_state": 0}
    return RIORegressor(LinearRegression(), **options).fit(*data["train"]), data


@pytest.fixture
def few_penalties(monkeypatch):
    """For tests that hold whatever penalty is chosen."""
    monkeypatch.setattr("rio_uq.calibration.shift.INVERSE_PENALTIES", INVERSE_PENALTIES[::3])


@conformal
def test_rows_to_come(method, fitted):
    rio, data = copy(fitted[0]), fitted[1]

    def covered():
        low, high = rio.predict_interval(data["test"][0], confidence_level=0.9).T
        return np.mean((low <= data["test"][1]) & (data["test"][1] <= high))

    rio.calibrate(*data["fresh"], method=method)
    assert not rio.calibration_.is_weighted
    assert rio.calibration_.n_effective == (300.0,)
    assert covered() < 0.8
    rio.calibrate(*data["fresh"], method=method, X_new=data["new"][0])
    assert covered() == pytest.approx(0.9, abs=0.05)
    (n_effective,) = rio.calibration_.n_effective
    assert 60 < n_effective < 200
    assert f"n_effective=({n_effective},)" in repr(rio.calibration_)
    assert f"300, which count as {n_effective:.0f} by their weights" in str(rio.summary())
    y_pred = rio.estimator_.predict(data["new"][0])
    other = copy(rio).calibrate(*data["fresh"], method=method, X_new=data["new"][0], y_pred_new=y_pred)
    assert other.calibration_.n_effective == (n_effective,)


@pytest.mark.usefixtures("few_penalties")
@pytest.mark.filterwarnings("ignore:the 150 calibration rows")
@conformal
@pytest.mark.parametrize("by_group", [False, True])
def test_weights_are_stored(method, by_group, fitted, tmp_path):
    rio, data = copy(fitted[0]), fitted[1]
    groups = np.arange(300) % 2 if by_group else None
    rio.calibrate(*data["fresh"], method=method, X_new=data["new"][0], groups=groups)
    rio.save(tmp_path / "a.rio")
    other, X = load(tmp_path / "a.rio", estimator=rio.estimator_), data["test"][0][:9]
    given = {"confidence_level": 0.8, **({"groups": [0, 1, 1] * 3} if by_group else {})}
    np.testing.assert_array_equal(other.predict_interval(X, **given), rio.predict_interval(X, **given))
    assert other.calibration_.n_effective == rio.calibration_.n_effective


@pytest.mark.usefixtures("few_penalties")
def test_graphs_have_the_same_ends(fitted):
    onnxruntime = pytest.importorskip("onnxruntime")
    from rio_uq.onnx import export

    rio, data = copy(fitted[0]), fitted[1]
    rio.calibrate(*data["fresh"], X_new=data["new"][0])
    X = data["test"][0][:9]
    y_pred = rio.estimator_.predict(X)
    session = onnxruntime.InferenceSession(export(rio, levels=[0.9]).SerializeToString())
    lower, upper = session.run(["lower_0.9", "upper_0.9"], {"X": X, "y_pred": y_pred[:, None]})
    expected = rio.predict_interval(X, confidence_level=0.9)
    np.testing.assert_allclose(np.column_stack([lower, upper]), expected, rtol=1e-9)


@pytest.mark.usefixtures("few_penalties")
def test_several_outputs_share_their_weights(fitted):
    data = fitted[1]
    X, y = data["train"]
    rio = RIORegressor(LinearRegression(), random_state=0).fit(X, np.column_stack([y, -y]))
    rio.calibrate(data["fresh"][0], np.column_stack([data["fresh"][1]] * 2), X_new=data["new"][0])
    one, other = rio.calibration_.scores[0]
    assert sorted(one.weight) == sorted(other.weight)
    assert rio.predict_interval(X).shape == (80, 2, 2)


@pytest.mark.usefixtures("few_penalties")
def test_rows_to_come_that_are_nowhere_near(fitted):
    rio, data = copy(fitted[0]), fitted[1]
    with pytest.raises(
        ValueError, match=r"the 300 calibration rows have little in common with rows to come.*calibrate on"
    ):
        rio.calibrate(*data["fresh"], X_new=data["new"][0] + 30.0)
    with pytest.warns(
        UserWarning, match=r"300 calibration rows count as \d+ by their weights.* calibrate on more rows"
    ):
        rio.calibrate(*data["fresh"], X_new=data["new"][0] + [0.9, 0.0])
    with pytest.raises(ValueError, match=r"needs at least \d+ calibration rows with weights like these, and there are"):
        rio.predict_interval(data["test"][0], confidence_level=0.99)


@pytest.mark.usefixtures("few_penalties")
def test_wrong_use(fitted):
    rio, data = copy(fitted[0]), fitted[1]
    new = data["new"][0]
    for method in ("variance", "isotonic"):
        with pytest.raises(ValueError, match=f"'cross-conformal' can take; got method='{method}'"):
            rio.calibrate(*data["fresh"], method=method, X_new=new)
    with pytest.raises(ValueError, match="X_new has 4 rows, and at least 10 are needed"):
        rio.calibrate(*data["fresh"], X_new=new[:4])
    with pytest.raises(ValueError, match="y_pred_new are predictions for X_new"):
        rio.calibrate(*data["fresh"], y_pred_new=new[:, 0])
    with pytest.raises(ValueError, match="features"):
        rio.calibrate(*data["fresh"], X_new=new[:, :1])
    with pytest.raises(ValueError, match=r"calibrate needs rows X and y .* only method='cross-conformal' does without"):
        rio.calibrate()
    assert rio.calibration_ is None
