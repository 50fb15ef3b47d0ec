"""Wrong input gets an error that says what was expected, what came, and what to do; nothing is changed by it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import rio_uq
from rio_uq import RIORegressor

pytestmark = pytest.mark.usefixtures("quick_fits")


@pytest.fixture
def rio(fitted_rio):
    return fitted_rio


def with_value(array, rows, value):
    copy = array.copy()
    copy[rows] = value
    return copy


def test_missing_outcomes_are_named_by_row(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match=r"y contains NaN in 3 rows \(4, 17, 90\).*remove or impute"):
        RIORegressor(Ridge()).fit(X, with_value(y, [4, 17, 90], np.nan))


def test_infinite_features_are_named_by_row(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match=r"X contains infinity in 1 row \(7\)"):
        RIORegressor(Ridge()).fit(with_value(X, 7, np.inf), y)


def test_many_bad_rows_are_counted(friedman, rio):
    X, _ = friedman
    with pytest.raises(ValueError, match=r"in 20 rows \(0, 1, 2, 3, 4, …\)"):
        rio.predict(with_value(X, np.arange(20), np.nan))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(119), "X has 120 rows and y has 119"),
        (np.zeros((120, 1, 1)), r"y has to have shape \(120,\).*got \(120, 1, 1\)"),
        (np.array(3.0), r"y has to have shape \(120,\).*got \(\)"),
        ([[1.0, 2.0], [3.0]] * 60, "y has to be an array of numbers"),
        (pd.date_range("2020-01-01", periods=120), "y has to be numbers; got datetime64"),
        (np.full(120, 1e200), "rescale y"),
        (None, "target y is None"),
    ],
)
def test_y_that_cannot_be(bad, message, friedman):
    with pytest.raises(ValueError, match=message):
        RIORegressor(Ridge()).fit(friedman[0], bad)


def test_no_rows(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match="0 rows"):
        RIORegressor(lambda X: X[:, 0]).fit(X[:0], y[:0])


def test_masked_outcomes_are_missing(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match=r"y contains NaN in 1 row \(3\)"):
        RIORegressor(Ridge()).fit(X, np.ma.MaskedArray(y, mask=np.arange(120) == 3))


def test_text_in_y(friedman):
    with pytest.raises(ValueError, match=r"y has to be numbers.*'high'"):
        RIORegressor(Ridge()).fit(friedman[0], ["high"] * 120)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda X: np.zeros(7), r"should have shape \(120,\).*got shape \(7,\)"),
        (lambda X: np.zeros((120, 2)), r"should have shape \(120,\).*got shape \(120, 2\)"),
        (lambda X: np.full(120, np.nan), r"the model's prediction contains NaN.*120 rows"),
        (lambda X: ["cheap"] * 120, "the model's prediction has to be numbers.*'cheap'"),
        (lambda X: np.zeros(120, dtype=complex), "real numbers"),
    ],
)
def test_a_model_with_bad_answers(answer, message, friedman):
    with pytest.raises(ValueError, match=message):
        RIORegressor(answer).fit(*friedman)


def test_predictions_of_the_wrong_shape(friedman, rio):
    X, y = friedman
    with pytest.raises(ValueError, match=r"y_pred should have shape \(120,\)"):
        RIORegressor().fit(X, y, y_pred=y[:50])
    with pytest.raises(ValueError, match=r"y_pred should have shape \(10,\)"):
        rio.predict(X[:10], y_pred=y)
    with pytest.raises(ValueError, match=r"shape \(120, 2\).*each output"):
        RIORegressor().fit(X, np.column_stack([y, y]), y_pred=y)


@pytest.mark.parametrize("model", [3, "linear", Ridge])
def test_something_that_is_no_model(model, friedman):
    with pytest.raises(TypeError, match="predict"):
        RIORegressor(model).fit(*friedman)


def test_no_model_and_no_predictions(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match="give RIORegressor an estimator"):
        RIORegressor().fit(X, y)
    rio = RIORegressor(random_state=0, noise="constant", tol=1e-3).fit(X, y, y_pred=X[:, 0])
    with pytest.raises(ValueError, match="y_pred"):
        rio.predict(X)


@pytest.mark.parametrize("method", ["predict", "predict_interval", "predict_dist", "sample_y", "decompose"])
def test_not_fitted(method, friedman):
    with pytest.raises(NotFittedError):
        getattr(RIORegressor(Ridge().fit(*friedman)), method)(friedman[0])


@pytest.mark.parametrize(
    ("option", "value", "known"),
    [
        ("target", "both", "'residual', 'outcome'"),
        ("kernel", "I/O", "'io', 'input', 'output'"),
        ("inference", "svi", "'auto', 'exact', 'sparse'"),
        ("training__starts", None, "'auto', 'rio', 'unit'"),
        ("training__prior", "strong", "'weak', 'flat'"),
        ("training__dtype", np.float16, "'float64', 'float32'"),
        ("input_kernel", "rbf+periodic", "'rbf', .*'linear'"),
        ("output_kernel", 5, "'rbf'"),
        ("training__inducing", "best", "'greedy', 'kmeans', 'random', 'first'"),
        ("n_inducing", 0, "at least 1"),
        ("n_inducing", 2.5, "whole number"),
        ("max_iter", 0, "at least 1"),
        ("training__n_restarts", -1, "at least 0"),
        ("tol", 0.0, "between 0 and 1"),
        ("n_jobs", 0, "positive"),
        ("n_jobs", True, "positive"),
        ("ard", "no", "True or False"),
        ("training__low_memory", "false", "True or False"),
        ("verbose", "no", "True or False"),
    ],
)
def test_unknown_options_list_the_known_ones(option, value, known, friedman):
    rio = RIORegressor(Ridge()).set_params(**{option: value})
    with pytest.raises(ValueError, match=f"{option.removeprefix('training__')}.*{known}"):
        rio.fit(*friedman)


def test_an_unknown_variant_of_the_paper():
    with pytest.raises(ValueError, match=r"variant.*'SVGP'.*'GP'"):
        RIORegressor.paper(variant="GP")


@pytest.mark.parametrize("option", ["kernel", "target"])
def test_the_paper_and_an_option_that_contradicts_its_variant(option):
    with pytest.raises(ValueError, match=f"{option} follows from the variant"):
        RIORegressor.paper(**{option: "io"})


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((3, 4)), r"inducing has to have shape \(m, 5\)"),
        (np.full((3, 5), np.nan), "inducing contains NaN in 3 rows"),
        ([["a"] * 5], "inducing has to be numbers"),
        ([[1.0], [1.0, 2.0]], "inducing has to be an array of numbers"),
    ],
)
def test_inducing_points_that_cannot_be(points, message, friedman):
    with pytest.raises(ValueError, match=message):
        RIORegressor(Ridge(), training={"inducing": points}).fit(*friedman)


def test_parameters_of_a_fitted_model_cannot_be_searched(friedman):
    model = Ridge(alpha=1.0).fit(*friedman)
    search = GridSearchCV(RIORegressor(model), {"estimator__alpha": [0.1, 1e6]}, cv=2, error_score="raise")
    with pytest.raises(ValueError, match=r"the model is fitted.*clone"):
        search.fit(*friedman)
    assert model.alpha == 1.0
    assert RIORegressor(Ridge()).set_params(estimator__alpha=3.0).estimator.alpha == 3.0


def test_a_model_without_weights_is_said(friedman):
    with pytest.warns(UserWarning, match="Pipeline takes no sample_weight"):
        RIORegressor(make_pipeline(Ridge()), tol=1e-3).fit(*friedman, sample_weight=np.arange(120))


def test_text_in_an_array(friedman):
    X = friedman[0].astype(object)
    X[3, 0] = "cheap"
    with pytest.raises(ValueError, match=r"numbers only.*'cheap'.*features="):
        RIORegressor(lambda X: np.zeros(120)).fit(X, friedman[1])


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, [0.5, 1.5], [], "high"])
def test_confidence_levels_outside_of_zero_and_one(level, rio, friedman):
    with pytest.raises(ValueError, match="confidence_level"):
        rio.predict_interval(friedman[0], confidence_level=level)


def test_std_and_covariance_at_once(rio, friedman):
    with pytest.raises(ValueError, match="one of them"):
        rio.predict(friedman[0], return_std=True, return_cov=True)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(7), r"shape \(120,\)"),
        (-np.ones(120), "zero or more"),
        (np.zeros(120), "more than zero"),
        (np.full(120, np.nan), "sample_weight contains NaN"),
    ],
)
def test_bad_weights(weight, message, friedman):
    with pytest.raises(ValueError, match=message):
        RIORegressor(Ridge()).fit(*friedman, sample_weight=weight)


def test_text_columns_are_named_with_the_remedy(friedman):
    X, y = friedman
    frame = pd.DataFrame(X, columns=list("abcd")).assign(city="Oslo")
    with pytest.raises(ValueError, match=r"column 'city'.*features="):
        RIORegressor(lambda X: X["a"].to_numpy(), features=None).fit(frame, y)
    dates = frame.drop(columns="city").assign(day=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match=r"column 'day'.*features="):
        RIORegressor(lambda X: X["a"].to_numpy(), features=None).fit(dates, y)
    with pytest.raises(ValueError, match=r"\['a', 'z'\].*columns are \['a', 'b', 'c', 'd', 'city'\]"):
        RIORegressor(lambda X: X["a"].to_numpy(), features=["a", "z"]).fit(frame, y)


def test_all_columns_that_cannot_be_encoded_are_named_at_once(friedman):
    X, y = friedman
    frame = pd.DataFrame(X, columns=list("abcd")).assign(name=[f"name {i}" for i in range(len(X))], empty=np.nan)
    with pytest.raises(ValueError, match=r"2 columns cannot be encoded \('name', 'empty'\).*features=\[\.\.\.\]"):
        RIORegressor(lambda X: X["a"].to_numpy()).fit(frame, y)


@pytest.mark.parametrize(
    ("features", "error"),
    [
        ("a", TypeError),
        (5, TypeError),
        ([], ValueError),
        (lambda X: X[:5], ValueError),
        (lambda X: X[:, 0], ValueError),
    ],
)
def test_features_that_cannot_be(features, error, friedman):
    with pytest.raises(error, match="features"):
        RIORegressor(Ridge(), features=features).fit(*friedman)


def test_features_with_missing_values_are_named_by_row(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match=r"the output of features contains NaN.*\(3\)"):
        RIORegressor(Ridge(), features=lambda X: with_value(X, 3, np.nan)).fit(X, y)


def test_sparse_matrices_are_refused_in_a_sentence(friedman):
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="Sparse data was passed"):
        RIORegressor(lambda X: np.zeros(120)).fit(csr_array(friedman[0]), friedman[1])
    with pytest.raises(TypeError, match="toarray"):
        RIORegressor().fit(*friedman, y_pred=csr_array(friedman[0]))


def test_a_failed_fit_leaves_the_old_one_in_place(friedman):
    X, y = friedman
    rio = RIORegressor(Ridge(), random_state=0, noise="constant", tol=1e-3).fit(X, y)
    before = rio.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        rio.fit(X, with_value(y, 3, np.nan))
    with pytest.raises(ValueError, match="y_pred"):
        rio.fit(X[:, :2], y, y_pred=y[:3])
    np.testing.assert_array_equal(rio.predict(X), before)


def test_a_dict_is_no_table(friedman):
    X, y = friedman
    with pytest.raises(TypeError, match=r"X is a dict.*pandas\.DataFrame"):
        RIORegressor(Ridge()).fit({"a": X[:, 0], "b": X[:, 1]}, y)


def test_an_array_has_no_column_of_that_name(friedman):
    with pytest.raises(ValueError, match=r"y has to be numbers; got 'price'.*X \(ndarray\) has no names"):
        RIORegressor(Ridge()).fit(friedman[0], "price")


def test_a_frame_in_memory_is_not_written_from(rio, friedman, tmp_path):
    with pytest.raises(TypeError, match="got a DataFrame, which is in memory: use predict"):
        rio.predict_to_parquet(pd.DataFrame(friedman[0]), tmp_path / "predictions.parquet")


def test_load_says_which_parameters_it_takes(rio, tmp_path):
    rio.save(tmp_path / "model.rio")
    with pytest.raises(TypeError, match="load takes no foo"):
        rio_uq.load(tmp_path / "model.rio", estimator=None, foo=1)


def test_a_figure_needs_a_fitted_regressor(friedman):
    with pytest.raises(TypeError, match="a fitted RIORegressor is needed"):
        rio_uq.plots.BeforeAfterDisplay.from_estimator(Ridge().fit(*friedman), *friedman)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            np.array(["low"] * 120),
            r"got str96 with 'low' in row 0 and 119 more values that are none: convert them first",
        ),
        (np.array([1.5] * 119 + ["n/a"], dtype=object), r"got object with 'n/a' in row 119: convert them first"),
    ],
)
def test_text_among_outcomes_is_named_with_its_row(y, message, friedman):
    with pytest.raises(ValueError, match=message):
        RIORegressor(Ridge()).fit(friedman[0], y)


def test_held_out_as_text(friedman):
    X, y = friedman
    model = Ridge().fit(X, y)
    with pytest.raises(ValueError, match="held_out has to be True, False or a mask of rows; got 'yes'"):
        RIORegressor(model).fit(X, y, held_out="yes")
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ValueError, match="held_out has to be the name of one of them, or True, False or a mask"):
        RIORegressor(Ridge().fit(frame, y)).fit(frame, y, held_out="yes")
    with pytest.raises(ValueError, match="True, False, or a mask, True or False for each of the 120 rows; got int64"):
        RIORegressor(model).fit(X, y, held_out=1)


def test_outcomes_beyond_bounds_on_no_scale(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match=r"bounds say that outcomes are between 0 and 5, .*bounds .* or none"):
        RIORegressor(Ridge(), scale="identity", bounds=(0, 5)).fit(X, np.abs(y))


def test_a_file_without_its_model(friedman, tmp_path):
    X, y = friedman
    model = Ridge().fit(X[:60], y[:60])
    RIORegressor(model.predict, random_state=0).fit(X[60:], y[60:], held_out=True).save(tmp_path / "bare.rio")
    with pytest.raises(ValueError, match=r"does not hold it: give it to load, load\(path, estimator=model\)"):
        rio_uq.load(tmp_path / "bare.rio").predict(X)
    rio = RIORegressor(random_state=0).fit(X[60:], y[60:], y_pred=model.predict(X[60:]), held_out=True)
    rio.save(tmp_path / "bare.rio")
    for regressor in (rio, rio_uq.load(tmp_path / "bare.rio")):
        with pytest.raises(ValueError, match="no model to ask for predictions: give this method y_pred, as `fit` was"):
            regressor.predict(X)


def test_rows_of_a_frame_are_named_by_their_labels(friedman):
    X, y = friedman
    labels = [f"house {i}" for i in range(len(y))]
    frame, series = pd.DataFrame(X, index=labels).add_prefix("x"), pd.Series(y, index=labels)
    with pytest.raises(ValueError, match=r"y contains NaN in 2 rows \(labels 'house 4', 'house 17'\)"):
        RIORegressor(Ridge()).fit(frame, pd.Series(with_value(y, [4, 17], np.nan), index=labels))
    with pytest.raises(ValueError, match="with 'n/a' in the row labelled 'house 4'"):
        RIORegressor(Ridge()).fit(frame, series.astype(object).replace(series.iloc[4], "n/a"))
    rio = RIORegressor(lambda X: X["x0"], features=["x1"], random_state=0).fit(frame, series, held_out=True)
    gap = frame.copy()
    gap.iloc[7, 1] = np.inf
    with pytest.raises(ValueError, match=r"X contains infinity in 1 row \(label 'house 7'\)"):
        rio.predict(gap)
    gap.iloc[7, 0] = np.nan
    with pytest.raises(ValueError, match=r"the model's prediction contains NaN in 1 row \(label 'house 7'\)"):
        rio.predict_dist(gap.assign(x1=0.0))
    with pytest.raises(ValueError, match=r"groups has 1 missing labels \(label 'house 2'\)"):
        rio.fit(frame, series, groups=pd.Series(["a", "b"] + [None] + ["c"] * (len(y) - 3), index=labels))


def test_an_index_that_counts_rows_changes_no_message(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match=r"y contains NaN in 1 row \(4\)"):
        RIORegressor(Ridge()).fit(pd.DataFrame(X).add_prefix("x"), pd.Series(with_value(y, 4, np.nan)))
