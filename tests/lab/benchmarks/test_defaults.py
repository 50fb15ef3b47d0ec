"""The benchmark of the defaults: which rows are whose, what is measured, and the page."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from benchmarks.defaults import page
from benchmarks.defaults.run import CASES, LEVELS, measure, rows_of
from lab.json_lines import write_rows


@pytest.mark.parametrize("case", CASES)
def test_the_model_is_trained_on_the_rows_that_the_case_names(case):
    trained, given, test = rows_of(300, case, 0)
    shared = len(np.intersect1d(trained, given))
    assert shared == {"seen": 100, "new": 0, "half": 50}[case]
    assert len(trained) == len(given) == len(test) == 100
    assert not len(np.intersect1d(np.union1d(trained, given), test))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    y = np.sin(5.0 * X[:, 0]) + 0.3 * rng.normal(size=300)

    def make(seed):
        return ExtraTreesRegressor(20, random_state=seed)

    return [
        {"dataset": "waves", "model": "trees", "case": case, "run": 0} | measure(make, X, y, case, 0) for case in CASES
    ]


def test_what_is_measured(rows):
    for row in rows:
        assert list(row["coverage"]) == [str(level) for level in LEVELS]
        assert row["coverage"]["0.95"] > 0.85
        assert row["memorised"] > 1.1


def test_the_page_counts_decisions_and_keeps_its_text(rows, tmp_path):
    results, output = tmp_path / "result.jsonl", tmp_path / "README.md"
    write_rows(results, [*rows, rows[0] | {"kind": "in-sample", "run": 1}])
    output.write_text("# Title\n\nA text.\n\n")
    page.main(type("Options", (), {"results": results, "output": output}))
    text = output.read_text()
    assert text.startswith("# Title\n\nA text.")
    assert "| seen | 2 | 50.0 % | trees on waves |" in text
    assert "| new | 1 | 100.0 % |" in text
