"""``rio-uq report`` hands the rows of a table to the report."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("rio_uq.report")


def test_a_report_on_a_table(run, rio_file, fresh, tmp_path):
    fresh.to_csv("test.csv", index=False)
    said = run("report", "test.csv", "--rio", rio_file, "-o", "report.html", "--title", "Houses")
    assert "80 rows" in said.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Houses" in page
    assert "exists already" in run("report", "test.csv", "--rio", rio_file, "-o", "report.html", code=1).stderr
    assert {path.name for path in tmp_path.iterdir()} == {"test.csv", "report.html"}


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def test_rows_are_those_of_the_file_with_their_ids(run, rio_file, fresh, tmp_path):
    fresh.loc[[0, 5], "price"] = np.nan
    fresh.to_csv("test.csv", index=False)
    run("report", "test.csv", "--rio", rio_file, "-o", "report.html", "--id-column", "id")
    data = data_of(tmp_path / "report.html")
    table = data["table"]
    ids = table["columns"][table["names"].index("id")]
    assert [f"house {row - 1}" for row in table["columns"][0]] == ids
    assert data["sample"]["row"] == [row + 1 for row in range(80) if row not in (0, 5)]
    assert table["names"][table["outcome"]] == data["outcome"] == "price"
    again = ("report", "test.csv", "--rio", rio_file, "-o", "b.html", "--id-column")
    assert "is a feature" in run(*again, "city", code=1).stderr
    assert "no column 'ID'" in run(*again, "ID", code=1).stderr
