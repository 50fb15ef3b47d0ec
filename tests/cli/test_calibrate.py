"""calibrate makes a file with other error bars, for each group if asked, and with the same predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import rio_uq

FIT = ("--target", "price", "--pred-column", "yhat", "--drop", "id")
COLUMNS = ["size", "age", "city"]


@pytest.fixture
def calibration(fresh):
    fresh.to_csv("calib.csv", index=False)
    return fresh


def test_a_file_that_exists_is_calibrated(run, rio_file, calibration):
    before = rio_file.read_bytes()
    said = run("calibrate", "calib.csv", "--rio", rio_file, "-o", "new.rio")
    assert "new.rio: error bars calibrated on 80 rows (conformal)" in said.stdout
    assert rio_file.read_bytes() == before
    old, new = rio_uq.load(rio_file), rio_uq.load("new.rio")
    given = {"X": calibration[COLUMNS], "y_pred": calibration["yhat"]}
    np.testing.assert_array_equal(new.predict(**given), old.predict(**given))
    old.calibrate(y=calibration["price"], **given)
    np.testing.assert_array_equal(new.predict_interval(**given), old.predict_interval(**given))
    assert "RIO was calibrated with are rows here" in run("evaluate", "calib.csv", "--rio", "new.rio").stderr
    assert "exists already" in run("calibrate", "calib.csv", "--rio", rio_file, "-o", "new.rio", code=1).stderr


def test_each_group_is_calibrated_for_itself(run, rio_file, calibration):
    run(
        "calibrate",
        "calib.csv",
        "--rio",
        rio_file,
        "--groups",
        "city",
        "-o",
        "new.rio",
        "--calibration-method",
        "variance",
    )
    run("predict", "calib.csv", "--rio", "new.rio", "-o", "out.parquet")
    rio = rio_uq.load(rio_file)
    given = {"X": calibration[COLUMNS], "y_pred": calibration["yhat"], "groups": calibration["city"].to_numpy()}
    std = rio.calibrate(y=calibration["price"], method="variance", **given).predict(return_std=True, **given)[1]
    np.testing.assert_allclose(pd.read_parquet("out.parquet")["std"], std)
    run("evaluate", "calib.csv", "--rio", "new.rio")
    calibration.drop(columns="city").assign(town="Oslo").to_csv("other.csv", index=False)
    assert "no column 'city'" in run("predict", "other.csv", "--rio", "new.rio", "-o", "a.csv", code=1).stderr
    calibration.assign(city="Bern").to_csv("other.csv", index=False)
    assert "Bern" in run("predict", "other.csv", "--rio", "new.rio", "-o", "a.csv", code=1).stderr


def test_a_row_without_its_group_is_refused_or_left_out(run, rio_file, calibration):
    calibration.assign(region=["north", "south"] * 40).to_csv("calib.csv", index=False)
    run("calibrate", "calib.csv", "--rio", rio_file, "--groups", "region", "-o", "new.rio")
    calibration.assign(region=["north", None] * 40).to_csv("calib.csv", index=False)
    said = run("predict", "calib.csv", "--rio", "new.rio", "-o", "out.csv", code=1)
    assert "column 'region', row 2, 4, 6, 8, 10 …" in said.stderr
    assert "every row needs its group" in said.stderr
    run("predict", "calib.csv", "--rio", "new.rio", "-o", "out.csv", "--skip-bad-rows")
    assert pd.read_csv("out.csv")["std"].isna().tolist() == [False, True] * 40


def test_a_model_inside_stays_inside(run, train, calibration):
    skops = pytest.importorskip("skops.io")
    skops.dump(LinearRegression().fit(train[["size"]], train["price"]), "model.skops")
    train.to_csv("train.csv", index=False)
    run("fit", "train.csv", "--target", "price", "--model", "model.skops", "-o", "price.rio")
    run("calibrate", "calib.csv", "--rio", "price.rio", "-o", "new.rio")
    run("predict", "calib.csv", "--rio", "new.rio", "-o", "out.csv")
    assert "y_pred" in pd.read_csv("out.csv")


def test_rows_of_a_group_are_left_out_together(run, train):
    train.assign(house=np.arange(120) // 4).to_csv("train.csv", index=False)
    run("fit", "train.csv", *FIT, "--groups", "house", "--rows", "new", "-o", "price.rio")
    rio = rio_uq.load("price.rio")
    X = train[COLUMNS]
    grouped = rio_uq.RIORegressor(None, features=rio.features_, combine="refit", random_state=0, noise="constant")
    grouped.fit(X, train["price"], y_pred=train["yhat"], held_out=True, groups=np.arange(120) // 4)
    np.testing.assert_allclose(rio.predict(X, y_pred=train["yhat"]), grouped.predict(X, y_pred=train["yhat"]))
    assert list(rio.feature_names_in_) == COLUMNS
    train.assign(house=[None] * 3 + ["a"] * 117).to_csv("train.csv", index=False)
    said = run("fit", "train.csv", *FIT, "--groups", "house", "-o", "b.rio", code=1)
    assert "column 'house', row 1, 2, 3: nothing, where every row needs a group" in said.stderr


def test_standard_output_is_the_table_and_nothing_else(run, rio_file, calibration):
    run("predict", "calib.csv", "--rio", rio_file, "-o", "out.csv")
    said = run("predict", "calib.csv", "--rio", rio_file, "-o", "-")
    with open("out.csv", encoding="utf-8") as file:
        assert said.stdout == file.read()
