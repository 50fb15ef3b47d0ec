"""Measures agree with numbers worked out in another way."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, stats
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor, metrics

pytestmark = pytest.mark.usefixtures("quick_fits")


@pytest.fixture
def outcomes(rng):
    mean, std = rng.normal(size=4000), rng.uniform(0.5, 2.0, size=4000)
    return mean + std * rng.normal(size=4000), mean, std


def test_point_errors(outcomes):
    y_true, mean, std = outcomes
    assert metrics.rmse(y_true, mean, std) == pytest.approx(np.sqrt(np.mean((y_true - mean) ** 2)))
    assert metrics.mae(y_true, mean) == pytest.approx(np.mean(np.abs(y_true - mean)))


def test_nlpd_is_the_log_density(outcomes):
    y_true, mean, std = outcomes
    expected = np.mean(0.5 * np.log(2 * np.pi * std**2) + (y_true - mean) ** 2 / (2 * std**2))
    assert metrics.nlpd(*outcomes) == pytest.approx(expected)


@settings(max_examples=25)
@given(y=st.floats(-5, 5), mean=st.floats(-3, 3), std=st.floats(0.1, 3))
def test_crps_is_the_integral_of_the_squared_difference_of_distributions(y, mean, std):
    below, _ = integrate.quad(lambda x: stats.norm.cdf(x, mean, std) ** 2, mean - 12 * std - abs(y), y)
    above, _ = integrate.quad(lambda x: stats.norm.sf(x, mean, std) ** 2, y, mean + 12 * std + abs(y))
    assert metrics.crps([y], [mean], [std]) == pytest.approx(below + above, rel=1e-4, abs=1e-6)


def test_coverage_of_a_right_distribution_is_its_level(outcomes):
    for level in (0.5, 0.68, 0.95):
        assert metrics.coverage(*outcomes, confidence_level=level) == pytest.approx(level, abs=0.03)
    curve = metrics.coverage_curve(*outcomes)
    assert curve.shape == (99,)
    assert (np.diff(curve) >= 0).all()
    assert metrics.miscalibration_area(*outcomes) < 0.02


def test_coverage_counts_outcomes_inside_the_interval():
    y_true, mean, std = np.array([0.0, 1.0, 3.0, -2.5]), np.zeros(4), np.ones(4)
    assert metrics.coverage(y_true, mean, std, confidence_level=0.95) == 0.5
    assert metrics.miscalibration_area(y_true, mean, 100 * std) > 0.4


def test_interval_width(outcomes):
    y_true, mean, std = outcomes
    assert metrics.interval_width(y_true, mean, std, confidence_level=0.95) == pytest.approx(2 * 1.959964 * std.mean())


def test_improvement_ratio_counts_what_came_nearer():
    assert metrics.improvement_ratio([1.0, 1.0, 1.0, 1.0], [1.1, 2.0, 1.0, 0.0], [1.2, 1.5, 1.0, 3.0]) == 0.5


def test_several_outputs_are_averaged(outcomes):
    y_true, mean, std = (values.reshape(-1, 2) for values in outcomes)
    assert metrics.nlpd(y_true, mean, std) == pytest.approx(metrics.nlpd(*outcomes))
    assert metrics.coverage(y_true, mean, std) == pytest.approx(metrics.coverage(*outcomes))


errors = st.integers(1, 25).flatmap(lambda n: arrays(float, n, elements=st.floats(0.0, 10.0)))


@given(data=st.data(), error=errors)
def test_risk_coverage_of_the_safest_first(data, error):
    std = data.draw(arrays(float, len(error), elements=st.integers(1, 6).map(float)))
    kept, risk = metrics.risk_coverage_curve(error, np.zeros(len(error)), std)
    for value in np.unique(std):
        rows = std <= value
        assert risk[rows.sum() - 1] == pytest.approx(error[rows].mean())
        assert kept[rows.sum() - 1] == pytest.approx(rows.mean())
    assert metrics.risk_coverage_area(error, np.zeros(len(error)), np.ones(len(error))) == pytest.approx(error.mean())


@given(data=st.data(), error=errors)
def test_the_errors_themselves_are_the_best_order_and_their_opposite_the_worst(data, error):
    zero = np.zeros(len(error))
    std = data.draw(arrays(float, len(error), elements=st.floats(0.1, 10.0)))
    area = metrics.risk_coverage_area(error, zero, std)
    best, worst = (metrics.risk_coverage_area(error, zero, order) for order in (error, 11.0 - error))
    assert best - 1e-9 <= area <= worst + 1e-9
    order = data.draw(st.permutations(range(len(error))))
    assert metrics.risk_coverage_area(error[order], zero, 3.0 * std[order]) == pytest.approx(area)


def test_equal_error_bars_count_as_a_random_order_of_their_rows(rng):
    y_true, std = rng.normal(size=6), np.array([1.0, 2.0, 2.0, 2.0, 3.0, 3.0])
    _, risk = metrics.risk_coverage_curve(y_true, np.zeros(6), std)
    orders = [(0, *middle, *last) for middle in permutations([1, 2, 3]) for last in permutations([4, 5])]
    curves = [np.cumsum(np.abs(y_true[list(order)])) / np.arange(1, 7) for order in orders]
    np.testing.assert_allclose(risk, np.mean(curves, axis=0))


@pytest.mark.parametrize(
    "metric", [metrics.rmse, metrics.nlpd, metrics.crps, metrics.coverage, metrics.risk_coverage_area]
)
def test_as_scorers(metric, friedman):
    rio = RIORegressor(Ridge().fit(*friedman), noise="constant", random_state=0, tol=1e-2)
    scores = cross_val_score(rio, *friedman, cv=2, scoring=metrics.scorer(metric))
    assert scores.shape == (2,)
    if metric is not metrics.nlpd:
        assert (scores <= 0).all()


@pytest.mark.parametrize("y", [lambda y: y, lambda y: y[:, None], lambda y: np.column_stack([y, -y])])
def test_a_scorer_is_given_the_distribution_of_any_number_of_outcomes(y, friedman):
    X, outcome = friedman[0], y(friedman[1])
    rio = RIORegressor(Ridge().fit(X, outcome), noise="constant", random_state=0, tol=1e-2).fit(X, outcome)
    assert metrics.scorer("nlpd")(rio, X, outcome) == -metrics.nlpd(outcome, rio.predict_dist(X))


def test_pipelines_and_searches_are_scored_as_the_regressor_inside(friedman):
    X, y = friedman
    score = metrics.scorer("nlpd")
    rio = RIORegressor(Ridge(), noise="constant", random_state=0, tol=1e-2, cv=2)
    pipeline = make_pipeline(StandardScaler(), rio).fit(X, y)
    search = GridSearchCV(pipeline, {"rioregressor__ard": [True]}, cv=2, scoring=score).fit(X, y)
    scaled = pipeline[:-1].transform(X)
    assert score(pipeline, X, y) == score(search, X, y) == -metrics.nlpd(y, pipeline[-1].predict_dist(scaled))
    assert score(make_pipeline(pipeline[-1]), scaled, y) == score(pipeline, X, y)


def test_regressors_of_scikit_learn_are_scored_by_their_own_error_bars(friedman):
    X, y = friedman
    bayes = BayesianRidge().fit(X, y)
    assert metrics.scorer("nlpd")(bayes, X, y) == -metrics.nlpd(y, *bayes.predict(X, return_std=True))
    assert metrics.scorer("rmse")(Ridge().fit(X, y), X, y) < 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Ridge(), "the scorer of nlpd needs error bars, and Ridge has none: score it by 'rmse'"),
        (TransformedTargetRegressor(Ridge()), "TransformedTargetRegressor has none: put it inside of RIORegressor"),
    ],
)
def test_a_scorer_of_error_bars_says_that_there_are_none(model, message, friedman):
    with pytest.raises(TypeError, match=message):
        metrics.scorer("nlpd")(model.fit(*friedman), *friedman)


def test_scorers_can_be_pickled_and_know_their_limits():
    scorer = pickle.loads(pickle.dumps(metrics.scorer(metrics.coverage, confidence_level=0.9)))
    assert scorer == metrics.scorer(metrics.coverage, confidence_level=0.9)
    assert metrics.scorer("crps") == metrics.scorer(metrics.crps)
    for metric in (metrics.improvement_ratio, "improvement_ratio"):
        with pytest.raises(ValueError, match="model's own predictions"):
            metrics.scorer(metric)
    with pytest.raises(ValueError, match="'nlp' is unknown: give a function, or one of 'rmse'"):
        metrics.scorer("nlp")
    with pytest.raises(TypeError, match="a function or its name"):
        metrics.scorer(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0, 2.0], [1.0]), "agree"),
        (([], [], []), "empty"),
        (([1.0], [np.nan], [1.0]), "mean contains NaN"),
        (([1.0], [1.0], [0.0]), "std has to be more than zero"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        metrics.nlpd(*arguments)
