"""Paired tests over random splits that overlap, and p-values of many tests."""

from __future__ import annotations

import numpy as np
from scipy import stats

SIGNIFICANCE = 0.05


def corrected_p_value(differences: np.ndarray, test_share: float, *, two_sided: bool = False) -> float:
    """P-value of a mean above 0, or with ``two_sided`` of one that is not 0, over random splits that overlap.

    Nadeau and Bengio (2003): differences of splits that share rows are not independent, so that their variance counts
    1/J + n₂/n₁ times instead of 1/J times, for J splits of n₁ training and n₂ test rows. That takes the correlation of
    two splits to be the share of rows that are test rows, n₂/(n₁ + n₂); here it is that share ρ of all rows of the data
    set, and the factor 1/J + ρ/(1 − ρ).

    Parameters
    ----------
    differences : (J,) array
        One for each split. Of fewer than two nothing is sure.
    test_share : float
        ρ; 0 for splits that do not overlap.
    two_sided : bool
    """
    n_runs = len(differences)
    if n_runs < 2 or not np.any(differences):
        return 1.0
    mean, std = differences.mean(), differences.std(ddof=1)
    if std == 0.0:
        return float(mean <= 0.0 and not two_sided)
    factor = 1.0 / n_runs + test_share / (1.0 - test_share)
    statistic = mean / (std * np.sqrt(factor))
    return float(2.0 * stats.t.sf(abs(statistic), n_runs - 1) if two_sided else stats.t.sf(statistic, n_runs - 1))


def holm(p_values: np.ndarray) -> np.ndarray:
    """P-values of many tests, adjusted so that one false alarm among them is as rare as in a single test."""
    order = np.argsort(p_values)
    weighted = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(weighted), 1.0)
    return adjusted
