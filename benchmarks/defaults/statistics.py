"""Means over pairs of data set and model, tests that are corrected for overlapping splits, and duels with MAPIE."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.defaults.measures import CASES, COVERAGES, LEVELS
from lab.significance import corrected_p_value, holm

PAIR = ["dataset", "method"]
FIT = ["table", *PAIR]
"""A pair in a case."""

CQR_MODEL = "histogram boosting"
"""Its CQR stands beside all models that have no form for quantiles."""

TOLERANCE = np.log(1.005)
"""Of the logarithm of the RMSE of RIO over that of the model."""


def of_rio(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["table"].isin(CASES)]


def with_ratio(rio: pd.DataFrame) -> pd.DataFrame:
    """With the logarithm of the RMSE ratio."""
    return rio.assign(ratio=np.log(rio["rmse"] / rio["model_rmse"]))


def deviations(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage less its level, in points, a column for each level: the mean over runs of each pair in each case."""
    means = rows.groupby(FIT, sort=False)[COVERAGES].mean()
    return 100.0 * (means - list(LEVELS))


def harmed(rows: pd.DataFrame) -> pd.DataFrame:
    """Each pair with two runs or more: the mean logarithm of its RMSE ratio, and ``p`` of its being above.

    Cases of one run are averaged first. P-values are Holm's.
    """
    lines = []
    for key, part in with_ratio(of_rio(rows)).groupby(PAIR, sort=False):
        ratios = part.groupby("run")["ratio"].mean().to_numpy()
        if len(ratios) < 2:
            continue
        share = float((part["n_test"] / part["n_all"]).iloc[0])
        lines.append([*key, ratios.mean(), len(ratios), corrected_p_value(ratios - TOLERANCE, share)])
    frame = pd.DataFrame(lines, columns=[*PAIR, "ratio", "runs", "p"])
    return frame.assign(p=holm(frame["p"].to_numpy()))


def since(rio: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Of the fits that both have, a row for each: logarithms of the ratios of RMSE and CRPS, and the difference of
    NLPD, to those of the version before.
    """
    key, measures = [*FIT, "run"], ["rmse", "crps", "nlpd"]
    both = rio.merge(before[[*key, *measures]], on=key, suffixes=("", "_before"))
    ratios = {name: np.log(both[name] / both[f"{name}_before"]) for name in ("rmse", "crps")}
    return both[key].assign(**ratios, nlpd=both["nlpd"] - both["nlpd_before"])


def duels(rows: pd.DataFrame, peer: str) -> pd.DataFrame:
    """Logarithm of the score of RIO on seen rows over that of a peer, mean over runs, for each pair that has both, and
    whether the peer has the same model.
    """
    seen, theirs = rows[rows["table"] == "seen"], rows[rows["table"] == peer]
    key = ["dataset", "run", "method"]
    both = seen.merge(theirs[[*key, "score"]], on=key, how="left", suffixes=("", "_peer"))
    both["same_model"] = both["score_peer"].notna()
    if peer == "CQR":
        general = theirs[theirs["method"] == CQR_MODEL].set_index(["dataset", "run"])["score"]
        both["score_peer"] = both["score_peer"].fillna(
            pd.Series([general.get(at, np.nan) for at in zip(both["dataset"], both["run"], strict=True)], both.index)
        )
    both = both.dropna(subset="score_peer")
    both["ratio"] = np.log(both["score"] / both["score_peer"])
    return (
        both.groupby(PAIR, sort=False)[["ratio", "same_model"]]
        .agg({"ratio": "mean", "same_model": "all"})
        .reset_index()
    )


def memorised(rows: pd.DataFrame) -> pd.DataFrame:
    """RIO's fits with ``memorised``: how much larger residuals of unseen rows are than those of rows that were seen.

    Of the model on the rows of "seen", root mean squared, as a geometric mean over the runs that have CV+. Unseen are
    test rows, and the rows of CV+ out of fold, whichever are smaller: clones can be worse for their fewer rows, and
    test rows by chance, though nothing is memorised. Fits of models without CV+ are left out.
    """
    key = ["dataset", "run", "method"]
    seen, folds = (rows[rows["table"] == table].set_index(key) for table in ("seen", "CV+"))
    unseen = np.minimum(folds["training_rmse"], seen["model_rmse"].reindex(folds.index))
    ratio = unseen / np.maximum(seen["training_rmse"].reindex(folds.index), 1e-12 * unseen)
    of_pairs = np.exp(np.log(ratio.dropna()).groupby(PAIR).mean()).rename("memorised")
    return of_rio(rows).merge(of_pairs.reset_index(), on=PAIR)
