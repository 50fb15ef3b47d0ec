"""The benchmark of exact GPs: all search the same likelihood from the same start."""

from argparse import Namespace

import numpy as np
import pytest

from benchmarks.exact import ours, page, promises, run
from benchmarks.exact.problems import N_FEATURES, NOISE, PROBLEMS, drawn, lengthscales
from benchmarks.exact.trace import OutOfTimeError, Trace
from lab.datasets import DataNotFoundError
from lab.json_lines import append_row, read_rows

ALONE = "rio-uq, all rows from the start"


def test_rows_are_standardised_and_the_kernel_that_drew_them_is_likely():
    problem = drawn(200)
    assert problem.X.shape == (200, N_FEATURES)
    np.testing.assert_allclose([problem.y.mean(), problem.y.std()], [0.0, 1.0], atol=1e-12)
    kernel, data, _ = ours._kernel_and_data(problem)
    likelihood = ours.MarginalLikelihood(kernel, data)
    truth, _ = likelihood(np.log([1.0, *lengthscales()]), np.log([NOISE]))
    start, _ = likelihood(problem.start[:-1], problem.start[-1:])
    assert truth > start + 5.0


@pytest.mark.parametrize("method", [name for name in run.METHODS if name != ALONE])
def test_all_begin_at_the_same_likelihood_and_find_the_same_optimum(method):
    if run.METHODS[method].startswith("peers"):
        pytest.importorskip("gpytorch")
    reference, trace = Trace(60.0), Trace(60.0)
    run.function_of(ALONE)(drawn(60), reference)
    run.function_of(method)(drawn(60), trace)
    assert trace.points[0][1] == pytest.approx(reference.points[0][1], abs=1e-5)
    assert trace.best == pytest.approx(reference.best, abs=0.5)  # of so few rows there are several


def test_a_search_ends_when_its_seconds_are_used_up():
    seconds = iter([0.0, 1.0, 2.0])
    trace = Trace(1.5, clock=lambda: next(seconds))
    trace.add(-3.0)
    with pytest.raises(OutOfTimeError):
        trace.add(-2.0)
    assert trace.points == [(1.0, -3.0), (2.0, -2.0)]


def test_a_fit_is_stored_once_with_what_was_better_than_before(tmp_path):
    path = tmp_path / "result.jsonl"
    fits = run.missing_fits(["a draw from a GP"], [40], ["rio-uq"], 1, path)
    assert [(fit.n, fit.method) for fit in fits] == [(40, "rio-uq")]
    run.measure(fits[0], 60.0, path)
    seconds, values = np.transpose(read_rows(path)[0]["points"])
    assert np.all(np.diff(values) > 0.0)
    assert np.all(np.diff(seconds) >= 0.0)
    assert not run.missing_fits(["a draw from a GP"], [40], ["rio-uq"], 1, path)


def test_problems_without_data_are_left_out(monkeypatch, capsys):
    def missing(n_rows):
        raise DataNotFoundError("no file")

    monkeypatch.setitem(PROBLEMS, "CCS", missing)
    assert run.usable(["CCS", "a draw from a GP"]) == ["a draw from a GP"]
    assert "no file" in capsys.readouterr().err


def test_the_page_compares_with_the_sooner_search_of_the_peer(tmp_path):
    results, output = tmp_path / "result.jsonl", tmp_path / "README.md"
    points = {
        "rio-uq": [(0.5, -20.0), (1.0, -10.05)],
        "GPyTorch, L-BFGS-B": [(4.0, -10.0)],
        "GPyTorch, Adam": [(3.0, -11.0), (9.0, -10.5)],
        "scikit-learn": [(2.0, -10.0)],
    }
    for method, visited in points.items():
        append_row(results, {"problem": "some", "n": 300, "round": 0, "method": method, "points": visited})
    page.main(Namespace(results=results, output=output))
    text = output.read_text()
    assert "| some | 300 | 4.0× | yes |" in text
    assert "| rio-uq | 1.000 |  | -10.05 |" in text
    assert "| GPyTorch, Adam | never |  | -10.50 |" in text
    assert "| scikit-learn | 2.000 | 2.0× | -10.00 |" in text


def test_promises_stand_beside_what_a_fit_takes(monkeypatch, capsys, quick_fits):
    monkeypatch.setattr(promises, "BUDGETS", (1e3, None))
    promises.main(Namespace(rows=[40]))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == ["1000", ""]
    assert all("exact" in line for line in lines[2:])
