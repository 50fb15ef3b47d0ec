"""The paper's tables from stored rows: means, standard deviations, and the paired tests against RIO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from lab.datasets import DATASETS
from rio_uq.options import PAPER_VARIANTS

PAPER = Path(__file__).parent / "paper"
PAPER_TABLES = {
    "default": "table1_default.csv",
    "ard": "table_ard.csv",
    "iterations": "table_10000_iterations.csv",
    "random-forest": "table_random_forest.csv",
}
TITLES = {
    "default": "The main table: RBF kernels, 50 inducing points, at most 1,000 iterations",
    "ard": "With a lengthscale for each feature (ARD)",
    "iterations": "With at most 10,000 iterations",
    "random-forest": "On random forests",
}
METHODS = ("NN", "RF", *PAPER_VARIANTS, "NNGP", "ANP")
GP = "GP"
OURS = (GP, "ours", "RIO+crossfit", "ours+residuals of folds", "ours+crossfit")
"""Methods that are not the paper's: our defaults without the network, on it as it is, and with networks of folds."""
SIGNIFICANCE = 0.05
MEASURES = ("rmse", "nlpd_capped", "nlpd")
PAPER_MEASURES = MEASURES[:2]
"""Those that the paper has: its NLPD is the capped one, see `experiments.measures`."""


def paper_table(name: str) -> pd.DataFrame:
    """The paper's figures, one row for each data set and method, under the names of `PAPER_MEASURES`."""
    table = pd.read_csv(PAPER / PAPER_TABLES[name])
    return table.rename(columns=lambda column: column.replace("nlpd", PAPER_MEASURES[1]))


def rows_of(rows: pd.DataFrame, table: str) -> pd.DataFrame:
    """The rows of a table, with those of methods that are the same in several tables and are run for one of them.

    NNGP, ANP and the plain GP look at no network; our methods are compared with each variant of the paper's settings on
    networks.
    """
    own = rows[rows.table == table]
    shared = [rows[(rows.table == "default") & rows.method.isin(["NNGP", "ANP"])]] if table != "default" else []
    alike = [GP] if table == "random-forest" else OURS
    shared.append(rows[(rows.table == "ours") & rows.method.isin(alike)])
    return pd.concat([own, *(part[part.dataset.isin(own.dataset)] for part in shared)])


def summary(rows: pd.DataFrame, table: str) -> pd.DataFrame:
    """One row for each data set and method, in the columns of the paper's tables.

    Returns
    -------
    DataFrame
        ``dataset``, ``method``, ``runs``, for each of `MEASURES` ``_mean``, ``_std``, ``_best``, ``_t_test`` and
        ``_wilcoxon``, then ``noise_variance``, ``seconds``, the mean ``coverage`` at 68, 90 and 95 %, and
        ``improvement_ratio``.

    Notes
    -----
    The tests compare a method with RIO run by run, on the runs that both have. The best mean is marked as such, and
    with it every one that neither test can tell from it; methods with fewer runs than others have no part in it, since
    with few runs nothing can be told.
    """
    chosen = rows_of(rows, table)
    entries = []
    for dataset in [name for name in DATASETS if name in set(chosen.dataset)]:
        of_dataset = chosen[chosen.dataset == dataset]
        measures = {name: of_dataset.pivot(index="run", columns="method", values=name) for name in MEASURES}
        for method in [name for name in (*METHODS, *OURS) if name in set(of_dataset.method)]:
            of_method = of_dataset[of_dataset.method == method]
            entry = {"dataset": dataset, "method": method, "runs": len(of_method)}
            for name, runs in measures.items():
                entry |= _measure(name, runs, method)
            means = of_method[["noise_variance", "fit_seconds", "coverage_68", "coverage_90", "coverage_95"]].mean()
            entry |= {
                "noise_variance": means.noise_variance,
                "seconds": means.fit_seconds,
                **means[["coverage_68", "coverage_90", "coverage_95"]],
                "improvement_ratio": of_method.improvement_ratio.mean(),
            }
            entries.append(entry)
    return pd.DataFrame(entries)


def _measure(name: str, runs: pd.DataFrame, method: str) -> dict[str, float | bool]:
    """Mean, standard deviation and marks of one measure of one method; ``runs`` has a column for each method."""
    values = runs[method].dropna()
    t_test = wilcoxon = best = False
    if len(values):
        if "RIO" in runs and method != "RIO":
            t_test, wilcoxon = differs(values, runs["RIO"])
        complete = runs.loc[:, runs.count() == runs.count().max()]
        best = method in complete and not any(differs(values, runs[complete.mean().idxmin()]))
    return {
        f"{name}_mean": values.mean(),
        f"{name}_std": values.std(ddof=0),
        f"{name}_best": best,
        f"{name}_t_test": t_test,
        f"{name}_wilcoxon": wilcoxon,
    }


def differs(one: pd.Series, other: pd.Series) -> tuple[bool, bool]:
    """Whether paired values differ at the 5 % level, by the t-test and by Wilcoxon's."""
    pairs = pd.concat([one, other], axis=1, join="inner").dropna().to_numpy()
    differences = pairs[:, 0] - pairs[:, 1] if len(pairs) else np.empty(0)
    if len(differences) < 2 or not differences.any():
        return False, False
    t_test = 0.0 if np.ptp(differences) == 0.0 else stats.ttest_rel(pairs[:, 0], pairs[:, 1]).pvalue
    return bool(t_test < SIGNIFICANCE), bool(stats.wilcoxon(differences).pvalue < SIGNIFICANCE)


def noise_correlation(entries: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of mean RMSE and mean noise variance over the six GP variants, for each data set."""
    correlations = []
    for dataset, of_dataset in entries[entries.method.isin(PAPER_VARIANTS)].groupby("dataset", sort=False):
        if len(of_dataset) == len(PAPER_VARIANTS):
            test = stats.spearmanr(of_dataset.rmse_mean, of_dataset.noise_variance)
            correlations.append({"dataset": dataset, "correlation": test.statistic, "p_value": test.pvalue})
    return pd.DataFrame(correlations, columns=["dataset", "correlation", "p_value"])


def agreement(entries: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation between the paper's and our mean RMSE (and NLPD) of the methods, for each data set.

    The methods are the network and the six GP variants; NNGP and ANP are other people's, built anew here.
    """
    both = entries.merge(paper, on=["dataset", "method"], suffixes=("", "_paper"))
    both = both[~both.method.isin(["NNGP", "ANP"])]
    correlations = []
    for dataset, of_dataset in both.groupby("dataset", sort=False):
        entry = {"dataset": dataset, "methods": len(of_dataset)}
        for name in PAPER_MEASURES:
            pair = of_dataset[[f"{name}_mean", f"{name}_mean_paper"]].dropna()
            entry[name] = stats.spearmanr(pair.iloc[:, 0], pair.iloc[:, 1]).statistic if len(pair) > 2 else np.nan
        correlations.append(entry)
    return pd.DataFrame(correlations)
