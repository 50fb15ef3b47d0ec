"""How much of a correction left-out rows support, and the errors that remain.

With left-out residuals r_i and what the GP expects of them, m_i, predictions are best corrected by c m_i with

    c = Σ w_i r_i m_i / Σ w_i m_i²        and its variance        s² = Σ (w_i m_i (r_i − c m_i))² / (Σ w_i m_i²)²

of which c (1 − (ks/c)⁴) is kept, within 0 and 1: nothing where c is no larger than k of its standard errors, and nearly
all where it is clearly larger. k is 2, and more where few rows make c larger than the others would, as the squares of
their parts in s² show (`rio_uq.gp.paired`): a few outliers that foretell each other are no evidence. Rows of a group
err together: where folds keep groups apart, s² has the squares of the sums over folds, if these are more, and is made
of no more than so many sums.

Left-out rows are those of folds where inference trains GPs without them (`rio_uq.gp.folds`). These have fewer rows, and
are a little worse than the GP of all rows for that alone. How much worse is seen at fixed hyperparameters: with e_i the
error of row i where its fold is left out, and l_i that where only the row is, errors of folds are multiplied by

    κ = √(Σ w_i l_i² / Σ w_i e_i²)        within ¾ and 1

where folds are a fifth of the rows; a tenth of few rows is left as it is.

Residuals of clones may have more in them than those of the model that predicts, which has other rows behind it. Let c
be as above with the predictions of the model itself, some of whose rows it may have fitted, in place of those of its
clones, and c' with those that it would make if it erred as they do. Where c is clearly smaller than c', corrections are
multiplied by c/c'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp.folds import MOST_IN_TENTHS, FoldPredictions
from rio_uq.gp.noise.tails import likeliest_tails
from rio_uq.gp.paired import factor_of_few, student_factor

FEWEST_ROWS = 4
STANDARD_ERRORS = 2.0
"""A factor has to be larger than so many of its standard errors for any correction, where they are well known."""

LEAST_EXPECTED = 0.2
"""Where a model has fitted so much that its residuals would have only this share of what clones have in theirs, it
cannot be told whether it errs as they do."""

SHARE_STEPS, SHARE_TOLERANCE = 20, 1e-5
"""By which a share and the precisions of its errors are found, and the change of the share that ends them."""

WHOLE = 0.9
"""A factor above this is taken for one."""

LEAST_GAIN = 0.75
"""κ is no smaller."""

LEAST_LATENT = 0.3
"""Latent standard deviations are shrunk to this share at most: that no correction is supported where rows are does not
mean that none is needed far from them."""


class Guarded(NamedTuple):
    """The share of corrections that is made, and what left-out rows say of the errors that remain.

    Attributes
    ----------
    correction : (q,) array
    residual, latent : (n, q) arrays
        Errors of left-out rows, and latent variances of the GP that predicts, in scaled units.
    expected : (n, q) array
        Targets of left-out rows as GPs expect them that have not seen them, before any share is taken.
    """

    correction: Array
    residual: Array
    latent: Array
    expected: Array

    @property
    def errors(self) -> tuple[Array, Array]:
        return self.residual, self.latent


def guarded_errors(
    left_out: tuple[Array, Array],
    by_fold: FoldPredictions | None,
    targets: Array,
    constant: Array | float,
    weight: Array,
    *,
    shrinks: bool,
    own_folds: NDArray[np.intp] | None,
    of_model: tuple[Array, ...] | None = None,
    is_heavy: bool = False,
    is_corrected: bool = True,
) -> Guarded:
    """Guard the corrections of a GP.

    Parameters
    ----------
    left_out : (residual, latent)
        Of each row in closed form, (n, q) each.
    by_fold : FoldPredictions or None
        None where rows are left out one by one alone.
    targets : (n, q) array
    constant : (q,) array or float
        What targets are relative to: together they are what the model has left.
    weight : (n,) array
    shrinks : bool
        Whether corrections may be shrunk: targets are residuals.
    own_folds : (n,) array of int or None
        Folds of the user's own, which keep rows apart that belong together: leaving out single rows says nothing there,
        and errors and variances of folds are taken as they are.
    of_model : (own, like_clones) or None
        Residuals (n, q) of the model itself, and those that it would have if it erred as its clones do, where targets
        are residuals of clones.
    is_heavy : bool
        Whether noise has heavy tails, so that rows count by their precision.
    is_corrected : bool
        Whether any correction is made.
    """
    total = constant + targets
    expected = targets - left_out[0] if by_fold is None else by_fold.mean
    if is_heavy:
        weight = weight * precision_at_best_share(total, constant + expected, weight)
    correction: Array = np.ones(targets.shape[1])
    if not is_corrected:
        correction = np.zeros(targets.shape[1])
    elif shrinks:
        correction = supported_shares(total, constant + expected, weight, own_folds)
    if of_model is not None and by_fold is not None:
        means = [constant + mean for mean in by_fold.elsewhere]
        columns = zip(*(values.T for values in (*of_model, *means)), strict=True)
        correction = correction * [shared_with_clones(column[0::2], column[1::2], weight) for column in columns]
    alone = shrunk(*left_out, correction, total)
    if by_fold is None:
        return Guarded(correction, *alone, expected)
    residual, latent = shrunk(targets - by_fold.mean, by_fold.latent, correction, total)
    if own_folds is not None:
        return Guarded(correction, residual, latent, expected)
    if len(targets) > MOST_IN_TENTHS:
        at_optimum, _ = shrunk(targets - by_fold.mean_at_optimum, by_fold.latent, correction, total)
        residual = gain_of_all_rows(alone[0], at_optimum, weight) * residual
    return Guarded(correction, residual, alone[1], expected)


def shrunk(residual: Array, latent: Array, correction: Array, total: Array) -> tuple[Array, Array]:
    """Residuals and latent variances of left-out rows where only a share of the correction is made: the residual is
    that share of its own, and the rest of what the model has left.
    """
    return correction * residual + (1.0 - correction) * total, latent_share(correction) ** 2 * latent


def gain_of_all_rows(left_out: Array, by_fold: Array, weight: Array) -> Array:
    """κ of each output, (q,), from errors at the same hyperparameters without the row and without its fold, (n, q)."""
    by_row, by_group = weight @ left_out**2, weight @ by_fold**2
    ratio = np.where(by_group > 0.0, by_row / np.where(by_group > 0.0, by_group, 1.0), 1.0)
    return np.asarray(np.clip(np.sqrt(ratio), LEAST_GAIN, 1.0))


def latent_share(correction: Array) -> Array:
    """The factor on latent standard deviations, from that on corrections."""
    return np.maximum(correction, LEAST_LATENT)


def supported_shares(residual: Array, mean: Array, weight: Array, fold: NDArray[np.intp] | None = None) -> Array:
    """The factor c of each output, (q,), from left-out residuals and corrections, (n, q), with weights (n,) and, where
    rows of a fold err together, folds (n,).
    """
    return np.array([supported_share(r, m, weight, fold) for r, m in zip(residual.T, mean.T, strict=True)])


def supported_share(residual: Array, mean: Array, weight: Array, fold: NDArray[np.intp] | None = None) -> float:
    """The factor c on corrections ``mean`` that left-out residuals support, all (n,): see the top of this module."""
    counted = weight > 0.0
    n_rows, size = int(np.count_nonzero(counted)), float(np.abs(mean[counted]).max())
    if size == 0.0:
        return 1.0
    if n_rows < 2:
        return 0.0
    residual, mean, weight = residual / size, mean / size, weight / weight[counted].mean()
    information = float(weight @ mean**2)
    best = float(weight @ (residual * mean)) / information
    if best <= 0.0:
        return 0.0
    error = residual - best * mean
    parts = weight * mean * error / information
    robust = float(np.sum(parts**2))
    needed = factor_of_few(np.maximum(parts, 0.0))
    if fold is not None and (n_folds := len(np.unique(fold[counted]))) > 1:
        by_fold = float(np.sum(np.bincount(fold, weights=parts) ** 2))
        robust = max(robust, by_fold * n_folds / (n_folds - 1))
        needed = max(needed, student_factor(float(n_folds - 1)))
    variance = max(robust, float(weight @ error**2) / n_rows / information) * n_rows / (n_rows - 1)
    share = best * (1.0 - ((STANDARD_ERRORS * needed) ** 2 * variance / best**2) ** 2)
    return 1.0 if share > WHOLE else max(share, 0.0)


def precision_at_best_share(residual: Array, mean: Array, weight: Array) -> Array:
    """Precisions (n,) of left-out residuals (n, q) about c m with the c of each output that makes them likeliest under
    a Student distribution: by turns, from no correction on.
    """
    share, before = np.zeros(residual.shape[1]), np.full(residual.shape[1], np.inf)
    for _ in range(SHARE_STEPS):
        if np.abs(share - before).max() < SHARE_TOLERANCE:
            break
        errors, before = residual - share * mean, share
        precision = likeliest_tails(errors, weight).precision(errors)
        information = (weight * precision) @ mean**2
        share = (weight * precision) @ (residual * mean) / np.where(information > 0.0, information, 1.0)
    return precision


def shared_with_clones(own: Sequence[Array], like_clones: Sequence[Array], weight: Array) -> float:
    """c/c' of the top of this module, 1 where it is not clearly less.

    Parameters
    ----------
    own, like_clones : (residual, mean), each (n,)
        Residuals of both kinds of predictions, and corrections of them.
    weight : (n,) array
    """
    (c, error), (expected, its_error) = (_slope(residual, mean, weight) for residual, mean in (own, like_clones))
    if expected < LEAST_EXPECTED or expected - c < STANDARD_ERRORS * np.hypot(error, its_error):
        return 1.0
    return max(c / expected, 0.0)


def _slope(residual: Array, mean: Array, weight: Array) -> tuple[float, float]:
    """c, and its standard error."""
    information = float(weight @ mean**2)
    if information == 0.0:
        return 0.0, np.inf
    slope = float(weight @ (residual * mean)) / information
    return slope, float(np.sqrt(np.sum((weight * mean * (residual - slope * mean)) ** 2))) / information
