"""Corrections of predictions: their distribution, point by point, and how many of them help."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments import predictions
from experiments.figures.coverage import BOXES_ARE
from experiments.figures.style import (
    MIN_WIDTH,
    OUTCOME_COLOUR,
    Drawing,
    boxes,
    colour_of,
    count,
    dots,
    in_order,
    label_y,
    method_axis,
    new_figure,
    not_shown,
    outcome_label,
    padded,
    panels,
    styled,
)
from lab.datasets import DATASETS
from lab.store import Key

CORRECTIONS = ("RIO", "R+I", "R+O", "ours")
MAX_DOTS = 3000


def first_runs(keys: list[Key], methods: tuple[str, ...]) -> dict[str, list[Key]]:
    """For each data set in the paper's order, the keys of these methods in the first run that has predictions of them.

    Runs are random splits, so that the first is as good as any.
    """
    wanted = [key for key in keys if key[3] in methods]
    first_keys = {}
    for name in in_order((key[1] for key in wanted), DATASETS):
        of_dataset = [key for key in wanted if key[1] == name]
        first = min(key[2] for key in of_dataset)
        first_keys[name] = sorted((key for key in of_dataset if key[2] == first), key=lambda key: methods.index(key[3]))
    return first_keys


@styled
def draw_distributions(folder: Path, keys: list[Key], base: str) -> Drawing | None:
    """Box plots over test rows of outcomes, the base model's predictions and corrected predictions, in one run.

    Parameters
    ----------
    folder : Path
        Of the stored predictions.
    keys : list of keys
        Of one table.
    base : str
        Name of the base model.
    """
    runs = first_runs(keys, CORRECTIONS)
    if not runs:
        return None
    methods = in_order((key[3] for of_run in runs.values() for key in of_run), CORRECTIONS)
    labels = ["outcome", base, *methods]
    figure, axes = panels(
        list(runs),
        f"Distribution of outcomes, {base} predictions and corrected predictions",
        "Boxes: quartiles and median over the test rows of a run; whiskers: within 1.5 boxes; dots: beyond.",
        share_y=True,
    )
    for (name, of_run), axis in zip(runs.items(), axes, strict=True):
        kept = {key[3]: predictions.load(folder, *key) for key in of_run}
        one = next(iter(kept.values()))
        values = {"outcome": one.y, base: one.base} | {method: each.mean for method, each in kept.items()}
        colours = [OUTCOME_COLOUR, *map(colour_of, [base, *kept])]
        boxes(axis, list(values.values()), colours, list(map(labels.index, values)), horizontal=True)
        method_axis(axis, labels)
        axis.set(title=f"{name} (run {of_run[0][2]})", xlabel=outcome_label(name))
    return Drawing(figure, list(runs))


@styled
def draw_outputs(folder: Path, keys: list[Key], base: str, method: str) -> Drawing | None:
    """Corrected predictions of a method over those of the base model, a dot for each test row of one run.

    Parameters
    ----------
    folder : Path
        Of the stored predictions.
    keys : list of keys
        Of one table.
    base : str
        Name of the base model.
    method : str
    """
    runs = first_runs(keys, (method,))
    if not runs:
        return None
    figure, axes = panels(
        list(runs),
        f"What {method} makes of each {base} prediction",
        "Each dot is a test row of a run, in the units of the outcome; on the line a prediction is left as it was.",
        panel=(3.0, 3.2),
    )
    for (name, (key,)), axis in zip(runs.items(), axes, strict=True):
        kept = predictions.load(folder, *key)
        shown = subsample(len(kept.y))
        limits = padded(np.concatenate([kept.base[shown], kept.mean[shown]]))
        axis.axline((limits[0], limits[0]), slope=1.0, color="black", linewidth=1.0, zorder=0)
        dots(axis, kept.base[shown], kept.mean[shown], method, size=8.0 if len(shown) < 1000 else 4.0)
        n_shown = f"{len(shown):,} of {len(kept.y):,}" if len(shown) < len(kept.y) else f"{len(shown):,}"
        axis.set(
            title=f"{name} (run {key[2]})\n{n_shown} rows", xlabel=f"prediction of {base}", xlim=limits, ylim=limits
        )
        axis.set_aspect("equal")
        axis.locator_params(nbins=5)
    label_y(axes, f"corrected by {method}")
    return Drawing(figure, list(runs))


def subsample(n_rows: int) -> np.ndarray:
    """Numbers of the rows that are shown: all, or 3,000 at random."""
    if n_rows <= MAX_DOTS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, MAX_DOTS, replace=False))


@styled
def draw_improvement(rows: pd.DataFrame) -> Drawing | None:
    """Box plots over runs of the share of predictions that a correction brought nearer to the outcome.

    Parameters
    ----------
    rows : DataFrame
        Rows of one table.
    """
    rows = rows[rows["method"].isin(CORRECTIONS)].dropna(subset=["improvement_ratio"])
    methods = in_order(rows["method"], CORRECTIONS)
    names = in_order(rows["dataset"], DATASETS)
    if not names:
        return None
    figure = new_figure(
        (max(MIN_WIDTH, 0.9 * len(names)), 1.0 + 2.2 * len(methods)),
        "Improvement ratio: share of predictions that are nearer to the outcome after correction",
        f"{BOXES_ARE} Above the line more predictions are improved than made worse.{not_shown(names)}",
    )
    axes = figure.subplots(len(methods), 1, squeeze=False, sharex=True, sharey=True).ravel()
    for method, axis in zip(methods, axes, strict=True):
        of_method = rows[rows["method"] == method]
        ratios = {name: 100 * runs.to_numpy() for name, runs in of_method.groupby("dataset")["improvement_ratio"]}
        axis.axhline(50, color="black", linewidth=1.0, zorder=0)
        boxes(axis, list(ratios.values()), [colour_of(method)] * len(ratios), list(map(names.index, ratios)))
        axis.set(title=method, ylabel="improved (%)", xlim=(-0.5, len(names) - 0.5))
    n_runs = rows.groupby("dataset")["run"].nunique()
    axes[-1].set_xticks(range(len(names)), [f"{name}\n{count(n_runs[name], 'run')}" for name in names])
    return Drawing(figure, names)
