"""Logarithms of ratios of errors, and differences of densities: means over repetitions with their standard errors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from lab.json_lines import Row

COMPARED = ("to_model", "to_gp", "nlpd_to_gp", "crps_to_gp")
GROUP = ("sweep", "d", "world", "model", "value", "n")


def compared(rows: Iterable[Row]) -> pd.DataFrame:
    """The rows as a frame, with what RIO adds: below zero it is better.

    ``to_model`` and ``to_gp`` are log RMSE(RIO)/RMSE(model) and log RMSE(RIO)/RMSE(GP), ``crps_to_gp`` is the same of
    CRPS, and ``nlpd_to_gp`` is NLPD(RIO) − NLPD(GP), NaN where one of them is infinite.
    """
    frame = pd.DataFrame(list(rows))
    both = np.isfinite(frame["rio_nlpd"]) & np.isfinite(frame["gp_nlpd"])
    return frame.assign(
        to_model=np.log(frame["rio_rmse"] / frame["model_rmse"]),
        to_gp=np.log(frame["rio_rmse"] / frame["gp_rmse"]),
        crps_to_gp=np.log(frame["rio_crps"] / frame["gp_crps"]),
        nlpd_to_gp=frame["rio_nlpd"].sub(frame["gp_nlpd"]).where(both),
    )


def summary(rows: Iterable[Row]) -> pd.DataFrame:
    """A line for each point of a sweep.

    It has the means of all measures, ``<name>_error`` for the standard errors of `COMPARED` (NaN for a single
    repetition), and ``runs``. An infinite NLPD in one repetition leaves no mean difference: the others alone would be a
    choice.
    """
    frame = compared(rows)
    groups = frame.groupby(list(GROUP), sort=False)
    means = groups.mean(numeric_only=True).drop(columns=["run", "level"], errors="ignore")
    errors = groups[list(COMPARED)].sem().add_suffix("_error")
    is_infinite = groups["nlpd_to_gp"].count() < groups.size()
    means.loc[is_infinite, "nlpd_to_gp"] = errors.loc[is_infinite, "nlpd_to_gp_error"] = np.nan
    together = pd.concat([means, errors, groups.size().rename("runs")], axis=1).reset_index()
    return together.sort_values(list(GROUP)).reset_index(drop=True)


def verdict(mean: float, error: float) -> str:
    """Whether RIO is better or worse by more than two standard errors; of one repetition nothing is sure."""
    if np.isnan(error) or abs(mean) <= 2.0 * error:
        return "unsure"
    return "better" if mean < 0.0 else "worse"
