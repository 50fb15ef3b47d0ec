"""How well error scores tell wrong labels from right ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.errors.methods import Array, Scores

LARGER_IS_BETTER = ("auroc", "ap_errors", "ap_successes")
NAMES = {
    "auroc": "AUROC",
    "ap_errors": "AP of errors",
    "ap_successes": "AUPR of successes",
    "risk_coverage": "area under risk–coverage",
    "ece": "ECE",
    "brier": "Brier score",
    "log_loss": "log loss",
}
N_BINS = 15
CUT = 1e-6
"""Probabilities count as no surer than that: one that is certain and wrong would decide the mean."""


def measures_of(scores: Scores, wrong: Array) -> dict[str, Any]:
    """All measures of the error scores of labels; None where they are not defined."""
    error = scores.error
    values: dict[str, Any] = {**scores.extra}
    if 0.0 < wrong.mean() < 1.0:
        values |= {
            "auroc": float(roc_auc_score(wrong, error)),
            "ap_errors": float(average_precision_score(wrong, error)),
            "ap_successes": float(average_precision_score(1.0 - wrong, -error)),
            "risk_coverage": risk_coverage(error, wrong),
        }
    if scores.is_probability:
        p = np.clip(error, CUT, 1.0 - CUT)
        values |= {
            "ece": expected_calibration_error(error, wrong),
            "brier": float(np.mean((error - wrong) ** 2)),
            "log_loss": float(-np.log(np.where(wrong > 0.5, p, 1.0 - p)).mean()),
        }
    return values


def risk_coverage(error: Array, wrong: Array) -> float:
    """Mean share of wrong labels among those kept, over all numbers of them; the mean over orders of equal scores."""
    _, group, size = np.unique(error, return_inverse=True, return_counts=True)
    rate = np.bincount(group, weights=wrong) / size
    return float(np.mean(np.cumsum(np.repeat(rate, size)) / np.arange(1, len(error) + 1)))


def expected_calibration_error(error: Array, wrong: Array) -> float:
    """Mean difference between score and share of errors, over bins of equal width."""
    place = np.minimum((error * N_BINS).astype(int), N_BINS - 1)
    return float(np.abs(np.bincount(place, weights=wrong - error)).sum() / len(error))


def placements(error: Array, wrong: Array) -> tuple[Array, Array]:
    """Of each wrong label the share of right ones below it, and of each right one that of wrong ones above it: AUROC is
    the mean of either (DeLong and others, 1988).
    """
    is_wrong = wrong > 0.5
    below = np.sort(error[~is_wrong])
    above = np.sort(error[is_wrong])

    def share(values: Array, among: Array) -> Array:
        left, right = (np.searchsorted(among, values, side=side) for side in ("left", "right"))
        return (left + right) / (2.0 * len(among))

    return share(error[is_wrong], below), 1.0 - share(error[~is_wrong], above)


def standard_error_of_gain(error: Array, other: Array, wrong: Array) -> float:
    """Of the difference between two AUROCs on the same rows, by placements."""
    gains = [one - two for one, two in zip(placements(error, wrong), placements(other, wrong), strict=True)]
    return float(np.sqrt(sum(gain.var(ddof=1) / len(gain) for gain in gains if len(gain) > 1)))
