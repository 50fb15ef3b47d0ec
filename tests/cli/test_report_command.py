"""``rio-uq report`` hands the rows of a table to the report."""

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
