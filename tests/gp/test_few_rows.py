"""A first search on few rows."""

import numpy as np

from rio_uq.gp import few_rows
from rio_uq.gp.few_rows import search_on_few_rows
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.priors import Prior
from rio_uq.gp.starts import Scales, bounds_of, rio_start


def test_a_search_on_few_rows_leads_most_of_the_way(rng, monkeypatch):
    monkeypatch.setattr(few_rows, "FEW_ROWS", 60)
    rows = rng.normal(size=(180, 3))
    data = Observations(rows, np.sin(2.0 * rows[:, :1]) + 0.1 * rng.normal(size=(180, 1)))
    kernel = io_kernel(2, 1)
    scales = Scales.of(data, 2, 1.0)
    start, bounds = rio_start(kernel, 1, scales), bounds_of(kernel, 1, scales)
    prior, search = Prior.flat(len(start)), Search(30, 1e-6, np.random.default_rng(0))
    objective = ExactObjective(kernel, data)
    near = search_on_few_rows(kernel, data, start, bounds, prior, search)
    best = objective.maximize(start, bounds, prior, search).value
    assert objective(near)[0] > best - 0.1 * (best - objective(start)[0])
    few = data.subset(np.arange(60))
    assert search_on_few_rows(kernel, few, start, bounds, prior, search) is start
