"""Rows that are used a second time: those of fit, of which some are kept, and those of calibration, by hashes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd

from rio_uq._base.array import Array, evenly_spaced, row_keys
from rio_uq.regressor import RIORegressor
from rio_uq.rows.kept import REUSED

CALIBRATION, HASHED_ROWS = "calibration_rows", 5000
"""The key of the hashes in the metadata, and how many of them are kept at most."""


def hashes(features: Array, y: Array) -> list[str]:
    """Of rows, by what the GP sees of them and their outcomes."""
    return [hashlib.blake2b(row, digest_size=8).hexdigest() for row in row_keys(np.column_stack([features, y]))]


def calibration_rows(of_rows: list[str]) -> dict[str, Any]:
    """Metadata: hashes of the rows that error bars were calibrated with, or of some of them."""
    return {CALIBRATION: [of_rows[row] for row in evenly_spaced(len(of_rows), HASHED_ROWS)]}


class RowReuse:
    """How many of the rows of fit and of calibration come by again."""

    def __init__(self, rio: RIORegressor) -> None:
        self.rio = rio
        stored = getattr(rio, "metadata_", {}).get(CALIBRATION, [])
        self._calibration = {text for text in stored if isinstance(text, str)} if isinstance(stored, list) else set()
        self._seen: set[Any] = set()
        self._n_rows, self._n_fitted = 0, 0.0

    def see(self, X: pd.DataFrame, y: Array, y_pred: Array) -> None:
        fitted = self.rio.fitted_
        features = fitted.features(X)
        self._n_rows += len(y)
        columns = (values.reshape(len(values), -1) for values in (y_pred, y))
        self._n_fitted += len(y) * fitted.kept.reused(features, *columns)
        if self._calibration:
            self._seen |= set(hashes(features, y)) & self._calibration

    def warnings(self) -> dict[str, str]:
        """By the use that was made of the rows before."""
        better = "numbers on rows that were used before are better than they will be on new ones"
        texts = {}
        fitted = self._n_fitted / max(self._n_rows, 1)
        if fitted > REUSED:
            texts["fit"] = f"{fitted:.0%} of these rows are rows that RIO was fitted to: {better}"
        calibrated = len(self._calibration & self._seen) / max(len(self._calibration), 1)
        if calibrated > REUSED:
            texts["calibration"] = f"{calibrated:.0%} of the rows that RIO was calibrated with are rows here: {better}"
        return texts
