"""Heavy tails of left-out errors: a Student distribution about zero, and what errors say in spite of outliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import digamma, gammaln

from rio_uq._base.array import Array, Mask
from rio_uq.gp.copies import rounded
from rio_uq.gp.paired import is_gain
from rio_uq.gp.problem import Problem

DEGREES = (1.0, 30.0)
"""Bounds of ν: from Cauchy tails to such as are hardly heavier than normal ones."""

LOG_SHARE = (-25.0, 1.0)
"""Bounds of the logarithm of σ² as a share of the mean square."""

FEWEST_OF_TAILS, MOST_EQUAL = 20, 0.2
"""Fewer rows do not tell heavy tails. Where more outcomes than this share are equal, as zeros are, a Student likelihood
would take all others for outliers."""

EVIDENCE = 3.0
"""Log likelihood that a Student distribution of left-out errors has to gain over a normal one, for heavy tails."""

FARTHEST, GROSS = 5.0, 50.0
"""Errors count for at most so many scales of the Student distribution in a variance, and in a mean."""

SKEW_EVIDENCE, LOG_RATIO = 4.0, (-1.5, 1.5)
"""Log likelihood that skew has to gain, and bounds of γ."""

OUTLIER, STANDARD_ERRORS = 3.0, 1.0
"""In comparisons errors count for at most so many scales, and a mean gain has to be more than so many of its errors."""

CLEAR = 2.5
"""Standard errors that a mean has to be away from zero where there is no skew."""

FEW_OUTLIERS = 0.05
"""Share of the rows."""


class Tails(NamedTuple):
    """A Student distribution about zero.

    Attributes
    ----------
    degrees : float
        ν.
    variance : (q,) array
        σ², the squared scale of each output.
    """

    degrees: float
    variance: Array

    def distances(self, residual: Array) -> Array:
        """s of residuals (n, q), shape (n,)."""
        return np.asarray((residual**2 / self.variance).sum(axis=1))

    def precision(self, residual: Array) -> Array:
        """E ρ of residuals (n, q), shape (n,)."""
        return precision_at(self.distances(residual), self.degrees, residual.shape[1])

    def log_density(self, residual: Array) -> Array:
        """But for a constant, shape (n,)."""
        q = residual.shape[1]
        return log_student(self.distances(residual), self.degrees, q) - 0.5 * float(np.log(self.variance).sum())


def has_few_outliers(tails: Tails, residual: Array, weight: Array) -> bool:
    """Whether few rows are less precise than half of the usual.

    A precision has seen the outcome of its row. Where many rows are weighed down because they contradict a row nearby,
    leaving out that row does not take back what it has said about them, and its error looks smaller than that of a new
    row. Folds keep the precisions that all rows have led to as well, so that they do not help; the limit is for many
    rows, whose nearest ones are so near that it matters.
    """
    is_far = tails.precision(residual) < 0.5
    return float(np.average(is_far, weights=weight)) <= FEW_OUTLIERS


def precision_at(distance: Array, degrees: float, n_outputs: int) -> Array:
    """E ρ at distances s."""
    return np.asarray((degrees + n_outputs) / (degrees + distance))


def log_student(distance: Array, degrees: float, n_outputs: int) -> Array:
    """log t of `rio_uq.gp.noise.student` at distances s."""
    half, whole = 0.5 * degrees, 0.5 * (degrees + n_outputs)
    constant = float(gammaln(whole) - gammaln(half)) - 0.5 * n_outputs * np.log(half)
    return np.asarray(constant - whole * np.log1p(distance / degrees))


def likeliest_degrees(distance: Array, n_outputs: int, weight: Array) -> float:
    """The ν that maximises Σ w_i log t(s_i)."""

    def loss(log_degrees: float) -> float:
        return -float(weight @ log_student(distance, float(np.exp(log_degrees)), n_outputs))

    return float(np.exp(minimize_scalar(loss, bounds=np.log(DEGREES), method="bounded").x))


def likeliest_tails(residual: Array, weight: Array) -> Tails:
    """The Student distribution about zero under which residuals (n, q) with weights (n,) are likeliest.

    With ρ = (ν + q)/(ν + s), the slopes of the log density log t(s) − ½ Σ_j log σ_j² are

        ∂/∂log σ_j² = ½ (ρ r_j²/σ_j² − 1)
        ∂/∂ν        = ½ (ψ((ν + q)/2) − ψ(ν/2) − q/ν − log(1 + s/ν) + ρ s/ν)
    """
    n_outputs, total = residual.shape[1], float(weight.sum())
    size = np.sqrt(np.average(residual**2, axis=0, weights=weight))
    unit = np.where(size > 0.0, size, 1.0)
    squares = (residual / unit) ** 2
    middle = np.median(np.sqrt(squares[weight > 0.0]), axis=0)
    bounds = [np.log(DEGREES), *[LOG_SHARE] * n_outputs]

    def loss(x: Array) -> tuple[float, Array]:
        degrees, variance = float(np.exp(x[0])), np.exp(x[1:])
        distance = squares @ (1.0 / variance)
        precision = precision_at(distance, degrees, n_outputs)
        value = float(weight @ log_student(distance, degrees, n_outputs)) - 0.5 * total * float(x[1:].sum())
        by_degrees = float(digamma(0.5 * (degrees + n_outputs)) - digamma(0.5 * degrees)) - n_outputs / degrees
        by_degrees = total * by_degrees + float(
            weight @ (precision * distance / degrees - np.log1p(distance / degrees))
        )
        by_variance = (weight * precision) @ squares / variance - total
        return -value / total, -0.5 * np.append(degrees * by_degrees, by_variance) / total

    start = np.append(np.log(4.0), np.clip(2.0 * np.log(np.maximum(middle, 1e-6)), *LOG_SHARE))
    x = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-10}).x
    return Tails(float(np.exp(x[0])), unit**2 * np.exp(x[1:]))


def gain_over_normal(tails: Tails, residual: Array, weight: Array) -> float:
    """How much likelier residuals are than under the likeliest normal distribution, in nats."""
    variance = np.average(residual**2, axis=0, weights=weight)
    if not variance.all():
        return 0.0
    normal = -0.5 * float(weight.sum() * (len(variance) + np.log(variance).sum()))
    # log t lacks the ½ q log 2π of a normal density, too.
    return float(weight @ tails.log_density(residual)) - normal


def may_have_tails(problem: Problem) -> bool:
    """Whether rows are enough, and outcomes continuous enough, to look for heavy tails."""
    if len(problem.targets) < FEWEST_OF_TAILS:
        return False
    outcome = rounded(problem.targets + problem.y_pred if problem.is_residual else problem.targets)
    weight = np.ones(len(outcome)) if problem.weight is None else problem.weight
    return not any(_largest_share(column, weight) > MOST_EQUAL for column in outcome.T)


def _largest_share(values: Array, weight: Array) -> float:
    """Of the value that is found most often."""
    _, which = np.unique(values, return_inverse=True)
    return float(np.bincount(which.ravel(), weights=weight).max() / weight.sum())


def winsorised(residual: Array, weight: Array) -> Array:
    """Residuals (n, q), none farther out than `FARTHEST` of their scales."""
    limit = FARTHEST * np.sqrt(likeliest_tails(residual, weight).variance)
    return np.clip(residual, -limit, limit)


def mean_beside_location(residual: Array, weight: Array) -> Array:
    """Means (q,) of left-out errors (n, q) about a location that a Student likelihood has found, where noise is skewed
    or they are clearly not zero; zero elsewhere. A few gross errors on one side, such as prices that were typed in
    cents, are no skew of the others: none counts for more than `GROSS` scales.
    """
    limit = GROSS * np.sqrt(likeliest_tails(residual, weight).variance)
    residual = np.clip(residual, -limit, limit)
    mean = np.average(residual, axis=0, weights=weight)
    error = np.sqrt(weight**2 @ (residual - mean) ** 2) / weight.sum()
    return np.where(are_skewed(residual, weight) | (np.abs(mean) > CLEAR * error), mean, 0.0)


def are_skewed(residual: Array, weight: Array) -> Mask:
    """Whether each column of residuals (n, q) is skewed about zero."""
    return np.array([gain_of_skew(column, weight) > SKEW_EVIDENCE for column in residual.T])


def gain_of_skew(residual: Array, weight: Array) -> float:
    """How much likelier residuals (n,) are with a scale of e^−γ below zero and e^γ above it, at the best γ, in nats:

    f(x) = t(x e^∓γ)/cosh γ        above and below zero
    """
    tails = likeliest_tails(residual[:, None], weight)
    distance, is_above = tails.distances(residual[:, None]), residual > 0.0

    def loss(ratio: float) -> float:
        stretched = distance * np.exp(np.where(is_above, -2.0, 2.0) * ratio)
        return float(weight.sum()) * float(np.log(np.cosh(ratio))) - float(
            weight @ log_student(stretched, tails.degrees, 1)
        )

    return loss(0.0) - float(minimize_scalar(loss, bounds=LOG_RATIO, method="bounded").fun)


def predicts_better(first: Array, second: Array, weight: Array) -> bool:
    """Whether the second of two left-out errors (n, q) of the same rows are clearly smaller, by the mean of paired
    differences of squares, in which none is larger than that of an outlier. Where they are skewed, outliers are part of
    the mean, and squares have to be clearly smaller with them as well.
    """
    tails = likeliest_tails(first, weight)
    limit = OUTLIER * np.sqrt(tails.variance)
    if not _is_gain(np.clip(first, -limit, limit), np.clip(second, -limit, limit), tails.variance, weight):
        return False
    is_skewed = are_skewed(second - np.median(second, axis=0), weight).any()
    return not is_skewed or _is_gain(first, second, tails.variance, weight)


def _is_gain(first: Array, second: Array, unit: Array, weight: Array) -> bool:
    return is_gain(((first**2 - second**2) / unit).sum(axis=1), weight, STANDARD_ERRORS)
