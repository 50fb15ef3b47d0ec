"""Whether a model is the one that was fitted: it has to predict for a few stored rows what it did then."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.models.base import check_predictions, predictions

OF_SPREAD, OF_SIZE = 1e-4, 1e-5
"""How far predictions may be off, in parts of their spread and of their size: what single precision makes of them."""


def disagreement(values: Array, stored: Array, spread: Array) -> str | None:
    """Where two arrays of shape (k, c) differ by more than rounding, in words; None if they agree.

    Parameters
    ----------
    values, stored : (k, c) arrays
    spread : (c,) array
        Standard deviation of each column over the training rows.
    """
    if values.shape != stored.shape:
        return f"their shape is {values.shape}, and was {stored.shape}"
    allowed = OF_SPREAD * spread + OF_SIZE * np.abs(stored)
    wrong = np.argwhere(~(np.abs(values - stored) <= allowed))
    if not len(wrong):
        return None
    row, column = wrong[0]
    return f"{values[row, column]:.6g} where {stored[row, column]:.6g} was stored, in stored row {row}"


def predictions_for(model: Any, rows: Any, n_columns: int) -> Array:
    """ŷ of a model for rows of X, (k, p)."""
    return check_predictions(predictions(model, rows), len(rows), n_columns, "the model's prediction")


def check_same_model(model: Any, rows: Any, stored: Array, spread: Array, where: str) -> None:
    """Raise a ValueError unless a model predicts for the rows what was stored, (k, p).

    Parameters
    ----------
    spread : (p,) array
        Standard deviation of predictions over the training rows.
    where : str
        Where the model comes from, for the message.
    """
    try:
        values = predictions_for(model, rows, stored.shape[1])
    except Exception as error:  # each framework has errors of its own
        raise ValueError(
            f"{where}: the model is not the one that was fitted or saved: it cannot predict the rows that were stored "
            f"with it ({type(error).__name__}: {error})"
        ) from error
    wrong = disagreement(values, stored, spread)
    if wrong:
        raise ValueError(f"{where}: the model is not the one that was fitted or saved: it predicts {wrong}")
