"""Rows that are not in memory: files, Arrow tables and memory maps give what arrays give."""

import pickle
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import OneHotEncoder

from rio_uq import RIORegressor, load
from rio_uq.gp.inference import sparse
from rio_uq.gp.observations import Observations
from rio_uq.rows.parquet import ArrowRows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")

pytestmark = pytest.mark.usefixtures("quick_fits")

N = 1000
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(N, 3)), columns=NAMES)
    frame["y"] = np.sin(5.0 * frame["a"]) + frame["b"] ** 2 + 0.1 * rng.normal(size=N)
    frame["yhat"] = frame["a"] - 0.5
    frame["weight"] = rng.integers(0, 3, size=N).astype(float)
    frame.loc[300:449, "weight"] = 0.0
    return frame


@pytest.fixture
def path(frame, tmp_path):
    path = tmp_path / "train.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=170)
    return path


class Model:
    """Keeps count of the rows that it was asked for at a time, and has an error of its own if told to."""

    def __init__(self):
        self.asked = []
        self.error = None

    def predict(self, X):
        if self.error is not None:
            raise self.error
        self.asked.append(len(X))
        return np.asarray(X)[:, 0] - 0.5


def regressor(estimator=None, **options):
    usual = {
        "n_inducing": 20,
        "training": {"sample_rows": 200},
        "max_iter": 60,
        "tol": 1e-2,
        "random_state": 0,
        "noise": "constant",
    }
    return RIORegressor(estimator, **{**usual, **options})


@pytest.fixture(scope="module")
def fitted(frame):
    """From a table in blocks, for tests that only ask."""
    rows = ArrowRows(pa.Table.from_pandas(frame), columns=NAMES, block_rows=170)
    return regressor().fit(rows, "y", y_pred="yhat")


def of_all_rows(rio, X, y, prediction, weight=None):
    """The GP of a regressor made anew from all rows at once, at its hyperparameters, scalings and inducing points."""
    gp, known = rio.fitted_.gp, rio.fitted_.gp.posterior
    weight = gp.weight_unit.measurements(weight, len(X))
    data = Observations(gp._rows(X, prediction[:, None]), gp.targets.apply((y - prediction)[:, None]), weight)
    whole = sparse.posterior(known.kernel, known.theta, np.log(known.statistics.noise_variance), known.points, data)
    return replace(gp, posterior=replace(whole, noise_variance=known.noise_variance))


def assert_same(rio, gp, X, prediction):
    mean, variance = gp.mean_and_variance(X, prediction[:, None], 1)
    named = pd.DataFrame(X, columns=NAMES)
    found, std = rio.predict(named, y_pred=prediction, return_std=True, include_noise=False)
    np.testing.assert_allclose(found, prediction + mean[:, 0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(std, np.sqrt(variance[:, 0]), rtol=1e-6)
    np.testing.assert_allclose(rio.trust_, gp.trust()[0][0], rtol=1e-7)


def test_the_scale_of_weights_and_copies_of_all_rows_do_not_matter(frame, tmp_path):
    counted = frame[frame["weight"] > 0.0]
    std = {}
    for name, table, weights in (
        ("once", counted, "weight"),
        ("sum to one", counted.assign(weight=counted["weight"] / counted["weight"].sum()), "weight"),
        ("none", frame, None),
        ("copied", pd.concat([frame] * 8), None),
    ):
        table.to_parquet(tmp_path / f"{name}.parquet")
        rows = ArrowRows(tmp_path / f"{name}.parquet", columns=NAMES)
        rio = regressor().fit(rows, "y", y_pred="yhat", sample_weight=weights)
        std[name] = rio.predict(frame[NAMES][:50], y_pred=frame["yhat"][:50], return_std=True, include_noise=False)[1]
    np.testing.assert_allclose(std["sum to one"], std["once"], rtol=1e-6)
    np.testing.assert_allclose(std["copied"].mean(), std["none"].mean(), rtol=0.35)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("block_rows", [13, None])
def test_a_file_in_blocks_is_all_rows_at_once(path, frame, block_rows, is_weighted):
    given = {"sample_weight": "weight"} if is_weighted else {}
    rows = ArrowRows(path, columns=NAMES, block_rows=block_rows)
    rio = regressor(noise="io").fit(rows, "y", y_pred="yhat", **given)
    used = frame[frame["weight"] > 0.0] if is_weighted else frame
    weight = used["weight"].to_numpy() if is_weighted else None
    X, y, prediction = used[NAMES].to_numpy(), used["y"].to_numpy(), used["yhat"].to_numpy()
    assert_same(rio, of_all_rows(rio, X, y, prediction, weight), X[:50], prediction[:50])
    assert rio.summary().n_rows == len(used)
    assert list(rio.feature_names_in_) == NAMES


def test_outliers_in_a_file_count_less_in_whatever_block_they_are(frame, tmp_path):
    outliers = np.zeros(len(frame))
    outliers[::40], outliers[20::40] = 50.0, -50.0
    table = frame.assign(y=frame["y"] + outliers)
    table.to_parquet(tmp_path / "outliers.parquet")
    clean = regressor(noise="student").fit(ArrowRows(pa.Table.from_pandas(frame), columns=NAMES), "y", y_pred="yhat")
    means = [
        regressor(noise="student")
        .fit(ArrowRows(tmp_path / "outliers.parquet", columns=NAMES, block_rows=block_rows), "y", y_pred="yhat")
        .predict(frame[NAMES], y_pred=frame["yhat"])
        for block_rows in (13, None)
    ]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-6, atol=1e-8)
    assert np.abs(means[0] - clean.predict(frame[NAMES], y_pred=frame["yhat"])).max() < 0.3


def memory_map(values, path):
    np.save(path, values)
    return np.load(path, mmap_mode="r")


def test_every_kind_of_rows_gives_the_same(path, frame, tmp_path):
    table = pa.Table.from_pandas(frame)
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, start in enumerate(range(0, N, 300)):
        pq.write_table(table.slice(start, 300), folder / f"part-{i}.parquet")
    X = frame[NAMES].to_numpy()
    kinds = [str(path), table, ds.dataset(folder), folder]
    found = [regressor().fit(ArrowRows(kind, columns=NAMES), y="y", y_pred="yhat") for kind in kinds]
    arrays = {"y": frame["y"].to_numpy(), "y_pred": frame["yhat"].tolist()}
    found.append(regressor().fit(memory_map(X, tmp_path / "X.npy"), **arrays))
    found.append(regressor().fit(table.select(NAMES), **arrays))
    for rio in found[1:]:
        assert rio.bound_ == found[0].bound_
    chosen = regressor().fit(table.drop_columns("weight"), y="y", y_pred="yhat")  # X is what has no other use
    assert chosen.bound_ == found[0].bound_
    filtered = ArrowRows(path, columns=NAMES, filter=pa.compute.field("weight") > 0.0)
    assert filtered.n_rows == (frame["weight"] > 0.0).sum()
    assert regressor().fit(filtered, "y", y_pred="yhat").summary().n_rows == filtered.n_rows


def test_the_model_is_called_block_by_block(path, frame):
    model = Model()
    rio = regressor(model).fit(ArrowRows(path, columns=NAMES, block_rows=128), "y")
    assert max(model.asked) == 200  # the sample; the rest in blocks
    assert model.asked.count(128) == 7
    assert rio.estimator_ is model
    model.asked.clear()
    rio.predict(ArrowRows(path, block_rows=300))
    assert model.asked == [300, 300, 300, 100]


def test_a_model_gets_the_columns_that_it_has_seen(path, frame):
    model = LinearRegression().fit(frame[["b", "a"]], frame["y"])
    rio = regressor(model).fit(path, "y")
    assert list(rio.feature_names_in_) == ["b", "a"]
    np.testing.assert_allclose(rio.predict(path), rio.predict(frame[["b", "a"]]), rtol=1e-9)
    rio = regressor(model).fit(path, "y", y_pred="yhat")
    assert list(rio.feature_names_in_) == ["b", "a"]
    assert rio.predict(path).shape == (N,)


def test_predictions_of_a_file_are_those_of_its_rows(path, frame, fitted):
    rio = copy(fitted)
    rio.calibrate(frame[NAMES], frame["y"], y_pred=frame["yhat"], groups=frame["a"] > 0.5)
    X, given = frame[NAMES], {"y_pred": frame["yhat"], "groups": frame["a"] > 0.5}
    table = pa.Table.from_pandas(frame.assign(group=frame["a"] > 0.5))
    named = {"y_pred": "yhat", "groups": "group"}
    for method, options in (
        (rio.predict, {}),
        (rio.predict, {"return_std": True}),
        (rio.predict_residual, {"return_std": True, "include_noise": False}),
        (rio.predict_interval, {"confidence_level": [0.5, 0.9]}),
        (rio.predict_quantiles, {"quantiles": 0.3}),
    ):
        expected, found = method(X, **given, **options), method(ArrowRows(table, block_rows=99), **named, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    parts = rio.decompose(path, y_pred="yhat")
    np.testing.assert_allclose(parts.output, rio.decompose(X, y_pred=frame["yhat"]).output, rtol=1e-9)


def test_predictions_stream_to_a_file(path, frame, tmp_path, fitted):
    output = tmp_path / "out.parquet"
    output.write_text("an older file")
    rows = ArrowRows(path, block_rows=300)
    assert fitted.predict_to_parquet(rows, output, y_pred="yhat", confidence_level=0.9) == output
    written = pd.read_parquet(output)
    mean, std = fitted.predict(frame[NAMES], y_pred=frame["yhat"], return_std=True)
    band = fitted.predict_interval(frame[NAMES], y_pred=frame["yhat"], confidence_level=0.9)
    np.testing.assert_allclose(written, np.column_stack([mean, std, band]), rtol=1e-9)
    assert list(written) == ["mean", "std", "lower", "upper"]
    fitted.predict_to_parquet(rows, output, y_pred="yhat", confidence_level=0.9, include_noise=False)
    _, std = fitted.predict(frame[NAMES], y_pred=frame["yhat"], return_std=True, include_noise=False)
    np.testing.assert_allclose(pd.read_parquet(output), np.column_stack([mean, std, band]), rtol=1e-9)


def test_the_model_is_asked_once_for_each_block(path, tmp_path):
    model = Model()
    rio = regressor(model).fit(ArrowRows(path, columns=NAMES), "y")
    model.asked.clear()
    rio.predict_to_parquet(ArrowRows(path, block_rows=500), tmp_path / "out.parquet", confidence_level=0.9)
    assert model.asked == [500, 500]


def test_several_outputs(frame, tmp_path):
    frame = frame.assign(z=frame["c"] ** 2)
    model = LinearRegression().fit(frame[NAMES], frame[["y", "z"]])
    rio = regressor(model).fit(pa.Table.from_pandas(frame), y=["y", "z"])
    expected = rio.predict(frame[NAMES])
    assert expected.shape == (N, 2)
    np.testing.assert_allclose(rio.predict(pa.Table.from_pandas(frame)), expected, rtol=1e-9)
    rio.predict_to_parquet(pa.Table.from_pandas(frame), tmp_path / "out.parquet")
    written = pd.read_parquet(tmp_path / "out.parquet")
    assert list(written) == ["mean_0", "mean_1", "std_0", "std_1"]
    np.testing.assert_allclose(written[["mean_0", "mean_1"]], expected, rtol=1e-9)


def test_an_error_leaves_the_file_that_was_there(path, frame, tmp_path, fitted):
    output = tmp_path / "out.parquet"
    output.write_text("an older file")
    bad = pa.Table.from_pandas(frame.assign(yhat=frame["yhat"].where(frame.index != 620)))
    with pytest.raises(
        ValueError, match=r"in rows 600 to 699 of the Arrow table: y_pred contains NaN in 1 row \(620\)"
    ):
        fitted.predict_to_parquet(ArrowRows(bad, block_rows=100), output, y_pred="yhat")
    assert output.read_text() == "an older file"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.parquet", "train.parquet"]
    with pytest.raises(ValueError, match="would replace the rows that they are for"):
        fitted.predict_to_parquet(path, path, y_pred="yhat")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        fitted.predict_to_parquet(path, tmp_path / "absent" / "out.parquet", y_pred="yhat")
    with pytest.raises(IsADirectoryError, match="give the name of a file in it"):
        fitted.predict_to_parquet(path, tmp_path, y_pred="yhat")
    with pytest.raises(ValueError, match="one number here"):
        fitted.predict_to_parquet(path, output, y_pred="yhat", confidence_level=[0.5, 0.9])


def test_few_rows_are_fitted_as_if_in_memory(frame):
    few = frame[:300]
    options = {"training": {"sample_rows": 300}, "noise": "constant"}
    streamed = regressor(Ridge(), **options).fit(pa.Table.from_pandas(few[[*NAMES, "y"]]), "y")
    expected = regressor(Ridge(), **options).fit(few[NAMES], few["y"])
    np.testing.assert_array_equal(streamed.predict(frame[NAMES]), expected.predict(frame[NAMES]))
    assert streamed.inference == "auto"


def test_partial_fit_takes_files(path, frame):
    X, y, prediction = frame[NAMES].to_numpy(), frame["y"].to_numpy(), frame["yhat"].to_numpy()
    rio = regressor(inference="sparse").fit(frame[NAMES][:300], y[:300], y_pred=prediction[:300])
    rest = ArrowRows(pa.Table.from_pandas(frame[300:]), block_rows=64)
    rio.partial_fit(rest, "y", y_pred="yhat")
    assert_same(rio, of_all_rows(rio, X, y, prediction), X[:40], prediction[:40])
    assert rio.summary().n_rows == N
    exact = regressor(inference="exact").fit(frame[NAMES][:50], y[:50], y_pred=prediction[:50])
    with pytest.raises(ValueError, match="exact GP, which keeps all rows: give them as arrays"):
        exact.partial_fit(rest, "y", y_pred="yhat")


def test_categories_and_dates_reach_the_model(frame, tmp_path):
    frame = frame[[*NAMES, "y"]].assign(kind=pd.Categorical(np.where(frame["a"] > 0.5, "high", "low")))
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "kinds.parquet", row_group_size=100)
    X = frame.drop(columns="y")
    boosting = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype").fit(X, frame["y"])
    features = make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), remainder="passthrough")
    rio = regressor(boosting, features=features).fit(tmp_path / "kinds.parquet", "y")
    np.testing.assert_allclose(rio.predict(tmp_path / "kinds.parquet"), rio.predict(X), rtol=1e-9)


def test_the_index_of_a_frame_is_no_feature(frame, tmp_path):
    frame[frame["a"] > 0.2].to_parquet(tmp_path / "some.parquet")
    rio = regressor().fit(tmp_path / "some.parquet", "y", y_pred="yhat", sample_weight="weight")
    assert list(rio.feature_names_in_) == NAMES


def test_memory_maps_work_with_models_that_are_not_fitted(frame, tmp_path):
    X, y = memory_map(frame[NAMES].to_numpy()[:250], tmp_path / "X.npy"), frame["y"][:250]
    options = {"inference": "sparse", "noise": "constant"}
    rio = regressor(Ridge(), **options).fit(X, y)
    expected = regressor(Ridge(), **options).fit(np.array(X), y)
    np.testing.assert_array_equal(rio.predict(X), expected.predict(np.array(X)))
    assert rio.predict_dist(X[:5]).mean().shape == (5,)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"y": "z"}, {}, r"has no column 'z': its columns are 'a', 'b'"),
        ({"y": None}, {}, "requires y"),
        ({"y": np.zeros(5)}, {}, "a value for each of the 1000 rows"),
        ({"y_pred": None}, {"estimator": Ridge()}, "fit it before"),
        ({"y_pred": None}, {"estimator": Model(), "residuals": "cross-fit"}, "fit it before"),
        ({}, {"inference": "exact"}, "needs a matrix of all of them: use inference='auto'"),
        ({}, {"training": {"sample_rows": 10}}, "sample_rows has to be a whole number of at least 100"),
    ],
)
def test_what_cannot_be_is_said(change, options, message, path):
    with pytest.raises(ValueError, match=message):
        regressor(**options).fit(path, **{"y": "y", "y_pred": "yhat", **change})


@pytest.mark.parametrize("n_bad", [1, 400])
def test_bad_rows_are_named_by_their_block(n_bad, frame):
    """Whether or not they are in the sample, and without a change to an earlier fit."""
    bad = frame.copy()
    bad.loc[530 : 530 + n_bad - 1, "b"] = np.nan
    rio = regressor(inference="sparse", features=None)
    rio.fit(frame[NAMES][:200], frame["y"][:200], y_pred=frame["yhat"][:200])
    before = pickle.dumps(rio)
    rows = ArrowRows(pa.Table.from_pandas(bad), columns=NAMES, block_rows=100)
    first = "530\\)" if n_bad == 1 else "530, 531"
    with pytest.raises(ValueError, match=rf"in rows 500 to 599 of the Arrow table: X contains NaN in .* \({first}"):
        rio.fit(rows, "y", y_pred="yhat")
    with pytest.raises(ValueError, match=rf"in rows 500 to 599 of the Arrow table: X contains NaN in .* \({first}"):
        rio.partial_fit(rows, "y", y_pred="yhat")
    assert pickle.dumps(rio) == before


def test_files_that_are_none(tmp_path, frame):
    with pytest.raises(FileNotFoundError, match="there is no Parquet file or folder"):
        regressor().fit(tmp_path / "absent.parquet", "y", y_pred="yhat")
    (tmp_path / "text.parquet").write_text("no Parquet")
    with pytest.raises(ValueError, match="cannot be read as a Parquet file"):
        regressor().fit(tmp_path / "text.parquet", "y", y_pred="yhat")
    with pytest.raises(ValueError, match="has no rows"):
        regressor().fit(pa.Table.from_pandas(frame[:0]), "y", y_pred="yhat")
    with pytest.raises(TypeError, match="were expected; got <class 'int'>"):
        ArrowRows(3)
    with pytest.raises(ValueError, match="block_rows has to be a whole number"):
        ArrowRows(pa.Table.from_pandas(frame), block_rows=0)


def test_methods_that_need_rows_in_memory_say_so(path, frame, fitted):
    with pytest.raises(TypeError, match="this method takes rows in memory"):
        fitted.calibrate(path, frame["y"], y_pred=frame["yhat"])
    with pytest.raises(ValueError, match="return_cov is a matrix of all rows"):
        fitted.predict(path, y_pred="yhat", return_cov=True)
    with pytest.raises(TypeError, match="X has to be the path of a Parquet file"):
        fitted.predict_to_parquet(frame[NAMES], "out.parquet")
    with pytest.raises(ValueError, match="a memory map has no column 'yhat'"):
        fitted.predict(np.memmap(path, mode="r", dtype=np.uint8)[:30].reshape(10, 3), y_pred="yhat")


def test_where_no_column_is_left_outcomes_are_no_features(frame, tmp_path):
    table = pa.Table.from_pandas(frame[["y", "yhat"]])
    with pytest.raises(ValueError, match=r"no column is left for X in .* use kernel='output'"):
        regressor().fit(table, "y", y_pred="yhat")
    rio = regressor(kernel="output").fit(table, "y", y_pred="yhat")
    assert rio.n_features_in_ == 0
    expected = rio.predict(frame[[]], y_pred=frame["yhat"])
    np.testing.assert_allclose(rio.predict(table, y_pred="yhat"), expected, rtol=1e-9)
    rio.save(tmp_path / "model.rio")
    np.testing.assert_array_equal(load(tmp_path / "model.rio").predict(frame[[]], y_pred=frame["yhat"]), expected)


def test_outcomes_are_no_columns_of_x(frame):
    table = pa.Table.from_pandas(frame)
    with pytest.raises(ValueError, match="'y' is y, and cannot be a column of X too"):
        regressor().fit(ArrowRows(table, columns=["a", "y"]), "y", y_pred="yhat")
    with pytest.raises(ValueError, match="columns is an empty list"):
        ArrowRows(table, columns=[])
    with pytest.raises(TypeError, match="columns has to be a list of names"):
        ArrowRows(table, columns="a")


def test_predictions_never_replace_their_own_rows(path, frame, tmp_path):
    """Whatever the rows came as, and whatever the file is called."""
    rio = regressor(Model()).fit(frame[NAMES].to_numpy()[:200], frame["y"][:200])
    array = memory_map(frame[NAMES].to_numpy(), tmp_path / "rows.npy")
    (tmp_path / "link.npy").hardlink_to(tmp_path / "rows.npy")
    data = ds.dataset(str(path))
    cases = [
        (array, "rows.npy"),
        (array[10:], "link.npy"),
        (ArrowRows(data, columns=NAMES), path.name),
    ]
    for X, name in cases:
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ValueError, match="would replace the rows that they are for"):
            rio.predict_to_parquet(X, tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_things_of_arrow_that_are_no_rows_are_said(path, frame, fitted):
    for X in (pa.Table.from_pandas(frame).to_reader(), pq.ParquetFile(path)):
        with pytest.raises(TypeError, match=rf"X is a {type(X).__name__} of pyarrow, and rows come as a path"):
            fitted.predict(X, y_pred="yhat")
        with pytest.raises(TypeError, match=rf"X is a {type(X).__name__} of pyarrow"):
            regressor().fit(X, "y", y_pred="yhat")
    with pytest.raises(TypeError, match=r"filter has to be an expression of pyarrow.*got 'a>1'"):
        ArrowRows(path, filter="a>1")


def test_score_takes_outcomes_in_memory(path, frame):
    model = LinearRegression().fit(frame[NAMES], frame["y"])
    rio = regressor(model).fit(path, "y")
    assert rio.score(path, frame["y"]) == pytest.approx(rio.score(frame[NAMES], frame["y"]))
    with pytest.raises(TypeError, match="y has to be an array in score, and not the name of a column"):
        rio.score(path, "y")


class RefusedError(ValueError):
    """Of a user's own."""


class CodedError(TypeError):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")


def test_errors_of_a_model_stay_of_their_kind(path):
    def refuse(X):
        raise RefusedError("not today")

    def code(X):
        raise CodedError(7, "not today")

    rio = regressor(Model()).fit(ArrowRows(path, columns=NAMES), "y")
    rio.fitted_ = replace(rio.fitted_, model=refuse)
    with pytest.raises(RefusedError, match=r"in rows 0 to 999 of .*: not today"):
        rio.predict(path)
    rio.fitted_ = replace(rio.fitted_, model=code)
    with pytest.raises(CodedError, match="7: not today") as caught:
        rio.predict(path)
    assert "in rows 0 to 999" in caught.value.__notes__[0]


def test_a_sample_without_weight_says_so(path, frame, tmp_path):
    seed = np.random.RandomState(0).randint(2**31 - 1)
    drawn = np.random.default_rng(seed).choice(N, 200, replace=False)
    left_out = np.setdiff1d(np.arange(N), drawn)
    few = frame.assign(weight=np.isin(np.arange(N), left_out[:3]).astype(float))
    other = tmp_path / "few.parquet"
    few.to_parquet(other)
    with pytest.raises(ValueError, match="the 200 rows that were drawn to learn from have sample_weight 0"):
        regressor(Model()).fit(ArrowRows(other, columns=NAMES), "y", sample_weight="weight")


def test_a_missing_number_that_the_sample_does_not_have_is_said_of_the_sample(frame, tmp_path):
    """The rows given to fit had some: a larger sample does."""
    rare = frame.assign(kind=np.where(frame["a"] > 0.0, "x", "z"))
    rio, rows = regressor(), np.arange(len(rare))
    drawn = np.random.default_rng(0).choice(len(rare), 200, replace=False)
    rare.loc[np.setdiff1d(rows, drawn)[0], "b"] = np.nan
    rare.to_parquet(tmp_path / "rare.parquet")
    with pytest.warns(UserWarning, match="missing in 'b', where none was missing .* fit has learnt from.*sample_rows"):
        rio.fit(tmp_path / "rare.parquet", y="y", y_pred="yhat", held_out=True)
