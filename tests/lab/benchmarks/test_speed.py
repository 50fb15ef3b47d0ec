"""The benchmark of whole fits, but for what the peers do in it."""

import json
import sys
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks import command
from benchmarks.speed import page as speed_page
from benchmarks.speed import run as speed
from lab.fits import server
from lab.fits.client import problem_arrays
from lab.fits.trajectories import Fits, first_time, grouped
from lab.fits.watching import Watch, fit_arrays, fit_at, trained_by
from lab.json_lines import read_rows
from lab.peers.process import THREAD_LIMITS, peers_environment
from lab.rio import regressor
from lab.runs import Rows
from rio_uq import metrics, outcome_scaling
from rio_uq.gp import attempts, inference, training
from rio_uq.gp.inference import exact, nearest

SETTING = {"threads": 1, "clock": "wall", "max_seconds": 100.0, "n": 246, "d": 6}


def row(dataset, engine, *, times, bounds, nlpds, **changes):
    return {
        **SETTING,
        "dataset": dataset,
        "engine": engine,
        "round": 0,
        "seconds": times[-1],
        "graph_seconds": times[0],
        "n_iter": len(times) - 1,
        "stopped": "",
        "has_comparable_bound": True,
        "bound": bounds[-1],
        "nlpd": nlpds[-1],
        "rmse": 1.0,
        "trace": {"seconds": times, "bound": bounds},
        "looks": {"seconds": times, "nlpd": nlpds},
        "versions": {"numpy": "2.0"},
        **changes,
    }


@pytest.fixture
def stored():
    """Ours is twenty times sooner where GPflow SVGP ends, and ends higher; GPyTorch SGPR ends higher still."""
    slow = [10.0, 30.0, 40.0]
    return [
        row("yacht", "rio-uq", times=[1.0, 3.0], bounds=[-50.0, -5.0], nlpds=[3.0, 0.5]),
        row("yacht", "rio-uq paper", times=[0.5, 2.0, 4.0], bounds=[-30.0, -10.0, -8.0], nlpds=[3.0, 2.0, 1.9]),
        row("yacht", "GPflow SVGP", times=slow, bounds=[-30.0, -11.0, -10.0], nlpds=[3.0, 2.1, 2.0]),
        row("yacht", "GPyTorch SGPR", times=slow, bounds=[-30.0, -11.0, -7.0], nlpds=[3.0, 2.1, 2.0]),
        row("yacht", "GPyTorch SVGP", times=slow, bounds=[-30.0, -11.0, -9.0], nlpds=[3.0, 2.1, 2.0]),
    ]


@pytest.fixture
def rows(friedman):
    X, y = friedman
    y_pred = 10 * X[:, 0]
    return Rows(X[:90], y[:90], y_pred[:90], X[90:], y[90:], y_pred[90:], base_seconds=1.5)


def test_time_to_reach():
    seconds, values = [1.0, 2.0, 3.0], [-9.0, -5.0, -6.0]
    assert first_time(seconds, values, -6.0) == 2.0
    assert first_time(seconds, values, -9.0) == 1.0
    assert first_time(seconds, values, -4.0) == float("inf")
    assert first_time(seconds, [3.0, 1.0, 2.0], 2.0, lower_is_better=True) == 2.0


def test_times_are_medians_over_rounds(stored):
    paper = stored[1]
    later = {**paper, "trace": {"seconds": [0.5, 6.0, 9.0], "bound": paper["trace"]["bound"]}}
    assert Fits((paper, later)).time_to_bound(-10.0) == 4.0
    never = {**paper, "trace": {"seconds": [0.5], "bound": [-30.0]}}
    assert Fits((paper, paper, never)).time_to_bound(-10.0) == 2.0
    assert Fits((paper, never)).time_to_bound(-10.0) == float("inf")


def test_of_fits_done_again_the_last_counts_and_errors_do_not(stored):
    again = {**stored[1], "seconds": 7.0}
    fits = grouped([*stored, again, {**SETTING, "dataset": "CCS", "engine": "rio-uq", "round": 0, "error": "killed"}])
    assert fits["yacht"]["rio-uq paper"].median("seconds") == 7.0
    assert set(fits) == {"yacht"}


def test_peers_get_what_the_papers_gp_works_on(rows):
    arrays = problem_arrays(rows)
    rio = regressor(variant="RIO", training={"optimize_inducing": False}, tol=0.1)
    rio.fit(rows.X_train, rows.y_train, y_pred=rows.pred_train)
    gp = rio.fitted_.gp
    np.testing.assert_array_equal(arrays["rows"], gp._rows(rows.X_train, rows.pred_train[:, None]))
    np.testing.assert_array_equal(arrays["test_rows"], gp._rows(rows.X_test, rows.pred_test[:, None]))
    np.testing.assert_array_equal(gp.targets.apply(arrays["residuals"])[:, 0], rows.y_train - rows.pred_train)
    np.testing.assert_array_equal(arrays["points"], gp.posterior.points)


@pytest.mark.parametrize(
    "rio", [regressor(random_state=0), regressor(variant="RIO", max_iter=20)], ids=["ours", "paper"]
)
def test_a_watched_fit_is_the_fit(rows, rio):
    arrays = problem_arrays(rows)
    watch = Watch(max_seconds=60.0)
    with watch.watching():
        fit_arrays(rio, arrays)
    with trained_by(attempts.train):
        alone = fit_arrays(clone(rio), arrays)
    np.testing.assert_array_equal(
        rio.predict(rows.X_test, y_pred=rows.pred_test), alone.predict(rows.X_test, y_pred=rows.pred_test)
    )
    seconds, bounds = [visit.seconds for visit in watch.visits], [visit.bound for visit in watch.visits]
    assert seconds == sorted(seconds)
    assert bounds[-1] > bounds[0] + 1.0
    ended = fit_at(watch.visits[-1], rio, arrays)
    assert ended.bound_ == pytest.approx(rio.bound_, rel=1e-6)
    np.testing.assert_allclose(
        ended.predict(rows.X_test, y_pred=rows.pred_test), rio.predict(rows.X_test, y_pred=rows.pred_test), rtol=1e-4
    )


def test_fits_by_which_a_scale_is_chosen_are_not_watched(rows):
    positive = replace(rows, y_train=np.exp(0.2 * rows.y_train), pred_train=np.exp(0.2 * rows.pred_train))
    arrays, rio, watch = problem_arrays(positive), regressor(random_state=0), Watch(max_seconds=60.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcome_scaling, "SCALE_ROWS", 60)  # of 90
        with watch.watching():
            fit_arrays(rio, arrays)
        ended = fit_at(watch.visits[-1], rio, arrays)
    assert rio.scale_.gains[0]  # scales were compared
    assert {len(visit.problem.data) for visit in watch.visits} == {90}
    test = {"y_pred": np.exp(0.2 * rows.pred_test)}
    np.testing.assert_allclose(ended.predict(rows.X_test, **test), rio.predict(rows.X_test, **test), rtol=1e-4)


SMOOTH, ROUGH = (1.0, 1.0), (12.0, 0.1)
"""Frequency, and standard deviation of the noise."""


@pytest.fixture
def many_rows(monkeypatch):
    """As many as are too many for the exact GP of all, of something of a given frequency and noise."""
    for module, name in (
        (inference, "EXACT_ROWS"),
        (nearest, "SUBSET_ROWS"),
        (exact, "EXPLORING_ROWS"),
        (training, "EXPLORING_ROWS"),
    ):
        monkeypatch.setattr(module, name, 200)

    def draw(frequency, noise, n=700):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1.0, 1.0, size=(n + 100, 2))
        y = np.sin(frequency * X[:, 0]) * np.cos(frequency * X[:, 1]) + noise * rng.normal(size=n + 100)
        nothing = np.zeros(n + 100)
        return Rows(X[:n], y[:n], nothing[:n], X[n:], y[n:], nothing[n:], base_seconds=1.0)

    return draw


@pytest.mark.parametrize(("world", "kind"), [(ROUGH, "nearest"), (SMOOTH, "sparse")], ids=["nearest", "sparse"])
def test_a_fit_that_ends_with_what_left_out_rows_prefer_is_watched(many_rows, world, kind):
    """From the subset that it learns from to where it ends: what predicts along the way is of the kind that it ends
    with.
    """
    rows = many_rows(*world)
    arrays, rio, watch = problem_arrays(rows), regressor(random_state=0), Watch(max_seconds=600.0)
    with watch.watching():
        fit_arrays(rio, arrays)
    test = {"y_pred": rows.pred_test, "return_std": True}
    with trained_by(attempts.train):
        alone = fit_arrays(clone(rio), arrays)
    np.testing.assert_array_equal(rio.predict(rows.X_test, **test), alone.predict(rows.X_test, **test))
    seconds = [visit.seconds for visit in watch.visits]
    assert len(seconds) > 2
    assert seconds == sorted(seconds)
    began, ended = (fit_at(watch.visits[i], rio, arrays) for i in (0, -1))
    assert began.inference_ == ended.inference_ == rio.inference_ == kind
    assert ended.bound_ == pytest.approx(rio.bound_, rel=1e-6)
    np.testing.assert_allclose(ended.predict(rows.X_test, **test), rio.predict(rows.X_test, **test), rtol=1e-4)


def test_a_fit_of_nearest_rows_has_a_bound_of_its_own(many_rows):
    """That of the subset they learn from, as if it were of all rows."""
    rows = many_rows(*ROUGH)
    reply = server.answer(
        {"task": "fit", "engine": "rio-uq", "seed": 0, "max_seconds": 600.0, "clock": "cpu"}, problem_arrays(rows)
    )
    assert reply["inference"] == "nearest"
    assert not reply["has_comparable_bound"]
    assert reply["looks"]["nlpd"][-1] == pytest.approx(reply["nlpd"])
    assert reply["trace"]["bound"][-1] == reply["bound"]
    first, *_, before_the_end, end = reply["trace"]["bound"]
    assert first < before_the_end
    assert end == pytest.approx(before_the_end, rel=0.2)


def test_a_bound_on_another_scale_of_outcomes_cannot_be_compared(rows):
    rio = fit_arrays(regressor(variant="RIO", max_iter=2), problem_arrays(rows))
    assert server.has_comparable_bound(rio, 90.0, 90)
    assert not server.has_comparable_bound(rio, 80.0, 90)
    positive = problem_arrays(
        replace(rows, y_train=np.exp(0.2 * rows.y_train), pred_train=np.exp(0.2 * rows.pred_train))
    )
    on_logarithms = fit_arrays(regressor(variant="RIO", max_iter=2, scale="log"), positive)
    assert not server.has_comparable_bound(on_logarithms, 90.0, 90)


def test_a_fit_of_rio_and_its_trajectories(rows):
    arrays = problem_arrays(rows)
    request = {"task": "fit", "engine": "rio-uq paper", "seed": 0, "max_seconds": 60.0, "clock": "cpu", "max_iter": 20}
    reply = json.loads(json.dumps(server.answer(request, arrays)))
    rio = fit_arrays(regressor(variant="RIO", max_iter=20, random_state=0), arrays)
    mean, std = rio.predict(rows.X_test, y_pred=rows.pred_test, return_std=True)
    assert reply["nlpd"] == pytest.approx(metrics.nlpd(rows.y_test, mean, std), abs=1e-4)
    assert reply["bound"] == pytest.approx(rio.bound_, abs=1e-4)
    assert (reply["stopped"], reply["inference"], reply["n_iter"]) == ("", "sparse", 20)
    assert reply["has_comparable_bound"]
    assert reply["trace"]["bound"][-1] == reply["bound"]
    assert reply["looks"]["nlpd"][-1] == reply["nlpd"]
    assert len(reply["looks"]["nlpd"]) <= server.N_LOOKS < len(reply["trace"]["bound"])
    assert reply["looks"]["seconds"][-1] == pytest.approx(reply["seconds"], abs=1e-4)


def test_a_fit_that_is_cut_off_says_what_it_had_reached(rows):
    arrays = problem_arrays(rows)
    request = {"task": "fit", "engine": "rio-uq", "seed": 0, "max_seconds": 1e-9, "clock": "wall"}
    reply = server.answer(request, arrays)
    assert reply["stopped"] == "cut off after 1e-09 s"
    assert len(reply["trace"]["bound"]) == 1
    assert np.isfinite(reply["nlpd"])


def options(**changes):
    return Namespace(**{"rounds": 1, "threads": 1, "clock": "wall", "max_seconds": 100.0, **changes})


def test_what_is_known_is_not_done_again(stored):
    missing = [(0, "GPflow SGPR")]
    assert list(speed.open_turns("yacht", options(), stored)) == missing
    cut = [{**each, "stopped": "cut off after 100 s"} if each["engine"] == "GPflow SVGP" else each for each in stored]
    assert list(speed.open_turns("yacht", options(), cut)) == missing
    assert (0, "GPflow SVGP") in list(speed.open_turns("yacht", options(max_seconds=200.0), cut))
    failed = [{**SETTING, "dataset": "yacht", "engine": "rio-uq", "round": 0, "error": "killed"}]
    assert len(list(speed.open_turns("yacht", options(), failed))) == len(speed.ENGINES)
    assert len(list(speed.open_turns("yacht", options(threads=2), stored))) == len(speed.ENGINES)


def test_each_round_begins_with_another():
    turns = list(speed.open_turns("yacht", options(rounds=2), []))
    assert [engine for i, engine in turns if i == 1] == [*speed.ENGINES[1:], speed.ENGINES[0]]


def test_targets(stored):
    fast, before_sgpr, before_svgp, better = speed_page.targets(grouped(stored), ["yacht"])
    assert fast.endswith("1 of 1.")
    assert before_sgpr.endswith("0 of 1 (not on yacht).")
    assert before_svgp.endswith("1 of 1.")
    assert better.endswith("1 of 1.")
    stored[2] = row("yacht", "GPflow SVGP", times=[1.0, 19.0], bounds=[-30.0, -10.0], nlpds=[3.0, 0.4])
    fast, *_, better = speed_page.targets(grouped(stored), ["yacht"])
    assert fast.endswith("(not on yacht).")
    assert better.endswith("(not on yacht).")


def test_the_page_and_the_section(stored, tmp_path):
    pytest.importorskip("matplotlib")
    stored[2]["stopped"] = "cut off after 40 s"
    stored[0]["has_comparable_bound"] = False
    failed = {**SETTING, "dataset": "yacht", "engine": "GPflow SGPR", "round": 0, "error": "out of memory"}
    written = speed_page.write([*stored, failed], tmp_path / "speed.md", tmp_path / "results" / "fit-times.md")
    assert all(path.stat().st_size > 0 for path in written)
    page = written[0].read_text()
    assert (
        "| yacht | 2.00 / 40.00: **20.0×** (never) | – | never / 40.00 (40.00) | 4.00 / 40.00: **10.0×** (never) |"
        in page
    )
    assert "| yacht | 246 × 6 | 3.00 | 4.00 | > 40.00 | – | 40.00 | 40.00 |" in page
    assert "| yacht | 246 × 6 | (-5.0) | -8.0 |" in page
    assert "GPflow SVGP did not end by itself (cut off after 40 s)" in page
    assert "GPflow SGPR failed: out of memory" in page
    assert "(nlpd.png)" in page
    assert "Not run yet: ENB/h, ENB/c, CCS," in page
    section = written[1].read_text()
    assert "| yacht | 246 × 6 | > 40.00 | 4.00 | 3.00 | 2.00 / 40.00: 20.0× | -10.0 / -8.0 / (-5.0) |" in section


def test_peers_have_as_many_threads_as_ours_and_find_the_sources():
    environment = peers_environment(3)
    assert {environment[name] for name in THREAD_LIMITS} == {"3"}
    assert environment["PYTHONPATH"].endswith("src")


def test_a_run_stores_what_could_be_done(rng, tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    dataset = speed.DATASETS["yacht"]
    (tmp_path / "uci").mkdir()
    np.savetxt(tmp_path / "uci" / dataset.file, rng.normal(size=(308, 7)))
    (tmp_path / "cache").mkdir()
    kept = {"prediction": rng.normal(size=308), "validation": np.zeros(246), "seconds": 1.0}
    np.savez(tmp_path / "cache" / "yacht-network-0.npz", **kept)
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    monkeypatch.setitem(speed.DATASETS, "yacht", replace(dataset, sha256=None))
    monkeypatch.setattr(speed, "ENGINES", ("rio-uq paper", "rio-uq unheard-of"))
    arguments = [
        "run",
        "--datasets",
        "yacht",
        "--max-seconds",
        "0.2",
        "--threads",
        "1",
        "--peers-python",
        sys.executable,
    ]
    arguments += ["--results", str(tmp_path / "rows.jsonl"), "--cache", str(tmp_path / "cache")]
    command.main("speed", arguments)
    ours, unknown = read_rows(tmp_path / "rows.jsonl")
    assert (ours["dataset"], ours["engine"], ours["n"], ours["d"]) == ("yacht", "rio-uq paper", 246, 6)
    assert ours["versions"]["numpy"] == np.__version__
    assert "KeyError" in unknown["error"]
    assert "round 1, rio-uq paper" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "boston"], "boston is not among yacht"),
        (["--rounds", "0"], "at least 1"),
        (["--threads", "0"], "at least 1"),
        (["--max-seconds", "0"], "more than 0"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit):
        command.main("speed", ["run", *arguments])
    assert message in capsys.readouterr().err


def test_without_data_or_fits_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.delenv("RIO_UQ_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SystemExit, match="set RIO_UQ_DATA"):
        command.main("speed", ["run", "--datasets", "yacht"])
    with pytest.raises(SystemExit, match="make them with `run`"):
        command.main("speed", ["page", "--results", str(tmp_path / "none.jsonl")])


def test_an_engine_reaches_its_own_end_also_after_rounding():
    assert first_time([1.0, 2.0], [-3.0, -2.00001], -2.000006) == 2.0
    assert first_time([1.0, 2.0], [3.0, 2.00001], 2.000006, lower_is_better=True) == 2.0
