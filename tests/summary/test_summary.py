"""A summary tells the truth."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from rio_uq import RIORegressor, load
from rio_uq.gp.without_model import ModelChoice
from rio_uq.rows.kept import FEWEST_ROWS, MOST_NUMBERS, MOST_ROWS, keep_rows
from rio_uq.summary.bands import Band, worst_bands
from rio_uq.summary.parts import without_shared_slope

pytestmark = pytest.mark.usefixtures("quick_fits")

FAST = {"random_state": 0}


@pytest.fixture(scope="module")
def table():
    """Residuals depend on "b" alone; the model's predictions are the first column."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(200, 3)), columns=["a", "b", "c"])
    return X, X["a"] + np.sin(5.0 * X["b"]) + 0.1 * rng.normal(size=200)


def first_column(X):
    return np.asarray(X)[:, 0]


@pytest.fixture(scope="module")
def rio(table):
    return RIORegressor(first_column, **FAST).fit(*table)


def test_shares_of_variance_add_up_to_the_residuals(rio, table):
    X, y = table
    summary = rio.summary()
    assert sum(summary.shares) == pytest.approx(1.0)
    assert min(summary.shares) >= 0.0
    assert summary.noise_std == pytest.approx(np.sqrt(rio.noise_variance_))
    _, latent = rio.predict(X, return_std=True, include_noise=False)
    parts = [np.var(rio.predict_residual(X)), np.mean(latent**2), rio.noise_variance_]
    shares = [summary.shares.input + summary.shares.output, summary.shares.unsettled, summary.shares.noise]
    np.testing.assert_allclose(shares, np.array(parts) / np.sum(parts))
    assert np.sum(parts) == pytest.approx(np.var(y - X["a"]), rel=0.1)


@pytest.mark.parametrize("features", [None, ["b"], ["c"], []])
def test_the_standard_deviation_of_residuals_is_what_it_says(features, table):
    X, y = table
    options = {"kernel": "output"} if features == [] else {"features": features}
    rio = RIORegressor(first_column, **options, **FAST).fit(X[:150], y[:150])
    residual = y - X["a"]
    assert rio.summary().residual_std == pytest.approx(np.std(residual[:150]))
    assert rio.summary(X[150:]).residual_std == pytest.approx(np.std(residual[:150]))
    assert rio.partial_fit(X[150:], y[150:]).summary().residual_std == pytest.approx(np.std(residual))


def test_weights_count_in_the_standard_deviation_of_residuals(table):
    X, y = table
    weight = np.where(X["b"] > 0.5, 2.0, 1.0)
    summary = RIORegressor(first_column, **FAST).fit(X, y, sample_weight=weight).summary()
    assert summary.residual_std == pytest.approx(np.sqrt(np.cov(y - X["a"], aweights=weight, ddof=0)))


def test_a_file_keeps_the_standard_deviation_of_residuals(rio, tmp_path):
    rio.save(tmp_path / "model.rio")
    assert load(tmp_path / "model.rio", estimator=first_column).summary().residual_std == rio.summary().residual_std


def test_parts_that_cancel_are_shown_without_the_slope_they_share(rng):
    y_pred = rng.normal(size=(300, 1))
    wave, other = np.sin(4.0 * y_pred), rng.normal(size=(300, 1))
    shown = without_shared_slope(other + 50.0 * y_pred, wave - 49.5 * y_pred, y_pred)
    np.testing.assert_allclose(shown[0] + shown[1], other + wave + 0.5 * y_pred, atol=1e-9)
    assert np.std(shown[0]) < 1.1
    assert np.std(shown[1]) < 1.3
    apart = without_shared_slope(other, wave, y_pred)
    np.testing.assert_array_equal(apart[0], other)


def test_what_depends_on_a_feature_is_the_input_part(rio):
    shares = rio.summary().shares
    assert shares.input > 0.9
    assert shares.output < 0.02


def test_what_depends_on_the_prediction_is_the_output_part(rng):
    X = rng.normal(size=(200, 2))
    y_pred = rng.uniform(-2.0, 2.0, size=200)
    y = y_pred + np.sin(3.0 * y_pred) + 0.1 * rng.normal(size=200)
    shares = RIORegressor(**FAST).fit(X, y, y_pred=y_pred).summary().shares
    assert shares.output > 0.9
    assert shares.input < 0.05


def test_what_depends_on_nothing_is_noise(rng):
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200)
    summary = RIORegressor(first_column, training={"starts": "auto"}, **FAST).fit(X, y).summary()
    assert summary.shares.noise > 0.9
    assert "nowhere in particular" in str(summary)
    assert summary.trust == pytest.approx(1.0, abs=0.2)


def test_one_kernel_gets_the_whole_correction(table):
    X, _ = table
    for kernel, other in (("input", "output"), ("output", "input")):
        for target in ("residual", "outcome"):
            rio = RIORegressor(first_column, kernel=kernel, target=target, **FAST).fit(*table)
            shares = rio.summary().shares
            assert getattr(shares, other) == 0.0
            _, std = rio.predict(X, return_std=True)
            learnt = np.var(rio.predict_residual(X))
            assert getattr(shares, kernel) == pytest.approx(learnt / (learnt + np.mean(std**2)))
    assert "does not look at features" in str(rio.summary())


def test_the_feature_behind_residuals_comes_first_and_a_constant_one_means_nothing(table):
    X, y = table
    summary = RIORegressor(first_column, **FAST).fit(X.assign(constant=3.0), y).summary()
    names = [feature.name for feature in summary.features]
    assert names[0] == "b"
    assert names[-1] == "constant"
    assert summary.features[0].relevance > 3.0 * summary.features[1].relevance
    assert summary.features[-1].relevance == 0.0


def test_relevance_follows_from_the_lengthscale(table):
    X, y = table
    rio = RIORegressor(first_column, input_kernel="rbf+linear", **FAST).fit(X, y)
    rbf, linear = (rio.hyperparameters_[name] for name in ("input:rbf", "input:linear"))
    step = X.std(ddof=0).to_numpy()
    squares = 2.0 * rbf["variance"] * (1.0 - np.exp(-0.5 * (step / rbf["lengthscale"]) ** 2))
    expected = dict(zip(X.columns, np.sqrt(squares + linear["variance"] * step**2), strict=True))
    found = {feature.name: feature.relevance for feature in rio.summary().features}
    assert found == pytest.approx(expected, rel=1e-6)


def test_units_of_y_are_those_of_the_summary(table):
    X, y = table
    one = RIORegressor(first_column, **FAST).fit(X, y).summary()
    thousand = RIORegressor(lambda X: 1000.0 * first_column(X), **FAST).fit(X, 1000.0 * y).summary()
    np.testing.assert_allclose(thousand.shares, one.shares, atol=1e-3)
    for name in ("residual_std", "noise_std", "bias", "correction_size"):
        assert getattr(thousand, name) == pytest.approx(1000.0 * getattr(one, name), rel=1e-2, abs=1.0)
    assert thousand.bands[0].size == pytest.approx(1000.0 * one.bands[0].size, rel=1e-2)


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (None, {"a", "b", "c"}),
        (["c", "b"], {"b", "c"}),
        ([1, 2], {"b", "c"}),
        ([True, True, False], {"a", "b"}),
        (make_column_transformer((StandardScaler(), ["b"])), {"standardscaler__b"}),
        (make_column_transformer((OneHotEncoder(), [0]), remainder="drop"), None),
        (FunctionTransformer(lambda X: np.asarray(X)[:, :2]), {"feature 0", "feature 1"}),
        (lambda X: np.asarray(X)[:, 1:], {"feature 0", "feature 1"}),
    ],
)
def test_features_have_names(features, expected, table):
    X, y = (part[:40] for part in table)
    summary = RIORegressor(first_column, features=features, tol=0.1).fit(X, y).summary()
    names = {feature.name for feature in summary.features}
    if expected is None:
        assert len(names) == 40
        assert all(name.startswith("onehotencoder__a_") for name in names)
    else:
        assert names == expected


def test_columns_without_names_are_numbered(table):
    X, y = table[0].to_numpy()[:40], table[1][:40]
    for features, expected in ((None, {"x0", "x1", "x2"}), ([2], {"x2"})):
        summary = RIORegressor(first_column, features=features, tol=0.1).fit(X, y).summary()
        assert {feature.name for feature in summary.features} == expected


def test_where_the_model_errs(rng):
    y_pred = rng.uniform(0.0, 50.0, size=400)
    X = rng.uniform(size=(400, 2))
    y = y_pred - np.where(y_pred > 40.0, 2.1, 0.0) + 0.05 * rng.normal(size=400)
    summary = RIORegressor(**FAST).fit(X, y, y_pred=y_pred).summary()
    worst = summary.bands[0]
    assert worst.variable is None
    assert worst.low == pytest.approx(40.0, abs=2.0)
    assert worst.high == np.inf
    assert worst.correction == pytest.approx(-2.1, abs=0.15)
    assert worst.share == pytest.approx(0.2, abs=0.01)
    assert f"  {worst}\n" in str(summary)


@pytest.mark.parametrize(
    ("band", "words"),
    [
        (
            Band(None, 40.0, np.inf, 0.2, -2.1, 2.1),
            "predictions above 40 are too high by 2.1 on average (20 % of rows)",
        ),
        (Band("age", -np.inf, 30.0, 0.5, 1234.5, 1300.0), "predictions where age is up to 30 are too low by 1,230 on"),
        (
            Band("age", 30.0, 40.0, 0.5, 0.1, 3.0),
            "age is between 30 and 40 are corrected by 3 on average, in both directions",
        ),
        (Band("sex", 1.0, 1.0, 0.5, 2e-9, 2e-9), "predictions where sex is 1 are too low by 2e-09 on average"),
        (Band("sex", 0.0, 0.0, 0.5, 0.0, 0.0), "predictions where sex is 0 are not corrected"),
    ],
)
def test_bands_in_words(band, words):
    assert words in str(band)


def test_bands_cover_all_rows_once(rng):
    values = rng.normal(size=100).round(1)
    for variable in (values, np.sign(values), rng.integers(0, 2, size=100).astype(float)):
        # With one more unit of correction in each band, every band in turn is the worst.
        share = 0.0
        seen = np.zeros(100, dtype=bool)
        while not seen.all():
            (band,) = worst_bands([("v", variable)], np.where(seen, 0.0, 1.0), np.ones(100), n_bands=5, output=0)
            rows = (variable > band.low) & (variable <= band.high) if band.low < band.high else variable == band.low
            assert not (rows & seen).any()
            assert band.share == pytest.approx(rows.mean())
            seen |= rows
            share += band.share
        assert share == pytest.approx(1.0)
    assert worst_bands([("v", np.ones(100))], np.ones(100), np.ones(100), n_bands=5, output=0) == []


def test_weights_count_rows(rng):
    X = rng.uniform(size=(60, 1))
    y = np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=60)
    weight = rng.integers(1, 4, size=60)
    weighted = RIORegressor(LinearRegression().fit(X, y), **FAST).fit(X, y, sample_weight=weight).summary()
    rows = np.repeat(np.arange(60), weight)
    repeated = RIORegressor(LinearRegression().fit(X, y), **FAST).fit(X[rows], y[rows]).summary()
    np.testing.assert_allclose(weighted.shares, repeated.shares, atol=1e-3)
    assert weighted.bias == pytest.approx(repeated.bias, abs=1e-3)
    assert weighted.correction_size == pytest.approx(repeated.correction_size, rel=1e-3)


def test_other_rows_can_be_spoken_about(rio, table):
    X, _ = table
    rows = X["b"] < 0.2
    summary = rio.summary(X[rows])
    assert summary.bias == pytest.approx(rio.predict_residual(X[rows]).mean())
    assert summary.n_rows == 200
    with_predictions = rio.summary(X[rows], y_pred=X["a"][rows])
    assert with_predictions.bias == pytest.approx(summary.bias)
    with pytest.raises(ValueError, match="give both"):
        rio.summary(y_pred=X["a"])
    with pytest.raises(NotFittedError):
        RIORegressor(first_column).summary()


def test_the_noise_in_words(rng):
    X = rng.uniform(size=(300, 1))
    y = (0.02 + X[:, 0]) * rng.normal(size=300)
    varying = RIORegressor(lambda X: np.zeros(len(X)), noise="io", **FAST).fit(X, y).summary()
    assert varying.noise == "varying"
    low, high = varying.noise_range
    assert low < 0.3
    assert high > 0.6
    assert "Noise depends on the row" in str(varying)
    assert np.isnan(varying.trust)
    assert "Trust in the model's output is not known" in str(varying)
    same = RIORegressor(first_column, noise="io", **FAST).fit(X, X[:, 0] + rng.normal(size=300)).summary()
    assert same.noise == "no evidence"
    assert "no evidence" in str(same)
    assert same.noise_range[0] == pytest.approx(same.noise_range[1])


def test_heavy_tails_in_words(rng):
    X = rng.uniform(size=(80, 1))
    y = X[:, 0] + 0.1 * rng.standard_t(2, size=80)
    heavy = RIORegressor(first_column, **FAST | {"noise": "student"}).fit(X, y).summary()
    assert heavy.tails < 10.0
    assert f"a Student likelihood with {heavy.tails:.1f} degrees of freedom" in str(heavy)
    normal = RIORegressor(first_column, **FAST | {"noise": "constant"}).fit(X, y).summary()
    assert normal.tails is None
    assert "heavy tails:" not in str(normal)


def test_calibration_is_told(rio, table):
    assert not rio.summary().calibrated
    assert "not calibrated" in str(rio.summary())
    other = pickle.loads(pickle.dumps(rio)).calibrate(*table)
    assert other.summary().calibrated
    assert "were calibrated" in str(other.summary())


def test_words(rio):
    summary = rio.summary()
    text = str(summary)
    assert repr(summary) == text
    assert "200 rows" in text
    assert "there is no evidence that it depends on them" in text
    assert f"Trust in the model's output: {rio.trust_:.2f}" in text
    assert max(map(len, text.splitlines())) <= 120


def test_what_is_not_learnt_is_said(table):
    with pytest.warns(UserWarning, match="before it had converged"):
        rio = RIORegressor.paper(first_column, variant="R+I", max_iter=1).fit(*table)
    text = str(rio.summary())
    assert "stopped before it had converged" in text
    assert "share one lengthscale (ard=False)" in text
    assert "by choice" in text
    few = RIORegressor(first_column, **FAST).fit(*(part[:8] for part in table)).summary()
    assert few.bands == ()
    assert "nowhere in particular" in str(few)


def test_several_outputs(table):
    X, y = table
    outputs = np.stack([y, 10.0 * X["b"] ** 2], axis=1)
    rio = RIORegressor(LinearRegression(), **FAST).fit(X, outputs)
    summary = rio.summary()
    np.testing.assert_allclose(np.sum(summary.shares, axis=0), 1.0)
    assert summary.noise_std.shape == summary.bias.shape == summary.features[0].relevance.shape == (2,)
    assert {band.output for band in summary.bands} == {0, 1}
    assert "Output 1" in str(summary)


def test_few_rows_are_kept(rng):
    features, y_pred = rng.normal(size=(5000, 2)), rng.normal(size=(5000, 1))
    used = np.arange(10, 5000)
    known = keep_rows(features, y_pred, y_pred, None, used, rng)
    assert len(known.features) == MOST_ROWS
    assert known.n_fitted == 4990
    kept = np.isin(features[:, 0], known.features[:, 0])
    np.testing.assert_array_equal(known.y_pred, y_pred[kept])
    assert not kept[:10].any()
    assert kept[:2500].mean() == pytest.approx(0.4, abs=0.05)
    for n_columns, n_rows in ((999, 1000), (50_000, FEWEST_ROWS)):
        zeros, wide_features = np.zeros((1500, 1)), np.empty((1500, n_columns), dtype=np.float16)
        wide = keep_rows(wide_features, zeros, zeros, None, np.arange(1500), rng)
        assert len(wide.features) == n_rows
        assert n_rows == FEWEST_ROWS or wide.features.size <= MOST_NUMBERS
    weight = rng.uniform(size=50)
    few = keep_rows(features[:50], y_pred[:50], y_pred[:50], weight, used[:40], rng)
    np.testing.assert_array_equal(few.features, features[10:50])
    np.testing.assert_array_equal(few.weight, weight[10:])


def test_it_is_about_the_fit_and_not_about_parameters_that_were_set_since(fitted_rio):
    rio = copy.copy(fitted_rio)
    rio.set_params(ard=False, noise="constant")
    assert str(rio.summary()) == str(fitted_rio.summary())
    assert rio.summary().has_ard


def test_errors_with_the_model_are_told_from_those_with_its_clones(rio):
    choice = ModelChoice(True, np.array([2.0]), np.array([1.5]), 0.8)
    words = replace(rio.summary(), model_choice=choice).decisions()
    expected = (
        "are 2 with the model's clones (1.6 expected with the model itself, which has more rows) and 1.5 without it"
    )
    assert f"{expected}, which is not clearly better." in " ".join(words)
