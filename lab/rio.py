"""RIORegressor as experiments and benchmarks use it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rio_uq import RIORegressor
from rio_uq.models.base import needs_fit

QUICK_TRAINING: dict[str, Any] = {"starts": "rio"}
"""One start of the optimiser: for measurements of cost, where the best of several optima does not matter."""


def regressor(
    model: Any = None, *, variant: str | None = None, training: Mapping[str, Any] | None = None, **options: Any
) -> RIORegressor:
    """A regressor with our defaults, or in the paper's settings if it is one of the paper's variants.

    Parameters
    ----------
    model : object or None
    variant : str or None
        See `RIORegressor.paper`.
    training : dict or None
        Options of `rio_uq.Training`; those of the paper stay where they are not named.
    **options
        Further options of RIORegressor.
    """
    options |= {} if training is None else {"training": dict(training)}
    if not needs_fit(model):  # which rows a network has seen is part of an experiment, and nothing to be found out
        options.setdefault("residuals", "in-sample")
    return RIORegressor(model, **options) if variant is None else RIORegressor.paper(model, variant=variant, **options)


def fit(rio: RIORegressor, X: np.ndarray, y: np.ndarray, **arguments: Any) -> RIORegressor:
    """Fit without a warning at the end of the iterations: their number is part of the settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return rio.fit(X, y, **arguments)
