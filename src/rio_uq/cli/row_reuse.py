"""Rows that are used a second time: those of fit by their features, those of calibration by hashes in a .rio file."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd

from rio_uq._base.array import Array, evenly_spaced, row_keys
from rio_uq.regressor import RIORegressor

CALIBRATION, HASHED_ROWS = "calibration_rows", 5000
"""The key of the hashes in the metadata, and how many of them are kept at most."""

TOO_MANY = 0.05
"""A share of rows that were used before which is worth a warning."""


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
        features = rio.fitted_.kept.features
        self._fitted = set(row_keys(features)) if features.shape[1] else set()
        self._seen: set[Any] = set()

    def see(self, X: pd.DataFrame, y: Array) -> None:
        features = self.rio.fitted_.features(X)
        self._seen |= set(row_keys(features)) & self._fitted
        if self._calibration:
            self._seen |= set(hashes(features, y)) & self._calibration

    def warnings(self) -> dict[str, str]:
        """By the use that was made of the rows before."""
        texts = {}
        for name, rows, limit, did in (
            ("fit", self._fitted, 0.2, "was fitted to have the same features as"),
            ("calibration", self._calibration, TOO_MANY, "was calibrated with are"),
        ):
            share = len(rows & self._seen) / len(rows) if rows else 0.0
            if share > limit:
                texts[name] = (
                    f"{share:.0%} of the rows that RIO {did} rows here: numbers on rows that were used before are "
                    "better than they will be on new ones"
                )
        return texts
