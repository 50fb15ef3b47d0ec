"""Some of the rows for a first search: the exact GP of few rows costs next to nothing beside that of a thousand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rio_uq.gp.observations import Observations

FEW_ROWS = 400
"""Rows of the first search. An evaluation costs the third power of the rows."""


def few_rows(data: Observations, rng: np.random.Generator, n_rows: int | None = None) -> Observations:
    """Random rows, `FEW_ROWS` or so many of them with targets about their mean; all rows if these are no more."""
    n_rows = FEW_ROWS if n_rows is None else n_rows
    if len(data) <= n_rows:
        return data
    few = data.subset(np.sort(rng.choice(len(data), n_rows, replace=False)))
    return replace(few, targets=few.targets - np.average(few.targets, axis=0, weights=few.effective_weight))
