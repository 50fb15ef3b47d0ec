"""The main job: error bars for models that people use, on real data.

    python -m examples.demo                                   how far cars go on a gallon
    python -m examples.demo --data my.csv --target price      a table of your own

On several random splits, boosting and a neural network are fitted to 80 % of the rows. Then come three kinds of error
bars for each, measured on the other rows: one for all predictions, from the residuals of the rows that the model was
trained on; those of conformal prediction (MAPIE's CV+); and RIO's, which corrects the predictions as well. A Gaussian
process without any model stands beside them.

The cars are a table that no default of this package was chosen on. A figure and a report of the first split are written
into a folder.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rio_uq import RIORegressor, metrics
from rio_uq.report import write_report

MIN_ROWS = 30
MOST_LEVELS = 200
"""Categories of a column that boosting takes as such."""
LEVELS = (0.68, 0.9, 0.95)
Z = (0.994458, 1.644854, 1.959964)
"""Of the normal distribution, for intervals of these levels."""

Table = tuple[str, pd.DataFrame, np.ndarray]


class Split(NamedTuple):
    """Rows to train on and rows to measure on."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


class Answer(NamedTuple):
    """Predictions of the test rows, bounds of their intervals (n, 2, levels), and NLPD where there is a density."""

    mean: np.ndarray
    intervals: np.ndarray
    nlpd: float | None
    seconds: float


def cars() -> Table:
    """A table of the package vega_datasets: cars of 1970 to 1982."""
    from vega_datasets import local_data

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about the way in which the package reads its file
        table = local_data.cars()
    table = table.drop(columns="Name").dropna(subset="Miles_per_Gallon").reset_index(drop=True)
    y = table.pop("Miles_per_Gallon").to_numpy(dtype=float)
    return "cars: miles per gallon", with_categories(table.assign(Year=table["Year"].dt.year)), y


def load(data: str, target: str | None) -> Table:
    """The user's table; a sentence on standard error and an exit where it cannot be used."""
    if target is None:
        sys.exit("name the column to predict: make demo DATA=my.csv TARGET=price")
    try:
        table = pd.read_csv(data, sep=None, engine="python")  # commas, semicolons or tabs
    except (OSError, ValueError) as error:
        sys.exit(f"{data} cannot be read as a table of columns: {error}")
    if target not in table.columns:
        sys.exit(f"{data} has no column {target!r}: its columns are {', '.join(map(repr, table.columns))}")
    y = pd.to_numeric(table.pop(target), errors="coerce")
    table = table.replace([np.inf, -np.inf], np.nan).dropna(axis="columns", how="all")
    usable = np.isfinite(y)
    if not usable.all():
        print(f"{(~usable).sum()} of {len(y)} rows have no number in {target!r} and are left out")
    if usable.sum() < MIN_ROWS or table.shape[1] == 0:
        sys.exit(
            f"{data} has {usable.sum()} usable rows and {table.shape[1]} feature columns: {MIN_ROWS} and 1 are needed"
        )
    return Path(data).name, with_categories(table[usable].reset_index(drop=True)), y[usable].to_numpy(dtype=float)


def with_categories(table: pd.DataFrame) -> pd.DataFrame:
    """Text as categories; columns with more of them than boosting takes are names, and left out."""
    text = table.select_dtypes(exclude="number")
    names = [name for name in text if text[name].nunique() > MOST_LEVELS]
    if names:
        print(f"left out, since nearly every row has a value of its own: {', '.join(names)}")
    return table.drop(columns=names).astype({name: "category" for name in text if name not in names})


def boosting(seed: int) -> Any:
    return HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=seed)


def network(seed: int) -> Any:
    """The paper's network on normalised columns."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    categories = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=20, sparse_output=False)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (categories, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, perceptron(seed))


def perceptron(seed: int) -> MLPRegressor:
    """The paper's network: two hidden layers of 64 ReLUs, stopped early on 20 % of its rows.

    The paper's optimiser is RMSprop with a learning rate of 0.001. scikit-learn has Adam, which without its first
    momentum (beta_1 = 0) is RMSprop with a correction of the first steps.
    """
    return MLPRegressor(
        hidden_layer_sizes=(64, 64),
        beta_1=0.0,
        beta_2=0.9,
        alpha=0.0,
        batch_size=32,
        learning_rate_init=0.001,
        max_iter=1000,
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=10,
        tol=0.0,
        random_state=seed,
    )


MODELS = {"boosting": boosting, "network": network}


def with_one_error_bar(model: Any, split: Split) -> Answer:
    """The spread of residuals on the rows that the model was trained on."""
    began = time.perf_counter()
    std = float(np.std(split.y - model.predict(split.X)))
    mean = model.predict(split.X_test)
    intervals = np.stack([mean[:, None] - std * np.array(Z), mean[:, None] + std * np.array(Z)], axis=1)
    return Answer(
        mean, intervals, metrics.nlpd(split.y_test, mean, np.full(len(mean), std)), time.perf_counter() - began
    )


def with_conformal(model: Any, split: Split) -> Answer:
    """CV+ of MAPIE: residuals of five folds, and intervals that have a guarantee."""
    from mapie.regression import CrossConformalRegressor

    began = time.perf_counter()
    conformal = CrossConformalRegressor(model, confidence_level=list(LEVELS), random_state=0)
    mean, intervals = conformal.fit_conformalize(split.X, split.y).predict_interval(split.X_test)
    return Answer(mean, intervals, None, time.perf_counter() - began)


def with_rio(rio: RIORegressor, split: Split) -> Answer:
    began = time.perf_counter()
    rio.fit(split.X, split.y)
    mean, distribution = rio.predict(split.X_test), rio.predict_dist(split.X_test)
    intervals = rio.predict_interval(split.X_test, confidence_level=list(LEVELS))
    nlpd = float(-np.mean(distribution.logpdf(split.y_test)))
    return Answer(mean, intervals, nlpd, time.perf_counter() - began)


def measures(y: np.ndarray, answer: Answer) -> dict[str, float]:
    inside = (answer.intervals[:, 0] <= y[:, None]) & (y[:, None] <= answer.intervals[:, 1])
    coverage = {f"{level:.0%}": 100.0 * share for level, share in zip(LEVELS, inside.mean(axis=0), strict=True)}
    width = answer.intervals[:, 1, 1] - answer.intervals[:, 0, 1]
    return {
        "RMSE": metrics.rmse(y, answer.mean),
        "NLPD": np.nan if answer.nlpd is None else answer.nlpd,
        **coverage,
        "width, 90%": float(width.mean()),
        "seconds": answer.seconds,
    }


def one_split(X: pd.DataFrame, y: np.ndarray, seed: int) -> tuple[Split, dict[str, Answer], RIORegressor]:
    """Answers of all methods, and RIO on boosting."""
    rows = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    split = Split(*(part for side in rows for part in (X.iloc[side], y[side])))
    answers, fitted = {}, {}
    for name, make in MODELS.items():
        model = make(seed).fit(split.X, split.y)
        fitted[name] = RIORegressor(model, random_state=seed)
        answers[name] = with_one_error_bar(model, split)
        answers[f"{name}, conformal"] = with_conformal(make(seed), split)
        answers[f"{name} with RIO"] = with_rio(fitted[name], split)
    answers["GP without a model"] = with_rio(RIORegressor(target="outcome", kernel="input", random_state=seed), split)
    return split, answers, fitted["boosting"]


def show(results: list[dict[str, dict[str, float]]]) -> None:
    """Means over splits, a line for each method."""
    names = list(next(iter(results[0].values())))
    print(f"{'':<22}" + "".join(f"{name:>12}" for name in names))
    for method in results[0]:
        means = [float(np.mean([result[method][name] for result in results])) for name in names]
        print(f"{method:<22}" + "".join(f"{'' if np.isnan(value) else f'{value:.2f}':>12}" for value in means))


def draw(split: Split, answers: dict[str, Answer], title: str, path: Path) -> None:
    """Outcomes against predictions with 95 % intervals, of boosting alone and with RIO."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    panels = (("boosting", "#777777"), ("boosting with RIO", "#0072B2"))
    for axis, (name, colour) in zip(axes, panels, strict=True):
        y, mean, interval = split.y_test, answers[name].mean, answers[name].intervals[:, :, -1]
        outside = (y < interval[:, 0]) | (y > interval[:, 1])
        reach = np.abs(interval.T - mean)
        axis.axline((y.mean(), y.mean()), slope=1, color="black", linewidth=0.8)
        axis.errorbar(y, mean, yerr=reach, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.5)
        axis.plot(y[~outside], mean[~outside], "o", ms=3.5, color=colour, label="outcome inside the 95 % interval")
        axis.plot(y[outside], mean[outside], "D", ms=4.5, color="#D55E00", label=f"outside ({outside.mean():.0%})")
        axis.set(title=f"{name}: RMSE {metrics.rmse(y, mean):.3g}", xlabel="outcome")
        axis.legend(frameon=False, loc="upper left")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("prediction with 95 % interval")
    figure.suptitle(title)
    figure.savefig(path, dpi=110)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a CSV file; default: cars of 1970 to 1982")
    parser.add_argument("--target", help="the column to predict")
    parser.add_argument("--splits", type=int, default=5, help="number of random splits (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.target and not options.data:
        parser.error("--target is a column of --data: name that file too")
    if options.splits < 1:
        parser.error(f"--splits has to be at least 1; got {options.splits}")
    warnings.simplefilter("ignore", ConvergenceWarning)
    name, X, y = load(options.data, options.target) if options.data else cars()
    print(f"{name}\n{len(y)} rows, {X.shape[1]} columns; {options.splits} random splits, 80 % training, 20 % test\n")
    splits = []
    for seed in range(options.splits):
        print(f"split {seed + 1} of {options.splits} …", file=sys.stderr, flush=True)
        splits.append(one_split(X, y, seed))
    show(
        [{method: measures(split.y_test, answer) for method, answer in answers.items()} for split, answers, _ in splits]
    )
    print(
        "\nMeans over splits. RMSE and NLPD: smaller is better. 68%, 90%, 95%: share of outcomes inside intervals of "
        "that level.\n"
    )
    split, answers, rio = splits[0]
    options.output.mkdir(parents=True, exist_ok=True)
    figure, report = options.output / "predictions.png", options.output / "report.html"
    draw(split, answers, f"{name} (test rows of the first split)", figure)
    write_report(rio, split.X_test, split.y_test, report, title=f"Boosting with RIO: {name}")
    print(f"figure: {figure}\nreport: python -m webbrowser {report}")


if __name__ == "__main__":
    main()
