"""The benchmark of simulated worlds: what is drawn, what is measured, which targets are missed, and the page."""

import json

import numpy as np
import pytest

from benchmarks.worlds import page, run, targets
from benchmarks.worlds.answers import LEVELS
from benchmarks.worlds.noise import LASTING
from benchmarks.worlds.worlds import WORLDS
from lab.json_lines import read_rows, write_rows
from lab.tasks import Task

N_TEST = 400


def test_there_are_worlds_of_all_kinds():
    worlds = WORLDS.values()
    assert len(worlds) >= 40
    assert min(world.n for world in worlds) == 5
    assert max(world.n for world in worlds) == 3000
    assert (min(world.d for world in worlds), max(world.d for world in worlds)) == (1, 500)
    assert {world.shift for world in worlds} == {"", "near", "far"}
    assert all("," not in world.name for world in worlds)


@pytest.mark.parametrize("name", WORLDS)
def test_rows_follow_from_world_and_repetition(name):
    world = WORLDS[name]
    first, again, other = world.draw(0, N_TEST), world.draw(0, N_TEST), world.draw(1, N_TEST)
    assert first.train.X.shape == (world.n, world.d)
    assert first.test.X.shape == (N_TEST, world.d)
    assert first.train.y.shape == first.train.mean.shape
    np.testing.assert_array_equal(first.test.y, again.test.y)
    np.testing.assert_array_equal(first.train.X, again.train.X)
    if name != "all-zero-n20":
        assert (first.train.y != other.train.y).any()


@pytest.mark.parametrize("name", [name for name, world in WORLDS.items() if world.noise.has_variance])
def test_the_truth_is_the_mean_of_outcomes(name):
    world = WORLDS[name]
    rows = world.draw(0, 20_000).test
    error = (rows.y - rows.mean).reshape(len(rows.y), -1)
    n_independent = len(error) * (0.1 / 1.9 if world.noise is LASTING else 1.0)
    allowed = 5.0 * error.std(axis=0) / np.sqrt(n_independent) + (0.01 if "rounded" in name else 1e-12)
    assert (np.abs(error.mean(axis=0)) < allowed).all()


def test_test_rows_of_copies_have_the_same_inputs_and_new_noise():
    draw = WORLDS["copies-exact-n300"].draw(0, N_TEST)
    assert len(np.unique(draw.train.y)) == len(np.unique(draw.train.X, axis=0)) == 30
    assert set(draw.test.X[:, 0]) == set(draw.train.X[:, 0])
    assert not set(draw.test.y) & set(draw.train.y)


@pytest.fixture(scope="module")
def rows():
    pytest.importorskip("mapie")
    names = ("normal-n30", "normal-n10", "two-outputs-n100", "groups-n300", "ridge-n50", "t2-n30", "far-n15")
    return [row for name in names for row in run.measure(name, 0, tuple(run.METHODS), N_TEST)]


def test_what_is_measured(rows):
    for row in rows:
        assert len(json.dumps(row)) < 250
        assert len(row["coverage"]) == len(LEVELS)
        assert row["floor"] <= 1.01
        if row["method"] == "MAPIE":
            assert row["ratio"] == 1.0
    parts = [row["part"] for row in rows if row["world"] == "groups-n300" and row["method"] == "RIO"]
    assert parts == ["group 1", "group 2", "group 3"]


def test_conformal_intervals_need_rows(rows):
    few, many = (
        next(row for row in rows if row["world"] == name and row["method"] == "MAPIE")
        for name in ("normal-n10", "two-outputs-n100")
    )
    assert few["coverage"][LEVELS.index(0.95)] is None
    assert None not in many["coverage"]
    assert many["crps"] > 0.0


def made_up(ratio, coverage, world="normal-n30", runs=4, **further):
    shares = [50.0, 68.0, 80.0, 90.0, coverage, 99.0]
    row = {"world": world, "method": "RIO", "ratio": ratio, "floor": 1.0, "coverage": shares, "crps": 0.5}
    row |= {"width": 4.0, "trust": 1.0, "seconds": 0.1, "warned": 0, **further}
    return [row | {"run": number} for number in range(runs)]


@pytest.mark.parametrize(
    ("row", "missed"),
    [
        (made_up(1.02, 92.0), []),
        (made_up(1.03, 95.0), ["error"]),
        (made_up(1.0, 90.0), ["coverage"]),
        (made_up(1.0, 99.9), ["too wide"]),
        (made_up(None, 95.0), ["error"]),
        (made_up(1.04, 89.0, "normal-n20"), []),
        (made_up(1.0, 50.0, "normal-n5"), []),
        (made_up(1.0, 99.9, "poisson-n300"), []),
        (made_up(9.0, 0.0, "far-n15"), []),
        (made_up(0.5, 95.0) + made_up(1.7, 95.0), []),
    ],
)
def test_targets(row, missed):
    (verdict,) = targets.verdicts(row)
    assert verdict.misses == missed


def test_a_mean_that_one_fit_spoils_is_doubtful():
    (verdict,) = targets.verdicts(made_up(1.0, 95.0) + made_up(9.0, 95.0, runs=1))
    assert (verdict.misses, verdict.doubts) == ([], ["error"])


def test_one_fit_of_a_hundred_may_be_worse():
    assert targets.share_of_good_fits(made_up(1.0, 95.0, runs=99) + made_up(2.0, 95.0, runs=1)) == (0.99, True)
    share, is_enough = targets.share_of_good_fits(made_up(1.0, 95.0, runs=9) + made_up(2.0, 95.0, runs=1))
    assert (share, is_enough) == (0.9, False)


def test_the_page_shows_the_worst_first_and_keeps_its_text(rows, tmp_path):
    results, output = tmp_path / "result.jsonl", tmp_path / "README.md"
    write_rows(results, [*rows, *made_up(23.6, 60.0, "zero-inflated-n1000")])
    output.write_text("# Title\n\nA text.\n\n")
    page.main(type("Options", (), {"results": results, "output": output}))
    text = output.read_text()
    assert text.startswith("# Title\n\nA text.")
    missed = text.split("## Targets that are missed")[1].splitlines()
    assert missed[4].startswith("| zero-inflated-n1000 | 1,000 | 3 | zero-inflated | half the truth | 23.600 ± 0.000")
    assert "far-n15" in text.split("## Far shifts")[1]
    assert "two-outputs-n100, output 2" in text


def test_what_is_stored_is_left_out(tmp_path):
    path = tmp_path / "result.jsonl"
    tasks = run.missing_tasks(["normal-n5", "normal-n1000"], ["RIO", "GP"], 2, path)
    assert tasks == [
        Task("worlds", "normal-n5", 0, ("RIO", "GP")),
        Task("worlds", "normal-n1000", 0, ("RIO",)),
        Task("worlds", "normal-n5", 1, ("RIO", "GP")),
        Task("worlds", "normal-n1000", 1, ("RIO",)),
    ]
    run.work(Task("worlds", "normal-n5", 0, ("GP",)), path)
    assert [row["method"] for row in read_rows(path)] == ["GP"]
    assert run.missing_tasks(["normal-n5"], ["GP"], 1, path) == []
    assert len(run.missing_tasks(["normal-n5"], ["RIO"], None, path)) == 40
    assert len(run.missing_tasks(["normal-n5"], ["MAPIE"], None, path)) == 5
