"""Write the tables of the page from the stored measurements; the text above them stays."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.command import stored_rows
from benchmarks.errors.measures import LARGER_IS_BETTER, NAMES
from benchmarks.errors.methods import CONFIDENCE, METHODS, MODELS, RIO
from benchmarks.errors.tables import CHOSEN_ON, TABLES
from lab.json_lines import Row
from lab.markdown import bold, markdown_table, write_tables
from lab.significance import SIGNIFICANCE, holm

TITLE = "# Which labels of a classifier are wrong\n\n"

RANKS = f"""Over the tables that nothing was chosen on. Rank 1 is the best mean over models and runs on a table. In
brackets: p-value of Wilcoxon's signed-rank test on the means of tables, two-sided and after Holm's correction for the
column, of the difference from {RIO}.
"""
MEANS = """Means over tables that nothing was chosen on, and over runs.
"""
GAINS = f"""AUROC of {RIO} less that of {CONFIDENCE}, mean over models and runs ± standard error by DeLong's method,
which is that of test rows; *better* and *worse* are tables where the difference is not 0 at {SIGNIFICANCE:.0%} after
Holm's correction for all tables. Corrected: the share of models and runs in which left-out rows supported a correction.
"""
UNFAMILIAR = """AUROC for telling test rows from the same rows with each column shuffled for itself: means over tables
that nothing was chosen on, and over runs. An isolation forest is made for it and sees the features alone.
"""
UNFAMILIAR_BY = {
    "unfamiliar_std": "std of error scores",
    "unfamiliar_score": "error score",
    "unfamiliar_confidence": "confidence",
    "unfamiliar_isolation": "isolation forest",
}


def frame_of(rows: list[Row]) -> pd.DataFrame:
    """A line for each table, model, run and method."""
    keys = ("table", "model", "run", "n_train", "n_test", "n_classes", "n_features", "errors", "gain_error")
    return pd.DataFrame(
        [
            {**{key: row.get(key) for key in keys}, "method": method, **measures}
            for row in rows
            for method, measures in row["methods"].items()
        ]
    )


def of_new_tables(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[~frame["table"].isin(CHOSEN_ON)]


def means_of_tables(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Tables as rows, methods that have the measure as columns; tables without errors are left out."""
    means = frame.groupby(["table", "method"])[measure].mean().unstack()
    means = means.dropna(axis=1, how="all").dropna(axis=0)
    return means[[name for name in METHODS if name in means]]


def ranks_of(means: pd.DataFrame, measure: str) -> pd.Series:
    return means.rank(axis=1, ascending=measure not in LARGER_IS_BETTER).mean()


def p_values(means: pd.DataFrame) -> pd.Series:
    """Of the difference of each other method from RIO."""
    others = [name for name in means if name != RIO]
    differences = {name: (means[name] - means[RIO]).to_numpy() for name in others}
    raw = [stats.wilcoxon(values).pvalue if np.any(values) else 1.0 for values in differences.values()]
    return pd.Series(holm(np.array(raw)), index=others)


def rank_table(frame: pd.DataFrame) -> str:
    columns: dict[str, dict[str, str]] = {}
    for measure, name in NAMES.items():
        means = means_of_tables(of_new_tables(frame), measure)
        if len(means) < 2:
            continue
        ranks, p = ranks_of(means, measure), p_values(means)
        cells = {method: f"{ranks[method]:.2f}" for method in means}
        cells = {method: bold(text, ranks[method] == ranks.min()) for method, text in cells.items()}
        columns[f"{name}, {len(means)} tables"] = {
            method: f"{text} ({p[method]:.2g})" if method in p else text for method, text in cells.items()
        }
    lines = [[method, *(cells.get(method, "") for cells in columns.values())] for method in METHODS]
    return markdown_table(["method", *columns], lines)


def means_table(frame: pd.DataFrame, model: str | None) -> str:
    some = of_new_tables(frame if model is None else frame[frame["model"] == model])
    means = {measure: means_of_tables(some, measure).mean() for measure in NAMES}
    lines = []
    for method in METHODS:
        cells = []
        for measure, of_method in means.items():
            best = of_method.max() if measure in LARGER_IS_BETTER else of_method.min()
            has = method in of_method
            cells.append(bold(f"{of_method[method]:.4f}", of_method[method] == best) if has else "")
        lines.append([method, *cells])
    return markdown_table(["method", *NAMES.values()], lines)


def gains_of(frame: pd.DataFrame) -> pd.DataFrame:
    """For each table the mean gain in AUROC over confidence, its standard error, and the p-value after Holm."""
    wide = frame.pivot_table(index=["table", "model", "run"], columns="method", values="auroc")
    gain = (wide[RIO] - wide[CONFIDENCE]).rename("gain").reset_index()
    error = frame[frame["method"] == RIO][["table", "model", "run", "gain_error", "share", "errors"]]
    both = gain.merge(error, on=["table", "model", "run"]).dropna(subset=["gain", "gain_error"])
    lines = []
    for table, some in both.groupby("table"):
        # Models of a run share its test rows: their errors are taken to be one error.
        by_run = some.groupby("run")["gain_error"].mean()
        spread = float(np.sqrt((by_run**2).sum()) / len(by_run))
        mean = float(some["gain"].mean())
        p = float(2.0 * stats.norm.sf(abs(mean) / spread)) if spread > 0.0 else 1.0
        corrected = float((some["share"] > 0.0).mean())
        lines.append((table, mean, spread, p, corrected, float(some["errors"].mean()), len(by_run)))
    gains = pd.DataFrame(lines, columns=["table", "gain", "error", "p", "corrected", "errors", "runs"])
    return gains.assign(p=holm(gains["p"].to_numpy()))


def gains_table(frame: pd.DataFrame) -> str:
    sizes = frame.groupby("table")[["n_train", "n_test", "n_features", "n_classes"]].first()
    lines = []
    for row in gains_of(frame).itertuples():
        sure = row.p < SIGNIFICANCE
        verdict = ("better" if row.gain > 0.0 else "worse") if sure else ""
        numbers = [str(int(value)) for value in sizes.loc[row.table]]
        name = f"{row.table} (chosen on)" if row.table in CHOSEN_ON else row.table
        cells = [f"{row.errors:.1%}", f"{row.gain:+.4f} ± {row.error:.4f}", verdict, f"{row.corrected:.0%}"]
        lines.append([name, *numbers, *cells, str(row.runs)])
    header = ["table", "training rows", "test rows", "features", "classes", "wrong labels", "gain in AUROC", ""]
    return markdown_table([*header, "corrected", "runs"], lines)


def unfamiliar_table(frame: pd.DataFrame) -> str:
    some = of_new_tables(frame[frame["method"] == RIO])
    lines = []
    for model in MODELS:
        means = some[some["model"] == model].groupby("table")[list(UNFAMILIAR_BY)].mean().mean()
        lines.append([model, *(bold(f"{value:.3f}", value == means.max()) for value in means)])
    return markdown_table(["model", *UNFAMILIAR_BY.values()], lines)


def accuracy_table(frame: pd.DataFrame) -> str:
    some = of_new_tables(frame[frame["method"] == RIO])
    means = some.assign(own=1.0 - some["errors"]).groupby(["model", "table"])[["own", "accuracy"]].mean()
    lines = []
    for model in MODELS:
        if model in means.index.get_level_values("model"):
            own, corrected = means.loc[model].mean()
            lines.append([model, f"{own:.2%}", f"{corrected:.2%}"])
    return markdown_table(["model", "its own labels", "corrected labels"], lines)


def seconds_table(frame: pd.DataFrame) -> str:
    means = frame.groupby("method")["seconds"].mean()
    return markdown_table(["method", "processor seconds"], [[name, f"{means[name]:.2g}"] for name in METHODS])


def page(rows: list[Row]) -> str:
    """All tables."""
    frame = frame_of(rows)
    n_runs = frame.groupby("table")["run"].nunique()
    measured = f"{len(n_runs)} of {len(TABLES)} tables were measured, in {n_runs.min()} to {n_runs.max()} runs.\n"
    parts = [measured, "## Mean ranks\n", RANKS, rank_table(frame), "## Means\n", MEANS, means_table(frame, None)]
    for model in MODELS:
        parts += [f"### {model.capitalize()}\n", means_table(frame, model)]
    parts += ["## Beside plain confidence, table by table\n", GAINS, gains_table(frame)]
    parts += ["## Corrected labels\n", "Accuracy, means as above.\n", accuracy_table(frame)]
    parts += ["## Unfamiliar rows\n", UNFAMILIAR, unfamiliar_table(frame)]
    parts += ["## Time\n", "Of a split on one thread, without the model and its clones.\n", seconds_table(frame)]
    return "\n".join(parts)


def main(options: argparse.Namespace) -> None:
    rows = stored_rows(options.results)
    write_tables(options.output, page(rows), command="benchmarks.errors page", title=TITLE)
