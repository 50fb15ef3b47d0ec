"""The benchmark of many rows: its problems, what is stored, and the page."""

import json
import sys
from argparse import Namespace
from importlib import import_module

import numpy as np
import pytest

from benchmarks.large import page, run
from benchmarks.large.answers import Answer, of_gaussians
from benchmarks.large.methods import METHODS
from benchmarks.large.peers import answers, batches
from benchmarks.large.peers.prediction import predict_split
from benchmarks.large.problems import ARM_NOISE, PROBLEMS, Split, arm, standard
from lab.datasets import DataNotFoundError
from lab.json_lines import read_rows


def test_an_arm_reaches_as_far_as_its_links_say():
    split = arm(50, 0)
    assert split.X.shape == (50, 8)
    folded, straight = np.zeros(8), np.array([0.0, np.pi, np.pi, np.pi, np.pi, np.pi, np.pi, np.pi])
    for angles, reach in ((folded, 3.0), (straight, 0.0)):
        directions = np.cumsum(angles)
        assert 3.0 * np.hypot(np.cos(directions).mean(), np.sin(directions).mean()) == pytest.approx(reach, abs=1e-9)
    assert np.abs(split.y).max() < 3.0 + 5.0 * ARM_NOISE
    assert not np.array_equal(arm(50, 1).y, split.y)


def test_a_standard_split_leaves_its_test_rows_out(tmp_path, monkeypatch):
    (tmp_path / "standard").mkdir()
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    with pytest.raises(DataNotFoundError, match=r"standard/some\.npz"):
        standard("some", 10, 0)
    X = np.arange(30.0)[:, None]
    np.savez(tmp_path / "standard" / "some.npz", X=X, y=X[:, 0], test=np.array([[1, 2], [3, 4]]))
    split = standard("some", 100, 1)
    np.testing.assert_array_equal(split.y_test, [3.0, 4.0])
    np.testing.assert_array_equal(np.sort(split.y), np.setdiff1d(np.arange(30.0), [3.0, 4.0]))
    assert len(standard("some", 10, 0).y) == 10


@pytest.fixture
def small(monkeypatch):
    """A small problem, and methods that take no time beside one that fails."""

    def waves(n_rows, number):
        rng = np.random.default_rng(number)
        X = rng.uniform(size=(min(n_rows, 120) + 50, 2))
        y = np.sin(5.0 * X[:, 0]) + 0.1 * rng.normal(size=len(X))
        return Split(X[50:], y[50:], X[:50], y[:50])

    def fails(split, number):
        raise ValueError("on purpose")

    def known(split, number):
        return Answer({"rmse": 2.0, "nlpd": 1.0, "score": 0.5, "coverage_90": 0.9}, 3.0, 0.1, "sparse")

    monkeypatch.setitem(PROBLEMS, "waves", waves)
    monkeypatch.setitem(METHODS, "fails", fails)
    monkeypatch.setitem(METHODS, "known", known)


def test_a_fit_is_stored_once_and_a_failure_leaves_no_row(small, tmp_path, capfd):
    path = tmp_path / "result.jsonl"
    fits = run.missing_fits(["waves"], [100, 1000, 5000], ["known", "fails", "boosting"], 1, path)
    assert {fit.rows for fit in fits} == {100, 1000}, "more rows than there are give nothing new"
    for fit in fits:
        run.measure(fit, path)
    assert "on purpose" in capfd.readouterr().err
    rows = read_rows(path)
    assert [(row["method"], row["n"]) for row in rows if row["method"] == "known"] == [("known", 100), ("known", 120)]
    assert all(row["rmse"] < 1.0 for row in rows if row["method"] == "boosting")
    left = run.missing_fits(["waves"], [100, 1000], ["known", "fails"], 1, path)
    assert {fit.method for fit in left} == {"fails"}


def test_gaussian_predictions_are_measured_by_their_density():
    y = np.random.default_rng(0).normal(size=4000)
    measured = of_gaussians(y, np.zeros_like(y), np.ones_like(y))
    assert measured["rmse"] == pytest.approx(1.0, abs=0.03)
    assert measured["nlpd"] == pytest.approx(0.5 * np.log(2.0 * np.pi) + 0.5, abs=0.03)
    assert measured["coverage_90"] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("n", [10, 3000])
def test_every_pass_has_every_row_once(n, monkeypatch):
    monkeypatch.setattr(batches, "EPOCHS", 2)
    monkeypatch.setattr(batches, "FEWEST_STEPS", 3)
    parts = list(batches.batches(n, np.random.default_rng(0)))
    assert len(parts) >= 3
    assert max(map(len, parts)) <= batches.BATCH
    counts = np.bincount(np.concatenate(parts))
    assert len(counts) == n
    assert len(set(counts)) == 1


QUICK = {
    "svgp": ("gpytorch", {"RATE": 0.05}),
    "vnngp": ("gpytorch", {"RATE": 0.05, "FEWEST_STEPS": 300, "NEIGHBOURS": 10, "BATCH": 40}),
    "muygps": ("MuyGPyS", {"NEIGHBOURS": 10, "BATCH": 50, "ROUNDS": 1}),
    "gpflow_svgp": ("gpflow", {"RATE": 0.05}),
}


@pytest.mark.parametrize("engine", QUICK)
@pytest.mark.filterwarnings("ignore")
def test_a_peer_learns_a_wave_and_has_error_bars_in_the_units_of_outcomes(engine, small, monkeypatch):
    package, sizes = QUICK[engine]
    pytest.importorskip(package)
    module = import_module(f"benchmarks.large.peers.{engine}")
    for name, value in sizes.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(batches, "FEWEST_STEPS", 100)
    monkeypatch.setattr(batches, "POINTS", 20)
    split = PROBLEMS["waves"](120, 0)
    scaled = 100.0 + 10.0 * split.y
    prediction = predict_split(engine, split.X, scaled, split.X_test, 0)
    measured = of_gaussians(100.0 + 10.0 * split.y_test, prediction.mean, prediction.std)
    assert measured["rmse"] < 3.0, "a tenth of the outcomes' unit is noise, and their std is about 7"
    assert measured["coverage_99"] > 0.8
    assert prediction.seconds > 0.0
    assert prediction.gib > 0.01


@pytest.mark.processes
def test_a_peer_elsewhere_says_what_it_needs_and_why_it_failed(small, monkeypatch):
    split = PROBLEMS["waves"](100, 0)
    monkeypatch.delenv(answers.PYTHON, raising=False)
    with pytest.raises(FileNotFoundError, match="--peers-python"):
        answers.elsewhere("gpflow_svgp")(split, 0)
    monkeypatch.setenv(answers.PYTHON, sys.executable)
    with pytest.raises(RuntimeError, match="unheard_of"):
        answers.elsewhere("unheard_of")(split, 0)


def test_memory_of_another_process_is_what_is_stored(small, tmp_path, monkeypatch):
    def elsewhere(split, number):
        return Answer({"rmse": 2.0}, 3.0, 0.1, gib=7.5)

    monkeypatch.setitem(METHODS, "known", elsewhere)
    path = tmp_path / "result.jsonl"
    for method in ("known", "boosting"):
        run.measure(run.Fit("waves", 100, 0, method), path)
    other, own = (row["gib"] for row in read_rows(path))
    assert other == 7.5
    assert 0.01 < own < 7.5


def test_a_network_learns_a_wave_in_any_unit(small):
    split = PROBLEMS["waves"](120, 0)
    far = split._replace(y=1e4 + 10.0 * split.y, y_test=1e4 + 10.0 * split.y_test)
    assert METHODS["network"](far, 0).measured["rmse"] < 8.0


@pytest.mark.parametrize("method", ["auto on boosting", "sparse alone", "auto on network"])
def test_methods_of_ours_measure_all_that_the_page_has(method, small, quick_fits):
    answer = METHODS[method](PROBLEMS["waves"](100, 0), 0)
    assert {"rmse", "nlpd", "score", "coverage_90"} <= set(answer.measured)
    assert answer.kind in ("exact", "sparse")
    assert answer.measured["rmse"] < 0.6


def stored(method, rmse, nlpd, n=1000, kind=None, problem="arm"):
    measured = {"rmse": rmse, "nlpd": nlpd, "score": rmse / 2, "coverage_68": 0.7, "coverage_90": 0.9}
    named = {"problem": problem, "rows": n, "run": 0, "method": method, "n": n, "n_test": 500, "kind": kind}
    return named | measured | {"coverage_95": 0.95, "seconds": 10.0, "seconds_predicting": 0.5, "gib": 0.3}


def test_auto_is_compared_with_the_better_kind():
    rows = [
        stored("auto alone", 1.005, 0.01, kind="nearest"),
        stored("nearest alone", 1.0, 0.0),
        stored("sparse alone", 3.0, 2.0),
        stored("auto on boosting", 1.02, 0.0, kind="sparse"),
        stored("nearest on boosting", 1.0, 0.0),
        stored("sparse on boosting", 1.02, 0.0),
    ]
    lines = page.choices(rows).splitlines()
    assert lines[-1] == "| arm | 1,000 | alone | nearest | 1.005 | +0.010 | yes |"
    assert lines[-2] == "| arm | 1,000 | on boosting | sparse | 1.020 | +0.000 | **no** |"
    assert page.choices(rows[:2]) == ""


def test_the_page_has_a_table_for_each_size_and_a_figure(tmp_path):
    path, output = tmp_path / "result.jsonl", tmp_path / "README.md"
    rows = [stored("auto alone", 1.0 / n, 0.0, n=n, kind="exact") for n in (1000, 10_000)]
    rows.append(stored("boosting", 2.0, 0.0, n=1000) | {"nlpd": None})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    page.main(Namespace(results=path, output=output))
    text = output.read_text()
    assert "## arm, 1,000 rows (1 split)" in text
    assert "| auto alone | **0.001** | **0** |" in text
    assert "| boosting | 2 |  |" in text
    assert (tmp_path / "growth.svg").exists()
    assert "growth.svg" in text
