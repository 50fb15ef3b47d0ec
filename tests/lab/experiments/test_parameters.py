"""The engines of GPflow are asked for the same problem, and one that fails is named."""

import numpy as np
import pytest

from experiments import parameters
from lab.runs import Rows


@pytest.fixture
def rows(friedman):
    X, y = friedman
    return Rows(X[:90], y[:90], np.zeros(90), X[90:], y[90:], np.zeros(30), base_seconds=0.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_page_has_all_engines(rows, monkeypatch):
    asked = []

    class Answering:
        """In place of a process, since GPflow has an environment of its own."""

        def __init__(self, python, engine, problem, *, program, threads):
            self.problem = problem

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def ask(self, **task):
            with np.load(self.problem) as problem:
                asked.append({**task, "spread": problem["X"].std(axis=0), "n": len(problem["points"])})
            return {"error": "out of memory"} if task["kind"] == "SVGP" else {"rmse": 1.5}

    monkeypatch.setattr(parameters, "Peer", Answering)
    monkeypatch.setattr(parameters, "rows_of", lambda *_: rows)
    page = parameters.section(2, "python")
    assert {(one["kind"], one["parameters"]) for one in asked} == set(map(tuple, parameters.ENGINES.values()))
    np.testing.assert_allclose([one["spread"] for one in asked], 1.0)
    assert {(one["n"], one["max_iter"]) for one in asked} == {(50, 1000)}
    assert page.count("1.50 ± 0.00") == 4
    assert page.count("| 2 failed") == 4
    assert parameters.OURS in page
