"""What belongs to a classifier as plain values and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq.confidence import CorrectionChoice, Recalibration
from rio_uq.fitted import Fitted
from rio_uq.fitted_classifier import FittedClassifier
from rio_uq.models.probabilities import Classes
from rio_uq.prediction_sets import METHODS, SetCalibration
from rio_uq.storage.fields import Arrays, Fields, Put

RECALIBRATION = ("slope", "offset", "floor")
CHOICE = ("share", "log_loss", "log_loss_corrected", "standard_error")


def write_classifier(fitted: FittedClassifier, put: Put) -> dict[str, Any]:
    """For the manifest."""
    labels = fitted.classes.tolist()
    if not all(isinstance(label, str | int | float) for label in labels):
        raise ValueError(f"classes cannot be stored: {labels!r}; use strings or numbers as labels")
    if fitted.sets is not None:
        put("sets/n_rows", np.array([len(score) for score in fitted.sets.scores], dtype=np.int64))
        put("sets/scores", np.concatenate(fitted.sets.scores))
    return {
        "classes": labels,
        "recalibration": {name: float(getattr(fitted.recalibration, name)) for name in RECALIBRATION},
        "choice": {name: float(getattr(fitted.choice, name)) for name in CHOICE},
        "sets": None if fitted.sets is None else fitted.sets.method,
    }


def read_classes(fields: Fields, arrays: Arrays) -> Classes:
    labels = fields.items("classes")
    kinds = {type(label) for label in labels}
    if len(labels) < 2 or len(kinds) > 1 or not kinds <= {str, int, float, bool} or len(set(labels)) < len(labels):
        fields.fail("has to be a list of two labels or more, all strings or all numbers, each of them once", "classes")
    return np.array(labels)


def read_classifier(fields: Fields, arrays: Arrays, errors: Fitted, classes: Classes) -> FittedClassifier:
    """All but the classes, which were read first."""
    if errors.y_shape != () or errors.gp.n_predictions != len(classes):
        fields.fail(f"has {len(classes)} classes, which are not the columns of the GP", "classes")
    recalibration = _numbers(fields.child("recalibration"), RECALIBRATION)
    if min(recalibration["slope"], recalibration["floor"]) <= 0.0:
        fields.fail("has to have a slope and a floor above zero", "recalibration")
    choice = _numbers(fields.child("choice"), CHOICE)
    if not 0.0 <= choice["share"] <= 1.0:
        fields.fail("has to have a share between 0 and 1", "choice")
    method = None if fields.is_null("sets") else fields.text("sets", METHODS)
    fields.finish()
    sets = None if method is None else _read_sets(arrays, method, len(classes))
    return FittedClassifier(errors, classes, Recalibration(**recalibration), CorrectionChoice(**choice), sets)


def n_indicators(n_classes: int) -> int:
    """Of the label, among the inputs of the GP."""
    return 1 if n_classes == 2 else n_classes


def _numbers(fields: Fields, names: tuple[str, ...]) -> dict[str, float]:
    values = {name: fields.number(name) for name in names}
    fields.finish()
    return values


def _read_sets(arrays: Arrays, method: str, n_classes: int) -> SetCalibration:
    n_rows = arrays.counts("sets/n_rows", 1 if method == "conformal" else n_classes)
    scores = arrays.floats("sets/scores", int(n_rows.sum()))
    return SetCalibration(method, tuple(np.split(scores, np.cumsum(n_rows)[:-1])))
