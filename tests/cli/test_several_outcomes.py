"""Several outcomes: columns for each of them, and the answers of the library."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import rio_uq

COLUMNS = ["size", "age"]
FIT = ("--target", "price,rent", "--pred-column", "yhat,rhat", "--features", "size,age", "--rows", "new")


def several(table):
    table = table.drop(columns=["id", "city"]).fillna({"age": 0.5})
    return table.assign(rent=table["price"] / 2 + table["age"] ** 2, rhat=table["yhat"] / 2)


@pytest.fixture
def tables(train, fresh):
    tables = several(train), several(fresh)
    for name, table in zip(("train", "new"), tables, strict=True):
        table.to_csv(f"{name}.csv", index=False)
    return tables


@pytest.fixture
def fitted(run, tables):
    run("fit", "train.csv", *FIT, "-o", "both.rio")
    return rio_uq.load("both.rio")


def test_columns_are_those_of_the_library_with_the_names_of_outcomes(run, tables, fitted):
    said = run("predict", "new.csv", "--rio", "both.rio", "-o", "out.parquet", "--level", 0.9)
    names = ["mean_price", "mean_rent", "std_price", "std_rent"]
    names += ["lower_price_0.9", "lower_rent_0.9", "upper_price_0.9", "upper_rent_0.9"]
    assert said.stdout.strip().endswith(f"with {', '.join(names)}")
    given = {"X": tables[1][COLUMNS], "y_pred": tables[1][["yhat", "rhat"]]}
    mean, std = fitted.predict(**given, return_std=True)
    band = fitted.predict_interval(**given, confidence_level=0.9)
    expected = np.hstack([mean, std, band[:, :, 0], band[:, :, 1]])
    np.testing.assert_allclose(pd.read_parquet("out.parquet")[names], expected)
    run("predict", "new.csv", "--rio", "both.rio", "-o", "out.csv", "--level", 0.9)
    np.testing.assert_allclose(pd.read_csv("out.csv")[names], expected, rtol=1e-6)


def test_each_outcome_is_measured(run, tables, fitted):
    new = tables[1]
    found = json.loads(run("evaluate", "new.csv", "--rio", "both.rio", "--json", "--level", 0.9).stdout)["outcomes"]
    mean = fitted.predict(new[COLUMNS], y_pred=new[["yhat", "rhat"]])
    for i, (target, prediction) in enumerate((("price", "yhat"), ("rent", "rhat"))):
        assert found[target]["before"]["rmse"] == pytest.approx(np.sqrt(np.mean((new[target] - new[prediction]) ** 2)))
        assert found[target]["after"]["rmse"] == pytest.approx(np.sqrt(np.mean((new[target] - mean[:, i]) ** 2)))
    words = run("evaluate", "new.csv", "--rio", "both.rio").stdout
    assert "price: 80 rows" in words
    assert "rent: 80 rows" in words


def test_calibrated_reported_and_described(run, tables, fitted):
    run("calibrate", "new.csv", "--rio", "both.rio", "-o", "new.rio", "--calibration-method", "variance")
    assert rio_uq.load("new.rio").calibration_.method == "variance"
    run("predict", "train.csv", "--rio", "new.rio", "-o", "out.csv")
    assert "price, rent" in run("info", "both.rio").stdout
    pytest.importorskip("jinja2")
    said = run("report", "new.csv", "--rio", "both.rio", "-o", "a.html", code=1)
    assert "--outcome price or --outcome rent" in said.stderr
    run("report", "new.csv", "--rio", "both.rio", "-o", "a.html", "--outcome", "rent")


def test_a_model_of_several_outcomes(run, tables):
    skops = pytest.importorskip("skops.io")
    train = tables[0]
    skops.dump(LinearRegression().fit(train[COLUMNS], train[["price", "rent"]]), "model.skops")
    run("fit", "train.csv", "--target", "price,rent", "--model", "model.skops", "-o", "both.rio")
    run("predict", "new.csv", "--rio", "both.rio", "-o", "out.csv")
    assert {"y_pred_price", "y_pred_rent", "mean_price", "std_rent"} < set(pd.read_csv("out.csv"))


def test_a_row_without_one_of_its_outcomes_is_left_out(run, tables):
    train = tables[0].astype({"rent": object})
    train.loc[[3, 5], "rent"] = None
    train.to_csv("train.csv", index=False)
    said = run("fit", "train.csv", *FIT, "-o", "both.rio")
    assert "2 of 120 rows have no number in 'rent': left out" in said.stderr
    assert "fitted to 118 rows" in said.stdout


def test_a_table_without_a_usable_row_has_no_predictions(run, tables, fitted):
    tables[1].assign(size="?").to_csv("new.csv", index=False)
    run("predict", "new.csv", "--rio", "both.rio", "-o", "out.csv", "--skip-bad-rows")
    assert pd.read_csv("out.csv")[["mean_price", "std_rent"]].isna().all(axis=None)


def test_a_comma_in_the_name_of_a_column_is_no_list(run, tables):
    tables[0].rename(columns={"price": "price, in euros"}).to_csv("train.csv", index=False)
    run("fit", "train.csv", "--target", "price, in euros", "--pred-column", "yhat", "--rows", "new", "-o", "one.rio")
    assert rio_uq.load("one.rio").fitted_.y_shape == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("fit", "train.csv", "--target", "price,rent", "--pred-column", "yhat", "-o", "a.rio"),
            "needed for each outcome",
        ),
        (
            ("fit", "train.csv", "--target", "price,price", "--pred-column", "yhat,rhat", "-o", "a.rio"),
            "each column once",
        ),
        (("evaluate", "new.csv", "--rio", "both.rio", "--target", "price"), "2 outcomes, and --target names 1"),
        (("predict", "new.csv", "--rio", "both.rio", "--pred-column", "yhat", "-o", "a.csv"), "--pred-column names 1"),
    ],
)
def test_numbers_of_columns_that_do_not_fit(arguments, message, run, fitted):
    assert message in run(*arguments, code=1).stderr
