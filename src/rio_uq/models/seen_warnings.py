"""Warnings where error bars rest on whether a model has seen the rows, and nothing tells for sure."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array, Mask
from rio_uq._base.warnings import SeenRowsWarning, warn_user

IMPOSSIBLE = 1e-4
"""Residuals of new rows are not this small, in standard deviations of y, unless nothing is to be predicted."""

ROUNDING = 1e-10
"""In standard deviations of y."""

UNKNOWN = "whether the model was trained on these rows is not known"
HOW_TO_FIT = (
    "give fit the parameters that theirs needs (eval_set, say), or rows that the model has not seen, with held_out=True"
)
HOW_TO_SAY = (
    "say held_out=True if the model was trained on none of these rows, or give a mask of those that it was not trained "
    "on; residuals='in-sample' takes them as they are without this warning"
)


def warn_unknown(message: str, y: Array, y_pred: Array) -> None:
    """Nobody has said whether the model has seen the rows, and it can be neither asked nor cloned."""
    hint = looks_seen(y, y_pred)
    looks = f" ({hint})" if hint else ""
    warn_user(
        f"{message}. If it was, its errors here are too small, and so are error bars{looks}: {HOW_TO_SAY}",
        SeenRowsWarning,
    )


def warn_of_answer(held_out: Mask | bool, y: Array, y_pred: Array) -> None:
    """All rows of a model that cannot be cloned are said to be seen, or some to be new which do not look it."""
    if held_out is False:
        warn_user(
            "the model has seen all of these rows, and cannot be fitted to parts of them: its errors here may be too "
            "small, and so may error bars; give rows that it has not seen, or calibrate on such rows",
            SeenRowsWarning,
        )
        return
    said_new = np.ones(len(y), dtype=bool) if held_out is True else held_out
    if hint := looks_seen(y[said_new], y_pred[said_new]):
        warn_user(
            f"these rows are said to be new to the model, but {hint}: if it was trained on them, error bars are too "
            "small",
            SeenRowsWarning,
        )


def warn_without_clones(verdict: str, reason: str, failure: str) -> None:
    """The model has seen all of the rows, or some, and clones cannot be fitted."""
    which = "all" if verdict == "seen" else "some"
    warn_user(
        f"the model has seen {which} of these rows: {reason}. Its errors here are too small, and so are error bars, "
        f"since {failure}: {HOW_TO_FIT}",
        SeenRowsWarning,
    )


def warn_of_worse_clones(model: Any, ratio: float) -> None:
    """Out-of-fold residuals are so many times as large as those of a model that may have seen some rows."""
    warn_user(
        f"{name_of(model)} may have seen some of these rows, but clones fitted to them have residuals {ratio:.1f} "
        "times as large as its own: if it was trained on many others, error bars made from out-of-fold residuals are "
        f"too wide: {HOW_TO_SAY}",
        SeenRowsWarning,
    )


def warn_of_many_others(model: Any, relative_size: float) -> None:
    """The model has seen these rows and so many times as many in all."""
    warn_user(
        f"{name_of(model)} has seen these rows and others, {relative_size:.0f} times as many in all: clones fitted to "
        "the rows given err more than it does, and corrections and error bars made from their residuals may be too "
        "large; give all of its training rows, or rows that it has not seen, with held_out=True",
        SeenRowsWarning,
    )


def looks_seen(y: Array, y_pred: Array) -> str:
    """Why residuals are hardly those of rows that the model has not seen, in words; empty if they may be."""
    residual = y.reshape(len(y), -1) - y_pred
    spread = float(np.std(y))
    exact = float(np.mean(np.abs(residual) <= ROUNDING * spread))
    if exact >= 0.5:
        return f"{exact:.0%} of its residuals are zero, which rows that it has not seen hardly allow"
    size = float(np.sqrt(np.mean(residual**2)))
    if spread > 0.0 and size < IMPOSSIBLE * spread:
        return f"its residuals are {size / spread:.0e} of the spread of y, which rows that it has not seen hardly allow"
    return ""


def name_of(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))
