"""The benchmark of exported graphs runs, and both engines say the same."""

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from benchmarks import command
from benchmarks.onnx import page, run
from lab.json_lines import read_rows


@pytest.fixture
def small(monkeypatch):
    for name, value in {"MANY_ROWS": 50, "ROUNDS_OF_MANY": 1, "ROUNDS_OF_ONE": 1, "CALLS_OF_ONE": 1}.items():
        monkeypatch.setattr(run, name, value)
    monkeypatch.setattr(run, "PROBLEMS", (run.Problem("sparse", 5), run.Problem("exact", 20)))


def test_a_run_is_stored_and_not_repeated(small, tmp_path):
    results, output = tmp_path / "result.jsonl", tmp_path / "page.md"
    command.main("onnx", ["run", "--quick", "--results", str(results)])
    assert not results.exists()
    command.main("onnx", ["run", "--results", str(results)])
    rows = read_rows(results)
    assert [(row["inference"], row["n_points"]) for row in rows] == [("sparse", 5), ("exact", 20)]
    assert all(len(row["seconds"]) == 3 for row in rows)
    command.main("onnx", ["run", "--results", str(results)])
    assert read_rows(results) == rows
    command.main("onnx", ["page", "--results", str(results), "-o", str(output)])
    assert output.read_text().count("| onnxruntime |") == 2


def test_the_page_has_times_and_speed_ups():
    row = {"inference": "sparse", "n_points": 50, "n_rows": 10_000, "seconds": {
        page.OURS: {"one_row": 1e-3, "many_rows": 2.0}, "onnxruntime": {"one_row": 5e-4, "many_rows": 4.0}
    }}  # fmt: skip
    ours, theirs = page.table([row]).splitlines()[2:]
    assert ours.strip("| ").split(" | ")[2:] == ["1,000", "1.0", "5,000", "1.0"]
    assert theirs.strip("| ").split(" | ")[2:] == ["500", "2.0", "2,500", "0.5"]
