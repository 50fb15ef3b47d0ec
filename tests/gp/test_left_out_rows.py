"""Of very many rows a sample is left out, and all else stays as it was."""

import numpy as np
import pytest

from rio_uq import RIORegressor
from rio_uq.gp import left_out_rows as module
from rio_uq.gp.left_out_rows import ALL_ROWS, RUN_ROWS, left_out_rows


def test_rows_are_left_out_in_runs_and_copies_once():
    assert left_out_rows(module.MOST_ROWS, None) is ALL_ROWS
    place = np.repeat(np.arange(module.MOST_ROWS + 1000), 2)
    numbers = left_out_rows(module.MOST_ROWS + 1000, place)
    assert len(numbers) <= module.MOST_ROWS
    assert (np.diff(numbers) > 0).all()
    assert np.mean(np.diff(numbers) == 1) > 0.9


@pytest.mark.parametrize("inference", ["nearest", "sparse"])
def test_error_bars_of_a_sample_are_those_of_all_rows(inference, monkeypatch, few_iterations):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2400, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=len(X))
    rio = RIORegressor(lambda X: 0.5 * X[:, 0], inference=inference, random_state=0)
    of_all = rio.fit(X, y, held_out=True).predict(X[:200], return_std=True)
    monkeypatch.setattr(module, "MOST_ROWS", 1000)
    of_some = rio.fit(X, y, held_out=True).predict(X[:200], return_std=True)
    np.testing.assert_allclose(of_some[0], of_all[0], atol=0.05)
    np.testing.assert_allclose(of_some[1], of_all[1], rtol=0.1)
    is_left_out = np.isfinite(rio.loo_.mean)
    assert is_left_out.sum() == 1000
    assert (rio.loo_.weight == is_left_out).all()
    assert np.mean(rio.loo_.z[is_left_out] ** 2) == pytest.approx(1.0, abs=0.2)
    runs = is_left_out.reshape(-1, RUN_ROWS)
    assert (runs.all(axis=1) | ~runs.any(axis=1)).all()
