"""Comparing methods over data sets and over runs (Demšar 2006; Nadeau and Bengio 2003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from lab.significance import SIGNIFICANCE, corrected_p_value

TEST_SHARE = 0.2


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods over data sets; rank 1 is the best.

    Attributes
    ----------
    ranks : Series
        Mean rank of each method, ascending.
    n_datasets : int
    p_value : float
        Of Friedman's test that all methods are alike; NaN where there are too few to test.
    critical_difference : float
        Mean ranks that differ by less are not told apart by Nemenyi's test at 5 %.
    """

    ranks: pd.Series
    n_datasets: int
    p_value: float
    critical_difference: float

    def cliques(self) -> list[tuple[int, int]]:
        """First and last position of each longest row of methods that Nemenyi's test does not tell apart."""
        values = self.ranks.to_numpy()
        ends = np.searchsorted(values, values + self.critical_difference, side="left") - 1
        pairs = [(first, int(last)) for first, last in enumerate(ends) if last > first]
        return [pair for i, pair in enumerate(pairs) if i == 0 or pair[1] > pairs[i - 1][1]]


def ranking(means: pd.DataFrame) -> Ranking:
    """Rank methods on each data set and average.

    Parameters
    ----------
    means : DataFrame
        A row for each data set, a column for each method, smaller being better; nothing missing.
    """
    n_datasets, n_methods = means.shape
    ranks = means.rank(axis=1).mean().sort_values(kind="stable")
    p_value = np.nan
    if n_datasets > 1 and n_methods > 2:
        p_value = float(stats.friedmanchisquare(*means.to_numpy().T).pvalue)
    return Ranking(ranks, n_datasets, p_value, critical_difference(n_methods, n_datasets))


def critical_difference(n_methods: int, n_datasets: int, significance: float = SIGNIFICANCE) -> float:
    """Nemenyi's: q √(k (k + 1) / 6N), with q the quantile of the studentised range of k methods, over √2."""
    q = stats.studentized_range.ppf(1.0 - significance, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def complete(means: pd.DataFrame) -> pd.DataFrame:
    """The part with nothing missing: methods known on at least half of the data sets, data sets that have them all."""
    often = means.loc[:, means.notna().mean() >= 0.5]
    return often.dropna()


def distinct(means: pd.DataFrame) -> pd.DataFrame:
    """Without methods that have the same values as one before them: error bars around the same prediction, say."""
    kept: list[str] = []
    for method in means:
        if not any(np.allclose(means[method], means[other], rtol=1e-5, atol=0.0) for other in kept):
            kept.append(method)
    return means[kept]


def p_value(one: pd.Series, other: pd.Series) -> float:
    """Of the paired t-test over runs, corrected for their overlap; 1 for fewer than two runs that both have."""
    return corrected_p_value((one - other).dropna().to_numpy(), TEST_SHARE, two_sided=True)


@dataclass(frozen=True)
class Duel:
    """On how many data sets a method is better and worse than another, and on how many of these by the test."""

    better: int = 0
    worse: int = 0
    surely_better: int = 0
    surely_worse: int = 0


def duel(runs: dict[str, pd.DataFrame], method: str, other: str) -> Duel:
    """Compare two methods on each data set.

    Parameters
    ----------
    runs : dict
        From data sets to a frame with a row for each run and a column for each method.
    """
    signs, sure = [], []
    for frame in runs.values():
        if method in frame and other in frame:
            difference = (frame[method] - frame[other]).dropna()
            if len(difference):
                signs.append(np.sign(difference.mean()))
                sure.append(p_value(frame[method], frame[other]) < SIGNIFICANCE)
    sign, is_sure = np.array(signs), np.array(sure, dtype=bool)
    return Duel(
        int((sign < 0).sum()),
        int((sign > 0).sum()),
        int(((sign < 0) & is_sure).sum()),
        int(((sign > 0) & is_sure).sum()),
    )
