"""The benchmark of growth measures, goes on where it was, and writes what it knows."""

import json

import pytest

from benchmarks import command
from benchmarks.scale import measure, run
from lab.json_lines import read_rows

pytest.importorskip("pyarrow")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the same few iterations everywhere
def test_a_measurement(tmp_path, capsys):
    task = {"kind": "growth", "rows": 300, "points": 5}
    measure.main([json.dumps(task), "--folder", str(tmp_path)])
    row = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert row["task"] == task
    assert row["fit_cpu_seconds"] > 0.0
    assert row["fit_mib"] > 10
    assert [path.name for path in tmp_path.iterdir()] == ["generated-300-10.parquet"]


def test_it_goes_on_where_it_was(tmp_path, monkeypatch):
    results = tmp_path / "results.jsonl"
    asked = []

    def measured(arguments, **options):
        asked.append(json.loads(arguments[3]))
        return type("Done", (), {"returncode": len(asked) == 2, "stdout": json.dumps({"task": asked[-1]}) + "\n"})

    monkeypatch.setattr(run.subprocess, "run", measured)
    arguments = ["run", "--only", "growth", "--rows", "10,100", "--points", "7", "--points-of-rows", "5"]
    arguments += ["--folder", str(tmp_path), "--results", str(results)]
    command.main("scale", arguments)
    assert [(task["rows"], task["points"]) for task in asked] == [(10, 5), (100, 5), (100_000, 7)]
    command.main("scale", arguments)
    assert asked[3:] == [{"kind": "growth", "rows": 100, "points": 5}]  # the one that had failed
    assert len(read_rows(results)) == 3


def test_the_page(tmp_path):
    pytest.importorskip("matplotlib")
    results = tmp_path / "results.jsonl"
    rows = []
    for n, m, factor in ((100, 5, 1.0), (1000, 5, 10.0), (1000, 50, 20.0)):
        sizes = {f"{name}{kind}": factor for name in ("fit", "predict") for kind in ("_seconds", "_cpu_seconds")}
        task = {"kind": "growth", "rows": n, "points": m}
        rows.append({"task": task, "load": 0.1, "fit_mib": 300, "predict_mib": 310, **sizes})
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command.main("scale", ["page", "--results", str(results), "-o", str(tmp_path / "page.md")])
    page = (tmp_path / "page.md").read_text()
    assert "| 1,000 | 10.00 (10) | 300 | 10.00 (10) | 310 | 0.1 |" in page
    assert "fit 1.00, predict 1.00" in page
    assert "flights" not in page
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
