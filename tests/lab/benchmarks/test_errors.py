"""The benchmark of errors of classifiers: measures, one small run, and its page."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from benchmarks.errors import methods, page, run, tables
from benchmarks.errors.measures import (
    expected_calibration_error,
    measures_of,
    placements,
    risk_coverage,
    standard_error_of_gain,
)
from lab.json_lines import read_rows


@pytest.fixture
def scores(rng):
    wrong = (rng.uniform(size=300) < 0.3).astype(float)
    return rng.normal(size=300).round(1) + wrong, wrong


def test_placements_have_auroc_as_their_mean(scores):
    error, wrong = scores
    expected = roc_auc_score(wrong, error)
    for share in placements(error, wrong):
        assert share.mean() == pytest.approx(expected)


def test_the_standard_error_of_a_gain_is_that_of_repeated_draws(rng):
    gains, errors = [], []
    for _ in range(300):
        wrong = (rng.uniform(size=200) < 0.3).astype(float)
        shared = rng.normal(size=200) + wrong
        one, other = shared + 0.5 * rng.normal(size=200), shared + 1.5 * rng.normal(size=200)
        gains.append(roc_auc_score(wrong, one) - roc_auc_score(wrong, other))
        errors.append(standard_error_of_gain(one, other, wrong))
    assert np.mean(errors) == pytest.approx(np.std(gains), rel=0.15)


def test_risk_coverage_of_equal_scores_is_the_share_of_errors():
    assert risk_coverage(np.zeros(4), np.array([0.0, 1.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert risk_coverage(np.array([0.1, 0.2]), np.array([0.0, 1.0])) == pytest.approx(0.25)


def test_right_probabilities_have_no_calibration_error(rng):
    error = rng.uniform(size=200_000)
    wrong = (rng.uniform(size=200_000) < error).astype(float)
    assert expected_calibration_error(error, wrong) < 0.01


def test_a_model_without_errors_has_no_auroc():
    values = measures_of(methods.Scores(np.array([0.1, 0.2]), True, {}), np.zeros(2))
    assert "auroc" not in values
    assert values["log_loss"] < 0.2


@pytest.fixture
def stored(tmp_path, monkeypatch):
    iris = load_iris(return_X_y=True)
    monkeypatch.setattr(tables, "rows_of", lambda name: iris)
    monkeypatch.setattr(run, "rows_of", lambda name: iris)
    for module in (methods, run, page):
        own = {name: one for name, one in methods.METHODS.items() if name not in ("deup", "MAPIE")}
        monkeypatch.setattr(module, "METHODS", own)
    monkeypatch.setattr(methods, "model_of", lambda name, run: methods.RandomForestClassifier(5, max_depth=1))
    options = SimpleNamespace(results=tmp_path / "result.jsonl", tables=["iris", "wine"], models=["forest"], runs=1)
    run.main(options)
    run.main(options)
    return options.results


def test_a_run_goes_on_where_it_stopped_and_makes_a_page(stored, tmp_path):
    rows = read_rows(stored)
    assert sorted(row["table"] for row in rows) == ["iris", "wine"]
    output = tmp_path / "page.md"
    page.main(SimpleNamespace(results=stored, output=output))
    text = output.read_text()
    assert "## Mean ranks" in text
    assert "| RIO |" in text
    assert "2 of 44 tables were measured, in 1 to 1 runs" in text
