"""Cross-fitting: each residual is that of a model that has not seen the row."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, TimeSeriesSplit, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from rio_uq import RIORegressor, metrics
from rio_uq.models.cross_fitting import FoldAverage, make_folds, out_of_fold

pytestmark = pytest.mark.usefixtures("quick_fits")


@pytest.fixture
def noisy(rng):
    X = rng.uniform(size=(120, 3))
    return X, np.sin(4.0 * X[:, 0]) + 0.3 * rng.normal(size=120)


def test_predictions_are_those_of_cross_validation(friedman):
    X, y = friedman
    folds = list(KFold(4).split(X))
    found = out_of_fold(Ridge(), X, y, None, folds)
    np.testing.assert_allclose(found.prediction[:, 0], cross_val_predict(Ridge(), X, y, cv=KFold(4)))
    assert len(found.models) == 4


def test_a_model_that_memorises_shows_its_residuals_at_full_size(rng):
    X, y = rng.uniform(size=(200, 4)), rng.normal(size=200)
    memory = KNeighborsRegressor(1)
    residual = y - out_of_fold(memory, X, y, None, make_folds(5, X, y, X, None, None, rng)).prediction[:, 0]
    assert residual.std() == pytest.approx(np.sqrt(2.0) * y.std(), rel=0.15)  # a neighbour's noise and its own
    assert not np.abs(y - clone(memory).fit(X, y).predict(X)).any()
    crossed = RIORegressor(memory, residuals="cross-fit", random_state=0).fit(X, y)
    deceived = RIORegressor(clone(memory).fit(X, y), residuals="in-sample", random_state=0).fit(X, y)
    assert deceived.noise_variance_ < 1e-6 * crossed.noise_variance_


def test_copies_of_a_row_are_in_one_fold(rng):
    features = np.repeat(rng.normal(size=(30, 2)), 3, axis=0)
    y = np.repeat(rng.normal(size=30), 3)
    weight = rng.integers(0, 3, size=90).astype(float)
    folds = make_folds(5, features, y, features, None, weight, rng)
    assert sorted(np.concatenate([test for _, test in folds])) == list(np.flatnonzero(weight))
    for train, test in folds:
        assert not set(y[train]) & set(y[test])
        assert not set(train) & set(test)


def test_folds_are_no_more_than_distinct_rows(rng):
    features = np.repeat([[0.0], [1.0]], 10, axis=0)
    folds = make_folds(5, features, features[:, 0], features, None, None, rng)
    assert [len(test) for _, test in folds] == [10, 10]


def test_copies_of_one_row_are_still_cut_into_folds(rng):
    features = np.zeros((20, 1))
    folds = make_folds(5, features, features[:, 0], features, None, None, rng)
    assert all(len(test) == 4 for _, test in folds)


@pytest.mark.parametrize(
    ("cv", "options"),
    [
        (3, {}),
        (KFold(3, shuffle=True, random_state=0), {}),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), {}),
        (GroupKFold(3), {"groups": np.arange(120) // 10}),
        (TimeSeriesSplit(4), {}),
    ],
)
def test_splitters(cv, options, noisy):
    X, y = noisy
    rio = RIORegressor(LinearRegression(), residuals="cross-fit", cv=cv, random_state=0).fit(X, y, **options)
    assert metrics.rmse(y, rio.predict(X)) < metrics.rmse(y, LinearRegression().fit(X, y).predict(X))


def test_rows_that_no_fold_predicts_are_left_out_of_the_gp(noisy):
    X, y = noisy
    cv = TimeSeriesSplit(4)
    ordered = RIORegressor(Ridge(), residuals="cross-fit", cv=cv, combine="refit", random_state=0).fit(X, y)
    predicted = np.concatenate([test for _, test in cv.split(X)])
    prediction = np.concatenate([clone(Ridge()).fit(X[a], y[a]).predict(X[b]) for a, b in cv.split(X)])
    given = RIORegressor(random_state=0).fit(X[predicted], y[predicted], y_pred=prediction)
    base = Ridge().fit(X, y).predict(X)
    np.testing.assert_allclose(ordered.predict(X), given.predict(X, y_pred=base), rtol=1e-6)


def test_what_predicts_afterwards(noisy):
    X, y = noisy
    model = Ridge().fit(X, y)
    before = pickle.dumps(model)
    as_it_is = RIORegressor(model, residuals="cross-fit", combine="refit", random_state=0).fit(X, y)
    assert as_it_is.estimator_ is model
    average = RIORegressor(model, residuals="cross-fit", combine="average", random_state=0).fit(X, y)
    assert isinstance(average.estimator_, FoldAverage)
    each = [fold.predict(X) for fold in average.estimator_.models]
    np.testing.assert_allclose(average.estimator_.predict(X), np.mean(each, axis=0))
    assert pickle.dumps(model) == before
    refitted = RIORegressor(Ridge(), residuals="cross-fit", combine="refit", random_state=0).fit(X, y)
    np.testing.assert_allclose(refitted.estimator_.coef_, model.coef_)


def test_auto_cross_fits_what_it_fits_itself_and_believes_held_out(noisy):
    X, y = noisy

    def fit(model, n_rows=120, **options):
        return RIORegressor(model, random_state=0).fit(X[:n_rows], y[:n_rows], **options)

    assert isinstance(fit(Ridge()).estimator_, FoldAverage)
    assert len(fit(Ridge(), n_rows=9).estimator_.models) == 4
    assert isinstance(fit(Ridge(), n_rows=3).estimator_, Ridge)
    fitted = Ridge().fit(X, y)
    assert fit(fitted).estimator_ is fitted
    in_sample = RIORegressor(fitted, residuals="in-sample", random_state=0).fit(X, y)
    np.testing.assert_array_equal(fit(fitted, held_out=True).predict(X), in_sample.predict(X))


def test_a_frame_with_text_reaches_the_model_of_each_fold(noisy):
    X, y = noisy
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 0] > 0.5, "high", "low"))

    class ByKind(LinearRegression):
        def fit(self, X, y):
            return super().fit((X[["kind"]] == "high").to_numpy(dtype=float), y)

        def predict(self, X):
            return super().predict((X[["kind"]] == "high").to_numpy(dtype=float))

    rio = RIORegressor(ByKind(), features=["a", "b", "c"], residuals="cross-fit", random_state=0).fit(frame, y)
    assert metrics.rmse(y, rio.predict(frame)) < 0.5


def test_several_outputs(noisy, rng):
    X, y = noisy
    both = np.column_stack([y, rng.normal(size=120)])
    rio = RIORegressor(LinearRegression(), residuals="cross-fit", random_state=0).fit(X, both)
    mean, std = rio.predict(X, return_std=True)
    assert mean.shape == std.shape == (120, 2)


def test_error_bars_of_a_forest_hold_what_they_say(rng):
    X = rng.uniform(size=(900, 5))
    y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 5.0 * X[:, 3] + rng.normal(size=900)
    train, test = slice(0, 300), slice(300, None)
    forest = RandomForestRegressor(50, random_state=0)

    def coverage(rio):
        mean, std = rio.fit(X[train], y[train]).predict(X[test], return_std=True)
        return metrics.coverage(y[test], mean, std, confidence_level=0.9)

    fitted = clone(forest).fit(X[train], y[train])
    assert coverage(RIORegressor(fitted, residuals="in-sample", random_state=0)) < 0.75
    assert abs(coverage(RIORegressor(forest, random_state=0)) - 0.9) < 0.04
    assert abs(coverage(RIORegressor(fitted, random_state=0)) - 0.9) < 0.05


@pytest.mark.parametrize(
    ("model", "options", "given", "error", "message"),
    [
        (np.sin, {}, {}, TypeError, "can be cloned"),
        (None, {}, {}, TypeError, "can be cloned"),
        (FrozenEstimator(Ridge().fit([[0.0], [1.0]], [0.0, 1.0])), {}, {}, TypeError, "can be cloned"),
        (Ridge(), {}, {"y_pred": np.zeros(120)}, ValueError, "y_pred was given"),
        (Ridge().fit([[0.0]], [0.0]), {}, {"held_out": np.arange(120) < 20}, ValueError, "held_out was given"),
        (Ridge(), {"residuals": "auto"}, {"held_out": np.arange(120) < 20}, ValueError, "is not fitted yet"),
        (Ridge(), {}, {"groups": np.zeros(120)}, ValueError, r"one label, 0.0, for all rows.*two groups at least"),
        (Ridge(), {}, {"groups": np.arange(60)}, ValueError, r"groups has to have shape \(120,\)"),
        (Ridge(), {"cv": 1}, {}, ValueError, "cv has to be a whole number of at least 2"),
        (Ridge(), {"cv": [(np.arange(120), [])]}, {}, ValueError, "use fewer folds"),
        (
            Ridge(),
            {"cv": [(np.arange(100), np.arange(90, 120))]},
            {},
            ValueError,
            "to 10 of the 30 rows that it predicts",
        ),
        (Ridge(), {"combine": "both"}, {}, ValueError, "'refit', 'average'"),
        (Ridge(), {"residuals": "oof"}, {}, ValueError, "'in-sample', 'cross-fit'"),
    ],
)
def test_errors(model, options, given, error, message, noisy):
    X, y = noisy
    rio = RIORegressor(model, **{"residuals": "cross-fit", **options})
    with pytest.raises(error, match=message):
        rio.fit(X, y, **given)
    assert not hasattr(rio, "estimator_")


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (np.arange(120), np.arange(-120, 0), r"numbers from 0 to 119.*from -120 to -1"),
        (np.arange(60), np.arange(100, 130), r"from 100 to 129"),
        (np.arange(120) < 60, np.arange(100) > 50, r"a mask of 120 rows; got bool of shape \(100,\)"),
        (np.arange(60), np.arange(60.0, 120.0), "got float64"),
    ],
)
def test_folds_have_to_name_rows(train, test, message, noisy):
    with pytest.raises(ValueError, match=message):
        RIORegressor(Ridge(), residuals="cross-fit", cv=[(train, test)]).fit(*noisy)


def test_folds_may_be_masks(noisy):
    first = np.arange(120) < 60
    by_mask, by_number = (
        make_folds(cv, *noisy, noisy[0], None, None, np.random.default_rng(0))
        for cv in ([(first, ~first)], [(np.arange(60), np.arange(60, 120))])
    )
    np.testing.assert_array_equal(by_mask[0], by_number[0])


def test_records_of_one_measurement_are_in_one_fold(rng):
    """A clone that has seen a twin has seen the row."""
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    near = np.repeat(X, 3, axis=0) + 1e-3 * rng.normal(size=(120, 3))
    for _, test in make_folds(5, near, np.repeat(y, 3), near, None, None, rng):
        assert len(np.unique(test // 3)) * 3 == len(test)


def test_groups_are_in_one_fold_each(rng):
    X, y, groups = rng.normal(size=(90, 2)), rng.normal(size=90), [f"person {number}" for number in np.arange(90) // 6]
    folds = make_folds(5, X, y, X, groups, None, rng)
    assert [len(test) for _, test in folds] == [18] * 5
    for train, test in folds:
        assert not {groups[row] for row in train} & {groups[row] for row in test}
