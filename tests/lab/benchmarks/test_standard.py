"""The standard splits: rows, tasks, tests and tables, on made-up data of the same format. No peer is needed."""

import re

import numpy as np
import pandas as pd
import pytest

from benchmarks import command
from benchmarks.quality.answers import Answer
from benchmarks.standard import methods
from benchmarks.standard.beyond import dataset_table, section, shared_rows, summary_table
from benchmarks.standard.methods import COLUMNS, DESCRIPTION, METHODS, PACKAGES, PUBLISHED, RIO, applies
from benchmarks.standard.models import MODELS, alone, plain_gp, rio_on
from benchmarks.standard.page import mean_and_error, means_table, page, published_table, target_table
from benchmarks.standard.run import SEEN, UNSEEN, add_published, missing_tasks, rounded, store_of, work
from benchmarks.standard.splits import Split, left_out_rows, numbers_of, split_of
from benchmarks.standard.statistics import Duel, beaten, best_datasets, by_split, duels
from benchmarks.standard.tuned import TUNED, UNTOUCHED
from lab.datasets.standard import STANDARD, StandardSet
from lab.store import KEY


@pytest.fixture
def toy(tmp_path, monkeypatch, rng):
    """A small set of two splits, whose second feature has two values."""
    folder = tmp_path / "standard"
    folder.mkdir()
    X = np.column_stack([rng.uniform(-2.0, 2.0, size=60), rng.integers(2, size=60)])
    np.savez(folder / "toy.npz", X=X, y=np.sin(X[:, 0]) + X[:, 1], test=np.array([np.arange(6), np.arange(6, 12)]))
    lines = ["dataset,split,rmse,log_likelihood", "toy,0,0.5,-1.5", "toy,1,0.25,2.0", "yacht,0,9.0,9.0"]
    (folder / "mc_dropout.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    monkeypatch.setitem(STANDARD, "toy", StandardSet("toy", "toy", (60, 2), 2, "y"))
    numbers_of.cache_clear()
    yield "toy"
    numbers_of.cache_clear()


class TestSplits:
    def test_a_standard_split_is_that_of_the_file(self, toy):
        split = split_of("standard", toy, 1)
        rows = STANDARD[toy].load()
        np.testing.assert_array_equal(split.X_test, rows.X[6:12])
        np.testing.assert_array_equal(split.y_train, np.delete(rows.y, np.arange(6, 12)))
        assert (split.number, split.hidden) == (1, (50,))

    def test_a_gap_is_in_the_middle_and_tails_are_at_the_ends(self, rng):
        feature = rng.permutation(90).astype(float)
        gap, tails = (left_out_rows(feature, table) for table in ("gap", "tails"))
        assert sorted(feature[gap]) == list(range(30, 60))
        assert sorted(feature[tails]) == [*range(15), *range(75, 90)]

    def test_equal_values_stay_together(self, rng):
        feature = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], size=200)
        for table in ("gap", "tails"):
            left_out = left_out_rows(feature, table)
            assert not set(feature[left_out]) & set(feature[~left_out])

    @pytest.mark.parametrize(
        "feature", [np.zeros(50), np.repeat([0.0, 1.0], 25), np.repeat([0.0, 1.0, 2.0], [1, 1, 98])]
    )
    def test_few_values_leave_no_part_out(self, feature):
        assert left_out_rows(feature, "gap") is None
        assert left_out_rows(feature, "tails") is None

    def test_each_feature_that_can_be_split_has_a_number(self, toy):
        assert numbers_of("standard", toy) == (0, 1)
        assert numbers_of("gap", toy) == (0,)
        split = split_of("gap", toy, 0)
        inside = (split.X_train[:, 0] > split.X_test[:, 0].min()) & (split.X_train[:, 0] < split.X_test[:, 0].max())
        assert not inside.any()


class TestRuns:
    def test_rows_are_written_one_by_one_and_never_twice(self, toy, tmp_path, monkeypatch, capsys):
        def fails(split):
            raise ValueError("no luck")

        for name in ("NGBoost", "CQR"):
            monkeypatch.delitem(PACKAGES, name)
            monkeypatch.setitem(METHODS, name, lambda split: Answer(split.y_test, 0.0, np.ones(len(split.y_test))))
        monkeypatch.setitem(METHODS, "ET+RIO", fails)
        path, names = tmp_path / "rows.csv", ["ET+RIO", "NGBoost", "CQR"]
        tasks = missing_tasks(["standard", "gap", "tails"], [toy], names, 20, path)
        assert [(task.table, task.run, task.methods) for task in tasks] == [
            ("standard", 0, ("ET+RIO", "NGBoost", "CQR")),
            ("standard", 1, ("ET+RIO", "NGBoost", "CQR")),
            ("gap", 0, ("ET+RIO", "CQR")),
            ("tails", 0, ("ET+RIO", "CQR")),
        ]
        work(tasks[0], path)
        assert "no luck" in capsys.readouterr().err
        rows = store_of(path).read()
        assert rows["method"].tolist() == ["NGBoost", "CQR"]
        assert rows["rmse"].tolist() == [0.0, 0.0]
        assert (rows["seconds"] >= 0.0).all()
        again = missing_tasks(["standard"], [toy], names, 1, path)
        assert [task.methods for task in again] == [("ET+RIO",)]

    def test_published_rows_are_added_once(self, toy, tmp_path):
        path = tmp_path / "rows.csv"
        for n_runs in (1, 20, 20):
            add_published([toy], n_runs, path)
        rows = store_of(path).read()
        assert rows[KEY].to_numpy().tolist() == [["standard", toy, run, PUBLISHED] for run in (0, 1)]
        assert rows["nlpd"].tolist() == [1.5, -2.0]
        assert rows["crps"].isna().all()

    def test_rows_of_ours_are_forgotten_packed_ones_too(self, toy, tmp_path, rng):
        path = tmp_path / "rows.csv"
        store, rows = store_of(path), made_up(rng, runs=2, datasets=["yacht"])
        rows.reindex(columns=store.columns).iloc[:4].to_csv(path, index=False)
        store.pack()
        rows.reindex(columns=store.columns).iloc[4:].to_csv(path, index=False)
        command.main("standard", ["forget", "--results", str(path)])
        assert set(store.read()["method"]) == {"NGBoost", PUBLISHED}
        assert len(store.read()) == len(store.keys()) == 4

    def test_what_nobody_has_looked_at_is_left_out(self):
        assert set(UNSEEN) == {"kin8nm", "naval"}
        assert set(SEEN) == {*STANDARD} - {"kin8nm", "naval"}

    def test_numbers_are_short(self):
        from benchmarks.quality.answers import Row

        row = rounded(Row("t", "d", 0, "m", 0.123456789, None, *[1.0] * 8))
        assert (row.rmse, row.nlpd, row.run) == (0.123457, None, 0)

    def test_every_method_is_described(self):
        assert set(DESCRIPTION) == {*METHODS, PUBLISHED} == {*COLUMNS, *RIO.values()}
        assert [name for name in METHODS if applies("gap", name)] == list(methods.BEYOND_DATA)
        assert set(TUNED) == set(STANDARD)
        assert UNTOUCHED == ["boston", "kin8nm", "naval"]


class TestModels:
    @pytest.fixture
    def split(self, rng):
        X = rng.uniform(-2.0, 2.0, size=(120, 1))
        y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=120)
        return Split(0, (5,), X[:90], y[:90], X[90:], y[90:])

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("name", MODELS)
    def test_models_learn_and_have_no_error_bars(self, split, name):
        answer = alone(name)(split)
        assert np.sqrt(np.mean((split.y_test - answer.mean) ** 2)) < 0.8 * split.y_test.std()
        assert answer.density is None

    @pytest.mark.parametrize("method", [rio_on("HGB"), plain_gp])
    def test_ours_have_a_distribution(self, split, method, few_iterations):
        answer = method(split)
        assert np.sqrt(np.mean((split.y_test - answer.mean) ** 2)) < 0.3
        lower, upper = answer.density.interval(0.95)
        assert ((lower <= split.y_test) & (split.y_test <= upper)).mean() > 0.8


def made_up(rng, table="standard", names=("ET+RIO", "GP", "NGBoost", PUBLISHED), datasets=("boston", "yacht"), runs=6):
    """Rows of which the first method is the best, the others by a tenth worse each."""
    rows = []
    for dataset in datasets:
        for run in range(runs):
            for i, method in enumerate(names):
                level = 1.0 + 0.1 * i + 0.001 * rng.normal()
                row = {
                    "table": table,
                    "dataset": dataset,
                    "run": run,
                    "method": method,
                    "rmse": level,
                    "nlpd": level - 2,
                }
                if method != PUBLISHED:
                    row |= {"crps": level / 2, "coverage_68": 0.7, "coverage_90": 0.9, "coverage_95": 0.94}
                    row |= {"width_68": 1.0, "width_90": 2.0, "width_95": 2.0 * level, "seconds": 1.5}
                rows.append(row)
    return pd.DataFrame(rows)


class TestStatistics:
    def test_the_best_and_what_is_worse(self, rng):
        frames = by_split(made_up(rng), "rmse")
        assert list(frames) == ["boston", "yacht"]
        assert list(frames["yacht"].columns) == ["ET+RIO", "GP", PUBLISHED, "NGBoost"]
        assert beaten(frames) == {(name, method) for name in frames for method in ("GP", "NGBoost", PUBLISHED)}
        assert duels(frames, "GP") == {
            "ET+RIO": Duel(0, 2, 0, 2),
            "NGBoost": Duel(2, 0, 2, 0),
            PUBLISHED: Duel(2, 0, 2, 0),
        }

    def test_a_smaller_mean_over_fewer_splits_is_not_worse(self, rng):
        rows = made_up(rng, names=("NGBoost", "GP"))
        frames = by_split(rows[(rows["method"] != "NGBoost") | (rows["run"] > 1)], "rmse")
        assert beaten(frames) == set()

    def test_only_splits_that_both_have_are_compared(self, rng):
        rows = made_up(rng)
        rows.loc[(rows["method"] == "GP") & (rows["run"] == 0), "rmse"] = -100.0
        rows = rows[(rows["method"] != "ET+RIO") | (rows["run"] > 0)]
        assert best_datasets(by_split(rows, "rmse"), "ET+RIO") == {"boston": True, "yacht": True}
        assert duels(by_split(rows, "rmse"), "ET+RIO")["GP"] == Duel(2, 0, 2, 0)

    def test_other_rios_are_no_rivals_and_a_draw_counts(self, rng):
        rows = made_up(rng, names=("HGB+RIO", "ET+RIO", "NGBoost"))
        equal = rows[rows["method"] == "ET+RIO"].assign(method="GP")
        frames = by_split(pd.concat([rows, equal]), "rmse")
        assert best_datasets(frames, "ET+RIO") == {"boston": True, "yacht": True}
        assert best_datasets(frames, "NN+RIO") == {}

    def test_an_infinite_density_makes_nothing_sure(self, rng):
        rows = made_up(rng)
        rows.loc[(rows["method"] == "GP") & (rows["run"] == 0), "nlpd"] = np.inf
        assert duels(by_split(rows, "nlpd"), "ET+RIO")["GP"] == Duel(2, 0, 0, 0)

    @pytest.mark.parametrize(("datasets", "word"), [(2, "open"), (7, "yes"), (9, "yes")])
    def test_targets_are_reached_on_seven_of_nine(self, rng, datasets, word):
        table = target_table(made_up(rng, datasets=list(STANDARD)[:datasets]))
        line = next(line for line in table.splitlines() if line.startswith("| ET+RIO: best mean NLPD"))
        assert line == f"| ET+RIO: best mean NLPD | 7 of 9 | {datasets} of {datasets} | {word} |"
        assert "| NN+RIO: best mean RMSE | 7 of 9 | not run yet | open |" in table

    def test_targets_are_missed_on_three(self, rng):
        table = target_table(made_up(rng, names=("NGBoost", "ET+RIO"), datasets=list(STANDARD)[:3]))
        assert "| ET+RIO: best mean NLPD | 7 of 9 | 0 of 3 (not boston, concrete, energy) | **no** |" in table


class TestPage:
    def test_cells(self, rng):
        assert mean_and_error(pd.Series([1.0, 2.0, 3.0])) == "2.00 ± 0.58"
        assert mean_and_error(pd.Series([0.0012, 0.0014])) == "0.0013 ± 0.0001"
        assert mean_and_error(pd.Series([-5.0])) == "-5.00"
        assert mean_and_error(pd.Series([1.0, np.inf])) == "inf"
        first, _, yacht = means_table(made_up(rng, datasets=["yacht"]), "rmse").splitlines()
        assert first == f"| data set | ET+RIO | GP | {PUBLISHED} | NGBoost |"
        assert yacht == "| yacht | **1.00 ± 0.00** (6) | 1.10 ± 0.00† (6) | 1.30 ± 0.00† (6) | 1.20 ± 0.00† (6) |"

    def test_everything_is_on_the_page(self, rng):
        names = ("ET+RIO", "deep ensemble", "CQR")
        beyond = [made_up(rng, table, names) for table in ("gap", "tails")]
        rows = pd.concat([made_up(rng, names=(*names, "ET", "GP")), *beyond])
        text = page(rows)
        titles = [line for line in text.splitlines() if line.startswith("## ")]
        assert titles[:3] == ["## RMSE", "## NLPD", "## Targets"]
        assert "## ET+RIO beside each of the others" in titles
        assert len(titles) == 13
        assert re.search(r"\| yacht \| 0\.7[67]\d‡ \| 0\.71\d‡ \|  \|  \|  \|  \|", text)

    def test_papers_stand_beside_what_was_run(self, rng):
        line = published_table(made_up(rng)).splitlines()[-1]
        cells = ["", "1.58 ± 0.48", "", "1.18 ± 0.21", "1.20 ± 0.00", "0.50 ± 0.20", "-0.80 ± 0.00", "0.20 ± 0.26"]
        assert line == f"| yacht | {' | '.join(cells)} |"

    def test_peers_alone_make_a_page(self, rng):
        text = page(made_up(rng, names=("NGBoost", PUBLISHED)))
        assert "| ET+RIO: best mean NLPD | 7 of 9 | not run yet | open |" in text
        assert "Gaps" not in text


class TestBeyond:
    def test_only_features_that_all_methods_have(self, rng):
        rows = made_up(rng, "gap", ("GP", "CQR"), ["yacht"], runs=3)
        rows = rows[(rows["method"] != "CQR") | (rows["run"] != 1)]
        assert sorted(set(shared_rows(rows, "gap")["run"])) == [0, 2]
        assert section(rows, "tails", "Tails") == ""

    def test_growth_is_that_over_standard_splits(self, rng):
        names = ("ET+RIO", "deep ensemble")
        far = made_up(rng, "gap", names)
        far[["rmse", "width_95"]] *= [3.0, 2.0]
        table = summary_table(pd.concat([made_up(rng, names=names), far]), "gap")
        ours = next(line for line in table.splitlines() if line.startswith("| ET+RIO"))
        assert ours == "| ET+RIO | 2 | 70.0 / 90.0 / 94.0 | 0.91 | 2 of 2 | 2.00 | 3.00 |"
        cells = dataset_table(far, "gap").splitlines()[-1]
        assert cells == "| yacht | 6 | 94.0 / **0.5** | 94.0 / 0.55 |"
