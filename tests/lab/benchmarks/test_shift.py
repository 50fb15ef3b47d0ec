"""The benchmark of error bars on shifted rows, other data and attacked inputs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmarks import command
from benchmarks.shift import alterations, error_bars, page
from benchmarks.shift.alterations import ALL_FEATURES, ATTACKS, CLEAN, KINDS, ONE_FEATURE, OTHER_DATA, Alteration
from benchmarks.shift.error_bars import ENSEMBLE, INPUTS_INSIDE, LATENT, NOISE, OURS, OUTPUT_INSIDE, Measurement
from lab.datasets import DATASETS
from lab.json_lines import read_rows
from rio_uq import RIORegressor


@pytest.fixture
def network(rng):
    """A network without a hidden layer: ŷ = w·x + b of standardised inputs."""
    torch = pytest.importorskip("torch")
    from lab.base_models import Network

    torch.manual_seed(0)
    offset, scale = rng.normal(size=3), np.array([0.1, 1.0, 100.0])
    return Network(torch.nn.Sequential(torch.nn.Linear(3, 1)), offset, scale, np.zeros(0, dtype=bool), 1)


def values(found, measure):
    return {(one.row, one.label): one.value for one in found if one.measure == measure}


def test_shifts_move_one_feature_or_all_both_ways(rng):
    X, scale = rng.normal(size=(7, 3)), np.array([1.0, 10.0, 0.1])
    found = list(alterations.shifts(X, scale))
    moved = np.stack([(rows.X - X)[0] / scale for rows in found])
    assert [rows.kind for rows in found].count(ONE_FEATURE[2]) == 6
    for rows, steps in zip(found, moved, strict=True):
        sizes = np.abs(np.round(steps, 9))
        size = 4 if "4 std" in rows.kind else 2
        assert sizes.tolist() == [size] * 3 if rows.kind in ALL_FEATURES.values() else sorted(sizes) == [0, 0, size]
    np.testing.assert_allclose(moved.sum(axis=0), 0.0, atol=1e-9)
    assert len({rows.label for rows in found}) == len(found) == 16


@pytest.mark.parametrize("n_columns", [2, 5])
def test_rows_of_other_data_look_right_column_by_column(rng, n_columns):
    other = rng.gamma(2.0, size=(50, 3)) * [1.0, 100.0, 0.0]
    offset, scale = np.arange(n_columns) + 7.0, np.arange(n_columns) + 1.0
    X = alterations.rows_of_other_data(other, offset, scale)
    np.testing.assert_allclose(X.mean(axis=0), offset)
    np.testing.assert_allclose(X.std(axis=0), np.where(np.arange(n_columns) < 2, scale, 0.0), atol=1e-12)


def test_the_attack_is_the_worst_step_against_a_linear_network(network, rng):
    X = network.offset + network.scale * rng.normal(size=(40, 3))
    y = network.predict(X) + rng.choice([-1.0, 1.0], size=40)
    altered = alterations.attacked(network, X, y, 0.3)
    np.testing.assert_allclose(np.abs(altered - X) / network.scale, 0.3, rtol=1e-6)
    slope = network.layers[0].weight.detach().abs().sum().item()
    np.testing.assert_allclose(np.abs(network.predict(altered) - y), 1.0 + 0.3 * slope, rtol=1e-4)


def test_every_kind_of_alteration(network, rng):
    X = network.offset + network.scale * rng.normal(size=(10, 3))
    found = list(alterations.alterations(network, X, np.zeros(10), rng.normal(size=(30, 2))))
    assert {rows.kind for rows in found} == {CLEAN, *KINDS}
    assert {rows.kind for rows in found if rows.keeps_outcome} == {CLEAN, *ATTACKS.values()}
    np.testing.assert_array_equal(found[0].X, X)


@pytest.mark.parametrize(("altered", "area"), [([4.0, 5.0], 1.0), ([0.5, 0.1], 0.0), ([1.0, 2.0, 3.0], 0.5)])
def test_area_under_the_curve_is_the_chance_of_a_larger_std(altered, area):
    assert error_bars.auroc(np.array([1.0, 2.0, 3.0]), np.array(altered)) == area


def test_which_error_bars_see_a_shift_that_the_model_does_not_see(friedman):
    """R+O knows ŷ alone, and so does the ensemble: they miss what RIO sees in x."""
    X, y = friedman
    models = [make_pipeline(FunctionTransformer(lambda X: X[:, 1:]), Ridge(alpha)).fit(X, y) for alpha in (0.1, 10.0)]
    unseen = Alteration(ONE_FEATURE[4], "unseen feature", X[90:] + np.array([4.0, 0.0, 0.0, 0.0]))
    clean = Alteration(CLEAN, CLEAN, X[90:], keeps_outcome=True)
    bars = error_bars.error_bars(models, X[:90], y[:90], 0)
    found = list(error_bars.compare(bars, X[90:], y[90:], [clean, unseen]))
    area = values(found, "auroc")
    assert area[OURS, "unseen feature"] > 0.95
    assert area["RIO, paper's settings", "unseen feature"] > 0.95
    assert area["R+I, paper's settings", "unseen feature"] > 0.95
    for blind in ("R+O, paper's settings", ENSEMBLE):
        assert area[blind, "unseen feature"] == pytest.approx(0.5)
    assert [area[name, CLEAN] for name in bars] == pytest.approx([0.5] * len(bars))
    assert values(found, "rise")[LATENT, "unseen feature"] > values(found, "rise")[OURS, "unseen feature"] > 1.0
    assert values(found, "risen")[OURS, "unseen feature"] > 0.95
    assert values(found, "risen")["R+O, paper's settings", "unseen feature"] == 0.0
    covered = values(found, "coverage")
    assert {label for _, label in covered} == {CLEAN}
    assert not {LATENT, NOISE} & {row for row, _ in covered}
    assert covered[OURS, CLEAN] > 0.8


def test_constant_noise_has_no_rank(rng):
    X = rng.normal(size=(60, 2))
    rio = RIORegressor(lambda X: X[:, 0], noise="constant", distribution="normal", random_state=0).fit(
        X, X @ [1.0, 0.5]
    )
    _, std = error_bars.rio_parts(rio)[NOISE](X + 3.0 * rng.normal(size=X.shape))
    assert len(np.unique(std)) == 1
    assert std[0] == pytest.approx(np.sqrt(rio.noise_variance_), rel=1e-3)


def test_where_altered_rows_are(rng):
    X = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, 1.0]])
    model = Ridge(1e-6).fit(X, X[:, 0])
    rows = [
        Alteration(CLEAN, "in", X, keeps_outcome=True),
        Alteration(ONE_FEATURE[2], "half", np.array([[0.5, 0.5], [0.5, 9.0]])),
    ]
    found = values(error_bars.places(model, X, model.predict(X) + 2.0, rows), "place")
    assert found[INPUTS_INSIDE, "in"] == found[OUTPUT_INSIDE, "in"] == 1.0
    assert found[INPUTS_INSIDE, "half"] == 0.5
    assert found["RMSE of the network", "in"] == pytest.approx(2.0)
    assert ("RMSE of the network", "half") not in found


def frame_of(run, dataset, *found):
    return pd.DataFrame([Measurement(*one) for one in found]).assign(dataset=dataset, run=run)


def test_a_table_averages_over_features_and_then_over_runs():
    kind, other = ONE_FEATURE[2], KINDS[-1]
    frame = pd.concat(
        [
            frame_of(0, "a", ("rise", OURS, kind, "x", 1.0), ("rise", OURS, kind, "y", 3.0)),
            frame_of(1, "a", ("rise", OURS, kind, "x", 4.0), ("rise", LATENT, kind, "x", 5.0)),
            frame_of(0, "b", ("rise", OURS, kind, "x", 1234.0), ("auroc", OURS, kind, "x", 0.0)),
        ]
    )
    assert page.table(frame, "rise", [kind, other]).splitlines()[2:] == [
        "| a | RIO | 3.00 ± 1.41 |  |",
        "|  | RIO, latent part | 5.00 |  |",
        "| b | RIO | 1,234 |  |",
    ]
    outlier = frame_of(0, "a", *(("rise", OURS, kind, str(i), value) for i, value in enumerate((1.0, 2.0, 1e9))))
    assert "| 2.00 |" in page.table(outlier, "rise", [kind], "median")


def test_extremes_are_the_shifts_with_the_least_area_and_the_largest_rise():
    found = []
    for i, area in enumerate((0.9, 0.5, 0.7, 0.8)):
        label = f"feature {i + 1}"
        found += [("auroc", OURS, ONE_FEATURE[4], label, area), ("rise", OURS, ONE_FEATURE[4], label, 10.0 + i)]
        found += [("rise", part, ONE_FEATURE[4], label, 1.0) for part in (LATENT, NOISE)]
        found += [("place", row, ONE_FEATURE[4], label, 0.0) for row in (INPUTS_INSIDE, OUTPUT_INSIDE)]
    found.append(("auroc", OURS, OTHER_DATA, OTHER_DATA, 0.1))
    lines = page.extremes(frame_of(0, "a", *found)).splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == ["feature 2", "feature 3", "feature 4"]
    assert lines[0] == "| a | feature 2 | 0.50 | 11.00 | 1.00 | 1.00 | 0.00 | 0.00 |"


@pytest.fixture
def noise_for_data(rng, tmp_path, monkeypatch):
    """Numbers at random in the places of two data sets."""
    (tmp_path / "uci").mkdir()
    for name in ("yacht", "airfoil"):
        dataset = DATASETS[name]
        np.savetxt(tmp_path / "uci" / dataset.file, rng.normal(size=(dataset.shape[0], dataset.shape[1] + 1)))
        monkeypatch.setitem(DATASETS, name, replace(dataset, sha256=None))
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    return tmp_path


def test_runs_are_stored_and_the_page_is_written_from_them(noise_for_data, monkeypatch, capsys):
    pytest.importorskip("torch")
    from lab import base_models

    monkeypatch.setattr(base_models, "MAX_EPOCHS", 3)
    results, output = noise_for_data / "result.jsonl", noise_for_data / "page.md"
    arguments = ["run", "--datasets", "yacht", "--runs", "1", "--results", str(results)]
    command.main("shift", arguments)
    assert capsys.readouterr().err.startswith("yacht, run 0: ")
    rows = read_rows(results)
    command.main("shift", arguments)
    assert capsys.readouterr().err == ""
    assert {row["kind"] for row in rows} == {CLEAN, *KINDS}
    assert all(0.0 <= row["value"] <= 1.0 for row in rows if row["measure"] == "auroc")
    command.main("shift", ["page", "--results", str(results), "-o", str(output)])
    written = output.read_text(encoding="utf-8")
    assert written.count("\n## ") == 6
    assert written.count("| deep ensemble |") == 4


def test_without_data_it_says_what_is_missing(noise_for_data, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("XDG_CACHE_HOME", str(noise_for_data / "cache"))
    results = ["--results", str(noise_for_data / "result.jsonl")]
    with pytest.raises(SystemExit, match="set RIO_UQ_DATA"):
        command.main("shift", ["run", "--datasets", "CCS", *results])
    (noise_for_data / "uci" / DATASETS["airfoil"].file).unlink()
    with pytest.raises(SystemExit, match="rows of other data are needed too: airfoil"):
        command.main("shift", ["run", "--datasets", "yacht", *results])
