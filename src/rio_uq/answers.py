"""Rows as a `Fitted` takes them, and the forms in which it answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from rio_uq._base.array import Array


class Inputs(NamedTuple):
    """Rows as the GP takes them.

    Attributes
    ----------
    features : (n, d) array
    y_pred : (n, p) array
        Predictions of the model.
    groups : sequence of n labels or None
        That error bars were calibrated by.
    """

    features: Array
    y_pred: Array
    groups: Any = None


class Decomposition(NamedTuple):
    """The correction of each prediction as a sum of two parts, each of the shape of the corrected prediction.

    ``y_pred + input + output`` is the corrected prediction; where there is not one prediction for each output,
    ``input + output`` is. The constant part of the correction belongs to the
    output (to the input where the kernel has no output part).
    """

    input: Array
    output: Array


class LeaveOneOut(NamedTuple):
    """Each row given to `fit`, as it is predicted without it; arrays of the shape of y. Of more than 50,000 rows,
    so many are predicted, and the others are NaN.

    Attributes
    ----------
    mean : array
        Corrected prediction.
    std : array
        The GP's own standard deviation of the outcome, before its distribution's shape and calibration come in.
    z : array
        (y − mean)/std: of about unit variance if error bars are right. On the scale of outcomes, where that is another
        than their own.
    weight : (n,) array
        How much each row says of rows to come: its ``sample_weight``, and 0 for rows that the model has seen where
        others are held out, and for those that are NaN.
    z_by_fold : array
        The same by a GP that was trained without the fold of the row, hyperparameters included, where inference is
        exact and `Training.guard` is on; equal to ``z`` elsewhere.
    """

    mean: Array
    std: Array
    z: Array
    weight: Array
    z_by_fold: Array


class ErrorBars(NamedTuple):
    """Corrected predictions, their standard deviations, and the ends of intervals, each (n, q)."""

    mean: Array
    std: Array
    lower: Array
    upper: Array
