"""How sure a classifier is of its own label, and how that is set right. Pure functions on arrays.

With a the probability of the label that the model predicts, o that of all other classes and ε the smallest probability
that is believed, the recalibrated confidence is

    ĉ = 1/(1 + exp(−u)),        u = β z + γ,        z = log (a + ε)/(o + ε).

β > 0, so that the order of rows stays that of the model's confidence. β, γ and ε are those of the largest posterior
density where log β and γ are standard normal a priori: many rows decide by themselves, and few leave confidence as it
is.

With c = 1 where the label is right and 0 where it is wrong, the GP is fitted to the targets c − ĉ. Their noise is that
of a coin that shows 1 with the probability ĉ, of variance ĉ (1 − ĉ): rows count by its inverse. With f the mean of the
GP and s the share of the correction that left-out rows support, the corrected probability of the label is

    p = ĉ + s f        but no less than κ ĉ, and no more than 1 − κ (1 − ĉ),        κ = 1/10.

Near 0 and 1 a probability is never more than ten times as sure as confidence, and rows keep an order there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from rio_uq._base.array import Array

FLOORS = (1e-12, 1e-6, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1)
"""Smallest probabilities that may be believed. A forest of a hundred trees says nothing of probabilities below 0.01."""

WORTH_A_FLOOR = 0.5
"""Nats that a larger floor has to gain."""

LEAST_VARIANCE = 0.02
"""Of c − ĉ: rows of which the model is surer than that do not count for more. That of ĉ = 0.98."""

MOST_SURE = 0.1
"""κ."""

LARGEST_LOG_ODDS = 30.0
"""So that 1 − ĉ is more than rounding."""

FEWEST_ERRORS = 5
"""Labels that are wrong, and that are right, for corrections to be learnt."""

SURE, LEAST_GAIN = 1.5, 2.0
"""The gain in log loss of left-out rows, without which there is no correction: in its standard errors, and in nats over
all rows."""


@dataclass(frozen=True)
class Recalibration:
    """Log-odds of the label being right, from a model's probabilities.

    Attributes
    ----------
    slope, offset, floor : float
        β, γ and ε.
    """

    slope: float = 1.0
    offset: float = 0.0
    floor: float = FLOORS[0]

    def log_odds(self, probabilities: Array) -> Array:
        """u of each row, (n,), from probabilities (n, K)."""
        u = self.slope * odds_of_label(probabilities, self.floor) + self.offset
        return np.asarray(np.clip(u, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))

    def confidence(self, probabilities: Array) -> Array:
        """ĉ of each row, (n,)."""
        return np.asarray(expit(self.log_odds(probabilities)))


def odds_of_label(probabilities: Array, floor: float) -> Array:
    """z of each row, (n,)."""
    others = np.sort(probabilities, axis=1)[:, :-1].sum(axis=1)
    return np.asarray(np.log(probabilities.max(axis=1) + floor) - np.log(others + floor))


def log_loss(right: Array, probability: Array) -> Array:
    """−log of the probability that labels are right or wrong as they are, (n,)."""
    return -np.log(np.where(right > 0.5, probability, 1.0 - probability))


def fit_recalibration(probabilities: Array, right: Array, weight: Array) -> Recalibration:
    """From out-of-sample probabilities (n, K), whether their labels were right (n,), and weights (n,)."""
    best, best_value = Recalibration(), np.inf
    for floor in FLOORS:
        z = odds_of_label(probabilities, floor)

        def objective(x: Array, z: Array = z) -> tuple[float, Array]:
            slope = np.exp(x[0])
            u = slope * z + x[1]
            error = weight * (expit(u) - right)
            gradient = np.array([slope * (error @ z), error.sum()]) + x
            loss = np.logaddexp(0.0, np.where(right > 0.5, -u, u))
            return float(weight @ loss + 0.5 * x @ x), gradient

        found = minimize(objective, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-6.0, 3.0), (-20.0, 20.0)])
        if found.fun < best_value - WORTH_A_FLOOR:
            best_value = float(found.fun)
            best = Recalibration(float(np.exp(found.x[0])), float(found.x[1]), floor)
    return best


def targets_of(right: Array, confidence: Array) -> tuple[Array, Array]:
    """Targets c − ĉ of the GP, and the precisions by which they count, both (n,)."""
    return right - confidence, 1.0 / np.maximum(confidence * (1.0 - confidence), LEAST_VARIANCE)


def corrected_confidence(confidence: Array, correction: Array) -> Array:
    """p of each row, (n,), from ĉ and s f."""
    return np.clip(confidence + correction, MOST_SURE * confidence, 1.0 - MOST_SURE * (1.0 - confidence))


@dataclass(frozen=True)
class CorrectionChoice:
    """The share of corrections that left-out rows support, and the evidence.

    Attributes
    ----------
    share : float
        Between 0 and 1.
    log_loss, log_loss_corrected : float
        Mean negative log probability of labels of left-out rows being right or wrong as they are: by confidence after
        recalibration, and with the share of the correction that suits them best.
    standard_error : float
        Of the difference between the two.
    """

    share: float
    log_loss: float
    log_loss_corrected: float
    standard_error: float

    @property
    def is_corrected(self) -> bool:
        return self.share > 0.0


def choose_share(right: Array, confidence: Array, correction: Array, weight: Array) -> CorrectionChoice:
    """Of left-out rows: whether labels are right, ĉ, corrections f by GPs that have not seen them, and weights, all
    (n,).
    """
    total, weight = float(weight.sum()), weight / weight.sum()
    before = log_loss(right, confidence)

    def of_rows(share: float) -> Array:
        return log_loss(right, corrected_confidence(confidence, share * correction))

    found = minimize_scalar(
        lambda share: float(weight @ of_rows(share)), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-3}
    )
    share = 1.0 if float(weight @ of_rows(1.0)) <= found.fun else float(found.x)
    gain = before - of_rows(share)
    mean = float(weight @ gain)
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2)))
    supported = mean > SURE * error and mean * total > LEAST_GAIN
    return CorrectionChoice(share if supported else 0.0, float(weight @ before), float(weight @ before) - mean, error)


def few_of_a_kind(right: Array) -> bool:
    """Whether labels that are wrong, or that are right, are too few to tell anything of where they are."""
    n_right = int(np.count_nonzero(right > 0.5))
    return min(n_right, len(right) - n_right) < FEWEST_ERRORS


def with_label_probability(probabilities: Array, of_label: Array) -> Array:
    """Probabilities (n, K) where that of the model's label is another one (n,), and others are in proportion to what
    they were; evenly where they were all zero.
    """
    n_rows, n_classes = probabilities.shape
    if n_classes == 1:
        return np.ones_like(probabilities)
    rows, label = np.arange(n_rows), probabilities.argmax(axis=1)
    others = probabilities.copy()
    others[rows, label] = 0.0
    total = others.sum(axis=1)
    is_zero = total <= 0.0
    others[is_zero] = 1.0
    others[rows, label] = 0.0
    corrected: Array = others * ((1.0 - of_label) / others.sum(axis=1))[:, None]
    corrected[rows, label] = of_label
    return corrected


def indicators_of_label(probabilities: Array) -> Array:
    """Whether each class is the label that the model predicts, (n, K); of two classes the second alone, (n, 1).

    Inputs of the GP: c − ĉ jumps where the label changes, since that is another question there.
    """
    is_label: Array = np.eye(probabilities.shape[1])[probabilities.argmax(axis=1)]
    return is_label[:, 1:] if is_label.shape[1] == 2 else is_label


def sorted_probabilities(probabilities: Array) -> Array:
    """The largest of each row first, (n, K): what the GP sees of them, beside the label."""
    return np.ascontiguousarray(np.sort(probabilities, axis=1)[:, ::-1])
