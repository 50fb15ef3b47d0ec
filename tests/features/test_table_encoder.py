"""Tables of numbers, categories and dates with missing values: encoded, stored as plain values, exported."""

import json
import zipfile
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rio_uq
from rio_uq import FormatError, RIORegressor
from rio_uq.features.table_encoder import CategoryColumn, NumberColumn, TableEncoder


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["size", "age"])
    frame.loc[::7, "age"] = np.nan
    frame["city"] = np.array(["Oslo", "Rome", None], dtype=object)[rng.integers(0, 3, 60)]
    frame["new"] = rng.integers(0, 2, 60).astype(bool)
    return frame


@pytest.fixture(scope="module")
def fitted(table):
    y_pred = table["size"].to_numpy()
    y = y_pred + (table["city"] == "Rome") + table["age"].fillna(0.0)
    rio = RIORegressor(features=TableEncoder(), random_state=0, max_iter=100, tol=1e-3, noise="constant")
    return rio.fit(table, y, y_pred=y_pred)


def test_what_is_learnt(table):
    encoder = TableEncoder().fit(table)
    median = float(table["age"].median())
    assert encoder.columns_ == [
        NumberColumn("size", None, float(table["size"].median())),
        NumberColumn("age", median, median),
        CategoryColumn("city", ("Oslo", "Rome"), False, True),
        CategoryColumn("new", ("False", "True"), False, False),
    ]
    encoded = pd.DataFrame(encoder.transform(table), columns=encoder.get_feature_names_out())
    assert (encoded["size"] == table["size"]).all()
    assert (encoded["age"] == table["age"].fillna(median)).all()
    assert (encoded["age is missing"] == table["age"].isna()).all()
    assert (encoded["city=(missing)"] == table["city"].isna()).all()
    assert (encoded[["city=Oslo", "city=Rome", "city=(missing)"]].sum(axis=1) == 1).all()
    assert (encoded["new=True"] == table["new"]).all()


def test_other_frames_are_encoded_alike(table):
    encoder = TableEncoder().fit(table)
    expected = encoder.transform(table)
    np.testing.assert_array_equal(encoder.transform(pl.from_pandas(table)), expected)
    np.testing.assert_array_equal(TableEncoder().fit_transform(pl.from_pandas(table)), expected)
    nullable = table.convert_dtypes()
    np.testing.assert_array_equal(TableEncoder().fit_transform(nullable), expected)


def test_rare_levels_share_a_column_and_unseen_ones_are_unlike_all_others():
    names = ["a"] * 5 + ["b"] * 4 + ["c", "d"]
    encoder = TableEncoder(max_levels=2).fit(pd.DataFrame({"x": names}))
    assert encoder.feature_names_out_ == ["x=a", "x=b", "x=(other)"]
    new = pd.DataFrame({"x": ["a", "c", "z", None]})
    unlike = [-1.0 / np.sqrt(3.0)] * 3
    np.testing.assert_array_equal(encoder.transform(new), [[1, 0, 0], [0, 0, 1], [0, 0, 1], unlike])
    (column,) = encoder.columns_
    assert column.unseen(new["x"]) == 1
    (column,) = TableEncoder().fit(pd.DataFrame({"x": names})).columns_
    assert column.unseen(new["x"]) == 2


def test_a_missing_number_where_there_was_none_is_filled_with_a_warning(table):
    encoder = TableEncoder(["size"]).fit(table)
    with pytest.warns(UserWarning, match="missing in 'size', where none was .* fit has learnt from: medians of"):
        encoded = encoder.transform(pd.DataFrame({"size": [0.0, 1.0, np.nan]}))
    np.testing.assert_array_equal(encoded, [[0.0], [1.0], [np.median(table["size"])]])


def test_what_is_no_number_is_refused(table):
    encoder = TableEncoder(["size"]).fit(table)
    with pytest.raises(ValueError, match=r"no usable number in 1 rows .* such as 'much', and held numbers in fit"):
        encoder.transform(pd.DataFrame({"size": ["0.5", "much"]}))
    for other in (encoder, TableEncoder(["size"]).fit(pd.DataFrame({"size": [0.0, np.nan]}))):
        with pytest.raises(ValueError, match=r"'size' is infinite in 1 rows \(2\): replace"):
            other.transform(pd.DataFrame({"size": [0.0, 1.0, np.inf]}))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([f"name {i}" for i in range(30)], "30 different values in 30 rows"),
        ([date(2024, 1, 1), "soon"] * 15, "dates, times or durations beside other values"),
        ([np.nan] * 30, "empty in every row"),
        ([np.inf] * 30, "infinite"),
    ],
)
def test_columns_that_are_no_features(values, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder().fit(pd.DataFrame({"x": values}))


def test_misuse(table):
    with pytest.raises(TypeError, match="frame with named columns"):
        TableEncoder().fit(np.eye(3))
    with pytest.raises(ValueError, match="no column 'weight'"):
        TableEncoder(["weight"]).fit(table)
    with pytest.raises(ValueError, match="at least one"):
        TableEncoder([]).fit(table)
    with pytest.raises(TypeError, match=r"list of names, \['size'\] say"):
        TableEncoder("size").fit(table)
    with pytest.raises(NotFittedError):
        TableEncoder().transform(table)
    assert clone(TableEncoder(["size"], max_levels=3)).max_levels == 3


def test_a_saved_regressor_holds_its_encoder(fitted, table, tmp_path):
    path = tmp_path / "model.rio"
    fitted.save(path, metadata={"table": {"target": "price"}})
    other = rio_uq.load(path)
    y_pred = table["size"].to_numpy()
    np.testing.assert_array_equal(
        other.predict(table, y_pred=y_pred, return_std=True), fitted.predict(table, y_pred=y_pred, return_std=True)
    )
    assert other.metadata_ == {"table": {"target": "price"}}
    assert repr(other.summary()) == repr(fitted.summary())
    again = tmp_path / "again.rio"
    other.save(again)
    assert rio_uq.load(again).metadata_ == other.metadata_
    assert again.read_bytes() == path.read_bytes()
    given = rio_uq.load(path, features=fitted.features_)
    np.testing.assert_array_equal(given.predict(table, y_pred=y_pred), fitted.predict(table, y_pred=y_pred))


@pytest.mark.parametrize("metadata", [{"a": object()}, {"a": np.nan}, [1], {1: "a"}, {"a": (1, 2)}])
def test_metadata_that_json_has_no_form_for(metadata, fitted, tmp_path):
    with pytest.raises(TypeError, match="metadata has to be a dict"):
        fitted.save(tmp_path / "model.rio", metadata=metadata)
    assert not list(tmp_path.iterdir())


def tampered(path, change):
    """The file with a changed manifest, and sums that fit."""
    import hashlib

    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "SHA256SUMS"}
    manifest = json.loads(members["manifest.json"])
    change(manifest)
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in members.items()]
        archive.writestr("SHA256SUMS", "".join(lines))


def columns_of(manifest):
    return manifest["regressor"]["features"]["table"]


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(metadata=[1]),
        lambda m: m["regressor"]["features"].update(table={}),
        lambda m: m["regressor"]["features"].update(table=[]),
        lambda m: m["regressor"]["features"].update(columns=None),
        lambda m: columns_of(m).pop(),
        lambda m: columns_of(m).append(columns_of(m)[0]),
        lambda m: columns_of(m)[0].update(name=3),
        lambda m: columns_of(m)[0].update(kind="date"),
        lambda m: columns_of(m)[0].update(fill="0"),
        lambda m: columns_of(m)[0].update(fill=0.5),
        lambda m: columns_of(m)[0].pop("fill"),
        lambda m: columns_of(m)[0].update(more=1),
        lambda m: columns_of(m)[2].update(levels="Oslo"),
        lambda m: columns_of(m)[2].update(levels=["Oslo", "Oslo"]),
        lambda m: columns_of(m)[2].update(levels=[], has_missing=False),
        lambda m: columns_of(m)[2].update(has_other=1),
    ],
)
def test_altered_files_are_refused(change, fitted, tmp_path):
    path = tmp_path / "model.rio"
    fitted.save(path, metadata={})
    tampered(path, change)
    with pytest.raises(FormatError, match=r"model\.rio"):
        rio_uq.load(path)


def test_as_onnx(fitted, table):
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = rio_uq.onnx.export(fitted, levels=[0.9])
    assert "age is missing" in graph.graph.input[0].doc_string
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    y_pred = table[["size"]].to_numpy()
    mean, *_ = session.run(None, {"features": fitted.features_.transform(table), "y_pred": y_pred})
    np.testing.assert_allclose(mean[:, 0], fitted.predict(table, y_pred=y_pred[:, 0]), rtol=1e-9)


def test_columns_that_stay_as_they_are_go_into_a_graph_as_x():
    onnxruntime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(40, 3)), columns=["a", "b", "c"])
    y = X.a + np.sin(3.0 * X.c)
    rio = rio_uq.RIORegressor(features=TableEncoder(["c", "a"]), random_state=0).fit(X, y, y_pred=X.a)
    session = onnxruntime.InferenceSession(rio_uq.onnx.export(rio).SerializeToString())
    mean, *_ = session.run(None, {"X": X.to_numpy(), "y_pred": X[["a"]].to_numpy()})
    np.testing.assert_allclose(mean[:, 0], rio.predict(X, y_pred=X.a), rtol=1e-9)


@pytest.mark.parametrize("has_gap", [False, True])
def test_categories_are_categories_whatever_their_levels(has_gap):
    numbers = [3, 1, 3, None if has_gap else 1]
    frame = pd.DataFrame({"x": pd.Categorical(numbers)})
    encoder = TableEncoder().fit(frame)
    assert encoder.feature_names_out_ == ["x=1", "x=3", *(["x=(missing)"] if has_gap else [])]
    np.testing.assert_array_equal(encoder.transform(frame)[:, :2], [[0, 1], [1, 0], [0, 1], [not has_gap, 0]])
    other = pl.DataFrame({"x": pl.Series(["3", "1"], dtype=pl.Categorical)})
    np.testing.assert_array_equal(encoder.transform(other)[:, :2], [[0, 1], [1, 0]])


def test_decimals_are_numbers():
    frame = pd.DataFrame({"x": [Decimal("1.5"), None, Decimal("2.5")]})
    np.testing.assert_array_equal(TableEncoder().fit_transform(frame), [[1.5, 0], [2.0, 1], [2.5, 0]])


def test_names_that_cannot_be_stored_or_told_apart_are_refused(table):
    with pytest.raises(TypeError, match=r"have to be text; got 0, 1: X.columns ="):
        TableEncoder().fit(pd.DataFrame(np.eye(2)))
    twice = table[["size", "age", "size"]]
    with pytest.raises(ValueError, match="a name of its own; there are several of 'size'"):
        TableEncoder().fit(twice)
    with pytest.raises(ValueError, match="there are several of 'size'"):
        TableEncoder(["size", "size"]).fit(table)
    with pytest.raises(ValueError, match="there are several of 'size'"):
        TableEncoder(["size"]).fit(table).transform(twice)


def test_features_have_names_of_their_own():
    frame = pd.DataFrame({"a": [1.0, None], "a is missing": [0.0, 1.0]})
    assert TableEncoder().fit(frame).feature_names_out_ == ["a", "a is missing", "a is missing (2)"]


def test_names_of_a_wide_table_are_looked_up_once():
    class Frame:
        looked = 0

        def __init__(self, columns):
            self._columns = columns

        @property
        def columns(self):
            self.looked += 1
            return list(self._columns)

        def __getitem__(self, name):
            return self._columns[name]

    X = Frame({f"sensor {i}": np.arange(3.0) for i in range(50)})
    encoded = TableEncoder().fit(X).transform(X)
    assert encoded.shape == (3, 50)
    assert X.looked < 10


def test_rows_of_a_block_count_as_the_file_does(tmp_path):
    frame = pd.DataFrame({"a": np.arange(300.0), "y": np.arange(300.0)})
    rio = RIORegressor(None, features=TableEncoder(["a"]), inference="sparse", n_inducing=3, noise="constant", tol=0.1)
    rio.fit(frame[["a"]], frame["y"], y_pred=0.9 * frame["y"])
    frame.loc[217, "a"] = np.inf
    rows = rio_uq.rows.ArrowRows(pa.Table.from_pandas(frame[["a"]]), block_rows=100)
    with pytest.raises(ValueError, match=r"in rows 200 to 299 of .* infinite in 1 rows \(217\)"):
        rio.predict(rows, y_pred=0.9 * frame["y"])
