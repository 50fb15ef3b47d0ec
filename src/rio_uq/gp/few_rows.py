"""A first search on some of the rows: the exact GP of few rows costs next to nothing beside that of a thousand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.priors import Prior

FEW_ROWS = 400
"""Rows of the first search. An evaluation costs the third power of the rows."""


def search_on_few_rows(
    kernel: Kernel, data: Observations, start: Array, bounds: Array, prior: Prior, search: Search
) -> Array:
    """Where a search on some of the rows ends, as a start for one on all; the start itself where they are few."""
    if len(data) <= FEW_ROWS:
        return start
    few = data.subset(np.sort(search.rng.choice(len(data), FEW_ROWS, replace=False)))
    few = replace(few, targets=few.targets - np.average(few.targets, axis=0, weights=few.effective_weight))
    return ExactObjective(kernel, few).maximize(start, bounds, prior, search).x
