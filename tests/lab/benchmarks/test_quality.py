"""The quality benchmark: its measures, its tests, its rows, its page. The peers themselves are not needed."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.quality.answers import (
    QUANTILES,
    SHOWN_LEVELS,
    Answer,
    crps_of_quantiles,
    measured,
    quantiles_of_intervals,
    variance_factor,
)
from benchmarks.quality.description import DESCRIPTION
from benchmarks.quality.methods import CALIBRATED, GROUPS
from benchmarks.quality.page import means_of, write_page
from benchmarks.quality.promises import base_section, coverage_section
from benchmarks.quality.protocol import DATASETS, Run, missing_tasks, store_of, without_copies, work
from benchmarks.quality.ranks import Duel, complete, critical_difference, distinct, duel, p_value, ranking
from lab.datasets import DataSet
from rio_uq import metrics


class TestMeasures:
    def test_quantiles_of_a_gaussian_measure_like_the_gaussian(self, rng):
        mean, std = rng.normal(size=2000), rng.uniform(0.5, 2.0, size=2000)
        y = mean + std * rng.normal(size=2000)
        quantiles = mean[:, None] + std[:, None] * stats.norm.ppf(QUANTILES)
        by_density = measured("g", "d", 0, "m", y, Answer(mean, 1.0, std))
        by_quantiles = measured("g", "d", 0, "m", y, Answer(mean, 1.0, quantiles=quantiles))
        assert by_quantiles.nlpd is None
        assert 0.99 * by_density.crps < by_quantiles.crps < by_density.crps
        for level in ("68", "90", "95"):
            for name in (f"coverage_{level}", f"width_{level}"):
                assert getattr(by_quantiles, name) == pytest.approx(getattr(by_density, name), rel=1e-12)

    def test_coverage_and_width_are_those_of_the_metrics(self, rng):
        y, mean, std = rng.normal(size=50), np.zeros(50), rng.uniform(0.5, 2.0, size=50)
        row = measured("g", "d", 0, "m", y, Answer(mean, 1.0, std))
        expected = metrics.coverage_curve(y, mean, std, confidence_levels=SHOWN_LEVELS)
        assert [row.coverage_68, row.coverage_90, row.coverage_95] == expected.tolist()
        assert row.width_90 == pytest.approx(metrics.interval_width(y, mean, std, confidence_level=0.9))

    def test_a_distribution_goes_before_the_std(self, rng):
        y = rng.normal(size=50)
        heavy = stats.norm(np.zeros(50), 2.0)
        row = measured("g", "d", 0, "m", y, Answer(np.zeros(50), 1.0, np.ones(50), distribution=heavy))
        other = measured("g", "d", 0, "m", y, Answer(np.zeros(50), 1.0, np.full(50, 2.0)))
        assert row == other

    def test_a_method_without_error_bars_has_an_rmse_only(self):
        row = measured("g", "d", 0, "m", np.array([1.0, 2.0]), Answer(np.array([1.0, 4.0]), 3.0))
        assert row.rmse == pytest.approx(np.sqrt(2.0))
        assert (row.nlpd, row.crps, row.coverage_95, row.width_95, row.seconds) == (None, None, None, None, 3.0)

    def test_crps_of_a_single_certain_value_is_the_absolute_error(self):
        levels = tuple(np.arange(1, 1000) / 1000)
        score = crps_of_quantiles(np.array([3.0]), np.full((1, 999), 1.0), levels)
        assert score == pytest.approx(2.0, rel=1e-2)

    def test_intervals_become_ascending_quantiles(self):
        half = stats.norm.ppf(0.5 + np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.68, 0.8, 0.9, 0.95]) / 2)
        intervals = np.stack([-half, half])[None]
        quantiles = quantiles_of_intervals(np.zeros(1), intervals)
        np.testing.assert_allclose(quantiles[0], stats.norm.ppf(QUANTILES), atol=1e-12)

    def test_the_variance_factor_is_the_most_likely_one(self, rng):
        y, mean, std = rng.normal(scale=3.0, size=200), np.zeros(200), np.ones(200)
        factor = variance_factor(y, mean, std)
        best = metrics.nlpd(y, mean, std * np.sqrt(factor))
        assert all(best < metrics.nlpd(y, mean, std * np.sqrt(factor * other)) for other in (0.9, 1.1))


class TestRanks:
    def test_nemenyi_against_the_published_table(self):
        """Table 5 of Demšar (2006) holds q at 5 % for 2 to 10 classifiers, some cut off after three digits."""
        published = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
        for k, q in enumerate(published, start=2):
            quantile = critical_difference(k, 6) / np.sqrt(k * (k + 1) / 36)
            assert quantile == pytest.approx(q, abs=1e-3)

    def test_the_published_example(self):
        """Demšar (2006): 4 classifiers on 14 data sets at 10 % have q = 2.291 and a critical difference of 1.12."""
        assert critical_difference(4, 14, 0.1) == pytest.approx(1.12, abs=5e-3)

    def test_ranks_are_averaged_over_data_sets_and_shared_by_ties(self):
        means = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 2.0], "c": [2.0, 5.0]})
        found = ranking(means)
        assert found.ranks.to_dict() == {"a": 1.25, "b": 2.25, "c": 2.5}
        assert list(found.ranks.index) == ["a", "b", "c"]
        assert found.n_datasets == 2

    def test_friedman_finds_what_is_always_so(self, rng):
        means = pd.DataFrame(rng.normal(size=(12, 3)) + np.array([0.0, 10.0, 20.0]), columns=["a", "b", "c"])
        found = ranking(means)
        assert found.p_value < 1e-4
        assert found.cliques() == []

    def test_cliques_are_the_longest_rows_within_the_critical_difference(self):
        means = pd.DataFrame(np.tile([1.0, 2.0, 3.0, 4.0], (10, 1)), columns=list("abcd"))
        found = ranking(means)
        assert found.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 60), abs=1e-3)
        assert found.cliques() == [(0, 1), (1, 2), (2, 3)]

    def test_only_what_is_complete_is_ranked(self):
        table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, np.nan], "rare": [1.0, np.nan, np.nan]})
        assert complete(table).columns.tolist() == ["a", "b"]
        assert complete(table).index.tolist() == [0, 1]

    def test_equal_predictions_are_ranked_once(self):
        table = pd.DataFrame({"a": [1.0, 2.0], "same": [1.0 + 1e-8, 2.0], "b": [1.0, 2.1]})
        assert list(distinct(table)) == ["a", "b"]

    def test_the_corrected_test_is_more_careful_than_the_plain_one(self, rng):
        one = pd.Series(rng.normal(size=5))
        other = one + 0.5 + 0.2 * pd.Series(rng.normal(size=5))
        plain = stats.ttest_rel(one, other)
        corrected = p_value(one, other)
        assert plain.pvalue < corrected < 1.0
        statistic = plain.statistic / np.sqrt(1.0 + 5 * 0.25)
        assert corrected == pytest.approx(2.0 * stats.t.sf(abs(statistic), 4))

    def test_nothing_is_sure_of_a_single_run_or_of_equal_values(self):
        assert p_value(pd.Series([1.0]), pd.Series([2.0])) == 1.0
        assert p_value(pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0])) == 1.0
        assert p_value(pd.Series([1.0, 2.0]), pd.Series([2.0, 3.0])) == 0.0

    def test_duels_count_data_sets(self):
        runs = {
            "sure": pd.DataFrame({"a": [1.0, 1.1, 1.0], "b": [2.0, 2.1, 2.0]}),
            "unsure": pd.DataFrame({"a": [1.0, 3.0, 2.0], "b": [1.5, 1.0, 2.5]}),
            "without": pd.DataFrame({"a": [1.0, 1.0, 1.0]}),
        }
        assert duel(runs, "a", "b") == Duel(better=1, worse=1, surely_better=1, surely_worse=0)
        assert duel(runs, "b", "a") == Duel(better=1, worse=1, surely_better=0, surely_worse=1)


@pytest.fixture
def toy(tmp_path, monkeypatch, rng):
    """A small data set with copies of rows, read from a file as the others are."""
    table = rng.normal(size=(40, 3))
    np.savetxt(tmp_path / "toy.data", np.vstack([table, table[:10]]))

    def read(content):
        rows = np.loadtxt(content.decode().splitlines())
        return rows[:, :-1], rows[:, -1]

    dataset = DataSet("toy", "Toy", 0, "toy.data", None, (50, 2), "y", read)
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    monkeypatch.setitem(DATASETS, "toy", dataset)
    return dataset


class TestRuns:
    METHODS = ("ET", "GB", "GP")

    def test_rows_are_written_one_by_one_and_never_twice(self, toy, tmp_path, capsys):
        path = tmp_path / "rows.csv"
        tasks = missing_tasks(GROUPS, ["toy"], 2, list(self.METHODS), path)
        assert [(task.table, task.run, task.methods) for task in tasks] == [
            ("trees", 0, ("ET", "GB")),
            ("no model", 0, ("GP",)),
            ("trees", 1, ("ET", "GB")),
            ("no model", 1, ("GP",)),
        ]
        for task in tasks[:2]:
            work(task, path)
        assert store_of(path).read().method.tolist() == ["ET", "GB", "GP"]
        path.write_text(path.read_text() + "trees,toy,1,ET,0.5")  # a process that was killed while it wrote
        left = missing_tasks(GROUPS, ["toy"], 2, list(self.METHODS), path)
        assert left == tasks[2:]
        for task in left:
            work(task, path)
        assert missing_tasks(GROUPS, ["toy"], 2, list(self.METHODS), path) == []
        rows = store_of(path).read()
        assert len(rows) == 6
        assert rows.nlpd.notna().tolist() == (rows.method == "GP").tolist()

    def test_a_method_that_fails_leaves_no_row_and_stops_nobody(self, toy, tmp_path, monkeypatch, capsys):
        def fail(run):
            raise ArithmeticError("no luck today")

        monkeypatch.setitem(GROUPS["trees"], "ET", fail)
        path = tmp_path / "rows.csv"
        (task,) = missing_tasks(GROUPS, ["toy"], 1, ["ET", "GB"], path)
        work(task, path)
        assert store_of(path).read().method.tolist() == ["GB"]
        assert "ET failed on toy, run 0" in capsys.readouterr().err
        (again,) = missing_tasks(GROUPS, ["toy"], 1, ["ET", "GB"], path)
        assert again.methods == ("ET",)

    def test_all_methods_see_the_same_split(self, toy):
        first, second = Run.of(toy, 3), Run.of(toy, 3)
        np.testing.assert_array_equal(first.y_test, second.y_test)
        np.testing.assert_array_equal(first.held_out(), second.held_out())
        assert (len(first.y_test), int(first.held_out().sum())) == (10, 8)

    def test_copies_are_left_out(self, toy):
        single = without_copies(toy, 40)
        X, y = single.load()
        full, _ = toy.load()
        assert single.name == "toy*"
        np.testing.assert_array_equal(X, full[:40])
        assert len(np.unique(np.column_stack([X, y]), axis=0)) == 40

    @pytest.mark.parametrize("name", ["wine/r*", "wine/w*"])
    def test_wine_without_copies(self, name):
        if DATASETS[name].find() is None:
            pytest.skip("the UCI files are not there")
        X, y = DATASETS[name].load()
        rows = pd.DataFrame(np.column_stack([X, y]))
        assert not rows.duplicated().any()
        whole = pd.DataFrame(np.column_stack(DATASETS[name.rstrip("*")].load()))
        pd.testing.assert_frame_equal(rows, whole.drop_duplicates(ignore_index=True))


def rows_for_a_page(rng):
    """Rows of four methods on three data sets: 'quantile forest' has no NLPD, and 'ET' no error bars."""
    rows = []
    for dataset in ("yacht", "wine/r", "wine/r*"):
        for run in range(3):
            for i, method in enumerate(("NN", "ET", "ET+RIO", "quantile forest")):
                level = 4.0 - i + 0.01 * rng.normal()
                row = {"table": "t", "dataset": dataset, "run": run, "method": method, "rmse": level, "seconds": 1.5}
                if method != "ET":
                    row |= {"crps": level / 2, "coverage_68": 0.7, "coverage_90": 0.9, "coverage_95": 0.94}
                    row |= {"width_68": 1.0, "width_90": 2.0, "width_95": 3.0}
                if method in ("NN", "ET+RIO"):
                    row["nlpd"] = level - 3.0
                rows.append(row)
    return pd.DataFrame(rows)


class TestPage:
    def test_page(self, tmp_path, rng):
        pytest.importorskip("matplotlib")
        path = tmp_path / "new" / "quality.md"
        write_page(rows_for_a_page(rng), path)
        text = path.read_text()
        assert {file.name for file in path.parent.iterdir()} == {"crps.svg", "nlpd.svg", "rmse.svg", "quality.md"}
        assert "| quantile forest | **1.00** | - | **1.00** |" in text
        assert "| ET+RIO | 2.00 | **1.00** | 2.00 |" in text
        assert "| NN | 2 : 0 (2 : 0) | 2 : 0 (2 : 0) | 2 : 0 (2 : 0) |" in text
        assert "### wine/r* (1359 × 11, quality)" in text
        assert "### wine/r (1599 × 11, quality)" in text
        table = text[text.index("### yacht") :]
        forest = next(line for line in table.splitlines() if line.startswith("| quantile forest"))
        assert forest.count("**") == 4
        assert forest.endswith("| 0.70 / 0.90 / 0.94 | 1 / 2 / 3 | 1.5 | 3 |")
        alone = next(line for line in table.splitlines() if line.startswith("| ET |"))
        assert alone.endswith("† | - | - | - / - / - | - / - / - | 1.5 | 3 |")

    def test_promises(self, rng):
        rows = rows_for_a_page(rng)
        plain = rows[rows.method == "ET+RIO"].assign(method="GP", nlpd=lambda own: own.nlpd + 0.5)
        rows = pd.concat([rows, plain])
        yacht = next(line for line in coverage_section(rows).splitlines() if line.startswith("| yacht"))
        assert yacht == "| yacht | - | +2.0 / +0.0 / -1.0 (± 0.0) | - | - |"
        ratio, difference = (line for line in base_section(rows).splitlines() if line.startswith("| yacht"))
        runs = rows[rows.dataset == "yacht"].groupby("method").rmse.mean()
        assert ratio == f"| yacht | - | - | {runs['ET+RIO'] / runs['ET']:.3f}‡ | - | - |"
        assert difference == "| yacht | - | - | -0.500‡ | - | - |"
        swapped = rows.replace({"method": {"ET": "ET+RIO", "ET+RIO": "ET"}})
        assert f"{runs['ET'] / runs['ET+RIO']:.3f}†" in base_section(swapped)

    def test_the_same_rows_give_the_same_files(self, tmp_path, rng):
        pytest.importorskip("matplotlib")
        rows = rows_for_a_page(rng)
        for folder in ("one", "two"):
            write_page(rows, tmp_path / folder / "quality.md")
        for file in (tmp_path / "one").iterdir():
            assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()

    def test_wine_counts_once_in_ranks(self, rng):
        assert list(means_of(rows_for_a_page(rng), "rmse").index) == ["yacht", "wine/r*"]

    def test_every_method_is_described(self):
        assert set(DESCRIPTION) == {name for group in GROUPS.values() for name in group} | set(CALIBRATED)


class TestNetworks:
    @pytest.fixture
    def run(self, toy, rng):
        pytest.importorskip("torch")
        X = rng.uniform(-2.0, 2.0, size=(150, 2))
        y = 100.0 + 10.0 * (X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=150))
        return Run(toy, 0, X[:100], y[:100], X[100:], y[100:])

    @pytest.mark.parametrize("name", ["deep_ensemble", "mc_dropout", "last_layer_laplace"])
    def test_error_bars_cover_and_predictions_are_good(self, run, name, monkeypatch):
        from benchmarks.quality import networks
        from lab import base_models

        monkeypatch.setattr(networks, "MAX_EPOCHS", 80)
        monkeypatch.setattr(networks, "N_MEMBERS", 2)
        monkeypatch.setattr(base_models, "MAX_EPOCHS", 250)
        monkeypatch.setattr(base_models, "PATIENCE", 100)
        answer = getattr(networks, name)(run)
        row = measured("networks", "toy", 0, name, run.y_test, answer)
        assert row.rmse < 0.5 * run.y_test.std()
        assert 0.7 <= row.coverage_95 <= 1.0
        assert row.nlpd < metrics.nlpd(run.y_test, np.full(50, 100.0), np.full(50, run.y_test.std()))

    def test_laplace_is_the_posterior_of_ridge_regression(self, rng):
        pytest.importorskip("torch")
        from benchmarks.quality.networks import _laplace

        features, new = rng.normal(size=(30, 4)), rng.normal(size=(5, 4))
        covariance = np.linalg.inv(features.T @ features / 0.3 + 2.0 * np.eye(4))
        np.testing.assert_allclose(_laplace(features)(new, 2.0, 0.3), np.diag(new @ covariance @ new.T))

    def test_the_noise_variance_is_the_most_likely_one(self, rng):
        pytest.importorskip("torch")
        from benchmarks.quality.networks import most_likely_noise

        variance = rng.uniform(0.1, 2.0, size=20_000)
        y = np.sqrt(variance + 1.5) * rng.normal(size=20_000)
        assert most_likely_noise(y, np.zeros(20_000), variance) == pytest.approx(1.5, rel=0.05)
