"""Where the gain over the paper comes from: each step from the paper's RIO to our defaults, and what the model adds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.methods import STEPS
from experiments.tables import GP, paper_table
from lab.datasets import DATASETS
from lab.markdown import bold, markdown_table
from lab.significance import SIGNIFICANCE, corrected_p_value, holm

TEST_SHARE = 0.2
"""Of the rows of a data set, in each run."""

MEASURES = {"rmse": "RMSE", "nlpd_capped": "NLPD, capped"}

BESIDE = "RIO"
"""The method of the paper that ours are tested against, on the same runs."""


def gain_section(rows: pd.DataFrame) -> str:
    """A column for each step, and one for the GP without the model, over the runs that have them all."""
    steps = rows[rows.table == "gain"]
    if not len(steps):
        return ""
    without_model = rows[(rows.table == "ours") & (rows.method == GP)]
    columns = [*STEPS, GP]
    paper = paper_table("default").set_index(["dataset", "method"])
    tables = []
    for measure, label in MEASURES.items():
        lines = []
        wide = pd.concat([steps, without_model]).pivot(index=["dataset", "run"], columns="method", values=measure)
        complete = wide.reindex(columns=columns).dropna()
        for dataset in [name for name in DATASETS if name in complete.index.unique("dataset")]:
            of_dataset = complete.loc[dataset]
            means = of_dataset.mean()
            best = means.idxmin()
            cells = [bold(f"{means[name]:.3f}", name == best) for name in columns]
            lines.append(
                [dataset, str(len(of_dataset)), f"{paper.loc[(dataset, BESIDE), f'{measure}_mean']:.3f}", *cells]
            )
        tables.append(f"{label}:\n\n" + markdown_table(["data set", "runs", "the paper", *columns], lines))
    return (
        "## Where the gain comes from\n\n"
        "From the paper's RIO to our defaults, one step a column; each keeps those before it, and bold is the best "
        "mean. The first two columns have the paper's settings, in the paper and here, where the variational "
        "distribution has its closed form and parameters are logarithms. “Exact or near rows” takes all rows in place "
        "of 50 points that move, with a weak prior. From “cross-fitting” on there are five networks, and residuals are "
        "those of rows that they have not seen. “GP” is the last step's kernel on the outcomes, without a network.\n\n"
        + "\n".join(tables)
    )


def significance_section(rows: pd.DataFrame, methods: tuple[str, ...]) -> str:
    """Our methods beside the paper's RIO on the same runs, by the paired test for splits that overlap."""
    theirs = rows[(rows.table == "default") & (rows.method == BESIDE)]
    cells: dict[tuple[str, str, str], tuple[float, float]] = {}
    for method in methods:
        own = rows[(rows.table == "ours") & (rows.method == method)]
        pairs = own.merge(theirs, on=["dataset", "run"], suffixes=("", "_theirs"))
        for dataset, of_dataset in pairs.groupby("dataset"):
            for measure in MEASURES:
                difference = (of_dataset[measure] - of_dataset[f"{measure}_theirs"]).dropna().to_numpy(float)
                if len(difference) > 1:
                    p_value = corrected_p_value(difference, TEST_SHARE, two_sided=True)
                    cells[dataset, method, measure] = float(difference.mean()), p_value
    if not cells:
        return ""
    adjusted = dict(zip(cells, holm(np.array([p_value for _, p_value in cells.values()])), strict=True))
    lines = []
    for dataset in [name for name in DATASETS if any(key[0] == name for key in cells)]:
        line = [dataset]
        for method in methods:
            words = []
            for measure in MEASURES:
                key = dataset, method, measure
                if key in cells:
                    words.append(bold(f"{cells[key][0]:+.3f}", adjusted[key] < SIGNIFICANCE))
            line.append(" / ".join(words))
        lines.append(line)
    return (
        "## Ours beside the paper's RIO, on the same runs\n\n"
        "Mean difference in RMSE / capped NLPD to RIO in the paper's settings, as it is here and on the same splits: "
        "below zero is better. Bold are differences that are significant at 5 % by the paired t-test with the variance "
        "of Nadeau and Bengio (2003), since splits overlap, after Holm's correction for all cells of the table.\n\n"
        + markdown_table(["data set", *methods], lines)
    )
