"""Warnings where error bars rest on whether a model has seen the rows, and nothing tells for sure."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq._base.warnings import SeenRowsWarning, warn_user

IMPOSSIBLE = 1e-4
"""Residuals of new rows are not this small, in standard deviations of y, unless nothing is to be predicted."""

UNKNOWN = "whether the model was trained on these rows is not known"
HOW_TO_SAY = (
    "say held_out=True if the model was trained on none of these rows, or give a mask of those that it was not trained "
    "on; residuals='in-sample' takes them as they are without this warning"
)


def warn_unknown(message: str, y: Array, y_pred: Array) -> None:
    """Nobody has said whether the model has seen the rows, and it can be neither asked nor cloned."""
    warn_user(
        f"{message}. If it was, its errors here are too small, and so are error bars{hint_of_seen_rows(y, y_pred)}: "
        f"{HOW_TO_SAY}",
        SeenRowsWarning,
    )


def warn_seen_and_fixed() -> None:
    """The model has seen the rows, and cannot be cloned."""
    warn_user(
        "the model has seen all of these rows, and cannot be fitted to parts of them: its errors here may be too "
        "small, and so may error bars; give rows that it has not seen, or calibrate on such rows",
        SeenRowsWarning,
    )


def warn_of_worse_clones(model: Any, ratio: float) -> None:
    """Out-of-fold residuals are so many times as large as those of a model that seems to have seen some rows."""
    warn_user(
        f"{name_of(model)} seems to have seen some of these rows, but clones fitted to them have residuals {ratio:.1f} "
        "times as large as its own: if it was trained on many others, error bars made from out-of-fold residuals are "
        f"too wide: {HOW_TO_SAY}",
        SeenRowsWarning,
    )


def hint_of_seen_rows(y: Array, y_pred: Array) -> str:
    """In brackets, where residuals are smaller than those of new rows can be; or else nothing."""
    residual = y.reshape(len(y), -1) - y_pred
    exact = float(np.mean(residual == 0.0))
    if exact > 0.5:
        return f" ({exact:.0%} of its residuals are exactly zero, which rows that it has not seen hardly allow)"
    spread = float(np.std(y))
    size = float(np.sqrt(np.mean(residual**2)))
    if spread > 0.0 and size < IMPOSSIBLE * spread:
        return f" (they are {size / spread:.0e} of the spread of y, which rows that it has not seen hardly allow)"
    return ""


def name_of(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))
