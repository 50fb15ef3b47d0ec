"""The worlds are what the page says they are, the formulas are right, and rows become tables as they should."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from experiments import __main__ as command_line
from experiments.when import page, simulators, stand_ins, sweeps, tables
from experiments.when.problem import N_TEST, Problem, ridge
from experiments.when.run import KEY, key_of, rows_of, run
from experiments.when.summary import summary, verdict
from lab.json_lines import read_rows, write_rows

GENERATED = {"smooth": 6, "like SC": 81, "like CT": 384, "Friedman": 10, "borehole": 8, "wing weight": 10} | {
    f"wide {d}": d for d in (2, 8, 32, 128, 384)
}


def row(**given):
    return {
        "sweep": "n",
        "world": "smooth",
        "n": 50,
        "run": 0,
        "model": "boosting",
        "level": None,
        "value": 50.0,
        "d": 6,
        "std": 1.0,
        "uses_model": True,
        "model_rmse": 2.0,
        "gp_rmse": 0.5,
        "rio_rmse": 1.0,
        "gp_nlpd": 0.7,
        "rio_nlpd": 1.2,
        "gp_crps": 0.25,
        "rio_crps": 0.5,
        "gp_coverage": 0.95,
        "rio_coverage": 0.9,
        "gp_seconds": 1.0,
        "rio_seconds": 2.0,
    } | given


class TestWorlds:
    @pytest.mark.parametrize(("name", "d"), GENERATED.items())
    def test_rows_have_the_shapes_promised_and_follow_from_the_run(self, name, d):
        first, same, other = (sweeps.PROBLEMS[name](20, number) for number in (1, 1, 2))
        assert first.train.X.shape == (20, d)
        assert first.train.y.shape == (20,)
        for test in first.tests.values():
            assert test.X.shape == (N_TEST, d)
            assert test.y.shape == (N_TEST,)
        np.testing.assert_array_equal(first.train.y, same.train.y)
        assert not np.allclose(first.train.y, other.train.y)

    @pytest.mark.parametrize(
        ("name", "truth", "noise"),
        [
            ("smooth", tables.smooth_truth, tables.SMOOTH_NOISE),
            ("wide 2", tables.wide_truth, tables.WIDE_NOISE),
            ("wide 32", tables.wide_truth, tables.WIDE_NOISE),
            ("Friedman", tables.friedman_truth, tables.FRIEDMAN_NOISE),
            ("power", simulators.power(simulators.DRAG), simulators.POWER_NOISE),
            ("oscillator", simulators.oscillator(simulators.DAMPING), simulators.OSCILLATOR_NOISE),
        ],
    )
    def test_outcomes_are_the_truth_and_noise_of_the_size_said(self, name, truth, noise):
        for test in sweeps.PROBLEMS[name](20, 0).tests.values():
            error = test.y - truth(test.X)
            assert np.std(error) == pytest.approx(noise, rel=0.08)
            assert np.mean(error) == pytest.approx(0.0, abs=4.0 * noise / np.sqrt(N_TEST))

    @pytest.mark.parametrize(("d", "most"), [(2, 2), (8, 6), (384, 6)])
    def test_a_handful_of_columns_matter(self, d, most, rng):
        X = rng.uniform(-1.0, 1.0, (500, d))
        matters = []
        for column in range(d):
            changed = X.copy()
            changed[:, column] = rng.permutation(X[:, column])
            matters.append(not np.allclose(tables.wide_truth(changed), tables.wide_truth(X)))
        assert sum(matters) == most

    def test_friedman_is_that_of_scikit_learn(self):
        X, y = make_friedman1(100, n_features=10, noise=0.0, random_state=0)
        np.testing.assert_allclose(tables.friedman_truth(X), y)

    def test_a_blend_goes_from_its_own_error_to_the_truth(self, rng):
        X = rng.uniform(size=(2000, 10))
        truth = tables.friedman_truth(X)
        errors = [np.sqrt(np.mean((tables.blend(share)(X) - truth) ** 2)) for share in (*tables.SHARES, 1.0)]
        assert errors == sorted(errors, reverse=True)
        assert errors[0] > np.std(truth)
        assert errors[-1] == 0.0

    def test_statistics_of_a_compound(self):
        values, shares = np.array([[1.0], [3.0]]), np.array([0.25, 0.75])
        found = stand_ins.statistics(values, shares).ravel()
        entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
        np.testing.assert_allclose(found[:5], [2.0, np.sqrt(3.0), entropy, 2.0, 1.0])
        np.testing.assert_allclose(found[[5, 9]], [2.5, np.sqrt(0.75)])
        weighted = np.array([0.1, 0.9])
        np.testing.assert_allclose(found[[6, 7, 8]], [3.0**0.75, -np.sum(weighted * np.log(weighted)), 4.0])

    def test_families_of_compounds_have_temperatures_of_their_own(self):
        properties = np.ones((stand_ins.ELEMENTS, stand_ins.PROPERTIES))
        even = np.array([0.5, 0.5])
        high, middle, low = (
            stand_ins.temperature(np.array(parts), even, properties) for parts in ([0, 1], [2, 3], [3, 4])
        )
        assert high == pytest.approx(90.0 - 150.0 * 0.04 - 20.0)
        assert middle - low == pytest.approx(25.0)

    def test_bins_of_a_slice_are_never_negative_and_often_empty(self):
        rows = stand_ins.slices(200, 0).train
        assert rows.X.min() == 0.0
        assert 0.3 < (rows.X == 0.0).mean() < 0.95


class TestSimulators:
    def test_borehole_is_a_flow_through_resistances_in_series(self, rng):
        X = rng.uniform(*simulators.BOREHOLE, (100, 8))
        r_w, r, upper, H_u, lower, H_l, L, K_w = X.T
        log = np.log(r) - np.log(r_w)
        resistance = log / (2 * np.pi * upper) + log / (2 * np.pi * lower) + L / (np.pi * r_w**2 * K_w)
        np.testing.assert_allclose(simulators.borehole(X), (H_u - H_l) / resistance)

    def test_wing_of_a_light_aircraft(self):
        X = np.array([[174.0, 252.0, 7.52, 0.0, 34.0, 0.672, 0.12, 3.8, 2000.0, 0.064]])
        logarithms = [np.log(0.036), 0.758 * np.log(174), 0.0035 * np.log(252), 0.6 * np.log(7.52), 0.006 * np.log(34)]
        logarithms += [0.04 * np.log(0.672), -0.3 * np.log(12), 0.49 * np.log(7600)]
        assert simulators.wing_weight(X)[0] == pytest.approx(np.exp(np.sum(logarithms)) + 174 * 0.064)
        swept = X.copy()
        swept[0, 3] = 10.0
        without_paint = [simulators.wing_weight(wing)[0] - 174 * 0.064 for wing in (X, swept)]
        assert without_paint[1] / without_paint[0] == pytest.approx(np.cos(np.pi / 18) ** -0.9)

    @pytest.mark.parametrize(
        ("truth", "cheap", "bounds", "left"),
        [
            (simulators.borehole, simulators.cheap_borehole, simulators.BOREHOLE, 0.0),
            (simulators.wing_weight, simulators.cheap_wing_weight, simulators.WING, 0.11),
        ],
    )
    def test_cheap_versions_are_off_mainly_by_a_factor(self, truth, cheap, bounds, left, rng):
        X = rng.uniform(*bounds, (2000, bounds.shape[1]))
        y, y_cheap = truth(X), cheap(X)
        assert np.std(y - y_cheap) > 0.1 * np.std(y)
        scaled = y_cheap * y.mean() / y_cheap.mean()
        assert np.std(y - scaled) / np.std(y) == pytest.approx(left, abs=0.01 if left else 0.001)

    def test_the_oscillator_solves_its_equation(self):
        damping, step = 0.08, 1e-4
        t = np.linspace(0.5, 9.5, 50)
        x = [
            simulators.oscillator(damping)(np.column_stack([t + shift, np.full(50, 1.2), np.full(50, 0.9)]))
            for shift in (-step, 0.0, step)
        ]
        speed, acceleration = (x[2] - x[0]) / (2 * step), (x[2] - 2 * x[1] + x[0]) / step**2
        np.testing.assert_allclose(acceleration + 2 * damping * 0.9 * speed + 0.9**2 * x[1], 0.0, atol=1e-6)

    def test_power_at_a_speed(self):
        force = 0.5 * 1.2 * 0.3 * 2.2 * 400.0 + 1500.0 * 9.81 * 0.03
        assert simulators.power(0.3)(np.array([[20.0, 1500.0, 0.02]]))[0] == pytest.approx(force * 20.0 / 1000.0)

    def test_test_rows_lie_so_far_beyond(self):
        problem = sweeps.PROBLEMS["power"](50, 0)
        ranges = {0.0: (10, 25), 0.25: (25, 28.75), 0.5: (28.75, 32.5), 1.0: (32.5, 40)}
        assert list(problem.tests) == list(ranges)
        for place, (low, high) in ranges.items():
            speed = problem.tests[place].X[:, 0]
            assert low <= speed.min() < speed.max() <= high
        assert problem.train.X[:, 0].max() <= 25.0


class TestCases:
    def test_few_rows_come_first(self):
        sizes = [case.n for case in sweeps.cases()]
        assert sizes == sorted(sizes)
        assert set(sizes) >= {10, 300, 20_000}

    def test_fits_have_names_of_their_own(self):
        keys = [
            key_of(case, candidate)
            for case in sweeps.cases(["quality", "labels"])
            for candidate in sweeps.PROBLEMS[case.world](case.n, case.run).candidates
        ]
        assert len(set(keys)) == len(keys)


class TestRows:
    def test_a_case_is_measured_once(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sweeps, "REPETITIONS", {10: 1})
        monkeypatch.setitem(sweeps.SWEEPS, "labels", ((("borehole",), (10,)),))
        path = tmp_path / "when.jsonl"
        run(path, ["labels"])
        (stored,) = read_rows(path)
        assert set(stored) == set(row())
        assert stored["n"] == stored["value"] == 10
        assert stored["rio_rmse"] < stored["gp_rmse"]
        assert 0.0 <= stored["rio_coverage"] <= 1.0
        run(path, ["labels"])
        assert read_rows(path) == [stored]

    def test_every_set_of_test_rows_has_a_row(self):
        case = sweeps.Case("n", "smooth", 30, 0)
        problem = sweeps.PROBLEMS["smooth"](30, 0)
        (test,) = problem.tests.values()
        two = Problem(problem.train, {0.0: test, 1.0: test}, (ridge(),))
        first, second = rows_of(case, two, list(two.candidates))
        assert (first["value"], second["value"]) == (0.0, 1.0)
        assert first["rio_rmse"] == second["rio_rmse"]
        model = two.candidates[0].make(0).fit(*problem.train)
        error = np.sqrt(np.mean((model.predict(test.X) - test.y) ** 2))
        assert first["model_rmse"] == pytest.approx(error, rel=1e-5)
        assert [first[name] for name in KEY] == ["n", "smooth", 30, 0, "ridge", None]


class TestPage:
    @pytest.fixture
    def rows(self):
        return [
            row(),
            row(run=1, rio_rmse=1.1, rio_nlpd=1.3),
            row(n=500, value=500.0, model_rmse=1.5),
            row(sweep="d", world="wide 8", model="ridge", n=1000, value=8.0, d=8),
            row(sweep="d", world="like SC", model="ridge", n=1000, value=81.0, d=81),
            row(sweep="quality", world="Friedman", model="blend", level=0.5, value=0.5, n=300),
        ]

    def test_summary_has_ratios_and_their_errors(self, rows):
        first = summary(rows).query("sweep == 'n' and n == 50").iloc[0]
        assert first["to_model"] == pytest.approx(np.log(np.sqrt(0.5 * 0.55)))
        assert first["to_gp"] == pytest.approx(np.log(np.sqrt(2.0 * 2.2)))
        assert first["to_gp_error"] == pytest.approx(np.log(1.1) / 2)
        assert first["nlpd_to_gp"] == pytest.approx(0.55)
        assert first["runs"] == 2

    @pytest.mark.parametrize(
        ("mean", "error", "word"),
        [(-0.3, 0.1, "better"), (0.3, 0.1, "worse"), (-0.1, 0.1, "unsure"), (-0.3, np.nan, "unsure")],
    )
    def test_verdict(self, mean, error, word):
        assert verdict(mean, error) == word

    def test_losses_are_said_to_be_losses(self, rows):
        text = page.section(summary(rows), "n")
        assert "| **0.524 ± 4.8 %** | 2.098 ± 4.8 % worse |" in text
        assert "0.55 ± 0.05 worse" in text
        assert "| smooth, boosting | 500 | 1 |" in text

    def test_an_infinite_density_is_shown_and_compared_with_nothing(self, rows):
        infinite = row(rio_nlpd=np.inf)
        for some in ([infinite], [infinite, row(run=1), row(run=2, rio_nlpd=1.3)]):
            assert "| 0.70 | inf | – |" in page.section(summary(some), "n")

    def test_single_repetitions_are_not_judged_and_what_is_not_measured_is_named(self, rows):
        text = page.counts(summary(rows))
        assert "| More rows | 2 | 1 | 1 / 0 / 0 | 0 / 0 / 1 | 0 / 0 / 1 |" in text
        assert "| More columns | 2 | 0 | 0 / 0 / 0 |" in text
        assert "protein at 20,000 rows" in text
        assert "smooth at 50 rows" not in text

    def test_command_writes_the_page_and_leaves_its_text(self, rows, tmp_path, monkeypatch):
        monkeypatch.setattr(command_line, "FOLDER", tmp_path)
        monkeypatch.setattr(command_line, "FIGURES", tmp_path / "figures")
        path = tmp_path / "when.jsonl"
        write_rows(path, rows)
        (tmp_path / "WHEN.md").write_text("# What does the model add?\n\nMuch.\n\n")
        for _ in range(2):
            command_line.main(["when", "--page-only", "--results", str(path)])
        text = (tmp_path / "WHEN.md").read_text()
        assert text.startswith("# What does the model add?\n\nMuch.\n\n<!--")
        assert text.count("## More rows") == 1
        assert "## Few measured rows" not in text
        assert "(figures/when.png)" in text
        assert (tmp_path / "figures" / "when.png").stat().st_size > 10_000

    def test_without_rows_there_is_no_page(self, tmp_path):
        with pytest.raises(SystemExit, match="there are no rows"):
            command_line.main(["when", "--page-only", "--results", str(tmp_path / "when.jsonl")])
