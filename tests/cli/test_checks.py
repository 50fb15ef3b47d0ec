"""What would give wrong numbers silently: another model, rows used before, thousands read as decimals."""

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
