"""Residuals are those of rows that the model has not seen, whoever fitted it and whatever it is."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import HuberRegressor, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import rio_uq
from rio_uq import ReusedRowsWarning, RIORegressor, SeenRowsWarning, metrics
from rio_uq.models.fit_rows import without_copies_of_seen_rows
from rio_uq.models.training_rows import training_evidence

MODELS = {
    "linear": LinearRegression(),
    "forest": RandomForestRegressor(12, random_state=0),
    "forest without a seed": RandomForestRegressor(12),
    "bagged trees": BaggingRegressor(DecisionTreeRegressor(), 12, random_state=0),
    "extra trees": ExtraTreesRegressor(10, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=20, learning_rate=0.3, random_state=0),
    "histogram boosting": HistGradientBoostingRegressor(max_iter=20, random_state=0),
    "nearest neighbour": KNeighborsRegressor(1),
    "pipeline": make_pipeline(StandardScaler(), ExtraTreesRegressor(10, random_state=0)),
    "search": GridSearchCV(DecisionTreeRegressor(random_state=0), {"min_samples_leaf": [1, 2]}, cv=2),
    "support vectors": make_pipeline(StandardScaler(), SVR(C=10.0)),
}
TRAINING = {"starts": "rio", "guard": False}
FAST = {
    "noise": "constant",
    "scale": "identity",
    "distribution": "normal",
    "training": TRAINING,
    "tol": 1e-2,
    "random_state": 0,
}
"""Which rows a model has seen is decided before the GP is fitted."""


def rows_of_friedman(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(1000, 5))
    y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2 + 5.0 * X[:, 3] + rng.normal(size=1000)
    return X, y


@pytest.fixture(scope="module")
def data():
    return rows_of_friedman(0)


@pytest.mark.parametrize("name", MODELS)
def test_rows_that_a_model_was_trained_on_are_recognised(name, data):
    X, y = (values[:200] for values in data)
    model = clone(MODELS[name]).fit(X, y)
    before = pickle.dumps(model)
    rio = RIORegressor(model, **FAST).fit(X, y)
    assert rio.residuals_.rows == "seen"
    assert rio.residuals_.kind == ("out-of-bag" if name.startswith(("forest", "bagged")) else "out-of-fold")
    assert rio.residuals_.evidence["clones_worse"] > 1.0
    assert rio.estimator_ is model
    if name != "nearest neighbour":  # its tree counts how often it is asked
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("linear", "search")])
def test_new_rows_are_recognised(name, data):
    X, y = data
    model = clone(MODELS[name]).fit(X[200:400], y[200:400])
    choice = RIORegressor(model, **FAST).fit(X[:200], y[:200]).residuals_
    assert (choice.kind, choice.rows) == ("in-sample", "new")


@pytest.mark.parametrize("name", ["forest", "extra trees", "boosting", "histogram boosting", "nearest neighbour"])
def test_rows_of_which_some_were_seen_get_out_of_fold_residuals(name, data):
    X, y = data
    model = clone(MODELS[name]).fit(X[100:300], y[100:300])
    choice = RIORegressor(model, **FAST).fit(X[:200], y[:200]).residuals_
    assert (choice.kind, choice.rows) == ("out-of-fold", "mixed")


@pytest.mark.parametrize("name", ["boosting", "histogram boosting", "pipeline"])
def test_a_model_of_half_of_the_rows_is_like_clones_of_halves(name, data):
    X, y = (values[:400] for values in data)
    model = clone(MODELS[name]).fit(X[:200], y[:200])
    choice = RIORegressor(model, **FAST).fit(X, y).residuals_
    assert (choice.kind, choice.rows) == ("out-of-fold", "mixed")
    other = clone(MODELS[name]).fit(data[0][400:600], data[1][400:600])
    assert RIORegressor(other, **FAST).fit(X, y).residuals_.rows == "new"


def test_memorised_rows_are_not_taken_for_safe_because_the_model_errs_more_on_others(rng):
    """A model of as many rows as are given, half of them with outcomes that are worse than these."""
    X = rng.uniform(size=(300, 2))
    y = np.sin(5.0 * X[:, 0]) + 0.1 * rng.normal(size=300)
    y[200:] += 1.0 * rng.normal(size=100)
    model = GradientBoostingRegressor(max_depth=8, random_state=0).fit(X[100:], y[100:])
    choice = RIORegressor(model, **FAST).fit(X[:200], y[:200]).residuals_
    assert choice.evidence["clones_worse"] < 0.95
    assert (choice.kind, choice.rows) == ("out-of-fold", "mixed")


@pytest.mark.parametrize("name", ["forest", "histogram boosting", "nearest neighbour"])
def test_error_bars_hold_for_whoever_just_fits(name, data):
    X, y = data
    model = clone(MODELS[name]).fit(X[:120], y[:120])
    rio = RIORegressor(model, random_state=0).fit(X[:120], y[:120])
    mean, std = rio.predict(X[200:], return_std=True)
    assert metrics.coverage(y[200:], mean, std, confidence_level=0.95) > 0.91


def test_out_of_bag_predictions_are_those_of_the_model(data):
    X, y = (values[:200] for values in data)
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(training_evidence(forest, X, y).out_of_bag[:, 0], forest.oob_prediction_)
    both = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, np.column_stack([y, -y]))
    out_of_bag = training_evidence(both, X, np.column_stack([y, -y])).out_of_bag
    np.testing.assert_allclose(out_of_bag, both.oob_prediction_)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_boosting_of_other_libraries_counts_its_rows(library, data):
    module = pytest.importorskip(library)
    model = {
        "xgboost": lambda: module.XGBRegressor(n_estimators=20, n_jobs=1),
        "lightgbm": lambda: module.LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1),
        "catboost": lambda: module.CatBoostRegressor(
            iterations=20, verbose=0, thread_count=1, allow_writing_files=False
        ),
    }[library]()
    X, y = data
    model.fit(X[:200], y[:200])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM was fitted to arrays, and gives its columns names
        assert training_evidence(model, X[:200], y[:200]).verdict == "seen"
        assert training_evidence(model, X[200:400], y[200:400]).verdict is None


@pytest.mark.parametrize("n_both", [0, 50, 100])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(30, random_state=0),
        BaggingRegressor(DecisionTreeRegressor(), 30, max_features=0.6, random_state=0),
        DecisionTreeRegressor(random_state=0),
        TransformedTargetRegressor(ExtraTreesRegressor(30, random_state=0), transformer=StandardScaler()),
    ],
)
def test_fully_grown_trees_remember_outcomes(model, n_both, data):
    X, y = data
    model = clone(model).fit(X[100 - n_both : 700], y[100 - n_both : 700])
    verdict = {0: "new", 50: "mixed", 100: "seen"}[n_both]
    assert training_evidence(model, X[:100], y[:100]).verdict == verdict


def test_the_same_outcome_of_many_rows_is_nothing_to_remember(data):
    X, y = data
    model = RandomForestRegressor(30, random_state=0).fit(X[100:], np.round(y[100:] / 5.0))
    assert training_evidence(model, X[:100], np.round(y[:100] / 5.0)).verdict is None


def test_a_model_that_says_nothing_is_no_evidence():
    assert training_evidence(object(), [["a"]], np.zeros(1)).verdict is None


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda X, y: RIORegressor(lambda X: X[:, 0], **FAST).fit(X, y), "<lambda> cannot be cloned"),
        (lambda X, y: RIORegressor(FrozenEstimator(Ridge().fit(X, y)), **FAST).fit(X, y), "FrozenEstimator cannot"),
        (lambda X, y: RIORegressor(**FAST).fit(X, y, y_pred=X[:, 0]), "the model that made the predictions given"),
        (lambda X, y: RIORegressor(**FAST).fit(X, y, y_pred=y), "100% of its residuals are zero"),
        (lambda X, y: RIORegressor(**FAST).fit(X, y, y_pred=y + 1e-6 * X[:, 0]), "of the spread of y, which rows"),
    ],
)
def test_what_nobody_can_find_out_is_asked(fit, message, data):
    X, y = (values[:60] for values in data)
    with pytest.warns(SeenRowsWarning, match=message) as caught:
        rio = fit(X, y)
    assert "held_out=True" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert rio.residuals_.rows == "unknown"


@pytest.mark.parametrize("held_out", [True, np.ones(60, dtype=bool), np.arange(60) % 2 == 0])
def test_an_answer_ends_the_question(held_out, data):
    X, y = (values[:60] for values in data)
    verdict = "new" if np.all(held_out) else "mixed"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = RIORegressor(**FAST).fit(X, y, y_pred=X[:, 0], held_out=held_out)
        function = RIORegressor(lambda X: X[:, 0], **FAST).fit(X, y, held_out=held_out)
        RIORegressor(lambda X: X[:, 0], residuals="in-sample", **FAST).fit(X, y)
        RIORegressor(lambda X: X[:, 0], target="outcome", kernel="input", **FAST).fit(X, y)
    assert given.residuals_.rows == function.residuals_.rows == verdict


def test_rows_that_were_all_seen_are_cross_fitted(data):
    X, y = (values[:60] for values in data)
    rio = RIORegressor(Ridge().fit(X, y), **FAST).fit(X, y, held_out=False)
    assert (rio.residuals_.kind, rio.residuals_.n_fits) == ("out-of-fold", 5)


def test_held_out_rows_with_a_copy_among_the_others_are_seen(rng):
    X = rng.normal(size=(6, 2))
    features, y = np.vstack([X, X[:2]]), np.arange(8.0)
    y[6:] = y[:2]
    held_out = np.array([False, True, False, True, True, False, True, True])
    unseen = without_copies_of_seen_rows(held_out, features, y)
    np.testing.assert_array_equal(unseen, [False, True, False, True, True, False, False, True])


def test_clones_that_cannot_be_fitted_leave_the_question_open(data):
    class Once(Ridge):
        is_done = False

        def fit(self, X, y):
            if Once.is_done:
                raise RuntimeError("needs an evaluation set")
            Once.is_done = True
            self.model_ = DecisionTreeRegressor().fit(X, y)
            return self

        def predict(self, X):
            return self.model_.predict(X)

    X, y = (values[:60] for values in data)
    model = Once().fit(X, y)
    with pytest.warns(SeenRowsWarning, match=r"cannot be fitted \(RuntimeError: needs an evaluation set\)"):
        assert RIORegressor(model, **FAST).fit(X, y).residuals_.kind == "in-sample"


def test_rows_that_were_seen_by_a_model_whose_clones_cannot_be_fitted(data):
    class NeedsMore(KNeighborsRegressor):
        def fit(self, X, y, eval_set=None):
            if eval_set is None:
                raise ValueError("no validation rows")
            return super().fit(X, y)

    X, y = (values[:60] for values in data)
    model = NeedsMore(1).fit(X, y, eval_set=())
    with pytest.warns(SeenRowsWarning, match="has seen all of these rows: it keeps its training rows") as caught:
        rio = RIORegressor(model, **FAST).fit(X, y)
    assert "no validation rows): give fit the parameters that theirs needs" in str(caught[0].message)
    assert (rio.residuals_.kind, rio.residuals_.rows) == ("in-sample", "seen")
    assert RIORegressor(model, **FAST).fit(X, y, eval_set=()).residuals_.kind == "out-of-fold"


@pytest.mark.parametrize("n_given", [15, 40, 80])
@pytest.mark.parametrize("name", ["boosting", "histogram boosting"])
def test_clones_of_few_rows_do_not_speak_for_a_model_of_many(name, n_given, data):
    X, y = data
    model = clone(MODELS[name]).set_params(learning_rate=0.5).fit(X[:600], y[:600])
    with pytest.warns(SeenRowsWarning, match=r"clones fitted to them have residuals .* times as large as its own"):
        rio = RIORegressor(model, **FAST).fit(X[:n_given], y[:n_given])
    assert (rio.residuals_.kind, rio.residuals_.rows) == ("out-of-fold", "mixed" if n_given > 20 else "unknown")


def test_a_linear_model_through_all_rows_is_judged_by_clones(rng):
    X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
    rio = RIORegressor(LinearRegression().fit(X, y), **FAST).fit(X, y)
    assert (rio.residuals_.kind, rio.residuals_.rows) == ("out-of-fold", "seen")


def test_folds_of_the_user_are_used(data):
    X, y = (values[:120] for values in data)
    groups = np.arange(120) // 10
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    rio = RIORegressor(model, cv=GroupKFold(4), **FAST).fit(X, y, groups=groups)
    assert (rio.residuals_.kind, rio.residuals_.n_fits) == ("out-of-fold", 4)
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)  # its samples would not keep groups apart
    rio = RIORegressor(forest, cv=GroupKFold(4), **FAST).fit(X, y, groups=groups)
    assert (rio.residuals_.kind, rio.residuals_.n_fits) == ("out-of-fold", 4)
    rio = RIORegressor(forest, cv=4, **FAST).fit(X, y, groups=groups)
    assert (rio.residuals_.kind, rio.residuals_.n_fits) == ("out-of-fold", 4)
    new = RIORegressor(KNeighborsRegressor(1).fit(X + 1.0, y), cv=GroupKFold(4), **FAST).fit(X, y, groups=groups)
    assert new.residuals_.rows == "new"


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (5, np.zeros(60), "two groups at least"),
        ([(np.arange(30), np.arange(60, 90))], None, "numbers from 0 to 59"),
    ],
)
def test_wrong_folds_are_errors_for_a_fitted_model_too(cv, groups, message, data):
    X, y = (values[:60] for values in data)
    rio = RIORegressor(GradientBoostingRegressor().fit(X, y), cv=cv, **FAST)
    with pytest.raises(ValueError, match=message):
        rio.fit(X, y, groups=groups)


def test_several_outputs(data):
    X, y = (values[:200] for values in data)
    Y = np.column_stack([y, 100.0 * X[:, 4]])
    seen = RIORegressor(MODELS["pipeline"].fit(X, Y), **FAST).fit(X, Y)
    assert seen.residuals_.rows == "seen"
    new = RIORegressor(clone(MODELS["extra trees"]).fit(X[:100], Y[:100]), **FAST).fit(X[100:], Y[100:])
    assert new.residuals_.rows == "new"


def test_the_choice_is_stored_and_shown(data, tmp_path):
    X, y = (values[:200] for values in data)
    model = clone(MODELS["boosting"]).fit(X[:100], y[:100])
    rio = RIORegressor(model, **FAST).fit(X[100:], y[100:])
    rio.save(tmp_path / "model.rio")
    other = rio_uq.load(tmp_path / "model.rio", estimator=model)
    assert other.residuals_ == rio.residuals_
    assert str(rio.residuals_) in str(rio.summary())
    assert rio.residuals_.evidence["memorised"] > 1.1


class Loaded(BaseEstimator, RegressorMixin):
    """A model from elsewhere, with a fit method because one is asked for."""

    def __init__(self, model=None):
        self.model = model

    def fit(self, X, y):
        return self

    def predict(self, X):
        return LOADED.predict(X)


LOADED = ExtraTreesRegressor(10, random_state=0)


@pytest.mark.parametrize(
    ("around", "is_fitted"),
    [
        (lambda model: TransformedTargetRegressor(FrozenEstimator(model)), True),
        (lambda model: TransformedTargetRegressor(FrozenEstimator(model)), False),
        (lambda model: make_pipeline(StandardScaler(with_mean=False, with_std=False), FrozenEstimator(model)), True),
        (lambda model: StackingRegressor([("one", model)], cv="prefit"), True),
        (lambda model: VotingRegressor([("one", FrozenEstimator(model)), ("other", Ridge())]), True),
        (lambda model: VotingRegressor([("one", FrozenEstimator(model)), ("other", Ridge())]), False),
        (lambda model: Loaded(), False),
    ],
)
def test_a_part_that_is_not_fitted_again_cannot_be_asked(data, around, is_fitted):
    X, y = (values[:60] for values in data)
    model = around(LOADED.fit(X, y))
    model = model.fit(X, y) if is_fitted else model
    with pytest.warns(SeenRowsWarning, match="whether the model was trained on these rows is not known"):
        rio = RIORegressor(model, **FAST).fit(X, y)
    assert (rio.residuals_.kind, rio.residuals_.rows) == ("in-sample", "unknown")


def test_a_frozen_model_of_any_class_cannot_be_asked(data):
    class Foreign(BaseEstimator):
        """No regressor by its tags."""

        def fit(self, X, y):
            self.slope_ = 1.0
            return self

        def predict(self, X):
            return self.slope_ * X[:, 0]

    X, y = (values[:60] for values in data)
    with pytest.warns(SeenRowsWarning, match="cannot be cloned"):
        RIORegressor(FrozenEstimator(Foreign().fit(X, y)), **FAST).fit(X, y)


def test_frozen_transformers_do_not_matter(data):
    X, y = (values[:60] for values in data)
    model = make_pipeline(FrozenEstimator(StandardScaler().fit(X)), KNeighborsRegressor(1)).fit(X, y)
    assert RIORegressor(model, **FAST).fit(X, y).residuals_.kind == "out-of-fold"


@pytest.mark.parametrize("forest", [RandomForestRegressor, ExtraTreesRegressor])
def test_a_forest_that_went_on_with_other_rows_has_seen_these(data, forest):
    X, y = data
    model = forest(50, warm_start=True, random_state=0).fit(X[:100], y[:100])
    model.set_params(n_estimators=100).fit(X[100:200], y[100:200])
    for rows in (slice(0, 100), slice(100, 200)):
        assert RIORegressor(model, **FAST).fit(X[rows], y[rows]).residuals_.kind in ("out-of-fold", "out-of-bag")


@pytest.mark.parametrize("last", [Ridge(fit_intercept=False), LinearRegression(positive=True), Ridge(solver="sag")])
def test_least_squares_of_other_kinds_has_seen_its_rows(data, last):
    X, y = (values[:100] for values in data)
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), clone(last).set_params(**SEED.get(type(last), {})))
    choice = RIORegressor(model.fit(X, y), **FAST).fit(X, y).residuals_
    assert (choice.kind, choice.rows) == ("out-of-fold", "seen")


SEED = {Ridge: {"random_state": 0}}


def test_an_outcome_that_is_constant_gives_no_warning_of_numpy(data):
    X, y = data[0][:60], np.ones(60)
    assert RIORegressor(Ridge().fit(X, y), **FAST).fit(X, y).residuals_.kind == "out-of-fold"


def test_a_verbose_fit_says_what_it_costs(data, capsys):
    X, y = (values[:60] for values in data)
    RIORegressor(KNeighborsRegressor(1).fit(X, y), verbose=True, **FAST).fit(X, y)
    said = capsys.readouterr().err
    assert "fitting 5 clones of KNeighborsRegressor to parts of 60 rows, 240 rows in all" in said
    assert said.index("240 rows in all") < said.index("clone 1 of 5") < said.index("clone 5 of 5")
    RIORegressor(HuberRegressor().fit(X, y), verbose=True, **FAST).fit(X, y)
    said = capsys.readouterr().err
    assert said.index("fitting 1 clone of HuberRegressor") < said.index("fitting 5 clones of HuberRegressor")
    RIORegressor(HuberRegressor().fit(X, y), verbose=True, **FAST).fit(*(values[60:120] for values in data))
    said = capsys.readouterr().err
    assert said.index("fitting 1 clone of HuberRegressor") < said.index("fitting 9 clones of HuberRegressor")


@pytest.fixture
def in_parts(data, tmp_path):
    """A file, its rows, and options by which 200 of them are the sample."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(data[0], columns=list("abcde"))
    frame.assign(y=data[1]).to_parquet(tmp_path / "rows.parquet")
    options = {**FAST, "n_inducing": 10, "training": {**TRAINING, "sample_rows": 200}}
    return tmp_path / "rows.parquet", frame, data[1], options


@pytest.mark.parametrize("held_out", [None, False])
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            BaggingRegressor(KNeighborsRegressor(1), 3, bootstrap=False, max_features=0.8, random_state=0),
            "just these rows",
        ),
        (ExtraTreesRegressor(10, random_state=0), "among those counted in its leaves"),
        (KNeighborsRegressor(1), "keeps its training rows"),
    ],
)
def test_of_seen_rows_in_parts_the_sample_is_fitted_to(model, reason, held_out, in_parts):
    path, X, y, options = in_parts
    rio = RIORegressor(model.fit(X, y), **options)
    message = f"the model has seen rows of .*rows.parquet .*200 of its {len(y):,} rows"
    with pytest.warns(SeenRowsWarning, match=message):
        rio.fit(path, "y", held_out=held_out)
    assert rio.residuals_.kind == "out-of-fold"
    assert rio.residuals_.rows == "seen"
    assert (reason if held_out is None else f"held_out={held_out} says so") in rio.residuals_.reason
    assert rio.summary().n_rows == 200
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeenRowsWarning)
        narrow = RIORegressor(model, residuals="in-sample", **options).fit(path, "y")
    width, seen_width = (np.ptp(one.predict_interval(X, confidence_level=0.9), axis=1).mean() for one in (rio, narrow))
    assert width > 2.0 * seen_width


def test_clones_of_a_sample_do_not_say_that_rows_are_new(in_parts):
    path, X, y, options = in_parts
    others, outcomes = rows_of_friedman(1)
    model = HistGradientBoostingRegressor(max_iter=30, learning_rate=0.3, min_samples_leaf=2, random_state=0)
    model.fit(pd.DataFrame(others, columns=X.columns), outcomes)
    for answer in (None, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rio = RIORegressor(model, **options).fit(path, "y", held_out=answer)
        said = [str(warning.message) for warning in caught if issubclass(warning.category, SeenRowsWarning)]
        assert rio.summary().n_rows == len(y)
        assert rio.residuals_.kind == "in-sample"
        assert rio.residuals_.rows == ("unknown" if answer is None else "new")
        assert len(said) == (answer is None)
        if answer is None:
            assert "clones fitted to a sample of them" in said[0]
            assert rio.residuals_.n_fits == 10


def test_where_nothing_is_memorised_rows_in_parts_raise_no_question(in_parts):
    path, X, y, options = in_parts
    model = make_pipeline(StandardScaler(), HuberRegressor()).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rio = RIORegressor(model, **options).fit(path, "y")
    assert rio.residuals_.rows == "either"
    assert rio.residuals_.kind == "in-sample"
    assert rio.summary().n_rows == len(y)


@pytest.mark.parametrize("reused", [True, False])
def test_calibrating_on_rows_of_fit_is_noticed(reused, data):
    X, y = (values[:200] for values in data)
    rio = RIORegressor(Ridge(), **FAST).fit(X[:100], y[:100])
    if not reused:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rio.calibrate(X[100:], y[100:])
        return
    with pytest.warns(ReusedRowsWarning, match="50% of these rows were fitted to"):
        rio.calibrate(X[50:150], y[50:150])


def test_corrections_of_clones_that_the_model_does_not_need_are_not_made(rng):
    """Clones of half-seen rows lack what the others have taught the model: its corrections are not theirs."""
    X = rng.uniform(size=(700, 3))
    y = np.where(X[:, 0] > 0.93, 5.0, 0.0) + X[:, 1] + 0.3 * rng.normal(size=700)
    given, others = np.arange(150), np.arange(150, 500)
    model = HistGradientBoostingRegressor(random_state=0).fit(
        X[np.r_[given[:75], others]], y[np.r_[given[:75], others]]
    )
    with pytest.warns(SeenRowsWarning, match=r"clones fitted to them have residuals \d\.\d times as large") as caught:
        rio = RIORegressor(model, random_state=0).fit(X[given], y[given])
    assert caught[0].filename == __file__
    assert rio.residuals_.kind == "out-of-fold"
    new = np.arange(500, 700)
    errors = [np.sqrt(np.mean((y[new] - predicted) ** 2)) for predicted in (rio.predict(X[new]), model.predict(X[new]))]
    assert errors[0] < 1.05 * errors[1]


def test_seen_rows_of_a_model_that_cannot_be_cloned_are_warned_of(friedman, quick_fits):
    X, y = friedman
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    with pytest.warns(SeenRowsWarning, match="has seen all of these rows, and cannot be fitted to parts of them"):
        RIORegressor(forest.predict, random_state=0).fit(X, y, held_out=False)
    with pytest.warns(SeenRowsWarning, match="has seen all of these rows, and cannot be fitted to parts of them"):
        RIORegressor(random_state=0).fit(X, y, y_pred=forest.predict(X), held_out=False)


@pytest.mark.parametrize("held_out", [True, np.arange(60) < 30])
def test_rows_said_to_be_new_that_do_not_look_it_are_named(held_out, data):
    X, y = (values[:60] for values in data)
    seen = np.flatnonzero(np.broadcast_to(held_out, 60))
    trees = ExtraTreesRegressor(5, random_state=0).fit(X[seen], y[seen])
    for rio, prediction in ((RIORegressor(trees.predict, **FAST), None), (RIORegressor(**FAST), trees.predict(X))):
        with pytest.warns(SeenRowsWarning, match="said to be new to the model, but .* are zero"):
            rio.fit(X, y, y_pred=prediction, held_out=held_out)


def test_folds_keep_copies_together_where_measurements_are_few(rng, quick_fits):
    X, y = rng.normal(size=(3, 2)), rng.normal(size=3)
    rio = RIORegressor(Ridge(), random_state=0).fit(np.repeat(X, 20, axis=0), np.repeat(y, 20))
    left_out = [Ridge().fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[i : i + 1])[0] for i in range(3)]
    assert rio.summary().error_std > 0.5 * np.std(y - left_out)


def test_three_rows_of_which_one_has_no_weight(rng, quick_fits):
    X, y = rng.normal(size=(3, 2)), rng.uniform(1.0, 2.0, size=3)
    rio = RIORegressor(Ridge(), scale="log", random_state=0).fit(X, y, sample_weight=[0, 1, 1])
    np.testing.assert_array_equal(np.sort(rio.fitted_.kept.outcome[:, 0]), np.sort(y[1:]))


@pytest.mark.parametrize("model", [ExtraTreesRegressor(5, random_state=0), KNeighborsRegressor(3), SVR()])
def test_a_model_that_has_seen_the_rows_and_many_others_is_named(model, rng, quick_fits):
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + rng.normal(size=400)
    with pytest.warns(SeenRowsWarning, match="others, 10 times as many in all"):
        rio = RIORegressor(model.fit(X, y), random_state=0).fit(X[:40], y[:40])
    assert rio.residuals_.rows == "seen"
    assert rio.residuals_.evidence["relative_size"] == pytest.approx(10.0)
