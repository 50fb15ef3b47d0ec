"""Causes of wrong numbers that would go unnoticed: another model, rows used before, thousands read as decimals."""

import json

import numpy as np
import pandas as pd
import pytest

from rio_uq import metrics

FIT = ("--target", "price", "--pred-column", "yhat", "--drop", "id")
SMALL = ("--inducing", 5)


def test_another_model_is_recognised_where_the_table_has_text(run, train, fresh, tmp_path):
    train.to_csv("train.csv", index=False)
    fresh.to_csv("new.csv", index=False)
    code = "def {}(X):\n    return {} * X['size'] + (X['city'] == 'Rome')\n"
    (tmp_path / "my_two_models.py").write_text(code.format("first", 2) + code.format("second", 3))
    given = ("--target", "price", "--drop", "id,yhat", *SMALL)
    run("fit", "train.csv", *given, "--model", "my_two_models:first", "-o", "price.rio")
    predict = ("predict", "new.csv", "--rio", "price.rio", "-o", "out.csv", "--model")
    assert "is not the one that was fitted" in run(*predict, "my_two_models:second", code=1).stderr
    again = ("evaluate", "new.csv", "--rio", "price.rio", "--model")
    assert "is not the one that was fitted" in run(*again, "my_two_models:second", code=1).stderr
    run(*predict, "my_two_models:first")


@pytest.mark.parametrize("column", ["size", "price", "yhat"])
def test_a_dot_is_no_decimal_point_where_a_comma_is(column, run, train, tmp_path):
    train.to_csv("train.csv", index=False, sep=";", decimal=",")
    text = pd.read_csv("train.csv", sep=";", dtype=str, keep_default_na=False)
    fit = ("fit", "train.csv", *FIT, *SMALL, "--decimal", ",", "-o")
    run(*fit, "good.rio")
    for cell in ("1.234", "1.234,5"):
        text.loc[3, column] = cell
        text.to_csv("train.csv", index=False, sep=";")
        said = run(*fit, "bad.rio", code=1).stderr
        assert "a cell with a dot is no number" in said
        assert f"'{column}' holds '{cell}'" in said
        said = run("evaluate", "train.csv", "--rio", "good.rio", "--decimal", ",", code=1).stderr
        assert "a cell with a dot is no number" in said
    text[column] = "1.234"
    text.to_csv("train.csv", index=False, sep=";")
    assert "a cell with a dot is no number" in run(*fit, "bad.rio", code=1).stderr


def with_thousands(table, columns, text="{:,.4f}"):
    """Columns times 10,000, as text."""
    return table.assign(**{name: [text.format(1e4 * value) for value in table[name]] for name in columns})


@pytest.mark.parametrize("column", ["price", "yhat"])
def test_text_among_outcomes_and_predictions_is_an_error(column, run, train, fresh, rio_file):
    train.astype({column: object}).assign(**{column: train[column].where(train.index != 3, "1,234.5")}).to_csv(
        "train.csv", index=False
    )
    said = run("fit", "train.csv", *FIT, *SMALL, "-o", "bad.rio", code=1).stderr
    assert f"train.csv, column '{column}', row 4: '1,234.5' where a number is needed" in said
    assert "--thousands ," in said
    said = run("evaluate", "train.csv", "--rio", rio_file, code=1).stderr
    assert f"train.csv, column '{column}', row 4: '1,234.5' where" in said
    assert "--thousands ," in said
    said = run("evaluate", "train.csv", "--rio", rio_file, "--skip-bad-rows")
    assert "1 of 120 rows could not be used" in said.stderr
    said = run("fit", "train.csv", *FIT, *SMALL, "-o", "good.rio", "--thousands", ",")
    assert "fitted to 120 rows" in said.stdout


def test_numbers_with_thousands_are_those_without(run, train, fresh, tmp_path):
    columns = ["price", "yhat", "size"]
    for name, table in (("train", train), ("new", fresh)):
        table.assign(**{column: 1e4 * table[column] for column in columns}).to_csv(f"{name}-plain.csv", index=False)
        with_thousands(table, columns).to_csv(f"{name}.csv", index=False)
    run("fit", "train-plain.csv", *FIT, *SMALL, "-o", "plain.rio")
    run("predict", "new-plain.csv", "--rio", "plain.rio", "-o", "plain.csv")
    run("fit", "train.csv", *FIT, *SMALL, "--thousands", ",", "-o", "price.rio")
    for name in ("out.csv", "out.parquet"):
        run("predict", "new.csv", "--rio", "price.rio", "--thousands", ",", "-o", name)
    plain = pd.read_csv("plain.csv")
    np.testing.assert_allclose(pd.read_csv("out.csv")["mean"], plain["mean"], rtol=1e-6)
    np.testing.assert_allclose(pd.read_parquet("out.parquet")["price"], plain["price"], atol=1e-3)
    evaluate = ("evaluate", "new.csv", "--rio", "price.rio", "--json")
    assert json.loads(run(*evaluate, "--thousands", ",").stdout)["rows"] == 80
    assert "'size', row" in run("predict", "new.csv", "--rio", "price.rio", "-o", "bad.csv", code=1).stderr
    run("report", "new.csv", "--rio", "price.rio", "--thousands", ",", "-o", "report.html")


def test_dots_between_thousands(run, train):
    table = with_thousands(train, ["price", "yhat", "size"])
    swapped = table.map(lambda cell: cell.translate(str.maketrans(",.", ".,")) if isinstance(cell, str) else cell)
    swapped.to_csv("train.csv", index=False, sep=";", decimal=",")
    fit = ("fit", "train.csv", *FIT, *SMALL, "--decimal", ",", "-o")
    assert "--thousands . if dots separate thousands" in run(*fit, "bad.rio", code=1).stderr
    assert "fitted to 120 rows" in run(*fit, "good.rio", "--thousands", ".").stdout
    swapped.loc[3, "price"] = "12.5"
    swapped.to_csv("train.csv", index=False, sep=";", decimal=",")
    assert "'price' holds '12.5'" in run(*fit, "bad.rio", "--thousands", ".", code=1).stderr


def test_a_feature_of_numbers_with_thousands_is_no_category(run, train):
    train.assign(size=np.where(train.index % 2 == 0, "1,200", "3,400")).to_csv("train.csv", index=False)
    said = run("fit", "train.csv", *FIT, *SMALL, "-o", "bad.rio", code=1).stderr
    assert "column 'size' holds" in said
    assert "if ',' separates thousands: --thousands ," in said


@pytest.mark.parametrize(
    ("given", "message"), [((",", "--decimal", ","), "both ','"), (("ab",), "is not one character")]
)
def test_what_cannot_separate_thousands(given, message, run, train, rio_file):
    train.to_csv("train.csv", index=False)
    code = 2 if given == ("ab",) else 1
    said = run("evaluate", "train.csv", "--rio", rio_file, "--thousands", *given, code=code).stderr
    assert message in " ".join(said.replace("│", " ").split())


@pytest.mark.parametrize("before", ["\n", "\n\r\n\n", "  \n\n", "\ufeff\n"])
@pytest.mark.parametrize("header", ["size,age", '"size\n(m)",age'])
def test_blank_lines_before_the_names(before, header, tmp_path):
    from rio_uq.cli.input import InputTable
    from rio_uq.rows.csv import CsvOptions

    path = tmp_path / "new.csv"
    path.write_bytes(f"{before}{header}\n1,2\n\n3,4\n".encode())
    table = InputTable(path, CsvOptions()).read()
    assert table.column("age").to_pylist() == ["2", "4"]
    path.write_bytes(f"{before}{header}".encode())
    assert list(InputTable(path, CsvOptions()).blocks("")) == []


def test_rows_that_were_used_before(run, train, fresh, tmp_path):
    train.to_csv("train.csv", index=False)
    fresh.to_csv("calib.csv", index=False)
    fit = ("fit", "train.csv", *FIT, *SMALL, "--rows", "new", "-o", "price.rio", "--force", "--calibrate-with")
    assert "100% of these rows were fitted to: error bars calibrated on them" in run(*fit, "train.csv").stderr
    assert "warning" not in run(*fit, "calib.csv").stderr
    assert "RIO was fitted to" in run("evaluate", "train.csv", "--rio", "price.rio").stderr
    assert "RIO was calibrated with" in run("evaluate", "calib.csv", "--rio", "price.rio").stderr
    said = run("report", "calib.csv", "--rio", "price.rio", "-o", "report.html").stderr
    assert "RIO was calibrated with" in said
    assert "RIO was calibrated with" in (tmp_path / "report.html").read_text(encoding="utf-8")
    fresh["size"] += 0.123
    fresh.to_csv("new.csv", index=False)
    assert "warning" not in run("evaluate", "new.csv", "--rio", "price.rio").stderr


def test_before_is_the_error_bar_of_the_report(run, rio_file, fresh):
    fresh.to_csv("test.csv", index=False)
    found = json.loads(run("evaluate", "test.csv", "--rio", rio_file, "--json").stdout)["before"]
    bar = np.full(80, found["rmse"])
    assert found["nlpd"] == pytest.approx(metrics.nlpd(fresh["price"], fresh["yhat"], bar))
    fresh.assign(price=fresh["yhat"]).to_csv("perfect.csv", index=False)
    assert json.loads(run("evaluate", "perfect.csv", "--rio", rio_file, "--json").stdout)["before"]["nlpd"] is None
    run("evaluate", "perfect.csv", "--rio", rio_file)
