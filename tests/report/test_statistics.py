"""The numbers of a report, against other ways to compute them."""

from inspect import signature

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor, metrics
from rio_uq.metrics import one_error_bar
from rio_uq.plots import ReliabilityDisplay
from rio_uq.report.comparison import Estimate, Measure, compare, resampled_means
from rio_uq.report.errors import measure_errors, share_removed
from rio_uq.report.groups import binomial_interval, groups_by, mean_interval
from rio_uq.report.regions import find_regions
from rio_uq.report.rejection import kept_means, measure_rejection
from rio_uq.report.reliability import measure_reliability, most_frequent
from rio_uq.report.rows import LEVELS
from rio_uq.report.words import distinct, measured, number, share, signed
from rio_uq.rows.kept import REUSED, KeptRows

FAST = {"random_state": 0, "tol": 1e-4}


def first_column(X):
    return np.asarray(X)[:, 0].astype(float)


# Numbers in words


def test_numbers_of_all_sizes():
    assert [number(value) for value in (0.0, 1234.6, 12345.0, 1e12, -1e-7, np.inf, -np.inf, np.nan)] == [
        "0", "1235", "12,300", "1.00e+12", "−1.00e−07", "∞", "−∞", "–",
    ]  # fmt: skip
    assert [measured(value) for value in (0.0, 0.09996, 99.96, 12345.0, -2.0)] == [
        "0",
        "0.100",
        "100",
        "12,300",
        "−2.00",
    ]
    assert [signed(value) for value in (1.5, -1.5, 0.0)] == ["+1.5", "−1.5", "0"]
    assert [share(value) for value in (0.1234, np.nan)] == ["12.3\N{NO-BREAK SPACE}%", "–"]


def test_bounds_are_told_apart():
    assert distinct([1e-9, 2e-9]) == ["1.000e−09", "2.000e−09"]
    assert distinct([0.0, 0.0001, 1000.0]) == ["0", "0.0001", "1000"]
    assert distinct([12_345.0, 67_890.0]) == ["12,300", "67,900"]
    assert distinct([3.0, 3.0]) == ["3", "3"]


# Rows


def test_rows_are_what_the_regressor_says(rio, table, rows):
    X, y = table[0][300:], table[1][300:]
    mean, std = rio.predict(X, return_std=True)
    np.testing.assert_allclose(rows.mean, mean)
    np.testing.assert_allclose(rows.std, std)
    np.testing.assert_allclose(rows.y_pred + rows.input_part + rows.output_part, mean)
    band = rio.predict_interval(X, confidence_level=0.9)
    np.testing.assert_allclose(np.column_stack([rows.lower, rows.upper]), band)
    np.testing.assert_array_equal(rows.inside_of(0.9), (band[:, 0] <= y) & (y <= band[:, 1]))
    assert rows.names[0] == "b"
    np.testing.assert_array_equal(rows.features[:, 0], X["b"])
    assert (np.diff(rows.relevance) <= 0.0).all()


def test_batches_of_intervals_are_those_of_all_rows(rio, table, rows, gather_rows, monkeypatch):
    monkeypatch.setattr("rio_uq.report.rows.BATCH_ROWS", 7)
    again = gather_rows(rio, table[0][300:], table[1][300:])
    np.testing.assert_array_equal(again.inside, rows.inside)
    np.testing.assert_allclose(again.lower, rows.lower)


def test_one_of_several_outputs(table, gather_rows):
    X, y = table[0].to_numpy(), table[1].to_numpy()
    both = np.column_stack([y, -2.0 * y])
    rio = RIORegressor(LinearRegression(), **FAST).fit(X[:150], both[:150])
    rows = gather_rows(rio, X[300:], both[300:], output=1)
    mean, std = rio.predict(X[300:], return_std=True)
    np.testing.assert_allclose(rows.mean, mean[:, 1])
    np.testing.assert_allclose(rows.std, std[:, 1])
    band = rio.predict_interval(X[300:], confidence_level=0.9)
    np.testing.assert_allclose(rows.upper, band[:, 1, 1])
    assert not rows.is_curve


def test_levels_beyond_a_calibration_are_left_out(rio, table, gather_rows):
    X, y = table
    calibrated = RIORegressor(first_column, **FAST).fit(X[:100], y[:100]).calibrate(X[100:112], y[100:112])
    rows = gather_rows(calibrated, X[300:], y[300:])
    np.testing.assert_allclose(rows.levels, LEVELS[LEVELS <= 1 - 1 / 13])
    assert rows.inside_of(0.95) is None
    assert [measure.level for measure in compare(rows, np.random.default_rng(0)).measures[3:]] == [0.68, 0.9]
    few = RIORegressor(first_column, **FAST).fit(X[:100], y[:100]).calibrate(X[100:103], y[100:103])
    rows = gather_rows(few, X[300:], y[300:])
    assert rows.level == 0.75
    assert measure_reliability(rows).answer.startswith(("Yes", "No", "On"))


def test_known_rows_are_noticed(rio, table, rng):
    X, y = (part.to_numpy(dtype=float) for part in table)

    def reused(rows):
        return rio.fitted_.kept.reused(X[rows], X[rows, :1], y[rows, None])

    assert reused(np.arange(300)) == 1.0
    assert reused(np.arange(150, 450)) == 0.5
    assert reused(np.arange(300, 900)) == 0.0


def test_rows_that_are_equal_by_chance_are_not_known(rng):
    features, y = rng.integers(0, 2, size=(4000, 2)).astype(float), np.round(1700.0 * rng.normal(size=(4000, 1)))
    kept = KeptRows(features[:2000], y[:2000], y[:2000], np.ones(2000), 2000)
    rows = [tuple(row) for row in np.hstack([features, y]).tolist()]
    assert np.mean([row in set(rows[:2000]) for row in rows[2000:2200]]) > REUSED
    assert kept.reused(features[2000:], y[2000:], y[2000:]) < 0.5 * REUSED
    assert kept.reused(features[:2000], y[:2000], y[:2000]) > 0.9


# Before and after


def test_measures_are_those_of_the_library(rows, rio, table):
    found = compare(rows, np.random.default_rng(0))
    rmse, mae, nlpd, *coverage = found.measures
    before_std = np.full(len(rows), metrics.rmse(rows.outcome, rows.y_pred))
    for measure, metric in ((rmse, metrics.rmse), (mae, metrics.mae), (nlpd, metrics.nlpd)):
        assert measure.before.value == pytest.approx(metric(rows.outcome, rows.y_pred, before_std))
        after = (rio.predict_dist(table[0][300:]),) if measure is nlpd else (rows.mean,)
        assert measure.after.value == pytest.approx(metric(rows.outcome, *after))
        assert measure.change.value == pytest.approx(measure.after.value - measure.before.value)
    for measure, level in zip(coverage, (0.68, 0.9, 0.95), strict=True):
        options = {"confidence_level": level}
        assert measure.level == level
        before = metrics.coverage(rows.outcome, rows.y_pred, before_std, **options)
        after = metrics.coverage(rows.outcome, rio.predict_dist(table[0][300:]), **options)
        assert (measure.before.value, measure.after.value) == pytest.approx((before, after))
        assert measure.change.value == pytest.approx(abs(after - level) - abs(before - level))
    assert found.improved == metrics.improvement_ratio(rows.outcome, rows.mean, rows.y_pred)


def test_no_single_error_bar_is_better_than_that_before(rng):
    residual = 2.0 + rng.normal(size=20)
    best, *same = one_error_bar(residual)
    assert set(same) == {best}

    def score(std):
        return metrics.nlpd(residual, np.zeros(20), np.full(20, std))

    assert score(best) < min(score(0.95 * best), score(1.05 * best))


def test_resampled_means_are_means_of_resampled_rows(rng):
    values = rng.normal(size=(50, 3))
    found = resampled_means(values, 5, np.random.default_rng(1))
    again = np.random.default_rng(1)
    np.testing.assert_allclose(found, [values[again.integers(50, size=50)].mean(axis=0) for _ in range(5)])


def test_bootstrap_intervals_agree_with_scipy(rows):
    found = compare(rows, np.random.default_rng(0), n_resamples=3000)

    def rmse(residual, axis=-1):
        return np.sqrt(np.mean(residual**2, axis=axis))

    name = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"  # before SciPy 1.15
    for side, residual in (("before", rows.residual), ("after", rows.residual_after)):
        interval = stats.bootstrap(
            (residual,), rmse, n_resamples=3000, method="percentile", **{name: np.random.default_rng(1)}
        ).confidence_interval
        estimate = getattr(found.measures[0], side)
        width = interval.high - interval.low
        assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high), abs=0.08 * width)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(-2.0, -1.0, "better"), (1.0, 2.0, "worse"), (-1.0, 1.0, "no clear difference")]
)
def test_a_verdict_needs_an_interval_without_zero(low, high, verdict):
    estimate = Estimate(1.0, 0.5, 1.5)
    assert Measure("RMSE", "", estimate, estimate, Estimate(0.5 * (low + high), low, high)).verdict == verdict


def test_the_answer_says_yes_no_or_neither(made_rows, rng):
    y = rng.normal(size=400)
    off, near, ones = y + rng.normal(size=400), y + 0.1 * rng.normal(size=400), np.ones(400)

    def answer(y_pred, mean, std):
        return compare(made_rows(y, y_pred, mean, std), np.random.default_rng(0)).answer

    assert answer(off, near, 0.1 * ones).startswith("Yes: RMSE falls from")
    assert answer(near, off, ones).startswith("No, predictions and error bars are worse: RMSE rises")
    assert answer(off, off, ones).startswith("It makes no clear difference: RMSE goes")
    assert answer(off, near, 0.001 * ones).startswith("Partly: predictions are better and error bars are worse")
    assert "NLPD is" in answer(y, near, ones)  # an exact model has no error bar to speak of


# Intervals


def test_binomial_intervals_are_exact():
    held, n = np.array([0, 1, 7, 19, 20]), np.full(5, 20)
    low, high = binomial_interval(held, n)
    expected = [stats.binomtest(int(k), 20).proportion_ci(method="exact") for k in held]
    np.testing.assert_allclose(np.column_stack([low, high]), expected, atol=1e-9)


def test_mean_intervals_are_those_of_student(rng):
    values = rng.normal(size=12)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert mean_interval(values) == pytest.approx((values.mean(), expected.low, expected.high))
    assert np.isnan(mean_interval(values[:1])[1:]).all()


def test_reliability_is_that_of_the_figure(rio, table, rows):
    display = ReliabilityDisplay.from_estimator(rio, table[0][300:], table[1][300:])
    expected = np.interp(LEVELS, display.levels, display.coverage)
    found = measure_reliability(rows)
    np.testing.assert_allclose(found.overall.coverage, expected)
    assert found.off_by == pytest.approx(np.mean(np.abs(expected - LEVELS)))
    std = one_error_bar(rows.residual)
    before = metrics.coverage_curve(rows.outcome, rows.y_pred, std, confidence_levels=LEVELS)
    np.testing.assert_allclose(found.before, before)


def test_coverage_in_groups_adds_up_to_that_of_all_rows(rows):
    found = measure_reliability(rows)
    assert [part.variable for part in found.by][:2] == ["prediction", "b"]
    for part in found.by:
        n_rows = [group.n_rows for group in part.groups]
        assert sum(n_rows) == len(rows)
        held = sum(group.n_rows * group.at(0.9)[0] for group in part.groups)
        assert held / len(rows) == pytest.approx(found.overall.at(0.9)[0])


def test_intervals_that_are_off_are_said_to_be(made_rows, rng):
    y, zero, ones = rng.normal(size=2000), np.zeros(2000), np.ones(2000)

    def verdict(std, n=2000):
        return measure_reliability(made_rows(y[:n], zero[:n], zero[:n], std[:n])).verdict

    assert verdict(ones) == "Yes"
    assert verdict(0.9 * ones) == "Not quite, they are too narrow"
    assert verdict(0.45 * ones) == "No, they are far too narrow"
    assert verdict(0.1 * ones, n=20) == "No, they are far too narrow"
    assert verdict(1.5 * ones) == "Yes, but they are wider than they need to be"
    heavy_tailed = np.where(np.arange(2000) % 5, 2.0, 0.25)  # as good as outcomes of those sizes
    assert verdict(heavy_tailed) == "Not quite, some are too narrow and some too wide"
    assert verdict(ones, n=6) == "There are too few rows to tell"


@pytest.mark.parametrize(
    ("fitted_error", "is_cross_fit", "cause"),
    [
        (0.3, False, "3.3 times as large here as on the rows of fit: so it is with a model that has seen those"),
        (0.3, True, "which it did not know by heart: these are of another kind. Fit on rows like these."),
        (0.0, False, "next to no errors on the rows of fit: so it is with a model that has seen those in training"),
        (
            1.0,
            False,
            "here as on the rows of fit (1.00 times): it is the error bars that do not suit it. Calibrate",
        ),
        (1.0, False, "Calibrate the error bars on rows that were used for nothing else"),
        (None, False, "Calibrate the error bars on rows that were used for nothing else"),
    ],
)
def test_no_comes_with_the_cause_and_the_remedy(fitted_error, is_cross_fit, cause, made_rows, rng):
    y, zero = rng.normal(size=2000), np.zeros(2000)
    y /= y.std()
    rows = made_rows(y, zero, zero, np.full(2000, 0.46))
    answer = measure_reliability(rows, fitted_error, is_cross_fit=is_cross_fit).answer
    assert answer.startswith("No, they are far too narrow: 90\N{NO-BREAK SPACE}% intervals hold 5")
    assert cause in answer
    assert measure_reliability(made_rows(y, zero, zero, np.ones(2000)), fitted_error).answer.endswith("average.")


def test_groups_with_too_narrow_intervals_come_before_too_wide_ones(made_rows, rng):
    feature = rng.uniform(size=4000)
    y = np.where(feature > 0.8, 1.3, 0.5) * rng.normal(size=4000)
    zero, ones = np.zeros(4000), np.ones(4000)
    found = measure_reliability(made_rows(y, zero, zero, ones, feature[:, None], ["carat"]))
    assert found.overall.off_at(0.9) == 1
    assert found.verdict == "Not for all rows, they are too narrow in some groups"
    _, worst = found.exceptions[0]
    assert worst.off_at(0.9) == -1
    assert f"most of all rows with carat {worst.label}" in found.answer
    assert "rio.calibrate(X, y, groups=...)" in found.answer


def test_a_group_that_is_off_is_named(made_rows, rng):
    feature = rng.uniform(size=4000)
    is_noisy = feature > 0.75
    y = np.where(is_noisy, 1.3, 0.9) * rng.normal(size=4000)
    zero, ones = np.zeros(4000), np.ones(4000)
    found = measure_reliability(made_rows(y, zero, zero, ones, feature[:, None], ["income"]))
    assert found.is_uneven
    part, worst = found.exceptions[0]
    assert part.variable == "income"
    assert worst.off_at(0.9) == -1
    assert f"most of all rows with income {worst.label}" in found.answer


def test_groups_of_a_calibration_have_their_coverage(table, gather_rows):
    X, y = table
    side = np.where(X["c"] > 0.8, "loud", "calm")
    rio = RIORegressor(first_column, **FAST).fit(X[:150], y[:150])
    rio.calibrate(X[150:400], y[150:400], groups=side[150:400])
    rows = gather_rows(rio, X[400:], y[400:], groups=side[400:])
    last = measure_reliability(rows).by[-1]
    assert last.variable == "group of the calibration"
    band = rio.predict_interval(X[400:], confidence_level=0.9, groups=side[400:])
    inside = (band[:, 0] <= y[400:]) & (y[400:] <= band[:, 1])
    expected = {label: inside[side[400:] == label].mean() for label in ("calm", "loud")}
    assert {group.label: group.at(0.9)[0] for group in last.groups} == pytest.approx(expected)


def test_the_most_frequent_labels():
    assert most_frequent(np.array(list("cabbcc")), 2) == ["b", "c"]


def test_groups_divide_rows(rng):
    values = rng.normal(size=500)
    groups = groups_by(values, 8)
    assert len(groups) == 8
    np.testing.assert_array_equal(np.sum([group.rows for group in groups], axis=0), np.ones(500))
    assert {int(group.rows.sum()) for group in groups} <= {62, 63}
    assert groups_by(np.ones(500), 8) == []
    assert groups_by(values[:30], 8) == []
    assert [group.label for group in groups_by(np.tile([1.0, 2.0, 5.0], 100), 8)] == ["1", "2", "5"]


# Errors


def test_errors_by_group(rows, rio, table):
    found = measure_errors(rows, rio.summary(table[0][300:]), 0, np.random.default_rng(0))
    assert sum(share.value for share in found.shares) == pytest.approx(1.0)
    (by_b,) = (part for part in found.by if part.variable == "b")
    total = sum(group.n_rows * group.error for group in by_b.groups)
    assert total / len(rows) == pytest.approx(rows.residual.mean())
    assert by_b.groups[-1].error == pytest.approx(3.0, abs=0.2)
    assert by_b.groups[-1].expected == pytest.approx(rows.input_part[rows.features[:, 0] > 0.9].mean(), abs=0.3)
    assert abs(by_b.groups[-1].left) < 0.2
    assert by_b.groups[0].error == pytest.approx(0.0, abs=0.1)


def test_the_output_part_is_a_curve_over_the_prediction(rows, rio, table):
    found = measure_errors(rows, rio.summary(table[0][300:]), 0, np.random.default_rng(0))
    assert (np.diff(found.curve_x) > 0.0).all()
    order = np.argsort(rows.y_pred)
    expected = np.interp(found.curve_x, rows.y_pred[order], rows.output_part[order])
    np.testing.assert_allclose(found.curve_y, expected)
    assert found.relevance[0][0] == "b"
    assert found.trust == rio.trust_


def test_share_of_squared_errors_removed(rows):
    expected = 1.0 - metrics.rmse(rows.outcome, rows.mean) ** 2 / metrics.rmse(rows.outcome, rows.y_pred) ** 2
    assert share_removed(rows.residual, rows.residual_after) == pytest.approx(expected)
    assert share_removed(np.zeros(3), np.ones(3)) == 0.0


def test_a_bad_region_is_found_and_measured_on_other_rows(rows):
    regions = find_regions(rows, np.random.default_rng(0))
    worst = regions.biased[0]
    assert worst.where.startswith(("b is above 0.7", "b is above 0.69"))
    assert len(worst.where) < 20
    assert worst.bias == pytest.approx(3.0, abs=0.2)
    here = np.array(sorted(worst.members))
    assert (rows.features[here, 0] > 0.65).all()
    assert worst.n_rows == len(here)
    assert worst.bias == pytest.approx(rows.residual[here].mean())
    assert worst.rmse_after == pytest.approx(np.sqrt(np.mean(rows.residual_after[here] ** 2)))
    assert worst.share == len(here) / regions.n_measured
    assert "predictions are too low by" in regions.sentences[0]


def test_noisy_rows_are_a_region_of_large_errors(made_rows, rng):
    X = rng.integers(0, 3, size=(2000, 2)).astype(float)
    y = np.where(X[:, 1] == 2.0, 3.0, 1.0) * rng.normal(size=2000)
    zero = np.zeros(2000)
    rows = made_rows(y, zero, zero, np.ones(2000), X, ["left", "kind"])
    regions = find_regions(rows, np.random.default_rng(0))
    assert regions.large[0].where.startswith("kind is 2")
    assert regions.large[0].rmse == pytest.approx(3.0, abs=0.5)
    assert "RMSE" in regions.sentences[-1]


def test_noise_alone_has_no_regions(made_rows, rng):
    X, y = rng.normal(size=(4000, 4)), rng.normal(size=4000)
    rows = made_rows(y, np.zeros(4000), np.zeros(4000), np.ones(4000), X, list("abcd"))
    regions = find_regions(rows, np.random.default_rng(0))
    assert regions.sentences == []
    assert find_regions(made_rows(y[:50], y[:50], y[:50], y[:50] ** 2), np.random.default_rng(0)) is None


def test_regions_of_whole_numbers_are_named_by_their_values(made_rows, rng):
    year = rng.integers(1990, 2020, size=2000).astype(float)
    y = np.where((year >= 2000) & (year <= 2009), 3.0, 0.0) + 0.1 * rng.normal(size=2000)
    zero = np.zeros(2000)
    rows = made_rows(y, zero, zero, np.ones(2000), year[:, None], ["year"])
    assert find_regions(rows, np.random.default_rng(0)).biased[0].where == "year is from 2000 to 2009"


# Rejection


def test_mean_errors_of_kept_rows_are_those_of_the_curve(rows):
    kept, risk = metrics.risk_coverage_curve(rows.outcome, rows.mean, rows.std)
    found = measure_rejection(rows)
    np.testing.assert_allclose(found.mae, risk[found.n_kept - 1])
    np.testing.assert_allclose(found.rejected, 1.0 - kept[found.n_kept - 1], atol=1.0 / len(rows))
    order = np.argsort(rows.std, kind="stable")
    for place in (0, 10, 50, 95):
        chosen = order[: found.n_kept[place]]
        assert found.rmse[place] == pytest.approx(metrics.rmse(rows.outcome[chosen], rows.mean[chosen]))
        assert found.threshold[place] == rows.std[chosen].max()
    assert (found.best <= found.rmse + 1e-12).all()
    assert found.rejected[0] == 0.0


def test_rejection_is_that_of_the_regressor(rio, table, rows):
    found = measure_rejection(rows)
    rejected = rio.reject(table[0][300:], threshold=float(found.threshold[10]))
    assert len(rows) - rejected.sum() == found.n_kept[10]


def test_ties_count_in_random_order():
    np.testing.assert_allclose(kept_means(np.array([1.0, 2.0, 2.0]), np.array([0.0, 1.0, 5.0])), [0.0, 1.5, 2.0])


def test_few_rows_can_be_rejected_one_by_one(made_rows):
    found = measure_rejection(made_rows([0.0, 0.0, 0.0], [1.0] * 3, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found.n_kept, [3, 2, 1])
    np.testing.assert_allclose(found.rejected, [0.0, 1 / 3, 2 / 3])
    np.testing.assert_allclose(found.mae, [2.0, 1.5, 1.0])
    assert "33\N{NO-BREAK SPACE}% of rows, the RMSE of the others is 1.58 instead of 2.16" in found.answer


def test_an_order_that_does_not_help_is_said_not_to(made_rows):
    found = measure_rejection(made_rows([0.0] * 3, [1.0] * 3, [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]))
    assert found.answer.startswith("It does not help here")
    exact = measure_rejection(made_rows([1.0] * 3, [1.0] * 3, [1.0] * 3, [1.0, 2.0, 3.0]))
    assert exact.answer.startswith("There is nothing to gain")


def test_one_group_that_is_surely_off_is_enough(made_rows):
    rng = np.random.default_rng(0)
    n_rows = 4000
    outcome, feature = rng.normal(size=n_rows), np.arange(n_rows) / n_rows
    outcome[:500] *= 1.25  # its 90 % intervals hold 81 %
    rows = made_rows(outcome, 0 * outcome, 0 * outcome, np.ones(n_rows), feature[:, None], ["x"])
    found = measure_reliability(rows)
    assert len(found.exceptions) == 1
    assert found.is_uneven
    assert found.verdict == "Not for all rows, they are too narrow in some groups"
    outcome[:500] *= 0.6  # and now 97 %
    found = measure_reliability(made_rows(outcome, 0 * outcome, 0 * outcome, np.ones(n_rows), feature[:, None], ["x"]))
    assert found.verdict == "On the whole, but not in every group of rows"


def test_whole_numbers_stay_as_they_are():
    from rio_uq.report.page_json import plain
    from rio_uq.report.table import cell

    assert cell(6063361.0) == 6063361
    assert cell(np.float32(0.1)) == 0.1
    assert plain(np.array([6063361.0, 1234567.8])) == [6063361, 1234570.0]


def test_levels_of_a_category_are_one_panel_and_have_their_names(gather_rows):
    import pandas as pd

    from rio_uq.features import TableEncoder

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(size=600), "hood": np.array(["x", "y", "z"])[np.arange(600) % 3]})
    y = X["a"] + 3.0 * (X["hood"] == "y") + 0.1 * rng.normal(size=600)
    rio = RIORegressor(lambda X: X["a"], features=TableEncoder(), random_state=0, tol=1e-3, n_inducing=10)
    rows = gather_rows(rio.set_params(inference="sparse").fit(X[:200], y[:200]), X[200:], y[200:])
    found = measure_reliability(rows)
    (hood,) = (part for part in found.by if part.is_category)
    assert hood.variable == "hood"
    assert [group.label for group in hood.groups] == ["x", "y", "z"]
    assert sum(group.n_rows for group in hood.groups) == 400
    assert hood.where(hood.groups[1]) == "rows where hood is y"
    errors = measure_errors(rows, rio.summary(X[200:]), 0, rng)
    (by_hood,) = (part for part in errors.by if part.variable == "hood")
    assert by_hood.groups[1].error == pytest.approx(3.0, abs=0.1)
    assert "Where hood is y, predictions are too low by" in errors.regions.sentences[0]


def test_sizes_of_groups_are_said_where_they_are_alike(made_rows):
    rng = np.random.default_rng(0)
    outcome = rng.normal(size=400)
    for feature, even in ((rng.normal(size=400), True), (np.arange(400) < 60, False)):
        rows = made_rows(outcome, 0 * outcome, 0 * outcome, np.ones(400), feature[:, None], ["x"])
        assert measure_reliability(rows).is_even_sized == even
