"""The vision experiment: copies on one side, bands that add up, tables, and a whole run on a small file."""

import os
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from experiments import age, age_report
from experiments.measures import store_of
from lab.datasets import DataNotFoundError
from rio_uq import metrics

HAS_FILE = os.path.isfile(os.path.join(os.environ.get("RIO_UQ_DATA", ""), age.FILE))


@pytest.fixture
def faces_file(monkeypatch, tmp_path, rng):
    """A small file of the same format, with 20 of its 160 images there twice and labels of their own."""
    features = rng.gamma(2.0, size=(140, 5)).astype(np.float32)
    features = np.concatenate([features, features[:20]])
    y = rng.integers(1, 100, size=160).astype(np.float32)
    y_pred = np.clip(y + rng.normal(scale=3 + y / 10), 0, 80).astype(np.float32)
    path = tmp_path / age.FILE
    path.parent.mkdir(parents=True)
    np.savez_compressed(path, features=features, y_pred=y_pred, y=y)
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    return path


def made_up_predictions():
    """A method with error bars and one without, in two runs, for every predicted age from 0 to 80."""
    y_pred = np.tile(np.linspace(0, 80, 161), 2)
    y = y_pred + np.random.default_rng(0).normal(scale=5, size=len(y_pred))
    run = np.repeat([0, 1], 161)
    alone = pd.DataFrame({"method": "network", "run": run, "y": y, "y_pred": y_pred, "mean": y_pred, "std": np.nan})
    return pd.concat([alone.assign(method="ours", mean=y_pred + 1, std=5.0), alone], ignore_index=True)


def made_up_rows():
    measures = {"rmse": 8.8, "mae": 6.2, "nlpd": None, "crps": None, "fit_seconds": 0.0}
    coverage = {"coverage_68": None, "coverage_90": None, "coverage_95": None}
    network = {"table": "age", "dataset": "age", "method": "network", **measures, **coverage}
    ours = {**network, "method": "ours", "rmse": 8.0, "nlpd": 3.5, "crps": 4.1, "fit_seconds": 61.4}
    ours |= {"coverage_68": 0.755, "coverage_90": 0.911, "coverage_95": 0.942}
    rows = [
        {**ours, "run": 0, "mae": 5.5},
        {**ours, "run": 1, "mae": 5.7},
        {**network, "run": 0},
        {**network, "run": 1, "mae": 6.0},
    ]
    return pd.DataFrame(rows)


def test_copies_of_an_image_stay_on_one_side(rng):
    features = rng.normal(size=(200, 3))[rng.integers(0, 200, size=500)]
    train, test = age.split(features, run=0)
    assert sorted([*train, *test]) == list(range(500))
    assert 60 <= len(test) <= 140
    assert not {tuple(row) for row in features[train]} & {tuple(row) for row in features[test]}
    np.testing.assert_array_equal(test, age.split(features, run=0)[1])
    assert not np.array_equal(test, age.split(features, run=1)[1])


@pytest.mark.skipif(not HAS_FILE, reason="RIO_UQ_DATA does not name a folder with the age file")
def test_the_real_file_holds_what_is_said_of_it():
    faces = age.load()
    assert faces.features.shape == (23704, 64)
    assert len(np.unique(faces.features, axis=0)) == 23704 - 390
    assert metrics.mae(faces.y, faces.y_pred) == pytest.approx(6.19, abs=0.005)
    assert faces.y_pred.min() >= 0
    assert faces.y_pred.max() <= 80.001


@pytest.mark.parametrize("is_named", [False, True])
def test_a_missing_file_is_named_with_the_remedy(is_named, monkeypatch, tmp_path):
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path) if is_named else "")
    with pytest.raises(DataNotFoundError) as error:
        age.run(1, 1, tmp_path / "rows.csv", tmp_path, tmp_path)
    assert str(error.value) == ("age: age/utkface_resnet10.npz is not there; set RIO_UQ_DATA to the folder that has it")
    assert not (tmp_path / "rows.csv").exists()


def test_another_file_is_refused(faces_file, tmp_path):
    with pytest.raises(ValueError, match="not the original file of age: its SHA-256 is"):
        age.run(1, 1, tmp_path / "rows.csv", tmp_path, tmp_path)
    assert not (tmp_path / "rows.csv").exists()


def test_bands_add_up_to_all_rows():
    predictions = made_up_predictions()
    bands = age_report.bands(predictions)
    assert list(bands["band"].unique()) == age_report.LABELS
    assert list(bands["method"]) == ["network", "ours"] * len(age_report.LABELS)
    for method, part in bands.groupby("method"):
        rows = predictions[predictions["method"] == method]
        assert part["rows"].sum() == len(rows)
        assert np.average(part["mae"], weights=part["rows"]) == pytest.approx(metrics.mae(rows["y"], rows["mean"]))
        rmse = np.sqrt(np.average(part["rmse"] ** 2, weights=part["rows"]))
        assert rmse == pytest.approx(metrics.rmse(rows["y"], rows["mean"]))
    ours, rows = (frame[frame["method"] == "ours"] for frame in (bands, predictions))
    for level in (68, 90, 95):
        overall = metrics.coverage(rows["y"], rows["mean"], rows["std"], confidence_level=level / 100)
        assert np.average(ours[f"coverage_{level}"], weights=ours["rows"]) == pytest.approx(overall)
    assert bands.loc[bands["method"] == "network", ["std", "coverage_95"]].isna().all(axis=None)


def test_a_band_begins_at_its_age_and_an_empty_one_is_left_out():
    y_pred = np.array([9.99, 10.0, 69.9, 70.0, 80.0])
    bands = age_report.bands(
        pd.DataFrame({"method": "ours", "y": y_pred, "y_pred": y_pred, "mean": y_pred, "std": 1.0})
    )
    assert dict(zip(bands["band"], bands["rows"], strict=True)) == {
        "0–10": 1,
        "10–20": 1,
        "60–70": 1,
        "70+": 2,
    }


def test_the_table_has_the_papers_layout_and_its_figures():
    lines = age_report.table(made_up_rows()).splitlines()
    assert lines[2] == "| network | 6.10 ± 0.14 | – | – | – | – | 8.80 ± 0.00 | – | 0 |"
    assert lines[3] == ("| ours | 5.60 ± 0.14 | 3.50 ± 0.00 | 0.94 | 0.91 | 0.76 | 8.00 ± 0.00 | 4.10 ± 0.00 | 61 |")
    assert lines[4:7] == [
        "| paper: DenseNet | 7.43 | – | – | – | – | – | – | – |",
        "| paper: SVGP | 36.45 | 5.06 | 0.99 | 0.96 | 0.62 | – | – | – |",
        "| paper: RIO | 6.35 | 3.59 | 0.94 | 0.91 | 0.75 | – | – | – |",
    ]


def test_the_gain_stands_beside_the_papers():
    rows = made_up_rows()
    assert "paper it did" not in age_report.caveat(rows)
    rio = rows[rows["method"] == "ours"].assign(method="RIO")
    text = age_report.caveat(pd.concat([rows, rio]))
    assert text.endswith("by 8.2 % (6.10 → 5.60) here; in the paper it did by 14.5 % (7.43 → 6.35).")
    assert "unknown whether the network was trained on these faces" in text


def test_one_split_has_no_deviation():
    rows = made_up_rows()
    text = age_report.table(rows[rows["run"] == 0])
    assert "±" not in text
    assert "| ours | 5.50 |" in text
    assert "1 split." in text


def test_the_figure_shows_each_method_with_error_bars_at_each_level():
    bands = age_report.bands(made_up_predictions())
    figure = age_report.bands_figure(bands)
    for axis, level in zip(figure.axes, (68, 90, 95), strict=True):
        nominal, curve = axis.lines
        assert list(nominal.get_ydata()) == [level / 100] * 2
        np.testing.assert_array_equal(curve.get_ydata(), bands[f"coverage_{level}"].dropna())
        assert curve.get_label() == "ours"


def test_a_whole_run_is_stored_and_not_repeated(faces_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(age, "run_tasks", lambda tasks, jobs, path, work: [work(task, path) for task in tasks])
    results, cache, folder = tmp_path / "rows.csv", tmp_path / "cache", tmp_path / "figures"
    text = age.run(1, 1, results, cache, folder, sha256=None)
    assert capsys.readouterr().out == ""
    assert (folder / age.FIGURE).stat().st_size > 10_000
    assert re.search(r"!\[.*\]\(.*figures/age-bands.png\)", text)
    rows = store_of(results).read().set_index("method")
    assert list(rows.index) == list(age.METHODS)
    assert set(rows["table"]) == set(rows["dataset"]) == {"age"}
    assert rows.loc["ours", "rmse"] < rows.loc["SVGP", "rmse"]

    kept = age.predictions(1, cache)
    assert set(kept["method"]) == set(age_report.BANDED) < set(age_report.ORDER) == set(age.METHODS)
    for method, part in kept.groupby("method"):
        assert metrics.mae(part["y"], part["mean"]) == pytest.approx(rows.loc[method, "mae"])
    assert f"| {age_report.bands(kept)['band'].iloc[0]} | network |" in text

    before = results.read_bytes()
    assert age.run(1, 1, results, cache, folder, sha256=None) == text
    assert results.read_bytes() == before
    (cache / "age" / "age" / "0" / "RIO.npz").unlink()
    assert [task.methods for task in age.open_tasks(2, results, cache)][:2] == [("RIO",), ("network",)]
