"""The benchmark of whole fits on the paper's data, but for GPflow's part in it."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import paper_fit
from benchmarks.paper_fit import Fit
from experiments.methods import Rows, rio_method
from rio_uq import RIORegressor, metrics

REPLY = {
    "seconds": 2.0,
    "graph_seconds": 0.5,
    "bound": -10.0,
    "rmse": 1.0,
    "nlpd": 2.0,
    "n_iter": 7,
    "stopped": "",
}


@pytest.fixture
def rows(friedman):
    X, y = friedman
    y_pred = 10 * X[:, 0]
    return Rows(X[:90], y[:90], y_pred[:90], X[90:], y[90:], y_pred[90:], base_seconds=1.5)


def test_gpflow_gets_what_the_papers_gp_works_on(rows):
    arrays = paper_fit.problem_arrays(rows)
    rio = RIORegressor.paper(optimize_inducing=False, tol=0.1)
    rio.fit(rows.X_train, rows.y_train, y_pred=rows.pred_train)
    gp = rio._gp
    np.testing.assert_array_equal(arrays["rows"], gp._rows(rows.X_train, rows.pred_train[:, None]))
    np.testing.assert_array_equal(arrays["test_rows"], gp._rows(rows.X_test, rows.pred_test[:, None]))
    np.testing.assert_array_equal(arrays["residuals"][:, 0], rows.y_train - rows.pred_train)
    np.testing.assert_array_equal(gp.targets.apply(arrays["residuals"]), arrays["residuals"])
    np.testing.assert_array_equal(arrays["points"], gp.posterior.points)
    assert arrays["points"].shape == (50, 5)


def test_fits_by_turns(rows, tmp_path, monkeypatch):
    path, told = tmp_path / "problem.npz", []
    arrays = paper_fit.problem_arrays(rows)
    del arrays["rows"]  # GPflow fails without them, where it is installed
    np.savez(path, **arrays)
    with paper_fit.open_peer(sys.executable, path) as peer:
        replies = paper_fit.fit_by_turns(peer, 3, 2, 60.0, told.append)
        monkeypatch.setattr(paper_fit, "ENOUGH_SECONDS", 0.0)
        cut_short = paper_fit.fit_by_turns(peer, 3, 2, 60.0, told.append)
    turns = [text.split(":")[0] for text in told]
    assert turns[:4] == ["round 1, paper", "round 1, default", "round 2, default", "round 2, paper"]
    assert turns[4:] == turns[:2]
    assert [len(cut_short[engine]) for engine in paper_fit.ENGINES] == [1, 1, 1]
    assert len(replies["GPflow"]) == 1
    assert paper_fit.summary([replies["GPflow"]]).startswith(("ModuleNotFoundError", "KeyError"))
    for engine, method in (("paper", rio_method(variant="RIO")), ("default", rio_method())):
        fit, answer = paper_fit.summary([replies[engine]]), method(rows, 3)
        # On several threads sums are taken in another order.
        assert fit.rmse == pytest.approx(metrics.rmse(rows.y_test, answer.mean), rel=1e-3)
        assert fit.nlpd == pytest.approx(metrics.nlpd(rows.y_test, answer.mean, answer.std), rel=1e-3)
        assert fit.seconds > 0.0
        assert fit.n_iter > 2


def test_medians_over_rounds_and_means_over_runs():
    runs = [[{**REPLY, "seconds": value} for value in values] for values in ((1.0, 9.0, 2.0), (4.0,))]
    fit = Fit.of(runs)
    assert fit.seconds == 3.0
    assert (fit.bound, fit.n_iter, fit.stopped) == (-10.0, 7.0, "")


def test_a_line_of_the_table():
    fit = Fit.of([[REPLY]])
    slow = Fit.of([[{**REPLY, "seconds": 30.0, "bound": -12.34}]])
    line = paper_fit.table_row("yacht", (246, 6), {"GPflow": slow, "paper": fit, "default": Fit.of([[REPLY]])})
    assert line.count("|") == paper_fit.HEADER.splitlines()[0].count("|") == paper_fit.HEADER.splitlines()[1].count("|")
    assert line.startswith("| yacht | 246 × 6 | 30.00 | 0.50 | 2.00 | 15.0× | 2.00 | 15.0× |")
    assert "| -12.3 / -10.0 / -10.0 |" in line


def test_what_was_cut_off_or_failed_says_so():
    cut = Fit.of([[{**REPLY, "seconds": 601.0, "stopped": "cut off after 600 s"}]])
    found = {"GPflow": cut, "paper": Fit.of([[REPLY]]), "default": "out of memory"}
    assert "| > 601.00 | 0.50 | 2.00 | > 300.5× | – | – |" in paper_fit.table_row("protein", (36_584, 9), found)
    remarks = list(paper_fit.remarks("protein", found))
    assert "cut off after 600 s" in remarks[0]
    assert remarks[1] == "protein: default failed: out of memory"


def test_peers_may_use_all_processors_and_find_the_sources(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    environment = paper_fit.peers_environment()
    assert "OMP_NUM_THREADS" not in environment
    assert environment["PYTHONPATH"].endswith("src")


def test_the_table_is_added_to_a_file(tmp_path, capsys):
    path = tmp_path / "table.md"
    path.write_text("before\n")
    paper_fit.writer(path)("| line |")
    assert path.read_text() == "before\n| line |\n"
    assert capsys.readouterr().out == "| line |\n"


def test_the_whole_table(rng, tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    dataset = paper_fit.DATASETS["yacht"]
    (tmp_path / "uci").mkdir()
    np.savetxt(tmp_path / "uci" / dataset.file, rng.normal(size=(308, 7)))
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    monkeypatch.setattr(paper_fit, "CACHE", tmp_path / "cache")
    monkeypatch.setitem(paper_fit.DATASETS, "yacht", replace(dataset, sha256=None))
    output = tmp_path / "table.md"
    arguments = ["--datasets", "yacht", "--rounds", "1", "--max-seconds", "1", "--peers-python", sys.executable]
    paper_fit.main([*arguments, "--output", str(output)])
    written = output.read_text()
    assert written == capsys.readouterr().out
    header, line, (empty, legend, *notes) = written.splitlines()[:2], written.splitlines()[2], written.splitlines()[3:]
    assert "\n".join(header) == paper_fit.HEADER
    assert line.startswith("| yacht | 246 × 6 |")
    assert (empty, legend.strip()) == ("", paper_fit.LEGEND)
    assert "No such file" not in "".join(notes)
    assert "processors" in notes[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "boston"], "boston is not among yacht"),
        (["--runs", "0"], "at least 1"),
        (["--max-seconds", "0"], "more than 0"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit):
        paper_fit.main(arguments)
    assert message in capsys.readouterr().err


def test_without_data_it_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.delenv("RIO_UQ_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SystemExit, match="set RIO_UQ_DATA"):
        paper_fit.main(["--datasets", "yacht"])
