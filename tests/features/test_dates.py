"""Dates as numbers: days, and places in the year, the week and the day."""

import json
from datetime import date, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rio_uq
from rio_uq import FormatError, RIORegressor
from rio_uq.features import TableEncoder
from rio_uq.features.dates import DateColumn
from rio_uq.storage.features import write_extractor


def names_of(values):
    return TableEncoder().fit(pd.DataFrame({"x": values})).feature_names_out_


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        (pd.date_range("2022-01-01", periods=3, freq="D"), ()),
        (pd.date_range("2022-01-01", periods=30, freq="D"), ("week",)),
        (pd.date_range("2022-01-01", periods=30, freq="h"), ("day",)),
        (pd.date_range("2022-01-03", periods=20, freq="7D"), ()),
        (pd.date_range("2020-01-01", periods=9, freq="YS"), ("week",)),
        (pd.date_range("2020-01-01", periods=900, freq="17h"), ("year", "week", "day")),
        (pd.date_range("2020-01-01", periods=900, freq="17h", tz="Asia/Tokyo"), ("year", "week", "day")),
        ([date(2020, 1, 1), date(2022, 6, 2)] * 15, ("year", "week")),
    ],
)
def test_a_place_is_kept_where_dates_go_round_and_differ_in_it(values, parts):
    circles = [f"x ({part}, {function})" for part in parts for function in ("sin", "cos")]
    assert names_of(values) == ["x (days)", *circles]


def test_days_count_from_the_first_date_and_circles_close():
    frame = pd.DataFrame({"x": pd.to_datetime(["2020-12-31", "2020-01-01", "2021-12-31", "2021-07-02"])})
    encoder = TableEncoder().fit(frame)
    encoded = pd.DataFrame(encoder.transform(frame), columns=encoder.feature_names_out_)
    assert encoded["x (days)"].tolist() == [365.0, 0.0, 730.0, 548.0]
    turn = encoded[["x (year, sin)", "x (year, cos)"]].to_numpy()
    np.testing.assert_allclose(np.hypot(*turn.T), 1.0)
    assert np.linalg.norm(turn[0] - turn[1]) < 0.02  # 31 December is next to 1 January
    assert np.linalg.norm(turn[3] - turn[1]) > 1.99  # and July across


def test_durations_and_times():
    assert names_of([timedelta(hours=36), timedelta(0)]) == ["x (days)"]
    assert names_of(pd.to_timedelta([1, 2, 3], unit="D")) == ["x (days)"]
    frame = pd.DataFrame({"x": [time(0), time(6), time(12), None]})
    np.testing.assert_allclose(
        TableEncoder().fit_transform(frame), [[0, 1, 0], [1, 0, 0], [0, -1, 0], [0, 0, 1]], atol=1e-12
    )


def test_a_missing_date_has_the_median_day_and_no_place():
    dates = pd.Series(pd.date_range("2020-01-01", periods=800, freq="D"))
    dates[[3, 10]] = pd.NaT
    frame = pd.DataFrame({"x": dates})
    encoder = TableEncoder().fit(frame)
    (column,) = encoder.columns_
    assert column.parts == ("year", "week")
    row = dict(zip(encoder.feature_names_out_, encoder.transform(frame)[3], strict=True))
    assert row["x is missing"] == 1.0
    assert row["x (days)"] == column.fill - column.origin == 400.5
    assert row["x (year, sin)"] == row["x (year, cos)"] == row["x (week, sin)"] == 0.0


def test_libraries_and_objects_give_the_same():
    dates = pd.Series(pd.date_range("2020-01-01 03:00", periods=500, freq="29h"))
    expected = TableEncoder().fit_transform(pd.DataFrame({"x": dates}))
    others = [
        pd.DataFrame({"x": [date.to_pydatetime() for date in dates]}, dtype=object),
        pl.DataFrame({"x": dates.to_list()}),
        pd.DataFrame({"x": dates.dt.tz_localize("UTC")}),
        pl.DataFrame({"x": pl.Series(dates.to_list()).dt.replace_time_zone("UTC")}),
    ]
    for frame in others:
        np.testing.assert_allclose(TableEncoder().fit_transform(frame), expected, atol=1e-9)


def test_something_else_among_new_dates_is_named():
    encoder = TableEncoder().fit(pd.DataFrame({"x": pd.date_range("2020", periods=9)}))
    with pytest.raises(
        ValueError, match=r"'x' has no usable date in 1 rows \(1\), such as 'soon', and held dates in fit"
    ):
        encoder.transform(pd.DataFrame({"x": [date(2020, 1, 1), "soon"]}))
    with pytest.raises(ValueError, match=r"'x' has no usable date in 1 rows \(1\), and had one in every row in fit"):
        encoder.transform(pd.DataFrame({"x": [date(2020, 1, 1), None]}))


@pytest.fixture(scope="module")
def dated():
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 1000, 150), unit="D")
    frame = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + days})
    frame["size"] = rng.uniform(size=150)
    frame.loc[5, "day"] = pd.NaT
    y = frame["size"] + np.sin(2 * np.pi * frame["day"].dt.day_of_year.fillna(0) / 365.25)
    return frame, y


def test_a_file_holds_them(dated, tmp_path):
    frame, y = dated
    rio = RIORegressor(random_state=0, tol=1e-3, noise="constant").fit(frame, y, y_pred=frame["size"])
    rio.save(tmp_path / "model.rio")
    again = rio_uq.load(tmp_path / "model.rio")
    assert again.features == "auto"
    assert again.features_.columns_ == rio.features_.columns_
    assert isinstance(again.features_.columns_[0], DateColumn)
    np.testing.assert_array_equal(again.predict(frame, y_pred=frame["size"]), rio.predict(frame, y_pred=frame["size"]))
    assert np.corrcoef(rio.predict_residual(frame, y_pred=frame["size"]), y - frame["size"])[0, 1] > 0.95


@pytest.mark.parametrize(
    ("field", "value"), [("parts", ["month"]), ("parts", ["day", "day"]), ("holds", "years"), ("origin", None)]
)
def test_a_file_that_was_altered_is_refused(field, value, dated, tmp_path):
    from rio_uq.storage.archive import Archive
    from rio_uq.storage.features import read_extractor
    from rio_uq.storage.fields import Fields

    rio = RIORegressor(random_state=0, tol=1e-3, noise="constant").fit(*dated, y_pred=dated[0]["size"])
    plain = json.loads(json.dumps(write_extractor(rio.fitted_.extract)))
    plain["table"][0][field] = value
    with pytest.raises(FormatError, match=field):
        read_extractor(Fields(Archive(str(tmp_path), {}, {}, {}), plain, "features"), None)


def test_text_of_dates_is_taken_as_dates():
    times = pd.date_range("2020-01-01", periods=60, freq="17D")
    texts = times.strftime("%Y-%m-%d").tolist()
    (column,) = TableEncoder().fit(pd.DataFrame({"x": texts})).columns_
    (expected,) = TableEncoder().fit(pd.DataFrame({"x": times})).columns_
    assert column == expected
    gaps = [None, *texts[1:]]
    for frame in (pd.DataFrame({"x": gaps}), pl.DataFrame({"x": gaps})):
        np.testing.assert_array_equal(
            TableEncoder().fit_transform(frame), TableEncoder().fit_transform(pd.DataFrame({"x": [pd.NaT, *times[1:]]}))
        )
    encoder = TableEncoder().fit(pd.DataFrame({"x": texts}))
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"x": [" 2021-03-04 06:00+02:00 "]})),
        encoder.transform(pd.DataFrame({"x": [pd.Timestamp("2021-03-04 06:00")]})),
    )
    with pytest.raises(ValueError, match=r"no usable date in 1 rows .* such as 'soon'"):
        encoder.transform(pd.DataFrame({"x": ["2021-03-04", "soon"]}))


def test_text_that_is_not_all_dates_stays_text():
    assert names_of(["2020-01-01", "soon"] * 10) == ["x=2020-01-01", "x=soon"]
    assert names_of(["2020-02-30", "2020-02-28"] * 10) == ["x=2020-02-28", "x=2020-02-30"]
    assert names_of(pd.Categorical(["2020-01-01", "2020-01-02"] * 10)) == ["x=2020-01-01", "x=2020-01-02"]
