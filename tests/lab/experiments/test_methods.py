"""Methods answer, measures are stored, and the command line goes on where it stopped."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments import __main__ as command_line
from experiments.measures import capped_nlpd, measured, store_of
from experiments.methods import TABLES, applies, base_model_of
from experiments.tables import OURS, PAPER, PAPER_TABLES, paper_table
from lab import runs
from lab.datasets import DATASETS
from lab.runs import Rows
from rio_uq import metrics


@pytest.fixture
def rows(friedman):
    X, y = friedman
    y_pred = 10 * X[:, 0]
    return Rows(
        X[:90], y[:90], y_pred[:90], X[90:], y[90:], y_pred[90:], base_seconds=1.5, validation=np.arange(90) < 18
    )


@pytest.mark.parametrize("method", ["NN", "RIO", "SVGP"])
def test_an_answer_is_measured(method, rows):
    answer = TABLES["ard"][method](rows, 0)
    row = measured("ard", "toy", 3, method, rows, answer)
    assert (row.table, row.dataset, row.run, row.method) == ("ard", "toy", 3, method)
    assert row.rmse == metrics.rmse(rows.y_test, answer.mean)
    if method == "NN":
        assert row.fit_seconds == 1.5
        assert row.nlpd is None
        assert row.improvement_ratio is None
    else:
        assert row.rmse < metrics.rmse(rows.y_test, rows.pred_test)
        assert row.nlpd == metrics.nlpd(rows.y_test, answer.mean, answer.std)
        assert 0.0 <= row.coverage_68 <= row.coverage_90 <= row.coverage_95 <= 1.0


def test_the_papers_nlpd_has_a_largest_value_for_each_row():
    y, normal = np.zeros(2), stats.norm(np.array([0.0, 30.0]), 1.0)
    densities = np.array([normal.pdf(y)[0], 2.2e-16])
    assert capped_nlpd(y, normal) == pytest.approx(-np.log(densities).mean(), rel=1e-3)
    near = stats.norm(np.full(2, 0.1), 1.0)
    assert capped_nlpd(y, near) == metrics.nlpd(y, near)


def test_our_methods_are_measured_by_the_distribution_that_a_user_gets(rows):
    answer = TABLES["ours"]["ours"](rows, 0)
    row = measured("ours", "toy", 0, "ours", rows, answer)
    assert row.nlpd == metrics.nlpd(rows.y_test, answer.distribution)
    assert row.nlpd != metrics.nlpd(rows.y_test, answer.mean, answer.std)


def test_the_network_of_one_table_has_fewer_layers():
    tables = [(table, dataset) for table in ("default", "ard") for dataset in DATASETS]
    assert [pair for pair in tables if base_model_of(*pair, "RIO") == "two-layer network"] == [("ard", "MSD")]


def test_tables_have_the_papers_methods():
    for name, file in PAPER_TABLES.items():
        theirs = list(dict.fromkeys(pd.read_csv(PAPER / file).method))
        shared = [] if name == "default" else ["NNGP", "ANP"]  # the same in all tables, so they are run for one
        assert [method for method in TABLES[name] if method not in OURS] + shared == theirs
    paper = paper_table("default")
    for method in ("NNGP", "ANP", "RIO"):
        tried = set(paper[paper.method == method].dataset)
        assert {dataset for dataset in DATASETS if applies(method, dataset)} == tried


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--datasets", "yacht,boston"], "boston is not among yacht"),
        (["run", "--methods", "GP"], "GP is not among NN"),
        (["run", "--runs", "0"], "at least 1"),
        ([], "required"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        command_line.main(arguments)
    assert message in capsys.readouterr().err + str(end.value)


def test_without_data_it_says_how_to_get_them(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("RIO_UQ_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SystemExit, match="set RIO_UQ_DATA"):
        command_line.main(["run", "--datasets", "yacht"])
    assert "left out: yacht" in capsys.readouterr().err
    command_line.main(["list"])
    assert "not there" in capsys.readouterr().out


def test_a_run_is_stored_and_not_repeated(monkeypatch, tmp_path, capsys):
    pytest.importorskip("torch")
    from experiments import runner
    from lab import base_models

    rng = np.random.default_rng(0)
    table = rng.normal(size=(308, 7))
    (tmp_path / "uci").mkdir()
    np.savetxt(tmp_path / "uci" / "yacht_hydrodynamics.data", table)
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    monkeypatch.setattr(runs, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(runner, "PREDICTIONS", tmp_path / "predictions")
    monkeypatch.setattr(base_models, "MAX_EPOCHS", 3)
    monkeypatch.setitem(DATASETS, "yacht", replace(DATASETS["yacht"], sha256=None))
    monkeypatch.setattr(
        command_line, "run_tasks", lambda tasks, n_jobs, path, work: [work(task, path) for task in tasks]
    )
    results = tmp_path / "rows.csv"
    arguments = ["run", "--datasets", "yacht", "--methods", "NN,R+O", "--runs", "1", "--results", str(results)]
    command_line.main(arguments)
    assert "2 results are missing" in capsys.readouterr().err
    first = results.read_bytes()
    command_line.main(arguments)
    assert "0 results are missing" in capsys.readouterr().err
    assert results.read_bytes() == first
    assert store_of(results).read().method.tolist() == ["NN", "R+O"]
