"""The engine's benchmark, but for what the peers do in it."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import command
from benchmarks.engine import baseline, run
from benchmarks.engine.ours import Ours
from benchmarks.engine.problems import Problem

SMALL = Problem(60, 3, 5)


@pytest.fixture
def measured(monkeypatch):
    """Numbers in the place of measurements."""
    milliseconds = {"rio-uq": 2.0, "roofline": 1.0, "GPflow SGPR": 5.0}
    row = {"milliseconds": milliseconds, "roofline_share": 0.5, "bounds": {"rio-uq": -7.25}, "failures": {"A": "died"}}
    ends = {"level": -3.0, "peer_seconds": 4.0, "seconds": 0.5, "peer_bound": -3.0, "bound": -2.0}
    monkeypatch.setattr(run, "evaluations", lambda *_: row)
    monkeypatch.setattr(
        run, "fit", lambda problem, peer, *_: ends if peer == run.PEERS[0] else {"error": "out of memory"}
    )
    monkeypatch.setattr(run, "predictions", lambda *_: {"seconds": {"rio-uq": 1.0, "B": 3.0}, "failures": {}})
    monkeypatch.setattr(run, "memory", lambda *_: {"mib": 12.0})


def test_measurements_are_stored_once_and_shown(measured, tmp_path):
    results, output = tmp_path / "result.jsonl", tmp_path / "page.md"
    arguments = ["run", "--quick", "--peers-python", sys.executable, "--results", str(results)]
    command.main("engine", [*arguments, "--only", "fit"])
    command.main("engine", arguments)
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [row["task"]["part"] for row in rows] == ["fit"] * 3 + ["evaluate"] * 2 + ["predict"] * 2 + ["memory"]
    command.main("engine", arguments)
    assert len(results.read_text().splitlines()) == len(rows)
    command.main("engine", ["page", "--results", str(results), "-o", str(output)])
    cells = [line.strip("| ").split(" | ")[1:] for line in output.read_text().splitlines() if line.startswith("| n =")]
    assert ["GPflow SGPR", "5.00", "2.5×"] in [line[:3] for line in cells]
    assert ["GPflow SGPR", "-3.0", "4.00", "0.50", "8.0×", "-3.0", "-2.0"] in cells
    assert "12 MiB" in output.read_text()


def test_a_fit_climbs_and_a_prediction_takes_time():
    ours = Ours(SMALL)
    trace = ours.fit(3)
    assert trace[0][1] == pytest.approx(ours.evaluate())
    assert max(bound for _, bound in trace) > trace[0][1]
    assert ours.predict(10) > 0.0
    again = Ours(SMALL).evaluate()
    np.testing.assert_equal(ours.evaluate(), again)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_memory_of_an_evaluation():
    sizes = [str(size) for size in (SMALL.n, SMALL.d, SMALL.m)]
    shown = subprocess.run([sys.executable, "-m", "benchmarks.engine.ours", *sizes], capture_output=True, text=True)
    assert float(shown.stdout) >= 0.0


@pytest.fixture
def has_git():
    if not shutil.which("git") or not (baseline.REPOSITORY / ".git").exists():
        pytest.skip("an earlier commit comes from a git repository")


@pytest.mark.processes
@pytest.mark.usefixtures("has_git")
def test_a_commit_beside_itself(monkeypatch, tmp_path):
    results, output = tmp_path / "result.jsonl", tmp_path / "page.md"
    works = {"evaluate": (SMALL,), "fit": (Problem(30, 2, 0), SMALL), "predict 7 rows": (SMALL,)}
    monkeypatch.setattr(run, "WORKS", works)
    monkeypatch.setattr(baseline, "ROUNDS", (2, 2))
    monkeypatch.setattr(baseline, "SECONDS_OF_TURN", 0.0)
    command.main("engine", ["run", "--only", "baseline", "--baseline", "HEAD", "--results", str(results)])
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [row["task"]["work"] for row in rows] == ["evaluate", "fit", "fit", "predict 7 rows"]
    assert {row["task"]["baseline"] for row in rows} == {baseline.commit_of("HEAD")}
    for row in rows:
        assert row["difference"] < 1e-9 or row["present"].endswith("+")
        assert [len(seconds) for seconds in row["cpu_seconds"].values()] == [2, 2]
    command.main("engine", ["page", "--results", str(results), "-o", str(output)])
    lines = [line for line in output.read_text().splitlines() if line.startswith("| fit | n = 30, d = 2 |")]
    assert len(lines) == 1


@pytest.mark.usefixtures("has_git")
def test_a_commit_that_git_does_not_know(tmp_path):
    with pytest.raises(SystemExit, match="no-such-commit"):
        command.main("engine", ["run", "--only", "baseline", "--baseline", "no-such-commit"])


def test_the_ratio_is_the_median_of_rounds(tmp_path):
    results, output = tmp_path / "result.jsonl", tmp_path / "page.md"
    task = {"part": "baseline", "n": 60, "d": 3, "m": 5, "ard": True, "baseline": "b" * 40}
    seconds = {"before": [1.0, 2.0, 4.0], "now": [1.5, 2.0, 4.4]}
    measured = {"present": "c" * 40 + "+", "cpu_seconds": seconds, "difference": 2e-12, "n_iter": [20, 19]}
    failed = {"present": "c" * 40, "error": "before: ImportError"}
    rows = [
        {"task": {**task, "work": work}, "processors": 2, **row} for work, row in {"fit": measured, "x": failed}.items()
    ]
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command.main("engine", ["page", "--results", str(results), "-o", str(output)])
    page = output.read_text()
    assert "Processor seconds of `ccccccc` with changes (now) and `bbbbbbb` (before)" in page
    assert "| fit | n = 60, d = 3, m = 5, ARD | 2000.00 | 2000.00 | 1.10 | 1.05 to 1.30 | 20 / 19 | 2e-12 |" in page
    assert "| x | n = 60, d = 3, m = 5, ARD | before: ImportError |" in page


def test_results_are_compared_by_kind():
    before = {"mean": [-2.0, 1.0], "std": [10.0, 20.0]}
    assert baseline.largest_difference(before, {"mean": [-2.0, 1.0], "std": [10.0, 20.0]}) == 0.0
    assert baseline.largest_difference(before, {"mean": [-2.0, 1.5], "std": [10.0, 21.0]}) == 0.25
