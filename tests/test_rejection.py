"""The reject option: which rows a person should look at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor
from rio_uq.rejection import threshold_for_budget, threshold_for_error

pytestmark = pytest.mark.usefixtures("quick_fits")

# Few different values, so that there are ties.
scores = st.integers(1, 40).flatmap(lambda n: arrays(float, n, elements=st.integers(0, 12).map(lambda i: i / 4.0)))
shares = st.floats(0.0, 1.0)


@given(score=scores, budget=shares)
def test_a_budget_keeps_its_share_of_rows_and_no_more_than_ties_beyond(score, budget):
    threshold = threshold_for_budget(score, budget)
    kept = int((score <= threshold).sum())
    assert kept >= budget * len(score) - 1e-6
    assert (score < threshold).sum() < budget * len(score) + 1e-6 or budget == 0.0 or kept == len(score)
    assert (kept == 0) == (budget * len(score) <= 1e-9)


@given(score=scores, budgets=st.tuples(shares, shares))
def test_a_larger_budget_keeps_the_same_rows_and_others(score, budgets):
    less, more = (score <= threshold_for_budget(score, budget) for budget in sorted(budgets))
    assert (less <= more).all()


@given(data=st.data(), score=scores, target=st.floats(0.0, 5.0))
def test_a_target_error_keeps_the_most_rows_that_reach_it(data, score, target):
    error = data.draw(arrays(float, len(score), elements=st.floats(0.0, 5.0)))
    risks = {cut: float(error[score <= cut].mean()) for cut in np.unique(score)}
    reached = [cut for cut, risk in risks.items() if risk <= target - 1e-9]
    close = [cut for cut, risk in risks.items() if risk <= target + 1e-9]
    if not close:
        with pytest.raises(ValueError, match="out of reach"):
            threshold_for_error(score, error, target)
    elif reached:
        assert max(reached) <= threshold_for_error(score, error, target) <= max(close)


@pytest.fixture(scope="module")
def rows():
    """300 rows whose noise grows with the first feature."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    return X, X[:, 1] + (0.02 + X[:, 0]) * rng.normal(size=300)


@pytest.fixture(scope="module")
def rio(quick_fits, rows):
    X, y = rows
    return RIORegressor(LinearRegression(), noise="io", random_state=0).fit(X[:150], y[:150])


def test_by_threshold(rio, rows):
    X, _ = rows
    _, std = rio.predict(X, return_std=True)
    cut = float(np.median(std))
    np.testing.assert_array_equal(rio.reject(X, threshold=cut), std > cut)
    assert not rio.reject(X, threshold=np.inf).any()
    assert (rio.reject(X, threshold=0.5 * cut) >= rio.reject(X, threshold=cut)).all()


def test_by_budget_the_widest_error_bars_go_first(rio, rows):
    X, _ = rows
    _, std = rio.predict(X, return_std=True)
    rejected = rio.reject(X, budget=0.9)
    assert rejected.dtype == bool
    assert rejected.sum() == 30
    assert std[rejected].min() > std[~rejected].max()
    assert rio.reject(X, budget=0.0).all()
    assert not rio.reject(X, budget=1.0).any()


def test_by_a_budget_on_other_rows_each_row_is_judged_alone(rio, rows):
    X, _ = rows
    calibration = (X[150:], None)
    together = rio.reject(X[:20], budget=0.7, calibration=calibration)
    alone = [rio.reject(row[None], budget=0.7, calibration=calibration)[0] for row in X[:20]]
    np.testing.assert_array_equal(together, alone)
    assert rio.reject(X[150:], budget=0.7, calibration=calibration).mean() == pytest.approx(0.3)


def test_by_target_error_what_is_kept_reaches_it(rio, rows):
    X, y = rows
    calibration = (X[150:], y[150:])
    error = np.abs(y - rio.predict(X))[150:]
    target = 0.7 * error.mean()
    kept = ~rio.reject(X[150:], target_error=target, calibration=calibration)
    assert 0.2 < kept.mean() < 1.0
    assert error[kept].mean() <= target
    assert rio.reject(X[150:], target_error=0.9 * target, calibration=calibration).sum() >= (~kept).sum()
    assert not rio.reject(X[150:], target_error=1.01 * error.mean(), calibration=calibration).any()
    with pytest.raises(ValueError, match="out of reach"):
        rio.reject(X, target_error=0.0, calibration=calibration)


def test_without_a_model_predictions_are_given(rows):
    X, y = rows
    rio = RIORegressor(random_state=0).fit(X[:150], y[:150], y_pred=X[:150, 1])
    y_pred = X[150:, 1]
    with_predictions = rio.reject(X[150:], target_error=0.5, calibration=(X[150:], y[150:], y_pred), y_pred=y_pred)
    model = RIORegressor(lambda X: X[:, 1], random_state=0).fit(X[:150], y[:150])
    expected = model.reject(X[150:], target_error=0.5, calibration=(X[150:], y[150:]))
    np.testing.assert_array_equal(with_predictions, expected)


def test_with_several_outputs_the_least_safe_one_counts(rows):
    X, y = rows
    outputs = np.stack([y, 1000.0 * X[:, 0] ** 2], axis=1)
    rio = RIORegressor(LinearRegression(), random_state=0).fit(X[:150], outputs[:150])
    _, std = rio.predict(X, return_std=True)
    np.testing.assert_array_equal(rio.reject(X, threshold=[0.6, np.inf]), std[:, 0] > 0.6)
    rejected = rio.reject(X, budget=0.8)
    unsafe = (std / np.sqrt(rio.noise_variance_)).max(axis=1)
    assert rejected.sum() == 60
    assert unsafe[rejected].min() > unsafe[~rejected].max()
    error = np.abs(outputs - rio.predict(X)).mean(axis=1)[150:]
    kept = ~rio.reject(X[150:], target_error=0.9 * error.mean(), calibration=(X[150:], outputs[150:]))
    assert error[kept].mean() <= 0.9 * error.mean()
    with pytest.raises(ValueError, match="one for each output"):
        rio.reject(X, threshold=[1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({}, "got none"),
        ({"threshold": 1.0, "budget": 0.5}, "threshold and budget"),
        ({"budget": 1.5}, "between 0 and 1"),
        ({"budget": "half"}, "budget has to be numbers"),
        ({"target_error": 1.0}, "needs calibration"),
        ({"target_error": -1.0, "calibration": (np.zeros((2, 2)), np.zeros(2))}, "zero or more"),
        ({"target_error": 1.0, "calibration": (np.zeros((2, 2)), None)}, "y was None"),
        ({"target_error": 1.0, "calibration": (np.zeros((2, 2)), np.zeros((2, 3)))}, "shape"),
        ({"target_error": 1.0, "calibration": np.zeros((2, 2))}, "calibration has to be"),
        ({"threshold": 1.0, "calibration": (np.zeros((2, 2)), None)}, "no calibration rows"),
        ({"threshold": np.nan}, "NaN"),
        ({"threshold": [1.0, 2.0]}, "one number"),
    ],
)
def test_bad_rules(rules, message, rio, rows):
    with pytest.raises(ValueError, match=message):
        rio.reject(rows[0], **rules)
