"""Ranks over data sets, and each method beside the paper's RIO and the plain GP."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.quality.ranks import Ranking, complete, ranking
from benchmarks.standard.statistics import MEASURES, Duel, by_split, duels
from benchmarks.untuned.methods import METHODS
from benchmarks.untuned.tables import TABLES

SAME_RMSE = 1e-5
"""Relative; rows are stored with six digits."""


def frames_of(rows: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """For each measure and each table a row for each split and a column for each method."""
    return {measure: by_split(rows, measure, TABLES, tuple(METHODS)) for measure in MEASURES}


def rankings(rows: pd.DataFrame) -> dict[str, Ranking]:
    """By each measure, over the splits that all methods on a table have."""
    results = {}
    for measure, frames in frames_of(rows).items():
        means = complete(pd.DataFrame({name: frame.dropna().mean() for name, frame in frames.items()}).T)
        if len(means) and means.shape[1] > 1:
            results[measure] = ranking(means)
    return results


def beside(rows: pd.DataFrame, reference: str) -> dict[str, dict[str, Duel]]:
    """By each measure: on how many tables the others are better and worse than the reference."""
    results = {}
    for measure, frames in frames_of(rows).items():
        if any(reference in frame and frame.shape[1] > 1 for frame in frames.values()):
            results[measure] = {
                other: Duel(duel.worse, duel.better, duel.surely_worse, duel.surely_better)
                for other, duel in duels(frames, reference).items()
            }
    return results


def same_as(rows: pd.DataFrame, method: str, other: str) -> pd.Series:
    """Whether a method has made the predictions of another: a bool for each table and split that both have."""
    rmse = rows.set_index(["dataset", "run", "method"])["rmse"].unstack("method")
    both = rmse.reindex(columns=[method, other]).dropna()
    return pd.Series(np.isclose(both[method], both[other], rtol=SAME_RMSE, atol=0.0), index=both.index)
