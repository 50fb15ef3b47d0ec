"""Whether error bars grow where the model should not be believed: on shifted rows, other data and attacked inputs.

    python -m benchmarks.shift --output benchmarks/shift.md
    python -m benchmarks.shift --datasets yacht,ENB/h --runs 3

The model is the paper's network of each run, and it predicts the altered rows too, so that both x and ŷ change. The
standard deviation is the score by which altered rows are to be told from clean test rows: the area under the ROC curve
is the chance that an altered row has the larger one. Of a page that is there already, the text above the tables stays.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from benchmarks.alterations import ATTACKS, CLEAN, KINDS, ONE_FEATURE, OTHER_DATA, Alteration, alterations
from experiments.__main__ import chosen
from experiments.datasets import DATASETS, HOW_TO_GET_DATA, DataNotFoundError
from experiments.rendering import markdown_table
from experiments.runner import available
from rio_uq import RIORegressor, metrics

SMALL = ("yacht", "ENB/h", "airfoil", "CCS")
MEMBERS = 5
"""Networks of the ensemble."""

OURS, LATENT, NOISE, ENSEMBLE = "RIO", "RIO, latent part", "RIO, noise part", "deep ensemble"
PAPER = {"RIO, paper's settings": "RIO", "R+I, paper's settings": "R+I", "R+O, paper's settings": "R+O"}
INPUTS_INSIDE, OUTPUT_INSIDE = "all features in their training range", "ŷ in its training range"
LOWEST = 2
"""So many shifts of one feature are shown for each data set."""

TABLES_BEGIN = "<!-- From here on written by python -m benchmarks.shift; the text above stays. -->"
TITLE = "# Error bars of shifted and attacked inputs\n\n"

ErrorBars = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From rows to predictions and standard deviations."""


@dataclass(frozen=True)
class Measurement:
    """A number in one of the tables, of one run.

    Attributes
    ----------
    measure : {"auroc", "rise", "risen", "coverage", "place"}
        Which table.
    row : str
        The method, or what else the line is about.
    kind, label : str
        Of the alteration.
    value : float
    """

    measure: str
    row: str
    kind: str
    label: str
    value: float


def rio_parts(rio: RIORegressor) -> dict[str, ErrorBars]:
    """The error bars of a fitted regressor, whole and in the two parts of their square."""

    def whole(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rio.predict(X, return_std=True)

    def latent(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rio.predict(X, return_std=True, include_noise=False)

    def noise(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (mean, std), (_, latent_std) = whole(X), latent(X)
        variance = np.maximum(std**2 - latent_std**2, np.finfo(float).tiny)
        return mean, np.exp(np.round(0.5 * np.log(variance), 4))  # no rank by what rounding left of a constant

    return {OURS: whole, LATENT: latent, NOISE: noise}


def ensemble(models: list[Any]) -> ErrorBars:
    """The mean of the models and their spread, nothing else."""

    def members(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        predictions = np.stack([model.predict(X) for model in models])
        return predictions.mean(axis=0), predictions.std(axis=0)

    return members


def error_bars(models: list[Any], X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, ErrorBars]:
    """Every method, fitted: RIO and its variants on the first of the models, and the ensemble of all.

    Parameters
    ----------
    models : list
        Fitted, of the same kind.
    X, y : (n, d) and (n,) arrays
        The training rows.
    seed : int
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the paper stops at its number of iterations
        bars = rio_parts(RIORegressor(models[0], n_jobs=1, random_state=seed).fit(X, y))
        for name, variant in PAPER.items():
            rio = RIORegressor.paper(models[0], variant=variant, n_jobs=1, random_state=seed).fit(X, y)
            bars[name] = rio_parts(rio)[OURS]
    return {**bars, ENSEMBLE: ensemble(models)}


def auroc(clean: np.ndarray, altered: np.ndarray) -> float:
    """Area under the ROC curve for telling altered rows from clean ones by their standard deviations."""
    is_altered = np.repeat([0, 1], [len(clean), len(altered)])
    return float(roc_auc_score(is_altered, np.concatenate([clean, altered])))


def compare(
    bars: dict[str, ErrorBars], X: np.ndarray, y: np.ndarray, altered: Iterable[Alteration]
) -> Iterator[Measurement]:
    """What each method makes of altered rows, beside the clean test rows X with outcomes y."""
    clean = {name: method(X)[1] for name, method in bars.items()}
    for rows in altered:
        for name, method in bars.items():
            mean, std = method(rows.X)
            yield Measurement("auroc", name, rows.kind, rows.label, auroc(clean[name], std))
            rise = float(np.median(std) / np.median(clean[name]))
            yield Measurement("rise", name, rows.kind, rows.label, rise)
            if rows.kind != OTHER_DATA:
                yield Measurement("risen", name, rows.kind, rows.label, float((std > clean[name]).mean()))
            if rows.keeps_outcome and name not in (LATENT, NOISE):
                yield Measurement("coverage", name, rows.kind, rows.label, metrics.coverage(y, mean, std))


def inside(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether values are within the range of known ones, column by column."""
    return (values >= known.min(axis=0)) & (values <= known.max(axis=0))


def places(model: Any, X_train: np.ndarray, y: np.ndarray, altered: Iterable[Alteration]) -> Iterator[Measurement]:
    """Where altered rows are: in the training region or out of it, by inputs and by the model's output."""
    known = model.predict(X_train)
    for rows in altered:
        prediction = model.predict(rows.X)
        shares = {INPUTS_INSIDE: inside(rows.X, X_train).all(axis=1), OUTPUT_INSIDE: inside(prediction, known)}
        for row, is_inside in shares.items():
            yield Measurement("place", row, rows.kind, rows.label, float(is_inside.mean()))
        if rows.keeps_outcome:
            error = metrics.rmse(y, prediction)
            yield Measurement("place", "RMSE of the network", rows.kind, rows.label, error)


def other_data(name: str) -> str:
    """The data set whose rows are given to the model of this one."""
    return "CCS" if name == "airfoil" else "airfoil"


def one_run(name: str, run: int) -> Iterator[Measurement]:
    """All measurements on one split of a data set."""
    import torch

    from experiments.base_models import HIDDEN, train_network

    torch.set_num_threads(1)
    X, y = DATASETS[name].load()
    other = DATASETS[other_data(name)].load()[0]
    train, test = DATASETS[name].split(len(y), run)
    networks = [train_network(X[train], y[train], HIDDEN.get(name, (64, 64)), run + 1000 * i) for i in range(MEMBERS)]
    altered = list(alterations(networks[0], X[test], y[test], other))
    yield from compare(error_bars(networks, X[train], y[train], run), X[test], y[test], altered)
    yield from places(networks[0], X[train], y[test], altered)


def measurements(names: list[str], n_runs: int) -> pd.DataFrame:
    """A line for each measurement, with its data set and run."""
    frames = []
    for name in names:
        for run in range(n_runs):
            began = time.monotonic()
            frames.append(pd.DataFrame(one_run(name, run)).assign(dataset=name, run=run))
            print(f"{name}, run {run}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return pd.concat(frames, ignore_index=True)


def number(value: float) -> str:
    return f"{value:.2f}" if value < 100.0 else f"{value:,.0f}"


def cell(values: pd.Series) -> str:
    """Mean ± standard deviation over runs."""
    return number(values.mean()) + (f" ± {number(values.std())}" if len(values) > 1 else "")


def table(frame: pd.DataFrame, measure: str, kinds: Iterable[str], average: str = "mean") -> str:
    """Rows of a measure by data set, alterations in columns; over alterations of a kind the average of each run."""
    kinds = list(kinds)
    keys = ["dataset", "row", "kind"]
    by_run = frame[frame.measure == measure].groupby([*keys, "run"], sort=False).value.agg(average)
    cells = {key: cell(values) for key, values in by_run.groupby(keys, sort=False)}
    lines, last = [], None
    for dataset, row in dict.fromkeys((dataset, row) for dataset, row, _ in cells):
        start = [dataset if dataset != last else "", row]
        lines.append(start + [cells.get((dataset, row, kind), "") for kind in kinds])
        last = dataset
    return markdown_table(["data set", "", *kinds], lines)


def extremes(frame: pd.DataFrame) -> str:
    """Shifts of one feature: those that RIO's error bars tell least, and the one on which they grow most."""
    columns = {
        ("auroc", OURS): "AUROC of RIO",
        ("rise", OURS): "rise of its std",
        ("rise", LATENT): "of its latent part",
        ("rise", NOISE): "of its noise part",
        ("place", INPUTS_INSIDE): INPUTS_INSIDE,
        ("place", OUTPUT_INSIDE): OUTPUT_INSIDE,
    }
    shifted = frame[frame.kind.isin(ONE_FEATURE.values())]
    wide = shifted.groupby(["dataset", "label", "measure", "row"]).value.median().unstack(["measure", "row"])
    lines = []
    for dataset in frame.dataset.unique():
        shown = wide.loc[dataset, list(columns)]
        least, most = shown.nsmallest(LOWEST, ("auroc", OURS)), shown.nlargest(1, ("rise", OURS))
        for label, numbers in pd.concat([least, most]).iterrows():
            lines.append([dataset, str(label), *(number(value) for value in numbers)])
    return markdown_table(["data set", "shift", *columns.values()], lines)


def tables(frame: pd.DataFrame) -> str:
    """All tables as Markdown."""
    n_runs = frame.run.nunique()
    over = "one run" if n_runs == 1 else f"{n_runs} runs, mean ± standard deviation"
    return "\n".join(
        [
            TABLES_BEGIN,
            f"\n## Area under the ROC curve ({over})\n",
            table(frame, "auroc", KINDS),
            "## Rise: median std of altered rows over median std of clean rows (median over features)\n",
            table(frame, "rise", KINDS, "median"),
            "## Share of rows whose std is larger than before they were altered\n",
            table(frame, "risen", [kind for kind in KINDS if kind != OTHER_DATA]),
            "## Share of rows whose 95 % interval holds the true outcome\n",
            table(frame, "coverage", [CLEAN, *ATTACKS.values()]),
            "## Where the altered rows are, as shares of them, and how wrong the network is\n",
            table(frame, "place", [CLEAN, *KINDS]),
            f"## Shifts of one feature: the {LOWEST} that RIO tells least, and that on which its std grows most\n",
            "Medians over runs.\n",
            extremes(frame),
        ]
    )


def write_page(path: Path, text: str) -> None:
    """Put the tables into a page in the place of those that were there."""
    above = path.read_text(encoding="utf-8").split(TABLES_BEGIN)[0] if path.exists() else TITLE
    path.write_text(above + text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(SMALL), help="names separated by commas (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="number of random splits (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="a Markdown file for the tables")
    options = parser.parse_args(arguments)
    if options.runs < 1:
        parser.error("--runs has to be at least 1")
    names, missing = available(chosen(options.datasets, list(DATASETS), "datasets", parser), download=False)
    for reason in missing.values():
        print(f"left out: {reason}", file=sys.stderr)
    if not names:
        sys.exit(f"there are no data to alter: {HOW_TO_GET_DATA}")
    try:
        text = tables(measurements(names, options.runs))
    except DataNotFoundError as error:
        sys.exit(f"rows of other data are needed too: {error}")
    print(text)
    if options.output is not None:
        write_page(options.output, text)


if __name__ == "__main__":
    main()
