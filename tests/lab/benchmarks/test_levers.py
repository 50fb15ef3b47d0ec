"""The benchmark of levers measures each of them, and its page says what follows."""

import numpy as np
import pytest

from benchmarks import command
from benchmarks.levers import data, page, run, trainers
from lab.json_lines import read_rows
from lab.rio import QUICK_TRAINING
from rio_uq.gp import attempts, training


@pytest.fixture
def without_real_data(monkeypatch, tmp_path):
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.usefixtures("without_real_data")
def test_it_measures_and_writes(tmp_path):
    pytest.importorskip("pandas")
    results, output = tmp_path / "levers.jsonl", tmp_path / "levers.md"
    sizes = ["--sizes", "60", "--rows", "100", "--points", "5", "--rounds", "1", "--points-of-trainings", "5"]
    command.main("levers", ["run", *sizes, "--seeds", "1", "--results", str(results)])
    rows = read_rows(results)
    (stages,) = page.of_table(rows, "stages")
    assert sum(stages[name] for name in [*run.STAGES, "rest"]) == pytest.approx(100.0)
    assert stages["noise"] > 0.0
    ways = [row["way"] for row in page.of_table(rows, "trainings")]
    assert len(ways) == len(set(ways)) == 10
    command.main("levers", ["run", "--only", "stages", *sizes, "--results", str(results)])
    assert len(read_rows(results)) == len(rows)  # the table was replaced
    command.main("levers", ["page", "--results", str(results), "-o", str(output)])
    assert all(f"\n| {way} | " in output.read_text() for way in ways)
    assert training._Trainer is trainers._Trainer  # nothing stays patched
    assert attempts.train is training.train


@pytest.mark.usefixtures("without_real_data")
@pytest.mark.parametrize("kind", [trainers.NaturalScaling, trainers.SecondOrder, trainers.Growing])
def test_other_trainers_find_the_same_optimum(kind):
    question = data.training_arguments(data.Data.generated(60), n_inducing=60, training=QUICK_TRAINING)
    question["settings"] = training.Settings("sparse", 60, inducing="first", tolerance=1e-8)
    usual = training.train(**question)
    arguments = {name: value for name, value in question.items() if name != "starts"}
    other = kind(**arguments, curvature=None)
    trained = other.run(other.explore(question["starts"], 60))
    assert trained.objective == pytest.approx(usual.objective, abs=0.05)
    np.testing.assert_allclose(trained.posterior.noise_variance, usual.posterior.noise_variance, rtol=0.05)


def test_the_page_judges_by_the_numbers():
    def row(data, way, seconds, objective):
        counts = {"m": 5, "seed": 0, "on_all": 3, "on_fewer": 7, "work": 4.0 * seconds, "failed": False}
        return {
            "table": "trainings", "data": data, "n": 100, "way": way, "cpu_seconds": seconds, "objective": objective
        } | counts  # fmt: skip

    rows = [row(data, "as it is", 2.0, -50.0) for data in ("a", "b")]
    rows += [row("a", "fast", 1.0, -50.0), row("b", "fast", 1.5, -50.05)]
    rows += [row("a", "slow on b", 1.0, -50.0), row("b", "slow on b", 1.9, -50.0)]
    rows += [row("a", "lower on b", 1.0, -50.0), row("b", "lower on b", 1.0, -51.0)]
    lines = page.page_of(rows).splitlines()
    fast, slow, lower = (next(line for line in lines if line.startswith(f"- {way}")) for way in ("fast", "slow", "low"))
    assert "0.50 to 0.75" in fast
    assert fast.endswith("pays.")
    assert "1 of 2 data sets" in slow
    assert "ends lower on 1 of 2" in lower
    cells = next(line for line in lines if line.startswith("| fast")).strip("| ").split(" | ")
    assert cells == ["fast", "1.0", "0.50", "3", "7", "0.50", "+0.0000", "0.0000", "0"]
    assert not any("Stages" in line for line in lines)
