"""Tables from stored rows: means, marks, formats, and the page of results."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments import __main__ as command_line
from experiments import report, tables
from experiments.measures import Row, store_of
from experiments.rendering import FORMATS, render

N_RUNS = 8


@pytest.fixture
def rows(rng):
    """Eight runs on two data sets: RIO better than NN, R+I as good as RIO, ours best of all."""
    made = []
    level = {"NN": 2.0, "RIO": 1.4, "R+I": 1.4, "R+O": 1.6, "Y+O": 1.7, "Y+IO": 1.5, "SVGP": 3.0}
    for dataset in ("ENB/h", "yacht"):
        for run in range(N_RUNS):
            common = 0.1 * rng.normal()
            for table, method, rmse in [
                *(("default", name, value) for name, value in level.items()),
                ("ours", "ours", 0.8),
            ]:
                value = rmse + common + 0.01 * rng.normal()
                has_bars = method != "NN"
                made.append(
                    Row(
                        table=table,
                        dataset=dataset,
                        run=run,
                        method=method,
                        rmse=value,
                        mae=0.8 * value,
                        nlpd=np.log(value) + 1.4 if has_bars else None,
                        nlpd_capped=np.log(value) + 1.4 if has_bars else None,
                        crps=0.5 * value if has_bars else None,
                        noise_variance=value**2 if has_bars else None,
                        fit_seconds=1.0,
                        coverage_68=0.7 if has_bars else None,
                        coverage_90=0.9 if has_bars else None,
                        coverage_95=0.94 if has_bars else None,
                        improvement_ratio=0.6 if has_bars else None,
                    )
                )
    return made


@pytest.fixture
def results(rows, tmp_path):
    store = store_of(tmp_path / "rows.csv")
    for row in rows:
        store.append(row)
    return store


@pytest.fixture
def entries(results):
    return tables.summary(results.read(), "default")


def entry_of(entries, dataset, method):
    return entries[(entries.dataset == dataset) & (entries.method == method)].iloc[0]


def test_means_and_standard_deviations(entries, rows):
    values = [row.rmse for row in rows if (row.dataset, row.method) == ("yacht", "R+O")]
    entry = entry_of(entries, "yacht", "R+O")
    assert entry.rmse_mean == pytest.approx(np.mean(values))
    assert entry.rmse_std == pytest.approx(np.std(values, ddof=0))
    assert entry.runs == N_RUNS
    assert list(entries.dataset.unique()) == ["yacht", "ENB/h"]  # in the paper's order


def test_marks_are_those_of_scipys_paired_tests(entries, rows):
    by_method = {
        method: np.array([row.rmse for row in rows if (row.dataset, row.method) == ("yacht", method)])
        for method in ("NN", "RIO", "R+I")
    }
    for method in ("NN", "R+I"):
        entry = entry_of(entries, "yacht", method)
        t_test = stats.ttest_rel(by_method[method], by_method["RIO"]).pvalue < 0.05
        wilcoxon = stats.wilcoxon(by_method[method] - by_method["RIO"]).pvalue < 0.05
        assert (entry.rmse_t_test, entry.rmse_wilcoxon) == (t_test, wilcoxon)
    assert entry_of(entries, "yacht", "NN").rmse_t_test
    assert not entry_of(entries, "yacht", "RIO").rmse_t_test


def test_the_best_are_marked_with_their_ties(results):
    without_ours = results.read().query("table == 'default'")
    entries = tables.summary(without_ours, "default")
    best = set(entries[(entries.dataset == "yacht") & entries.rmse_best].method)
    assert "NN" not in best
    assert best <= {"RIO", "R+I"}
    assert best
    everything = tables.summary(results.read(), "default")
    assert list(everything[(everything.dataset == "yacht") & everything.rmse_best].method) == ["ours"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], (False, False)),
        ([1.0], [2.0], (False, False)),
        (np.arange(8.0) + 1.0, np.arange(8.0), (True, True)),
        (np.arange(3.0) + 1.0, np.arange(3.0), (True, False)),  # Wilcoxon's test cannot tell three runs apart
    ],
)
def test_paired_tests(one, other, expected):
    assert tables.differs(pd.Series(one), pd.Series(other)) == expected


def test_noise_correlation(entries):
    found = tables.noise_correlation(entries).set_index("dataset")
    assert found.loc["yacht", "correlation"] == pytest.approx(1.0, abs=0.06)


def test_agreement_with_the_paper(entries):
    paper = tables.paper_table("default")
    found = tables.agreement(paper.assign(noise_variance=1.0), paper)
    assert (found.rmse == 1.0).all()
    assert tables.agreement(entries, paper).methods.tolist() == [7, 7]


def test_methods_with_fewer_runs_are_not_marked_as_best(results):
    rows = results.read()
    few = rows[(rows.method == "RIO") & (rows.run < 2)].assign(method="NNGP", rmse=lambda own: own.rmse / 9.0)
    entries = tables.summary(pd.concat([rows, few]), "default")
    assert not entries[entries.method == "NNGP"].rmse_best.any()
    assert (entries[entries.rmse_best].groupby("dataset").size() > 0).all()


@pytest.mark.parametrize(("name", "bold"), [("text", "*0.7"), ("markdown", "**0.7"), ("latex", r"\textbf{0.7")])
def test_formats(name, bold, entries):
    shown = render(entries, tables.paper_table("default"), FORMATS[name])
    assert bold in shown
    assert "2.30" in shown  # the paper's NN on yacht
    assert "yacht (308" in shown
    widths = {
        line.count("&" if name == "latex" else "|") for line in shown.splitlines() if "±" in line or r"\pm" in line
    }
    assert len(widths) == 1


def test_the_command_prints_tables(results, capsys):
    for arguments in (["default"], ["spearman"], ["default", "--format", "latex"]):
        command_line.main(["table", *arguments, "--results", str(results.path)])
        shown = capsys.readouterr()
        assert "yacht" in shown.out
        assert "left out, since there are no rows: ENB/c" in shown.err
    command_line.main(["table", "default", "--format", "csv", "--results", str(results.path)])
    frame = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert frame.set_index(["dataset", "method"]).loc[("yacht", "NN"), "rmse_mean_paper"] == 2.30


def test_a_table_without_rows_says_so(tmp_path):
    with pytest.raises(SystemExit, match="run --table ard"):
        command_line.main(["table", "ard", "--results", str(tmp_path / "rows.csv")])


def test_the_page_says_what_was_done_and_what_was_not(results, tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "FOLDER", tmp_path)
    monkeypatch.setattr(report, "NOTES", tmp_path / "notes.md")
    results.path.with_name("theory.md").write_text("## Theory\n")
    command_line.main(["report", "--results", str(results.path)])
    page = (tmp_path / "RESULTS.md").read_text()
    assert "| yacht | 8 | 8 |" in page
    assert "## Theory" in page
    assert "Do the paper's settings reproduce the paper?" in page
    assert "| yacht | ours |" in page
    assert results.packed.exists()


def test_reproduction_is_two_sided():
    paper = tables.paper_table("default")
    shifts = {"NN": -0.9, "RIO": 0.9, "SVGP": -1.1, "R+I": 1.1}
    shift = paper.method.map(shifts).fillna(0.0)
    here = paper.assign(noise_variance=1.0, rmse_mean=paper.rmse_mean + shift * paper.rmse_std)
    page = report.reproduction(here, paper)
    header, line = (
        next(line for line in page.splitlines() if line.startswith(start)) for start in ("| data set", "| yacht")
    )
    cells = dict(zip(*([cell.strip() for cell in row.split("|")] for row in (header, line)), strict=True))
    assert cells["NN"] == "within"
    assert cells["RIO"] == "within / within"
    assert cells["SVGP"] == "better / within"
    assert cells["R+I"] == "**worse** / within"
    n = len(set(paper.dataset))
    assert f"RMSE: {n - 1} better, {5 * n + 1} within, {n} worse" in page  # on one of them SVGP has no spread
