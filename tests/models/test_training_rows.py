"""Evidence inside a model of its training rows, where the same rows do not look the same."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from rio_uq import RIORegressor
from rio_uq.models.overlap import Share, mean_share
from rio_uq.models.training_rows import training_evidence


@pytest.fixture
def rows(rng):
    X = rng.uniform(size=(120, 15))
    return X, 5.0 * X[:, 0] + rng.normal(size=120)


@pytest.mark.parametrize("last", [KNeighborsRegressor(1), KernelRidge(), SVR(C=1000.0)])
def test_rows_that_a_pipeline_has_rotated_are_the_same_rows(last, rows):
    X, y = rows
    model = make_pipeline(StandardScaler(), PCA(12, svd_solver="full"), last).fit(X, y)
    assert training_evidence(model, X, y).verdict == "seen"
    assert training_evidence(model, X + 0.5, y).verdict == "new"


@pytest.mark.parametrize("change", [np.float32, lambda X: np.round(X, 6)])
def test_rows_that_have_lost_digits_are_the_same_rows(change, rows):
    X, y = rows
    assert training_evidence(KNeighborsRegressor(1).fit(change(X), y), X, y).verdict == "seen"


def test_transformers_that_learn_from_outcomes_leave_the_question_open(rng):
    X, y = rng.integers(0, 9, size=(120, 3)), rng.normal(size=120)
    model = make_pipeline(TargetEncoder(), KNeighborsRegressor(1)).fit(X, y)
    assert training_evidence(model, X, y).verdict != "new"


def test_out_of_bag_rows_were_seen_by_a_selection_of_features(rows):
    X, y = rows
    forest = RandomForestRegressor(20, random_state=0)
    assert training_evidence(forest.fit(X, y), X, y).out_of_bag is not None
    model = make_pipeline(SelectKBest(f_regression, k=3), RandomForestRegressor(20, random_state=0)).fit(X, y)
    evidence = training_evidence(model, X, y)
    assert (evidence.verdict, evidence.out_of_bag) == ("seen", None)


@pytest.mark.parametrize("model", [RandomForestRegressor(60, random_state=0), BaggingRegressor(n_estimators=60)])
def test_copies_of_a_row_are_out_of_bag_together(model, rows):
    X, y = (np.repeat(values, 2, axis=0) for values in rows)
    out_of_bag = training_evidence(model.fit(X, y), X, y).out_of_bag[:, 0]
    error = np.nanstd(y - out_of_bag)
    assert error > 0.8  # that of the noise is 1
    np.testing.assert_array_equal(out_of_bag[::2], out_of_bag[1::2])


def test_trees_of_weighted_samples_say_nothing(rows):
    X, y = rows
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=8), random_state=0).fit(X, y)
    evidence = training_evidence(model, X, y)
    assert (evidence.verdict, evidence.share, evidence.is_other) == (None, None, False)


def test_few_training_rows_do_not_make_many_given_ones_seen(rng):
    X = rng.uniform(size=(600, 3))
    y = 5.0 * X[:, 0] + rng.normal(size=600)
    model = GradientBoostingRegressor(random_state=0).fit(X[:60], y[:60])
    assert training_evidence(model, X[60:], y[60:]).verdict is None
    assert training_evidence(model, X[:60], y[:60]).verdict == "seen"


def test_shares_that_contradict_each_other_are_none():
    assert mean_share([Share(0.0, 0.1), Share(1.0, 0.1)]) is None
    assert mean_share([Share(0.4, 0.1), Share(0.6, 0.1)]).value == pytest.approx(0.5)


@pytest.mark.usefixtures("quick_fits")
def test_equal_outcomes_alone_are_no_copies(rng):
    X, y = rng.normal(size=(80, 2)), (rng.random(80) < 0.4).astype(float)
    held_out = np.arange(80) >= 40
    rio = RIORegressor(lambda X: np.full(len(X), 0.4), kernel="output").fit(X, y, held_out=held_out)
    assert np.count_nonzero(rio.loo_.weight) == 40


def test_held_out_rows_without_weight_are_refused(rows):
    X, y = rows
    held_out = np.arange(120) >= 60
    with pytest.raises(ValueError, match="held_out names no row"):
        RIORegressor(lambda X: X[:, 0]).fit(X, y, held_out=held_out, sample_weight=np.where(held_out, 0.0, 1.0))


def test_one_row_says_nothing_of_errors(rows):
    X, y = rows
    _, std = RIORegressor(Ridge()).fit(X[:1], y[:1]).predict(X[:2], return_std=True)
    assert (std > 0.5 * np.abs(y[0])).all()


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0),
        HistGradientBoostingRegressor(max_iter=20, early_stopping=True, random_state=0),
    ],
)
@pytest.mark.parametrize("n_trained", [80, 400])
def test_samples_that_are_smaller_than_the_rows_given_do_not_show_that_these_were_seen(model, n_trained, rng):
    X = rng.normal(size=(800, 5))
    y = X[:, 0] + rng.normal(size=800)
    fitted = model.fit(X[400 : 400 + n_trained], y[400 : 400 + n_trained])
    assert training_evidence(fitted, X[:400], y[:400]).verdict != "seen"


def test_few_of_many_training_rows_do_not_correct_a_model(rng):
    X = rng.normal(size=(200, 3))
    y = 3.0 * X[:, 0] + 0.3 * rng.normal(size=200)
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    rio = RIORegressor(forest, training={"guard": True}, random_state=0).fit(X[:5], y[:5])
    np.testing.assert_allclose(rio.predict(X), forest.predict(X))


def table_with_categories(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"city": pd.Categorical(rng.choice([3, 10, 17], size=100)), "size": rng.normal(size=100)})
    return X, rng.normal(size=100)


def test_codes_of_categories_are_not_guessed(rng):
    X, y = table_with_categories(rng)
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=5).fit(X, y)
    evidence = training_evidence(model, X, y)
    assert (evidence.verdict, evidence.share) == (None, None)


def test_lightgbm_knows_categories_in_another_order(rng):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = table_with_categories(rng)
    model = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1).fit(X, y)
    assert training_evidence(model, X, y).verdict == "seen"
    other = X.assign(city=X["city"].cat.reorder_categories([17, 3, 10]))
    assert training_evidence(model, other, y).verdict == "seen"
