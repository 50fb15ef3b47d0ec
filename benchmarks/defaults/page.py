"""Write the tables of the page from the stored measurements; the text above them stays."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.defaults.decided import store_of_decisions, with_decisions
from benchmarks.defaults.measures import CASES, COVERAGES, LEVELS, PEERS
from benchmarks.defaults.models import ALL
from benchmarks.defaults.run import applies, has_run, store_of
from benchmarks.defaults.statistics import FIT, deviations, duels, harmed, of_rio, since, with_ratio
from benchmarks.defaults.tables import TABLES
from benchmarks.defaults.targets import MATTERS, decisions, targets
from lab.markdown import bold, markdown_table, write_tables
from lab.significance import SIGNIFICANCE

TITLE = "# Error bars of whoever just follows the README\n\n"
BEFORE = Path(__file__).parent / "before.csv.gz"
N_WORST = 10
NAMES = {"table": "case", "dataset": "data set", "method": "model"}

DECISION = f"""Where residuals of unseen rows, both of test rows and out of five folds, are {MATTERS} times those of
rows that the model has seen or more, root mean squared: seen and half-seen rows need out-of-fold or out-of-bag
residuals, and new rows the model's own. Out-of-fold residuals of new rows are safe too, if somewhat large, and right
where one of a hundred or more has a copy among the training rows, as in both wine sets and in CCS.
`python -m benchmarks.defaults decisions` has further cases.
"""

DECIDED = """Of these decisions, {anew} of {all} were made anew by `python -m benchmarks.defaults decided`, on the same
splits without a GP; the others are those of the fits.
"""

COVERAGE = """Mean over pairs of data set and model, and in brackets the mean of the absolute values. The RMSE ratio is
that of RIO over that of the model, a geometric mean.
"""

PEER = """The score is the CRPS from the median and the bounds of the six intervals alone, for RIO and for MAPIE alike;
CV+ and CQR are given the rows and the unfitted model of "seen". The ratio is RIO's score over MAPIE's, a geometric
mean, and won are pairs of data set and model with a ratio below 1. Models without a form for quantiles stand beside the
CQR of histogram boosting. Seconds are those of the processor, in the median: of RIO from the fitted model on, of the
others from nothing.
"""

SINCE = """Ratios of RMSE and CRPS, geometric means, and differences of NLPD, over the same models, cases and splits.
Standard errors are over fits, which share the rows of a split.
"""

TESTED = """Mean of the logarithm of the RMSE ratio over splits, above 1.005: a one-sided t-test with the variance of
Nadeau and Bengio (2003) for splits that overlap, and p-values by Holm's method over all pairs of data set and model.
Cases of one split are averaged.
"""


def of_groups(rows: pd.DataFrame, by: str) -> str:
    """Deviations, RMSE ratio and NLPD of each group, and of all."""
    rio = with_ratio(of_rio(rows))
    points = deviations(rio)
    means = rio.groupby(FIT, sort=False)[["ratio", "nlpd"]].mean()
    groups = [(str(name), part) for name, part in points.groupby(by, sort=False)]
    lines = [_coverage_line(name, part, means) for name, part in [*groups, ("all", points)]]
    if by == "table":
        others = deviations(rows[rows["table"].isin(PEERS)])
        lines += [_coverage_line(f"MAPIE {name}", part) for name, part in others.groupby("table", sort=False)]
    return markdown_table([NAMES[by], *(f"{100 * level:g} %" for level in LEVELS), "RMSE ratio", "NLPD"], lines)


def _coverage_line(name: str, points: pd.DataFrame, means: pd.DataFrame | None = None) -> list[str]:
    cells = [f"{points[level].mean():+.1f} ({points[level].abs().mean():.1f})" for level in COVERAGES]
    if means is None:
        return [name, *cells, "", ""]
    part = means.loc[points.index]
    return [name, *cells, f"{np.exp(part['ratio'].mean()):.3f}", f"{part['nlpd'].mean():.2f}"]


def peer_table(rows: pd.DataFrame, by: str) -> str:
    """RIO's score over those of MAPIE, and the time of each."""
    against = {peer: duels(rows, peer) for peer in PEERS}
    seconds = {name: rows[rows["table"] == name] for name in ("seen", *PEERS)}
    names = [*dict.fromkeys(against["CV+"][by]), "all"]
    lines = []
    for name in names:
        line = [name]
        for duel in against.values():
            ratio = (duel if name == "all" else duel[duel[by] == name])["ratio"]
            line += (
                [f"{np.exp(ratio.mean()):.3f}", f"{(ratio < 0.0).sum()} of {len(ratio)}"] if len(ratio) else ["", ""]
            )
        for part in seconds.values():
            values = (part if name == "all" else part[part[by] == name])["seconds"]
            line.append(f"{values.median():.1f}" if len(values) else "")
        lines.append(line)
    header = ["RIO / CV+", "won", "RIO / CQR", "won", "seconds of RIO", "of CV+", "of CQR"]
    return markdown_table([NAMES[by], *header], lines)


def decision_table(rows: pd.DataFrame) -> str:
    """How often residuals are those of unseen rows, where it matters."""
    fits = decisions(rows)
    lines = []
    for case in CASES:
        part = fits[fits["table"] == case]
        if not len(part):
            continue
        wrong = part[~part["right"]].groupby("method", sort=False)["dataset"].unique()
        listed = "; ".join(f"{model} on {', '.join(datasets)}" for model, datasets in wrong.items())
        shares = [f"{100 * part[name].mean():.1f} %" for name in ("right", "safe")]
        lines.append([case, str(len(part)), *shares, listed])
    text = markdown_table(["the model was trained on", "fits", "right", "safe", "not right"], lines)
    if fits["is_anew"].any():
        text += "\n" + DECIDED.format(anew=fits["is_anew"].sum(), all=len(fits))
    return text


def worst_table(rows: pd.DataFrame, by: str) -> str:
    """The pairs in their cases that are furthest off at 95 %, or with the largest RMSE ratio; means over runs."""
    rio = with_ratio(of_rio(rows))
    means = rio.groupby(FIT, sort=False)[[*COVERAGES, "ratio", "n", "n_test"]].mean()
    order = (means["coverage_95"] - 0.95).abs() if by == "coverage" else means["ratio"]
    lines = []
    for key in order.sort_values(ascending=False).index[:N_WORST]:
        line = means.loc[key]
        cells = [f"{100 * line[f'coverage_{level}']:.1f}" for level in (68, 90, 95)]
        sizes = [f"{line[name]:.0f}" for name in ("n", "n_test")]
        lines.append([key[1], key[2], key[0], *sizes, *cells, f"{np.exp(line['ratio']):.3f}"])
    return markdown_table(
        ["data set", "model", "case", "rows", "test rows", "68 %", "90 %", "95 %", "RMSE ratio"], lines
    )


def harm_table(tested: pd.DataFrame) -> str:
    above = tested[tested["p"] < SIGNIFICANCE].sort_values("p")
    if not len(above):
        return f"None of {len(tested)} is above by this test.\n"
    lines = [
        [line.dataset, line.method, str(line.runs), f"{np.exp(line.ratio):.3f}", f"{line.p:.2g}"]
        for line in above.itertuples()
    ]
    return markdown_table(["data set", "model", "splits", "RMSE ratio", "p"], lines)


def target_table(rows: pd.DataFrame, before: pd.DataFrame | None) -> str:
    lines = [
        [target.what, target.target, target.reached, "yes" if target.is_reached else bold("no")]
        for target in targets(rows, before)
    ]
    return markdown_table(["what", "target", "reached", ""], lines)


def since_table(change: pd.DataFrame) -> str:
    """What has changed since the version before, by data set: means and their standard errors."""
    lines = []
    for name, part in [*change.groupby("dataset", sort=False), ("all", change)]:
        measures = part[["rmse", "crps", "nlpd"]]
        mean, error = measures.mean(), measures.sem()
        ratios = [f"{np.exp(mean[of]):.3f} ± {np.exp(mean[of]) * error[of]:.3f}" for of in ("rmse", "crps")]
        lines.append([name, str(len(part)), *ratios, f"{mean['nlpd']:+.3f} ± {error['nlpd']:.3f}"])
    return markdown_table(["data set", "fits", "RMSE", "CRPS", "NLPD"], lines)


def counts(rows: pd.DataFrame) -> str:
    """How many fits there are, and which are missing of all that the runs would have."""
    n_runs = rows["run"].nunique()
    rio = of_rio(rows)
    stored = set(zip(rows["table"], rows["dataset"], rows["run"], rows["method"], strict=True))
    missing = [
        f"{model} on {dataset} ({table}, run {run})"
        for run in range(int(rows["run"].max()) + 1)
        for dataset in rows["dataset"].unique()
        for table in (*CASES, *PEERS)
        for model in rows["method"].unique()
        if applies(table, model) and has_run(table, run) and (table, dataset, run, model) not in stored
    ]
    text = (
        f"{len(rio)} fits of RIO: {rio['dataset'].nunique()} data sets, {rio['method'].nunique()} models, {n_runs} "
        f"split{'s' if n_runs > 1 else ''}; {rio['seconds'].median():.1f} processor seconds in the median.\n"
    )
    if missing:
        listed = "; ".join(missing[:N_WORST]) + ("; …" if len(missing) > N_WORST else "")
        text += f"\n{len(missing)} fits could not be had or were left out: {listed}.\n"
    return text


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of cases, data sets and models."""
    places = [{name: i for i, name in enumerate(names)} for names in ((*CASES, *PEERS), TABLES, ALL)]
    columns = [rows[name].map(place) for name, place in zip(FIT, places, strict=True)]
    return rows.iloc[np.lexsort([rows["run"], *columns[::-1]])]


def main(options: argparse.Namespace) -> None:
    store = store_of(options.results)
    rows = store.read_or_unpack()
    if not len(rows):
        sys.exit(f"there are no measurements in {options.results}: make them with `run`")
    decided = store_of_decisions(options.results)
    rows = with_decisions(in_order(rows), decided.read_or_unpack())
    before = pd.read_csv(options.before) if options.before.exists() else None
    tables = [
        counts(rows),
        "## Targets\n",
        target_table(rows, before),
        "## Coverage less its level, in points\n",
        COVERAGE,
    ]
    tables += [of_groups(rows, by) for by in FIT]
    tables += ["## The worst\n", "By coverage at 95 %:\n", worst_table(rows, "coverage")]
    tables += ["By the RMSE ratio:\n", worst_table(rows, "ratio")]
    if "CV+" in set(rows["table"]):
        tables += ["## Beside MAPIE\n", PEER, peer_table(rows, "method"), peer_table(rows, "dataset")]
        tables += ["## Residuals of unseen rows\n", DECISION, decision_table(rows)]
    if len(tested := harmed(rows)):
        tables += ["## Worse predictions than the model's\n", TESTED, harm_table(tested)]
    if before is not None and len(change := since(of_rio(rows), before)):
        tables += ["## Beside the version before\n", SINCE, since_table(change)]
    write_tables(options.output, "\n".join(tables), command="benchmarks.defaults page", title=TITLE)
    for one in (store, decided):
        if one.path.exists():
            one.pack()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--before", type=Path, default=BEFORE, help="measurements of the version before (%(default)s)")
