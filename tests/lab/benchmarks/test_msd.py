"""The benchmark at the size of YearPredictionMSD, at a small size and but for what GPflow does in it."""

import json
import sys

import numpy as np
import pytest

from benchmarks import command
from benchmarks.scale import measure, msd, page, run
from lab.datasets import DATASETS

pytest.importorskip("pyarrow")


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A tenth has 40 rows."""
    monkeypatch.setattr(type(DATASETS["MSD"]), "find", lambda dataset: None)
    for name, value in {"N_TRAIN": 400, "N_TEST": 100, "BASE_ROWS": 200}.items():
        monkeypatch.setattr(msd, name, value)
    return tmp_path


def test_the_files(small, monkeypatch):
    monkeypatch.setattr("benchmarks.scale.parquet.BLOCK", 150)
    files = msd.prepare(small)
    X, y = msd.read(files.train)
    assert (files.name, X.shape, y.shape) == ("generated", (400, 90), (400,))
    np.testing.assert_array_equal(np.column_stack([X, y])[150:300], msd.generated(150, 150))
    np.testing.assert_array_equal(msd.read(files.train, 70)[0], X[:70])
    assert len(msd.read(files.test)[1]) == 100
    assert not np.isin(msd.read(files.test)[1], y).any()
    written = files.train.stat().st_mtime_ns
    msd.prepare(small)
    assert files.train.stat().st_mtime_ns == written


def test_the_file_of_the_data_is_used_if_it_is_there(small, monkeypatch):
    rows = np.arange(7.0 * 500).reshape(500, 7)
    dataset = type(DATASETS["MSD"])
    monkeypatch.setattr(dataset, "find", lambda dataset: small / dataset.file)
    monkeypatch.setattr(dataset, "load", lambda dataset: (rows[:, :-1], rows[:, -1]))
    files = msd.prepare(small)
    assert files.name == "YearPredictionMSD"
    np.testing.assert_array_equal(np.column_stack(msd.read(files.train)), rows[:400])
    np.testing.assert_array_equal(np.column_stack(msd.read(files.test)), rows[400:])


def test_few_latent_factors_explain_the_columns():
    rows = msd.generated(0, 2000)
    X = (rows[:, :-1] - rows[:, :-1].mean(axis=0)) / rows[:, :-1].std(axis=0)
    share = np.linalg.svd(X, compute_uv=False) ** 2 / X.size
    assert share[: msd.N_FACTORS].sum() > 0.9
    assert 1990.0 < rows[:, -1].mean() < 2005.0


def test_what_is_measured(small):
    tasks = [task for task in msd.tasks()[1:] if task["engine"] != msd.GPFLOW]
    assert [(task["engine"], task["rows"]) for task in tasks] == [
        (msd.BASE, 200),
        (msd.OURS, 400),
        (msd.PAPER, 40),
        (msd.PAPER, 400),
    ]
    measures = {}
    for task in tasks[:3]:
        arguments = {"peers_python": sys.executable, "max_seconds": 0.1}
        measures[task["engine"]] = msd.measure(small, task["engine"], task["rows"], **arguments)
    ours, paper = measures[msd.OURS], measures[msd.PAPER]
    assert ours["rmse"] < measures[msd.BASE]["rmse"]
    assert {row["data"] for row in measures.values()} == {"generated"}
    assert paper["has_comparable_bound"]
    assert paper["n_evaluations"] >= paper["n_iter"] > 0
    assert paper["fit_cpu_seconds"] > 0.0
    assert min(ours["fit_mib"], paper["fit_mib"]) > 10
    assert not [path for path in small.iterdir() if path.is_dir()]


def test_an_engine_that_fails_is_not_stored(small, capfd):
    task = {"kind": "msd", "engine": msd.GPFLOW, "rows": 40}
    arguments = [json.dumps(task), "--folder", str(small), "--peers-python", sys.executable]
    with pytest.raises(RuntimeError, match=r"GPflow SVGP on 40 rows: .*gpflow"):
        measure.main(arguments)
    assert capfd.readouterr().out == ""


def test_gpflow_is_left_out_where_it_is_not_installed(tmp_path, monkeypatch, capsys):
    asked = []

    def measured(arguments, **options):
        asked.append(json.loads(arguments[3]))
        return type("Done", (), {"returncode": 0, "stdout": json.dumps({"task": asked[-1]}) + "\n"})

    monkeypatch.setattr(run.subprocess, "run", measured)
    arguments = ["run", "--only", "msd", "--folder", str(tmp_path), "--results", str(tmp_path / "results.jsonl")]
    command.main("scale", [*arguments, "--peers-python", str(tmp_path / "python")])
    assert [task.get("engine") for task in asked] == [None, msd.BASE, msd.OURS, msd.PAPER, msd.PAPER]
    assert "left out" in capsys.readouterr().err
    command.main("scale", [*arguments, "--peers-python", sys.executable])
    assert asked[5:] == [{"kind": "msd", "engine": msd.GPFLOW, "rows": 46_371}]


def row(engine, n_rows, seconds, **more):
    """A measurement as it is stored."""
    values = {"data": "generated", "load": 1.0, "rmse": 6.5, "nlpd": 3.25, "stopped": ""}
    if engine != msd.BASE:
        values |= {"fit_seconds": 2 * seconds, "fit_cpu_seconds": seconds, "fit_mib": 500, "n_iter": 900}
    return {"task": {"kind": "msd", "engine": engine, "rows": n_rows}, **values, **more}


TENTH = ("rio-uq, the paper's settings", "GPflow SVGP, the paper's settings")


def test_the_section():
    trace = {"seconds": [5.0, 10.0, 40.0], "bound": [-900.0, -100.0, -90.0]}
    rows = [
        row(msd.BASE, 20_000, 0.0),
        row(msd.OURS, 463_715, 50.0),
        row(msd.PAPER, 46_371, 40.0, n_evaluations=1000, bound=-90.0, trace=trace),
        row(msd.GPFLOW, 46_371, 201.0, n_evaluations=1000, bound=-100.0, graph_seconds=1.0, stopped="cut off"),
        row(msd.PAPER, 463_715, 402.0, n_evaluations=1000, bound=-950.0, trace=trace),
    ]
    section = page.msd_section(rows)
    lines = [line.strip("| ").split(" | ") for line in section.splitlines()]
    ours, theirs = (next(cells for cells in lines if cells[:2] == [name, "46,371"]) for name in TENTH)
    assert ours[2:8] == ["40.00 (80)", "500", "900", "1000", "40", "6.500"]
    assert theirs[2:7] == ["201.00 (402)", "500", "900 (cut off)", "1000", "200"]
    assert "| the paper's settings, all rows; GPflow × 10 | 402 | 2,010 | 5.0× |" in section
    assert "| defaults, all rows from Parquet; GPflow × 10 | 50.0 | 2,010 | 40.2× |" in section
    assert "| the same tenth | 40.0 | 201 | 5.0× |" in section
    assert "| the same tenth until the bound at which GPflow ends | 10.0 | 201 | 20.1× |" in section
    assert "| the same tenth, one evaluation of the bound | 0.040 | 0.200 | 5.0× |" in section
    again = page.msd_section([*rows, row(msd.OURS, 463_715, 30.0)])
    assert "| defaults, all rows from Parquet; GPflow × 10 | 40.0 | 2,010 | 50.2× |" in again
    assert again.count("| rio-uq, defaults, from Parquet | 463,715 |") == 2
    never = page.msd_section([*rows[:2], {**rows[2], "trace": {"seconds": [1.0], "bound": [-200.0]}}, rows[3]])
    assert "| never there | 201 | 0.0× |" in never
    assert "GPflow SVGP" not in page.msd_section(rows[:3])
    assert page.msd_section([]) == ""
