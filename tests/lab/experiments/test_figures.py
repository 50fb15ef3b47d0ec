"""Figures show what is stored, all of it, where they say they do."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.lines import AxLine
from matplotlib.patches import PathPatch
from PIL import Image

from experiments import predictions
from experiments.figures import corrections, coverage, draw_all, errors, gallery, style
from experiments.measures import store_of
from lab.datasets import DATASETS
from rio_uq import metrics

METHODS = ["NN", "RIO", "R+I", "R+O", "SVGP"]
N_RUNS = 6
N_TEST = 40


def make_rows(dataset, rng, methods=METHODS, table="default"):
    """Rows of random measures."""
    frame = pd.DataFrame([(table, dataset, run, method) for run in range(N_RUNS) for method in methods])
    columns = store_of(Path()).columns
    frame.columns = columns[:4]
    for name in columns[4:]:
        frame[name] = rng.uniform(0.5, 1.0, size=len(frame))
    errorless = [name for name in columns if name.startswith(("nlpd", "crps", "noise", "coverage", "improvement"))]
    frame.loc[frame["method"].isin(["NN", "RF"]), errorless] = np.nan
    return frame[columns]


def keep(folder, dataset, rng, n=N_TEST, methods=METHODS, runs=N_RUNS):
    for run in range(runs):
        y = rng.normal(size=n)
        base = y + rng.normal(size=n)
        for method in methods:
            mean = base if method == "NN" else y + 0.5 * rng.normal(size=n)
            std = None if method == "NN" else rng.uniform(0.3, 0.7, size=n)
            predictions.save(folder, "default", dataset, run, method, y=y, base=base, mean=mean, std=std)


@pytest.fixture
def rows(rng):
    """Of two data sets, in the wrong order."""
    return pd.concat([make_rows("ENB/h", rng), make_rows("yacht", rng)], ignore_index=True)


@pytest.fixture
def folder(rng, tmp_path):
    folder = tmp_path / "predictions"
    keep(folder, "ENB/h", rng)
    keep(folder, "yacht", rng)
    return folder


@pytest.fixture
def keys(folder):
    return predictions.find(folder, "default")


def titles(drawing):
    return [axis.get_title() for axis in drawing.figure.axes]


def names_beside(drawing):
    """Of the boxes at y = 0, 1, …, which are shared by all panels of a line."""
    axis = drawing.figure.axes[0]
    assert list(axis.get_yticks()) == list(range(len(axis.get_yticks())))
    return [label.get_text() for label in axis.get_yticklabels()]


def boxes_of(axis, across):
    """Position, first and third quartile of each box, and the colour it is filled with."""
    found = []
    for box in axis.patches:
        assert isinstance(box, PathPatch)
        x, y = box.get_path().vertices[:-1].T
        along, position = (y, x) if across == "x" else (x, y)
        found.append((round((position.min() + position.max()) / 2, 6), along.min(), along.max(), box.get_facecolor()))
    return found


def assert_boxes(axis, across, expected):
    """Boxes at the expected positions with the quartiles of the expected values."""
    found = {position: quartiles for position, *quartiles, _ in boxes_of(axis, across)}
    assert len(axis.patches) == len(expected)
    assert sorted(found) == sorted(expected)
    for position, values in expected.items():
        np.testing.assert_allclose(found[position], np.percentile(values, [25, 75]))


def diagonal(axis):
    (line,) = [line for line in axis.lines if isinstance(line, AxLine)]
    x, y = line.get_xy1()
    return line.get_slope() == 1.0 and x == y


def test_rmse_has_a_dot_for_each_run_and_the_line_of_equal_errors(rows):
    drawing = errors.draw_rmse(rows)
    assert drawing.datasets == ["yacht", "ENB/h"]
    assert titles(drawing) == ["yacht (6 runs)", "ENB/h (6 runs)"]
    assert drawing.left_out == list(DATASETS)[2:]
    for name, axis in zip(drawing.datasets, drawing.figure.axes, strict=True):
        wide = rows[rows["dataset"] == name].pivot(index="run", columns="method", values="rmse")
        dots = {dots.get_label(): np.asarray(dots.get_offsets()) for dots in axis.collections}
        assert set(dots) == {"RIO", "SVGP"}
        for method, offsets in dots.items():
            np.testing.assert_array_equal(offsets, wide[["NN", method]])
        assert diagonal(axis)
        for limits, shown in ((axis.get_xlim(), wide["NN"]), (axis.get_ylim(), wide[["NN", "RIO", "SVGP"]])):
            assert limits[0] < shown.to_numpy().min() < shown.to_numpy().max() < limits[1]
        assert axis.get_ylim()[0] < axis.get_xlim()[1]


def test_runs_off_the_scale_are_named_instead_of_drawn(rows):
    failed = (rows["method"] == "SVGP") & (rows["dataset"] == "yacht") & (rows["run"] < 4)
    rows.loc[failed, "rmse"] = 52.0
    axis = errors.draw_rmse(rows).figure.axes[0]
    dots = {dots.get_label(): dots.get_offsets() for dots in axis.collections}
    assert (len(dots["RIO"]), len(dots["SVGP"])) == (6, 2)
    assert [text.get_text() for text in axis.texts] == ["SVGP: 4 runs above the scale,\nmedian 52"]
    assert axis.get_ylim()[1] < 2.0


def test_a_run_without_its_base_model_is_not_compared(rows):
    gone = (rows["method"] == "NN") & (rows["dataset"] == "yacht")
    assert errors.draw_rmse(rows[~gone]).datasets == ["ENB/h"]
    assert errors.draw_rmse(rows[rows["method"] != "NN"]) is None
    assert errors.draw_rmse(rows[rows["method"] == "NN"]) is None
    half = rows[~(gone & (rows["run"] < 2))]
    assert len(errors.draw_rmse(half).figure.axes[0].collections[0].get_offsets()) == N_RUNS - 2


def test_forests_are_compared_as_networks_are(rng):
    forest = make_rows("yacht", rng, ["RF", "RIO"])
    axis = errors.draw_rmse(forest).figure.axes[0]
    assert axis.get_xlabel() == "RMSE of RF"
    wide = forest.pivot(index="run", columns="method", values="rmse")
    np.testing.assert_array_equal(axis.collections[0].get_offsets(), wide[["RF", "RIO"]])


@pytest.mark.parametrize("level", [95, 90, 68])
def test_coverage_has_a_box_for_each_method_with_error_bars(level, rows):
    drawing = coverage.draw_coverage(rows, level)
    assert titles(drawing) == ["yacht (6 runs)", "ENB/h (6 runs)"]
    for name, axis in zip(drawing.datasets, drawing.figure.axes, strict=True):
        shares = rows[rows["dataset"] == name].set_index("method")[f"coverage_{level}"]
        assert_boxes(axis, "y", {i: 100 * shares[method] for i, method in enumerate(METHODS[1:])})
        assert any(list(line.get_xdata()) == [level, level] for line in axis.lines)
    assert names_beside(drawing) == METHODS[1:]


def test_a_method_missing_in_one_data_set_keeps_its_place(rows):
    rows = rows[~((rows["dataset"] == "yacht") & (rows["method"] == "R+I"))]
    first, second = coverage.draw_coverage(rows, 95).figure.axes
    assert [box[0] for box in boxes_of(first, "y")] in ([0, 2, 3], [2, 0, 3])
    assert len(second.patches) == 4


def test_a_method_has_its_colour_everywhere(rows, folder, keys):
    wanted = {}
    for name, drawing in gallery.drawings(rows, folder, keys):
        assert drawing is not None, name
        axis = drawing.figure.axes[0]
        for dots in axis.collections:
            wanted.setdefault(dots.get_label(), set()).add(tuple(dots.get_facecolor()[0][:3]))
        if name in ("distributions", "coverage-95", "coverage-90", "coverage-68"):
            labels = names_beside(drawing)
            for position, _, _, colour in boxes_of(axis, "y"):
                wanted.setdefault(labels[int(position)], set()).add(colour[:3])
    assert set(wanted) == {"outcome", *METHODS}
    assert all(len(colours) == 1 for colours in wanted.values())
    assert len(set.union(*wanted.values())) == len(wanted)


def test_levels_have_boxes_and_the_median_at_each_per_cent(folder, keys):
    drawing = coverage.draw_levels(folder, keys)
    assert titles(drawing) == ["yacht (6 runs)", "ENB/h (6 runs)"]
    axis = drawing.figure.axes[1]
    expected = {}
    medians = []
    for method, shift in (("RIO", -1), ("SVGP", 1)):
        kept = [predictions.load(folder, "default", "ENB/h", run, method) for run in range(N_RUNS)]
        shares = np.array([metrics.coverage_curve(each.y, each.mean, each.std) for each in kept])
        medians.append(100 * np.median(shares, axis=0))
        expected |= {level + shift: 100 * shares[:, level - 1] for level in (1, *range(5, 100, 5), 99)}
    assert_boxes(axis, "x", expected)
    curves = [line.get_ydata() for line in axis.lines if len(line.get_xdata()) == 99]
    np.testing.assert_allclose(curves, medians)
    assert any(list(line.get_xdata()) == list(line.get_ydata()) == [0, 100] for line in axis.lines)


def test_distributions_show_outcomes_and_predictions_of_the_first_run(folder, keys):
    keys = [key for key in keys if key[1] == "yacht" or key[2] >= 2]
    drawing = corrections.draw_distributions(folder, keys, "NN")
    assert titles(drawing) == ["yacht (run 0)", "ENB/h (run 2)"]
    axis = drawing.figure.axes[1]
    kept = {m: predictions.load(folder, "default", "ENB/h", 2, m) for m in ("RIO", "R+I", "R+O")}
    values = [kept["RIO"].y, kept["RIO"].base, *(each.mean for each in kept.values())]
    assert_boxes(axis, "y", dict(enumerate(values)))
    assert names_beside(drawing) == ["outcome", "NN", "RIO", "R+I", "R+O"]
    assert axis.get_xlabel() == "heating load"


@pytest.mark.parametrize("method", ["RIO", "R+I", "R+O"])
def test_outputs_show_each_test_row(method, folder, keys):
    drawing = corrections.draw_outputs(folder, keys, "NN", method)
    assert titles(drawing) == ["yacht (run 0)\n40 rows", "ENB/h (run 0)\n40 rows"]
    axis = drawing.figure.axes[0]
    kept = predictions.load(folder, "default", "yacht", 0, method)
    np.testing.assert_array_equal(axis.collections[0].get_offsets(), np.column_stack([kept.base, kept.mean]))
    assert diagonal(axis)
    assert axis.get_xlim() == axis.get_ylim()
    assert axis.get_aspect() == 1.0
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("prediction of NN", f"corrected by {method}")


def test_many_rows_are_thinned_and_the_title_says_so(rng, tmp_path):
    keep(tmp_path, "protein", rng, n=3001, methods=["RIO"], runs=1)
    drawing = corrections.draw_outputs(tmp_path, predictions.find(tmp_path, "default"), "NN", "RIO")
    assert titles(drawing) == ["protein (run 0)\n3,000 of 3,001 rows"]
    shown = np.asarray(drawing.figure.axes[0].collections[0].get_offsets())
    kept = predictions.load(tmp_path, "default", "protein", 0, "RIO")
    assert len(shown) == 3000
    assert set(map(tuple, shown)) < set(zip(kept.base, kept.mean, strict=True))


def test_improvement_has_a_panel_for_each_correction_and_a_box_for_each_data_set(rows):
    rows = rows[~((rows["dataset"] == "yacht") & (rows["method"] == "R+O"))]
    drawing = corrections.draw_improvement(rows)
    assert titles(drawing) == ["RIO", "R+I", "R+O"]
    for axis in drawing.figure.axes:
        ratios = rows[rows["method"] == axis.get_title()].set_index("dataset")["improvement_ratio"]
        present = [name for name in ("yacht", "ENB/h") if name in ratios.index]
        assert_boxes(axis, "x", {["yacht", "ENB/h"].index(name): 100 * ratios[name] for name in present})
        assert any(list(line.get_ydata()) == [50, 50] for line in axis.lines)
    ticks = [label.get_text() for label in drawing.figure.axes[-1].get_xticklabels()]
    assert ticks == ["yacht\n6 runs", "ENB/h\n6 runs"]


def test_data_sets_are_in_the_papers_order_and_strangers_last():
    assert style.in_order(["age", "MSD", "yacht", "MSD", "CCS"], DATASETS) == ["yacht", "CCS", "MSD", "age"]
    assert style.outcome_label("CCS") == "compressive strength, MPa"
    assert style.outcome_label("age") == "outcome"


def assert_whole_png(path):
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert content[-8:-4] == b"IEND"
    assert struct.unpack(">I", content[-4:])[0] == zlib.crc32(b"IEND")


@pytest.fixture
def no_networks(monkeypatch):
    """The figure that trains networks has its own test."""
    monkeypatch.setattr(gallery, "find_spec", lambda name: None)


def test_all_figures_are_written_and_what_is_missing_is_named(rows, folder, tmp_path, no_networks, capsys, rng):
    other = make_rows("CCS", rng, table="ard")
    paths = draw_all(pd.concat([rows, other]), folder, tmp_path / "new" / "figures")
    assert [path.stem.removeprefix("default-") for path in paths] == [
        "rmse",
        "coverage-95",
        "coverage-90",
        "coverage-68",
        "coverage-levels",
        "distributions",
        "outputs-RIO",
        "outputs-R-I",
        "outputs-R-O",
        "improvement",
    ]
    assert sorted(paths) == sorted((tmp_path / "new" / "figures").iterdir())
    for path in paths:
        assert_whole_png(path)
        assert path.stat().st_size < 400_000
    first, *said = capsys.readouterr().err.splitlines()
    assert first == "good-and-bad.png: not drawn, it needs PyTorch"
    absent = "ENB/c, airfoil, CCS, wine/r, wine/w, CCPP, protein, SC, CT, MSD"
    assert said == [f"{path.name}: yacht, ENB/h; nothing is stored for {absent}" for path in paths]


def test_the_figure_itself_names_what_is_missing(rows):
    for drawing in (errors.draw_rmse(rows), coverage.draw_coverage(rows, 95), corrections.draw_improvement(rows)):
        caption = " ".join(drawing.figure.get_supxlabel().split())
        assert "Nothing stored for ENB/c, airfoil, CCS, wine/r, wine/w, CCPP, protein, SC, CT, MSD." in caption


def test_without_predictions_only_figures_of_rows_are_drawn(rows, tmp_path, no_networks, capsys):
    paths = draw_all(rows, tmp_path / "absent", tmp_path)
    assert [path.name for path in paths] == [
        "default-rmse.png",
        "default-coverage-95.png",
        "default-coverage-90.png",
        "default-coverage-68.png",
        "default-improvement.png",
    ]
    said = capsys.readouterr().err
    for name in ("coverage-levels", "distributions", "outputs-RIO", "outputs-R-I", "outputs-R-O"):
        assert f"default-{name}.png: not drawn, nothing is stored for it" in said


def test_without_anything_nothing_is_drawn(rows, tmp_path, no_networks, capsys):
    empty = store_of(tmp_path / "absent.csv").read()
    for frame, table in ((rows, "ard"), (empty, "default")):
        assert draw_all(frame, tmp_path / "absent", tmp_path, table=table) == []
        assert f"{table}-rmse.png: not drawn, nothing is stored for it" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_forests_are_named_where_only_rows_say_so(rng, folder, keys):
    forest = make_rows("yacht", rng, ["RF", "RIO"])
    found = dict(gallery.drawings(forest, folder, [key for key in keys if key[3] == "RIO"]))
    assert names_beside(found["distributions"]) == ["outcome", "RF", "RIO"]
    assert found["outputs-RIO"].figure.axes[0].get_xlabel() == "prediction of RF"
    assert "outputs-R-I" not in found


def test_an_interrupted_write_leaves_the_figure_that_was_there(rows, tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    drawing = errors.draw_rmse(rows)
    style.save(drawing.figure, path)
    before = path.read_bytes()

    def half(_, target, **__):
        target.write_bytes(b"half of it")
        raise OSError("no space left")

    monkeypatch.setattr(Image.Image, "save", half)
    with pytest.raises(OSError, match="no space left"):
        style.save(drawing.figure, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
