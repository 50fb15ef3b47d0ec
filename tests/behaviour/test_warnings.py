"""Every warning points at the line of whoever called, whatever way the call took."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import rio_uq
from rio_uq import MostlyEqualWarning, NotStoredWarning, ReusedRowsWarning, RIORegressor, SeenRowsWarning
from rio_uq.features import TableEncoder
from rio_uq.gp.inference import exact
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import predict

pytestmark = pytest.mark.usefixtures("quick_fits")

WITHOUT_WEIGHTS = "takes no sample_weight"


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 2))
    return X, np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=40)


def assert_points_here(call, category, message):
    """All warnings of a call with that message come from this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    fitting = [warning for warning in caught if message in str(warning.message)]
    assert fitting
    assert {warning.category for warning in fitting} == {category}
    assert {warning.filename for warning in fitting} == {__file__}


def not_converged(**options):
    return RIORegressor(lambda X: X[:, 0], max_iter=1, random_state=0, **options)


def memory_map(X, path):
    np.save(path, X)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("way", ["fit", "partial_fit", "memory map", "cross-validation", "pipeline"])
def test_a_fit_that_has_not_converged(way, data, tmp_path):
    X, y = data
    calls = {
        "fit": lambda: not_converged().fit(X, y),
        "partial_fit": lambda: not_converged().partial_fit(X, y),
        "memory map": lambda: not_converged().fit(memory_map(X, tmp_path / "rows.npy"), y),
        "cross-validation": lambda: cross_val_score(not_converged(), X, y, cv=2),
        "pipeline": lambda: make_pipeline(not_converged()).fit(X, y),
    }
    assert_points_here(calls[way], ConvergenceWarning, "before it had converged")


@pytest.mark.parametrize("residuals", ["in-sample", "cross-fit"])
def test_a_model_that_takes_no_weights(residuals, data):
    rio = RIORegressor(KNeighborsRegressor(), residuals=residuals, cv=2, tol=1e-2, random_state=0)
    assert_points_here(lambda: rio.fit(*data, sample_weight=np.arange(1.0, 41.0)), UserWarning, WITHOUT_WEIGHTS)


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_calibration_that_is_dropped(in_memory, data, tmp_path):
    X, y = data
    rio = RIORegressor(Ridge().fit(X, y), inference="sparse", n_inducing=5, tol=1e-2, random_state=0)
    rio.fit(X[:20], y[:20]).calibrate(X[20:], y[20:])
    more = X if in_memory else memory_map(X, tmp_path / "rows.npy")
    assert_points_here(lambda: rio.partial_fit(more, y), UserWarning, "its calibration is dropped")


def test_a_model_that_cannot_be_checked_at_load(data, tmp_path):
    X, y = data
    rows = [list(row) for row in X]  # neither an array nor a frame: no rows are kept
    rio = RIORegressor(lambda X: np.asarray(X)[:, 0], features=np.asarray, tol=1e-2, random_state=0).fit(rows, y)
    rio.save(tmp_path / "model.rio")
    assert_points_here(
        lambda: rio_uq.load(tmp_path / "model.rio", estimator=rio.estimator, features=np.asarray),
        UserWarning,
        "could not be checked",
    )


def test_a_file_without_its_model(data, tmp_path):
    rio = RIORegressor(Ridge(), random_state=0).fit(*data)
    assert_points_here(lambda: rio.save(tmp_path / "a.rio"), NotStoredWarning, "does not hold the model")


def test_a_base_that_cannot_be_compared(data):
    onnx = pytest.importorskip("onnx")
    X, y = data
    rows = [list(row) for row in X]
    rio = RIORegressor(lambda X: np.asarray(X)[:, 0], kernel="output", tol=1e-2, random_state=0).fit(rows, y)
    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    graph = helper.make_graph(
        [helper.make_node("Identity", ["X"], ["y"])],
        "base",
        [helper.make_tensor_value_info("X", double, ["n", 1])],
        [helper.make_tensor_value_info("y", double, ["n", 1])],
    )
    base = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert_points_here(lambda: rio_uq.onnx.export(rio, base=base), UserWarning, "could not be compared")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_variance_below_zero(n_jobs):
    """Twice the matrix R takes more variance away than there is."""
    rows = np.random.default_rng(0).normal(size=(5000, 2))
    posterior = exact.posterior(io_kernel(1, 1), np.zeros(4), np.log([0.1]), Observations(rows[:20], rows[:20, :1]))
    object.__setattr__(posterior, "variance_factors", tuple(2.0 * factor for factor in posterior.variance_factors))
    assert_points_here(lambda: predict(posterior, rows, n_jobs=n_jobs), RuntimeWarning, "was set to zero")


def test_one_function_warns():
    """Warnings that are raised elsewhere would count the depth of the call."""
    source = Path(rio_uq.__file__).parent
    warning = [path.name for path in source.rglob("*.py") if "warnings.warn(" in path.read_text(encoding="utf-8")]
    assert warning == ["warnings.py"]


@pytest.mark.parametrize("way", ["fit", "cross-validation", "pipeline"])
def test_a_model_that_may_have_seen_the_rows(way, data):
    X, y = data
    rio = RIORegressor(lambda X: X[:, 0], random_state=0)
    calls = {
        "fit": lambda: rio.fit(X, y),
        "cross-validation": lambda: cross_val_score(rio, X, y, cv=2),
        "pipeline": lambda: make_pipeline(rio).fit(X, y),
    }
    assert_points_here(calls[way], SeenRowsWarning, "was trained on these rows is not known")


def test_a_model_that_has_seen_the_rows_and_cannot_be_cloned(data):
    rio = RIORegressor(lambda X: X[:, 0], random_state=0)
    assert_points_here(lambda: rio.fit(*data, held_out=False), SeenRowsWarning, "has seen all of these rows")


def test_rows_in_parts_of_which_a_sample_is_fitted_to(data, tmp_path):
    X, y = np.vstack([data[0] + shift for shift in range(3)]), np.tile(data[1], 3)
    rio = RIORegressor(KNeighborsRegressor(1).fit(X, y), n_inducing=5, training={"sample_rows": 100}, random_state=0)
    rows = memory_map(X, tmp_path / "rows.npy")
    assert_points_here(lambda: rio.fit(rows, y, held_out=False), SeenRowsWarning, "100 of its 120 rows")


def test_counts_of_copies(data):
    X, y = data
    rio = RIORegressor(weights="counts", random_state=0)
    roles = {"y_pred": X[:, 0], "held_out": True, "sample_weight": np.tile([1.0, 3.0], 20)}
    assert_points_here(lambda: rio.fit(X, y, **roles), UserWarning, "weights are taken as relative")


@pytest.mark.parametrize("n_others", [0, 1, 5])
def test_outcomes_most_of_which_are_one_value(n_others, data):
    X, y = data[0], np.where(np.arange(40) < n_others, data[1], 0.0)
    rio = RIORegressor(random_state=0)
    message = f"y is 0 in {40 - n_others} of 40 rows" if n_others else "y is 0 in all 40 rows"
    assert_points_here(lambda: rio.fit(X, y, y_pred=np.full(40, 0.05), held_out=True), MostlyEqualWarning, message)


def test_outcomes_many_of_which_are_one_value(data):
    X, y = (np.concatenate([values, values]) for values in data)
    y[:41] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", MostlyEqualWarning)
        RIORegressor(random_state=0).fit(X, y, y_pred=X[:, 0], held_out=True)


def test_an_exact_gp_that_needs_much_memory(data, monkeypatch):
    X, y = data
    rio = RIORegressor(random_state=0).fit(X[:20], y[:20], y_pred=X[:20, 0], held_out=True)
    monkeypatch.setattr(exact, "MUCH", 0)
    assert_points_here(lambda: rio.partial_fit(X[20:], y[20:], y_pred=X[20:, 0]), UserWarning, "an exact GP of 40 rows")


def test_a_number_that_is_missing_first_in_new_rows(data):
    X, y = pd.DataFrame(data[0], columns=["length", "width"]), data[1]
    rio = RIORegressor(lambda X: X["length"].fillna(0.0), features=TableEncoder(), random_state=0)
    rio.fit(X, y, held_out=True)
    assert_points_here(lambda: rio.predict(X.assign(width=np.nan)), UserWarning, "numbers are missing in 'width'")


def test_calibration_and_report_on_rows_of_fit(data, tmp_path):
    pytest.importorskip("jinja2")
    X, y = data
    rio = RIORegressor(lambda X: X[:, 0], random_state=0).fit(X, y, held_out=True)
    reused = "of these rows were fitted to"
    assert_points_here(lambda: rio.calibrate(X, y), ReusedRowsWarning, reused)
    write_report = rio_uq.report.write_report
    assert_points_here(lambda: write_report(rio, X, y, tmp_path / "report.html"), ReusedRowsWarning, reused)


def test_calibration_rows_that_few_others_are_like(data):
    X, y = data
    rio = RIORegressor(lambda X: X[:, 0], random_state=0).fit(X[:10], y[:10], held_out=True)
    new = X[X[:, 0] > 0.6]
    assert_points_here(lambda: rio.calibrate(X[10:], y[10:], X_new=new), UserWarning, "by their weights")


def test_calibration_rows_beyond_the_scale(data):
    X, y = data[0], np.exp(data[1])
    rio = RIORegressor(lambda X: np.exp(X[:, 0]), scale="log", random_state=0).fit(X[:10], y[:10], held_out=True)
    outcome = np.where(np.arange(30) < 2, -1.0, y[10:])
    assert_points_here(lambda: rio.calibrate(X[10:], outcome), UserWarning, "outside of every interval")
