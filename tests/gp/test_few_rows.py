"""Some of the rows for a first search."""

import numpy as np
import pytest

from rio_uq.gp import few_rows as module
from rio_uq.gp.few_rows import few_rows
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.priors import Prior
from rio_uq.gp.starts import Scales, bounds_of, rio_start


def data_of(rng, n=180):
    rows = rng.normal(size=(n, 3))
    return Observations(rows, 5.0 + np.sin(2.0 * rows[:, :1]) + 0.1 * rng.normal(size=(n, 1)))


def test_a_search_on_few_rows_leads_most_of_the_way(rng, monkeypatch):
    monkeypatch.setattr(module, "FEW_ROWS", 60)
    data, kernel = data_of(rng), io_kernel(2, 1)
    data = Observations(data.rows, data.targets - data.targets.mean())
    scales = Scales.of(data, 2, 1.0)
    start, bounds = rio_start(kernel, 1, scales), bounds_of(kernel, 1, scales)
    prior, search = Prior.flat(len(start)), Search(30, 1e-6, np.random.default_rng(0))
    objective, on_few = ExactObjective(kernel, data), ExactObjective(kernel, few_rows(data, rng))
    near = on_few.maximize(start, bounds, prior, search).x
    best = objective.maximize(start, bounds, prior, search).value
    assert objective(near)[0] > best - 0.1 * (best - objective(start)[0])


def test_targets_of_few_rows_are_about_their_mean(rng, monkeypatch):
    monkeypatch.setattr(module, "FEW_ROWS", 60)
    few = few_rows(data_of(rng), rng)
    assert len(few) == 60
    assert few.targets.mean() == pytest.approx(0.0, abs=1e-12)


def test_rows_that_are_few_are_taken_as_they_are(rng):
    data = data_of(rng, 20)
    assert few_rows(data, rng) is data
