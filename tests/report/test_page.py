"""The file: what goes in, what comes out, and what is refused."""

import json
import re
from datetime import datetime
from decimal import Decimal
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from rio_uq import RIORegressor, load
from rio_uq.plots.base import BLUE, GREEN, ORANGE, SKY, VERMILLION
from rio_uq.report import write_report
from rio_uq.report.page import environment
from rio_uq.report.page_json import safe_json
from rio_uq.report.table import TEXT_LENGTHS, cell, largest

FAST = {"random_state": 0, "tol": 1e-3, "training": {"starts": "rio"}, "noise": "constant"}
EVIL = "<script>alert(1)</script>"
MEGABYTE = 2**20


def first_column(X):
    return np.asarray(X)[:, 0].astype(float)


class Page(HTMLParser):
    """The elements, the texts and the data of a page."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.attributes, self.texts, self.scripts = [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.data = json.loads(self.scripts[0])

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        (self.scripts if self.tags[-1:] == ["script"] and data.strip() else self.texts).append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))


@pytest.fixture(scope="module")
def page(rio, table, tmp_path_factory):
    """The report on rows that were not fitted, for tests that only read it."""
    return Page(write_report(rio, table[0][300:], table[1][300:], tmp_path_factory.mktemp("page") / "report.html"))


@pytest.fixture
def written(tmp_path):
    def write(*arguments, **options):
        return Page(write_report(*arguments, tmp_path / "report.html", **options))

    return write


def test_the_page_has_five_answers(page):
    assert page.tags.count("section") == 5
    assert page.attributes.count(("class", "answer")) == 5
    for start in (
        "Yes: RMSE falls from",
        "intervals hold",
        "Where b is above",
        "rows have a standard",
        "If a person takes",
    ):
        assert start in page.text
    assert "600 rows with known outcome price ; model: first_column" in page.text
    assert page.data["sample"]["row"] == list(range(600))


def test_the_page_says_how_error_bars_were_made(rio, table, page):
    decisions = rio.summary(table[0][300:]).decisions()
    assert f"Residuals: {rio.residuals_}." in decisions
    assert all(decision in page.text for decision in decisions)


def test_the_data_are_those_of_the_rows(rio, table, page):
    X, y = table[0][300:], table[1][300:]
    data = page.data
    np.testing.assert_allclose(data["sample"]["y"], y, rtol=1e-5)
    np.testing.assert_allclose(data["sample"]["mean"], rio.predict(X), rtol=1e-5)
    columns = dict(zip(data["table"]["names"], data["table"]["columns"], strict=True))
    assert list(columns)[-3:] == ["a", "b", "c"]
    assert [data["table"]["names"][data["table"][name]] for name in ("std", "outcome")] == ["std", "price"]
    chosen = np.array(columns["row"])
    np.testing.assert_allclose(columns["b"], X["b"].to_numpy()[chosen], rtol=1e-5)
    np.testing.assert_allclose(columns["price"], y.to_numpy()[chosen], rtol=1e-5)
    _, std = rio.predict(X, return_std=True)
    np.testing.assert_array_equal(np.sort(chosen[data["table"]["uncertain"]]), np.sort(largest(std)))
    correction = np.abs(rio.predict_residual(X))
    np.testing.assert_array_equal(np.sort(chosen[data["table"]["corrected"]]), np.sort(largest(correction)))


def test_nothing_comes_from_elsewhere(page):
    links = {value for name, value in page.attributes if name in ("href", "src", "action", "data")}
    assert all(link.startswith(("#", "data:,")) for link in links)
    ((_, policy),) = (entry for entry in page.attributes if entry[0] == "content" and "default-src" in (entry[1] or ""))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_the_same_rows_give_the_same_file(rio, table, tmp_path):
    X, y = table[0][300:], table[1][300:]
    first, second = (write_report(rio, X, y, tmp_path / f"{name}.html") for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    other = write_report(rio, X, y, tmp_path / "c.html", random_state=1)
    assert first.read_bytes() != other.read_bytes()


def test_a_report_leaves_the_regressor_alone_and_asks_the_model_once(table, tmp_path):
    X, y = table
    calls = []

    def model(rows):
        calls.append(len(rows))
        return first_column(rows)

    rio = RIORegressor(model, **FAST).fit(X[:100], y[:100])
    state, answers = dict(vars(rio)), rio.predict(X[:50], return_std=True)
    calls.clear()
    write_report(rio, X[300:], y[300:], tmp_path / "report.html")
    assert calls == [600]
    assert vars(rio).keys() == state.keys()
    assert all(vars(rio)[name] is value for name, value in state.items())
    np.testing.assert_array_equal(rio.predict(X[:50], return_std=True), answers)


def test_hostile_names_and_values_are_text(table, written):
    rng = np.random.default_rng(1)
    X = table[0].rename(columns={"b": EVIL})
    X["city"] = rng.choice(["</script><script>alert(2)</script>", "<!--", "Köln", "a & b"], len(X))
    y = table[1].rename("<img src=x onerror=alert(3)>")
    features = make_column_transformer((OneHotEncoder(), ["city"]), (StandardScaler(), ["a", EVIL]))
    rio = RIORegressor(first_column, features=features, **FAST).fit(X[:200], y[:200])
    page = written(rio, X[300:], y[300:], title='<b onclick="alert(4)">report</b>')
    assert page.tags.count("script") == 2
    assert not {"img", "onclick"} & {*page.tags, *(name for name, _ in page.attributes)} - {"b"}
    assert f"standardscaler__{EVIL}" in page.text
    assert '<b onclick="alert(4)">report</b>' in page.text
    assert EVIL in page.data["table"]["names"]
    assert page.data["outcome"] == "<img src=x onerror=alert(3)>"
    assert "</script><script>alert(2)</script>" in page.data["table"]["columns"][-1]


def test_json_cannot_end_its_element():
    text = safe_json(
        {"a": ["</script>", "<!--", "&", "\u2028", "\ud800", np.float64(1 / 3), np.nan, np.int64(3), np.True_]}
    )
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": ["</script>", "<!--", "&", "\u2028", "?", 0.333333, None, 3, True]}


def test_text_categories_dates_and_missing_values(table, written):
    X = table[0].assign(
        note=[None, "x"] * 450,
        nan_text=[np.nan, "y" * 500, "z"] * 300,
        kind=pd.Categorical(["u", "v", None] * 300),
        day=pd.date_range("2020-01-01", periods=900).where(np.arange(900) % 2 == 0),
        count=pd.array([1, None, 3] * 300, dtype="Int64"),
        flag=[True, False] * 450,
        level=np.where(np.arange(900) % 2, np.nan, 0.5),
    )
    rio = RIORegressor(first_column, features=["a", "b"], **FAST).fit(X[:100], table[1][:100])
    data = written(rio, X[300:], table[1][300:]).data["table"]
    columns = dict(zip(data["names"], data["columns"], strict=True))
    assert set(columns["note"]) == {None, "x"}
    assert {None, "z"} < set(columns["nan_text"])
    assert max(len(value) for value in columns["nan_text"] if value) == TEXT_LENGTHS[0]
    assert set(columns["kind"]) == {None, "u", "v"}
    assert None in columns["day"]
    assert str(min(day for day in columns["day"] if day)).startswith("202")
    assert set(columns["count"]) == {1, None, 3}
    assert set(columns["flag"]) == {True, False}
    assert set(columns["level"]) == {None, 0.5}


def test_cells():
    values = [np.float32(0.1), np.int64(7), 2**60, np.inf, np.nan, pd.NA, pd.NaT, None, True, "text", Decimal("1.5")]
    assert [cell(value) for value in values] == [
        0.1, 7, str(2**60), "inf", None, None, None, None, True, "text", "1.5",
    ]  # fmt: skip
    assert cell(datetime(2020, 1, 2)) == "2020-01-02 00:00:00"
    assert cell(np.array([1, 2])) == "[1 2]"


def test_features_without_names(table, written):
    X, y = table[0].to_numpy(), table[1].to_numpy()
    rio = RIORegressor(first_column, **FAST).fit(X[:100], y[:100])
    page = written(rio, X[300:], y[300:])
    assert page.data["table"]["names"][-3:] == ["x0", "x1", "x2"]
    assert page.data["outcome"] == "outcome"


def test_polars_frames_and_stacks_of_images(table, written):
    X, y = table[0], table[1].to_numpy()
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X})
    rio = RIORegressor(lambda rows: rows["a"].to_numpy(), **FAST).fit(frame[:100], y[:100])
    assert written(rio, frame[300:], y[300:]).data["table"]["names"][-3:] == ["a", "b", "c"]
    images = X.to_numpy()[:, :, None]
    rio = RIORegressor(lambda rows: rows[:, 0, 0], features=lambda rows: rows[:, :, 0], **FAST)
    data = written(rio.fit(images[:100], y[:100]), images[300:], y[300:]).data
    assert data["table"]["own"] == len(data["table"]["names"])
    assert data["errors"]["relevance"][0][0] == "feature 1"


def test_outcomes_beyond_the_scale_are_in_no_interval_and_said_to_be(table, written):
    X, y = table
    positive = np.exp(0.3 * np.asarray(y))
    y_pred = np.full(len(positive), np.median(positive))
    rio = RIORegressor(scale="log", **FAST).fit(X[:100], positive[:100], y_pred=y_pred[:100], held_out=True)
    outcome = np.where(np.arange(len(positive)) < 2, -1.0, positive * 1.01)
    page = written(rio, X, outcome, y_pred=y_pred)
    text = " ".join(page.text.split())
    assert "NLPD is infinite, for 2 outcomes are beyond the range that the scale of fit allows" in text


def test_too_many_columns_leave_the_relevant_ones(table, written):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(900, 60)), columns=[f"column {i}" for i in range(60)])
    y = X["column 0"] + 3.0 * (X["column 59"] > 0.5) + 0.1 * rng.normal(size=900)
    rio = RIORegressor(first_column, features=["column 0", "column 59"], **FAST).fit(X[:100], y[:100])
    page = written(rio, X[300:], y[300:])
    names = page.data["table"]["names"]
    assert len(names) == page.data["table"]["own"] + 40
    assert {"column 0", "column 59"} <= set(names)
    assert "20 further columns of X are not shown" in page.text


@pytest.mark.parametrize("n_rows", [2, 5, 25])
def test_a_handful_of_rows(rio, table, written, n_rows):
    page = written(rio, table[0][300 : 300 + n_rows], table[1][300 : 300 + n_rows])
    assert f"There are {n_rows} rows only" in page.text
    assert "too few rows" in page.text


def test_constant_predictions_and_exact_ones(rio, table, written):
    X, y = table
    constant = RIORegressor(lambda rows: np.zeros(len(rows)), **FAST).fit(X[:100], y[:100])
    assert "predictions are all the same" in written(constant, X[300:], y[300:]).text
    exact = written(rio, X[300:], X["a"][300:])
    assert exact.data["comparison"][2]["before"] == [None, None, None]
    assert "No, predictions are worse" in exact.text


@pytest.mark.parametrize("kernel", ["input", "output"])
def test_kernels_with_one_part(table, written, kernel):
    X, y = table
    rio = RIORegressor(first_column, kernel=kernel, **FAST).fit(X[:100], y[:100])
    page = written(rio, X[300:], y[300:])
    says = {"input": "does not look at the model's output", "output": "does not look at features"}[kernel]
    assert says in page.text


@pytest.mark.parametrize("method", ["conformal", "conformal-asymmetric", "variance", "isotonic"])
def test_calibrated_error_bars(table, written, method):
    X, y = table
    rio = RIORegressor(first_column, **FAST).fit(X[:100], y[:100]).calibrate(X[100:250], y[100:250], method=method)
    page = written(rio, X[300:], y[300:])
    band = rio.predict_interval(X[300:], confidence_level=0.9)
    np.testing.assert_allclose(page.data["sample"]["lower"], band[:, 0], rtol=1e-5)
    assert ("knows intervals but no density" in page.text) == (method != "variance")


def test_error_bars_calibrated_by_group(table, written, tmp_path):
    X, y = table
    side = np.where(X["c"] > 0.8, "loud", "calm")
    rio = RIORegressor(first_column, **FAST).fit(X[:100], y[:100])
    rio.calibrate(X[100:300], y[100:300], groups=side[100:300])
    page = written(rio, X[300:], y[300:], groups=side[300:])
    assert page.data["coverageBy"][-1]["variable"] == "group of the calibration"
    with pytest.raises(ValueError, match="give the group of each row"):
        write_report(rio, X[300:], y[300:], tmp_path / "other.html")
    assert not (tmp_path / "other.html").exists()


def test_several_outputs_need_a_choice(table, written):
    X, y = table
    both = pd.DataFrame({"first": y, "second": -y})
    rio = RIORegressor(LinearRegression(), **FAST).fit(X[:150], both[:150])
    assert written(rio, X[300:], both[300:], output=1).data["outcome"] == "second"
    with pytest.raises(ValueError, match="2 outputs, and a report is about one"):
        written(rio, X[300:], both[300:])
    with pytest.raises(ValueError, match="output has to be less than 2"):
        written(rio, X[300:], both[300:], output=2)


def test_predictions_without_a_model_and_a_regressor_from_a_file(table, written, tmp_path):
    X, y = table
    rio = RIORegressor(**FAST).fit(X[:100], y[:100], y_pred=X["a"][:100])
    rio.save(tmp_path / "price.rio")
    first, second = (written(r, X[300:], y[300:], y_pred=X["a"][300:]) for r in (rio, load(tmp_path / "price.rio")))
    assert "model: given predictions" in first.text
    assert first.data == second.data


def test_rows_of_fit_are_noticed(rio, table, written):
    assert "33 % of these rows are rows that RIO was fitted to" in written(rio, *table).text
    assert "was fitted to" not in written(rio, table[0][300:], table[1][300:]).text


def test_many_rows_are_sampled_and_the_page_says_so(rio, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(6000, 3)), columns=["a", "b", "c"])
    path = write_report(rio, X, X["a"] + rng.normal(size=6000), tmp_path / "report.html")
    page = Page(path)
    assert "those of all 6,000 rows. Plots of single rows show 2,000 of them" in page.text
    assert len(page.data["sample"]["row"]) == 2000
    assert 250 <= len(page.data["table"]["uncertain"]) <= 500


@pytest.mark.parametrize("text", ["<" * 200, "価" * 200])
def test_the_longest_texts_fit_into_six_megabytes(tmp_path, text):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(3000, 3)), columns=["a", "b", "c"])
    X = X.assign(**{f"{'<&' * 200}{i}": text for i in range(60)})
    y = X["a"] + rng.normal(size=3000)
    rio = RIORegressor(first_column, features=["a", "b", "c"], **FAST).fit(X[:50], y[:50])
    path = write_report(rio, X, y, tmp_path / "report.html")
    assert path.stat().st_size < 6 * MEGABYTE
    assert Page(path).data["table"]["columns"][-1][0].startswith(text[:9])


def test_what_is_refused_leaves_no_file(rio, table, tmp_path):
    X, y = table[0][300:], table[1][300:]
    path = tmp_path / "report.html"
    with pytest.raises(NotFittedError):
        write_report(RIORegressor(first_column), X, y, path)
    with pytest.raises(ValueError, match="at least two rows, and X has 1"):
        write_report(rio, X[:1], y[:1], path)
    with pytest.raises(ValueError, match="y contains NaN"):
        write_report(rio, X, y.where(y > 1.0), path)
    with pytest.raises(ValueError, match="they have to be the same rows"):
        write_report(rio, X, y[:-1], path)
    with pytest.raises(FileNotFoundError, match="does not exist: make it first"):
        write_report(rio, X, y, tmp_path / "nowhere" / "report.html")
    with pytest.raises(IsADirectoryError, match="is a folder: give the name of the file"):
        write_report(rio, X, y, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_when_the_new_one_is_complete(rio, table, tmp_path, monkeypatch):
    X, y = table[0][300:], table[1][300:]
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("rio_uq.report.writer.render", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(rio, X, y, path)
    assert path.read_text() == "old"
    monkeypatch.undo()
    assert write_report(rio, X, y, str(path)) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


def test_without_jinja2_the_error_names_the_extra(rio, table, tmp_path, monkeypatch):
    monkeypatch.setattr("rio_uq.report.writer.environment", environment)
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"rio-uq\[report\]"):
        write_report(rio, table[0], table[1], tmp_path / "report.html")


def test_the_colours_are_those_of_the_figures():
    style = files("rio_uq.report").joinpath("assets", "report.css").read_text(encoding="utf-8")
    used = {
        name: set(re.findall(rf"--{name}: (#\w+)", style)) for name in ("after", "bad", "input", "output", "unsettled")
    }
    blues = {BLUE.lower(), SKY.lower()}
    assert used["after"] == used["output"] == blues
    assert (used["bad"], used["input"]) == ({VERMILLION.lower()}, {GREEN.lower()})
    assert used["unsettled"] == {ORANGE.lower()}


def test_the_assets_are_in_the_package():
    names = {entry.name for entry in files("rio_uq.report").joinpath("assets").iterdir()}
    assert {"report.html", "report.css", "plot.js", "figures.js", "report.js"} <= names
    for entry in files("rio_uq.report").joinpath("assets").iterdir():
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", entry.read_text(encoding="utf-8"))


def test_a_model_that_has_seen_the_rows_of_fit_is_found_out(rng, tmp_path):
    X = pd.DataFrame(rng.uniform(size=(400, 2)), columns=["a", "b"])
    y = X["a"] + 0.5 * rng.normal(size=400)
    model = DecisionTreeRegressor(max_depth=8, random_state=0).fit(X[:200], y[:200])
    rio = RIORegressor(model, residuals="in-sample", random_state=0).fit(X[:200], y[:200])
    text = write_report(rio, X[200:], y[200:], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No, they are far too narrow: 90" in text
    assert "times as large here as on the rows of fit" in text


def test_rows_of_another_kind_are_not_blamed_on_a_model_that_has_seen_none(rng, tmp_path):
    X = pd.DataFrame(rng.uniform(size=(500, 2)), columns=["a", "b"])
    y = X["a"] + np.where(np.arange(500) < 100, 0.1, 0.5) * rng.normal(size=500)
    rio = RIORegressor(first_column, **FAST).fit(X[:100], y[:100], held_out=True)
    text = write_report(rio, X[100:], y[100:], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "which it did not know by heart: these are of another kind" in text
