"""Words on rows that a model may have seen, and what is to be done about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array

IMPOSSIBLE = 1e-4
"""Residuals of new rows are not this small, in standard deviations of y, unless nothing is to be predicted."""

SAMPLE_CANNOT_TELL = (
    "rows are read in parts, and clones fitted to a sample of them, which err otherwise than the model, do not tell"
)
SEEN_AND_FIXED = (
    "the model has seen all of these rows, and cannot be fitted to parts of them: its errors here may be too small, "
    "and so may error bars; give rows that it has not seen, or calibrate on such rows"
)
HOW_TO_FIT = (
    "give fit the parameters that theirs needs (eval_set, say), or rows that the model has not seen, with held_out=True"
)
HOW_TO_SAY = (
    "say held_out=True if the model was trained on none of these rows, or give a mask of those that it was not trained "
    "on; residuals='in-sample' takes them as they are without this warning"
)


def looks_seen(residual: Array, y: Array) -> str:
    """Why residuals (n, q) are hardly those of rows that the model has not seen, in words; empty if they may be."""
    exact = float(np.mean(residual == 0.0))
    if exact > 0.5:
        return f"{exact:.0%} of its residuals are exactly zero, which rows that it has not seen hardly allow"
    spread = float(np.std(y))
    size = float(np.sqrt(np.mean(residual**2)))
    if spread > 0.0 and size < IMPOSSIBLE * spread:
        return f"its residuals are {size / spread:.0e} of the spread of y, which rows that it has not seen hardly allow"
    return ""


def name_of(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))
