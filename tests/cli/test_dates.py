"""Dates in tables: the same features as in Python, whatever file they come in."""

import numpy as np
import pandas as pd
import pytest

import rio_uq

FIT = ("--target", "price", "--pred-column", "yhat", "--drop", "id", "--rows", "new", "--inducing", 10)


def with_dates(table, seed=0):
    """Outcomes depend on the season."""
    days = np.random.default_rng(seed).integers(0, 900, len(table))
    table = table.assign(day=pd.Timestamp("2022-03-01") + pd.to_timedelta(days, "D") + pd.Timedelta("06:30:00"))
    return table.assign(price=table["price"] + np.sin(2.0 * np.pi * days / 365.25))


@pytest.fixture
def tables(train, fresh):
    return with_dates(train), with_dates(fresh, seed=1)


def write(table, path):
    if path.endswith("csv"):
        table.to_csv(path, index=False)
    else:
        getattr(table, f"to_{path.rpartition('.')[2]}")(path)


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_dates_are_the_features_that_python_makes_of_them(ending, run, tables):
    train, new = tables
    for name, table in (("train", train), ("new", new)):
        write(table, f"{name}.{ending}")
    assert "4 columns, encoded as 11 features" in run("fit", f"train.{ending}", *FIT, "-o", "price.rio").stdout
    for output in ("out.csv", "out.parquet"):
        run("predict", f"new.{ending}", "--rio", "price.rio", "-o", output)
    rio = rio_uq.load("price.rio")
    X = new[["size", "age", "city", "day"]]
    expected = rio.predict(X, y_pred=new["yhat"])
    for found in (pd.read_csv("out.csv"), pd.read_parquet("out.parquet")):
        np.testing.assert_allclose(found["mean"], expected, rtol=1e-6)
    other = rio_uq.RIORegressor(None, inference="sparse", n_inducing=10, random_state=0)
    other.fit(train[X.columns], train["price"], y_pred=train["yhat"], held_out=True)
    assert rio.features.feature_names_out_ == other.fitted_.extract.transform.feature_names_out_
    np.testing.assert_allclose(rio.fitted_.features(X), other.fitted_.features(X))
    assert "RMSE" in run("evaluate", f"new.{ending}", "--rio", "price.rio").stdout
    run("report", f"new.{ending}", "--rio", "price.rio", "-o", "report.html")
    run("info", "price.rio")


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S,000Z", "%Y-%m-%d %H:%M:%S.000000+05:30"]
)
def test_spellings_of_iso_8601(form, run, tables):
    train, new = tables
    train.to_parquet("train.parquet")
    new.to_parquet("new.parquet")
    new.assign(day=new["day"].dt.strftime(form)).to_csv("new.csv", index=False)
    run("fit", "train.parquet", *FIT, "-o", "price.rio")
    for name in ("new.parquet", "new.csv"):
        run("predict", name, "--rio", "price.rio", "-o", f"out-{name}.csv")
    a, b = pd.read_csv("out-new.parquet.csv"), pd.read_csv("out-new.csv.csv")
    np.testing.assert_allclose(a["mean"], b["mean"], rtol=1e-6)


def test_time_zones_durations_and_times(run, tables):
    train, new = (
        table.assign(
            here=table["day"].dt.tz_localize("Asia/Tokyo"),
            took=pd.to_timedelta(1.0 + np.arange(len(table)) % 7, "h"),
            at=[pd.Timestamp(f"2024-01-01 {i % 24:02d}:15").time() for i in range(len(table))],
            on=table["day"].dt.date,
        )
        for table in tables
    )
    train.to_parquet("train.parquet")
    new.to_parquet("new.parquet")
    run("fit", "train.parquet", *FIT, "-o", "price.rio")
    run("predict", "new.parquet", "--rio", "price.rio", "-o", "out.csv")
    X = new.drop(columns=["id", "yhat", "price"])
    expected = rio_uq.load("price.rio").predict(X, y_pred=new["yhat"])
    np.testing.assert_allclose(pd.read_csv("out.csv")["mean"], expected, rtol=1e-6)
    new.assign(took="an hour").to_csv("new.csv", index=False)
    said = run("predict", "new.csv", "--rio", "price.rio", "-o", "bad.csv", code=1).stderr
    assert "column 'took', row 1, 2, 3, 4, 5 …: 'an hour' where a duration is needed" in said


def test_missing_dates(run, tables):
    train, new = tables
    gaps = train["day"].where(train.index % 7 != 0)
    train.assign(day=gaps).to_csv("train.csv", index=False)
    new.assign(day=new["day"].where(new.index != 4)).to_csv("new.csv", index=False)
    run("fit", "train.csv", *FIT, "-o", "gaps.rio")
    assert "day is missing" in rio_uq.load("gaps.rio").features.feature_names_out_
    run("predict", "new.csv", "--rio", "gaps.rio", "-o", "out.csv")
    assert pd.read_csv("out.csv")["mean"].notna().all()
    train.to_csv("train.csv", index=False)
    run("fit", "train.csv", *FIT, "-o", "full.rio")
    said = run("predict", "new.csv", "--rio", "full.rio", "-o", "bad.csv", code=1).stderr
    assert "column 'day', row 5: '' where no value was missing" in said


def test_what_is_no_date_is_said(run, tables):
    train, new = tables
    train.to_csv("train.csv", index=False)
    run("fit", "train.csv", *FIT, "-o", "price.rio")
    text = new["day"].astype(str)
    new.assign(day=text.where(new.index != 6, "2024-02-30")).to_csv("new.csv", index=False)
    said = run("predict", "new.csv", "--rio", "price.rio", "-o", "out.csv", code=1).stderr
    assert "column 'day', row 7: '2024-02-30' where a date is needed" in said
    run("predict", "new.csv", "--rio", "price.rio", "-o", "out.csv", "--skip-bad-rows")
    assert np.flatnonzero(pd.read_csv("out.csv")["mean"].isna()).tolist() == [6]
    fit = ("fit", "bad.csv", *FIT, "-o", "bad.rio")
    train.assign(day=train["day"].astype(str).where(train.index != 6, "soon")).to_csv("bad.csv", index=False)
    assert "'day' holds dates, and in 1 rows something else ('soon')" in run(*fit, code=1).stderr
    train.assign(day=train["day"].dt.strftime("%d.%m.%Y")).to_csv("bad.csv", index=False)
    assert "dates are read if written as 2024-12-31" in run(*fit, code=1).stderr
    train.assign(day=[[1, 2]] * len(train)).to_parquet("bad.parquet")
    said = run("fit", "bad.parquet", *FIT, "-o", "bad.rio", code=1).stderr
    assert "neither numbers, text nor dates" in said


def test_a_model_gets_dates_and_a_file_that_python_made_is_read(run, tables, tmp_path):
    train, new = tables
    for name, table in (("train.csv", train), ("new.csv", new)):
        table.to_csv(name, index=False)
    (tmp_path / "seasons.py").write_text("def predict(X):\n    return X['size'] + X['day'].dt.month / 12\n")
    given = ("--target", "price", "--drop", "id,yhat", "--rows", "new", "--inducing", 10)
    run("fit", "train.csv", *given, "--model", "seasons:predict", "-o", "model.rio")
    run("predict", "new.csv", "--rio", "model.rio", "--model", "seasons:predict", "-o", "out.csv")
    np.testing.assert_allclose(pd.read_csv("out.csv")["y_pred"], new["size"] + new["day"].dt.month / 12, rtol=1e-6)
    X = train[["size", "day"]]
    rio = rio_uq.RIORegressor(None, random_state=0, noise="constant").fit(X, train["price"], y_pred=train["yhat"])
    rio.save("python.rio")
    run("predict", "new.csv", "--rio", "python.rio", "--pred-column", "yhat", "-o", "python.csv")
    expected = rio.predict(new[["size", "day"]], y_pred=new["yhat"])
    np.testing.assert_allclose(pd.read_csv("python.csv")["mean"], expected, rtol=1e-6)
