"""Whether predictions do better without the model: the GP on residuals beside a plain GP on outcomes.

The kernel of the GP on residuals can take the model's output back, so that its likelihood decides between believing in
the model and not. It decides by the residuals that it is given, though: rows that the model has memorised speak for it,
and out-of-fold predictions have errors that follow no kernel. So both GPs have to predict left-out rows. With errors
e_i and standard deviations s_i of the one, f_i and t_i of the other, the plain GP takes over where both

    Σ w_i (e_i² − f_i²)      is clearly more than zero, by a one-sided test at 5 %,
    Σ w_i (½ e_i²/s_i² + log s_i − ½ f_i²/t_i² − log t_i)      is more than zero:

it has to predict clearly better, and to know as well how well. Errors of clones of the model, which lack a fold, may be
larger than those of the model: e_i and s_i are multiplied by how much they are.

Where the model predicts beyond all that its clones do, since its training ends somewhere else each time, errors of
left-out rows are those of corrections that it never gets: the plain GP takes over, whatever they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.edges import Edges
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.paired import is_clear_gain

FEWEST_ROWS = 20
"""Fewer rows do not tell."""

STANDARD_ERRORS = 1.65

LARGEST_SQUARE = 25.0
"""Squared errors count for at most so many times their mean, so that a few outliers do not decide."""

STRAY_SHARE = 0.1
"""Of the rows: if the model's predictions of so many are beyond those of its clones, these do not speak for it."""


class ModelChoice(NamedTuple):
    """Whether predictions use the model, and why.

    Attributes
    ----------
    uses_model : bool
    error, error_without_model : (q,) arrays
        Root mean squared errors of left-out rows by the GP on residuals and by the plain GP, on the scale of outcomes.
    gain : float
        Where the former are those of clones of the model, the share of them that the model itself is expected to have,
        if it has counted.
    stray : float
        Share of the rows that the model predicts beyond all that its clones do, if that has counted.
    """

    uses_model: bool
    error: Array
    error_without_model: Array
    gain: float = 1.0
    stray: float = 0.0

    @property
    def expected_error(self) -> Array:
        """With the model itself, (q,)."""
        return self.gain * self.error


def stray_share(own: Array, of_clones: Array) -> float:
    """Share of the rows for which the model's own predictions are beyond the range of its clones' and a margin, as in
    `rio_uq.gp.edges`; both (n, q).
    """
    return float(np.mean(Edges.of(of_clones).beyond(own).any(axis=1)))


def choose_model(
    with_model: LeftOut,
    without_model: LeftOut,
    *,
    by_errors_alone: bool = False,
    gain: float = 1.0,
    stray: float = 0.0,
) -> ModelChoice:
    """Choose by left-out rows, those that count where the model is used; copies of one measurement count once. Standard
    deviations need not be known where errors alone are to tell whether the plain GP may win. For ``gain`` and ``stray``
    see `ModelChoice`.
    """
    is_counted = with_model.weight > 0.0
    weight = with_model.weight[is_counted]
    (error, std), (other_error, other_std) = (
        tuple(
            left_out.of_rows(values)[with_model.first_rows][is_counted]
            for values in (left_out.scores * left_out.std, left_out.std)
        )
        for left_out in (with_model, without_model)
    )
    size, other_size = (np.sqrt(np.average(values**2, axis=0, weights=weight)) for values in (error, other_error))
    if stray > STRAY_SHARE:
        return ModelChoice(False, size, other_size, stray=stray)
    if len(weight) < FEWEST_ROWS or not size.all():
        return ModelChoice(True, size, other_size, gain)
    error, std, unit = gain * error, gain * std, gain * size
    less = (_capped(error, unit) - _capped(other_error, unit)).sum(axis=1)
    is_better = is_clear_gain(less, weight, STANDARD_ERRORS)
    if is_better and not by_errors_alone:
        density = (_loss(error, std) - _loss(other_error, other_std)).sum(axis=1)
        is_better = bool(weight @ density > 0.0)
    return ModelChoice(not is_better, size, other_size, gain)


def _capped(error: Array, unit: Array) -> Array:
    return np.minimum((error / unit) ** 2, LARGEST_SQUARE)


def _loss(error: Array, std: Array) -> Array:
    """Minus the log density, but for a constant, of errors that are capped as well."""
    return 0.5 * np.minimum((error / std) ** 2, LARGEST_SQUARE) + np.log(std)
