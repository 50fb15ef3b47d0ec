"""Rows that a .rio file knows again: a few to know its model by, and those that it was calibrated with."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.cli.cells import NUMBERS
from rio_uq.cli.console import UserError
from rio_uq.models.base import check_predictions, predictions
from rio_uq.rows.examples import disagreement

CHECK, CALIBRATION = "check", "calibration_rows"
CHECK_ROWS, HASHED_ROWS = 8, 5000
"""Rows to know a model by, and rows of the calibration whose hashes are kept at most."""

TOO_MANY = 0.05
"""A share of rows that were used before which is worth a warning."""


def evenly(n_rows: int, most: int) -> NDArray[np.intp]:
    """Rows spread over a table."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp))


def check_rows(rio: Any, X: pd.DataFrame) -> dict[str, Any]:
    """Metadata: some rows, as JSON text, and what the model predicts for them."""
    rows = X.iloc[evenly(len(X), CHECK_ROWS)]
    cells = {name: [None if pd.isna(cell) else cell for cell in rows[name].tolist()] for name in rows}
    predicted = check_predictions(predictions(rio.estimator_, rows), len(rows), 1, "the model's prediction")
    return {CHECK: {"rows": json.dumps(cells), "predictions": predicted[:, 0].tolist()}}


def check_model_again(rio: Any, kinds: dict[str, str], path: Any) -> None:
    """Raise unless the model predicts for the stored rows what it did in fit."""
    stored = getattr(rio, "metadata_", {}).get(CHECK)
    if stored is None:
        return
    wrong = None
    try:
        cells = json.loads(stored["rows"])
        rows = pd.DataFrame(
            {
                name: pd.array([np.nan if cell is None else cell for cell in cells[name]], dtype="float64")
                if kind == NUMBERS
                else pd.Series([np.nan if cell is None else cell for cell in cells[name]], dtype=object)
                for name, kind in kinds.items()
            }
        )
        expected = np.asarray(stored["predictions"], dtype=np.float64)[:, None]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: the rows to know its model by are damaged: {error!r}") from error
    try:
        found = check_predictions(predictions(rio.estimator_, rows), len(rows), 1, "the model's prediction")
        wrong = disagreement(found, expected, rio._known_rows.y_pred.std(axis=0))
    except Exception as error:  # each framework has errors of its own
        wrong = f"nothing for stored rows ({type(error).__name__}: {error})"
    if wrong:
        raise UserError(f"--model is not the one that was fitted with {path}: it predicts {wrong}; give the same model")


def hashes(features: Array, y: Array) -> list[str]:
    """Of rows, by what the GP sees of them and their outcomes."""
    rows = np.ascontiguousarray(np.column_stack([features, y])) + 0.0
    return [hashlib.blake2b(row.tobytes(), digest_size=8).hexdigest() for row in rows]


def calibration_rows(of_rows: list[str]) -> dict[str, Any]:
    """Metadata: hashes of the rows that error bars were calibrated with, or of some of them."""
    return {CALIBRATION: [of_rows[row] for row in evenly(len(of_rows), HASHED_ROWS)]}


class UsedBefore:
    """How many of the rows of fit and of calibration come by again."""

    def __init__(self, rio: Any) -> None:
        self.rio = rio
        stored = getattr(rio, "metadata_", {}).get(CALIBRATION, [])
        self._calibration = {text for text in stored if isinstance(text, str)} if isinstance(stored, list) else set()
        known = rio._known_rows.features
        self._fitted = {row.tobytes() for row in np.ascontiguousarray(known) + 0.0} if known.shape[1] else set()
        self._seen: set[Any] = set()

    def see(self, X: Any, y: Array, y_pred: Array) -> None:
        features, _ = self.rio._inputs(X, y_pred)
        self._seen |= {row.tobytes() for row in np.ascontiguousarray(features) + 0.0} & self._fitted
        if self._calibration:
            self._seen |= set(hashes(features, y)) & self._calibration

    def warnings(self) -> dict[str, str]:
        """By what rows were used for."""
        found = {}
        for name, known, limit, did in (
            ("fit", self._fitted, 0.2, "was fitted to have the same features as"),
            ("calibration", self._calibration, TOO_MANY, "was calibrated with are"),
        ):
            share = len(known & self._seen) / len(known) if known else 0.0
            if share > limit:
                found[name] = (
                    f"{share:.0%} of the rows that RIO {did} rows here: numbers on rows that were used before are "
                    "better than they will be on new ones"
                )
        return found
