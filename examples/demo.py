"""The main job: a neural network on real data, and RIO on top of it.

    python -m examples.demo                                   two data sets that ship with scikit-learn
    python -m examples.demo --data my.csv --target price      a table of your own

For several random splits it trains a network as in the paper, fits RIO to its residuals, and prints how good the
predictions and their error bars are before and after. Before RIO, the network has one error bar for all predictions:
the spread of its residuals on the rows it was trained on.

The two data sets are a case where the network leaves something to be found, picked for that, and one where it does not.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rio_uq import RIORegressor, metrics

MIN_ROWS = 30


Table = tuple[str, pd.DataFrame, np.ndarray]


def shipped() -> list[Table]:
    """Name, features and outcomes of the data sets that ship with scikit-learn."""
    cells = load_breast_cancer(as_frame=True).data
    means = cells[[name for name in cells if name.startswith("mean")]]
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return [
        ("breast cancer: largest radius of a nucleus from mean measurements", means, cells["worst radius"].to_numpy()),
        ("diabetes: progression of the disease after a year", X, y.to_numpy()),
    ]


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
    return Path(data).name, table[usable].reset_index(drop=True), y[usable].to_numpy()


def encoder() -> Any:
    """Numbers are imputed and normalised as the paper's inputs are; everything else is a category."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    categories = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=20, sparse_output=False)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (categories, make_column_selector(dtype_exclude="number")),
    )


def network(seed: int) -> MLPRegressor:
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


def measures(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> dict[str, float]:
    measures = {"RMSE": metrics.rmse(y, mean), "NLPD": metrics.nlpd(y, mean, std)}
    for level in (0.68, 0.9, 0.95):
        measures[f"{level:.0%}"] = 100 * metrics.coverage(y, mean, std, confidence_level=level)
    return measures


def one_split(X: pd.DataFrame, y: np.ndarray, seed: int) -> dict[str, Any]:
    """Train on 80 % of the rows, measure on the rest."""
    rows = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    (X_train, X_test), (y_train, y_test) = ((X.iloc[part] for part in rows), (y[part] for part in rows))
    model: BaseEstimator = make_pipeline(encoder(), network(seed)).fit(X_train, y_train)

    began = time.perf_counter()
    rio = RIORegressor(model, features=encoder(), random_state=seed).fit(X_train, y_train)
    seconds = time.perf_counter() - began

    y_pred = model.predict(X_test)
    mean, std = rio.predict(X_test, return_std=True)
    spread = np.full(len(y_test), np.std(y_train - model.predict(X_train)))
    return {
        "before": measures(y_test, y_pred, spread),
        "after": measures(y_test, mean, std),
        "improved": 100 * metrics.improvement_ratio(y_test, mean, y_pred),
        "trust": rio.trust_,
        "seconds": seconds,
        "test": (y_test, y_pred, spread, mean, std),
    }


def show(results: list[dict[str, Any]]) -> None:
    names = list(results[0]["before"])
    width = 17
    print(f"{'split':<8}" + "".join(f"{name:^{width}}" for name in names) + "improved  trust  fit, s")
    print(f"{'':<8}" + "".join(f"{'before   after':^{width}}" for _ in names))
    mean = {
        "before": {name: np.mean([r["before"][name] for r in results]) for name in names},
        "after": {name: np.mean([r["after"][name] for r in results]) for name in names},
        **{key: np.mean([r[key] for r in results]) for key in ("improved", "trust", "seconds")},
    }
    for label, result in [*((str(i), r) for i, r in enumerate(results, start=1)), ("mean", mean)]:
        cells = [f"{result['before'][name]:7.2f} {result['after'][name]:7.2f}" for name in names]
        numbers = f"{result['improved']:6.0f} %  {result['trust']:5.2f}  {result['seconds']:6.2f}"
        print(f"{label:<8}" + "".join(f"{cell:^{width}}" for cell in cells) + numbers)


def draw(result: dict[str, Any], title: str, path: Path) -> None:
    """Predictions with 95 % error bars against outcomes, before and after."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    y, y_pred, spread, mean, std = result["test"]
    figure = Figure(figsize=(9, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    panels = (("network alone", y_pred, spread, "#777777"), ("network with RIO", mean, std, "#0072B2"))
    for axis, (label, centre, deviation, colour) in zip(axes, panels, strict=True):
        outside = np.abs(y - centre) > 1.96 * deviation
        axis.axline((y.mean(), y.mean()), slope=1, color="black", linewidth=0.8)
        axis.errorbar(y, centre, yerr=1.96 * deviation, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.5)
        axis.plot(y[~outside], centre[~outside], "o", ms=3.5, color=colour, label="outcome inside the 95 % interval")
        axis.plot(y[outside], centre[outside], "D", ms=4.5, color="#D55E00", label=f"outside ({outside.mean():.0%})")
        axis.set(title=f"{label}: RMSE {metrics.rmse(y, centre):.3g}", xlabel="outcome")
        axis.legend(frameon=False, loc="upper left")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("prediction with 95 % error bar")
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a CSV file; default: two data sets of scikit-learn")
    parser.add_argument("--target", help="the column to predict")
    parser.add_argument("--splits", type=int, default=5, help="number of random splits (default: %(default)s)")
    parser.add_argument("--figure", type=Path, default=Path("demo-output/predictions.png"), help="default: %(default)s")
    options = parser.parse_args(arguments)
    if options.target and not options.data:
        parser.error("--target is a column of --data: name that file too")
    if options.splits < 1:
        parser.error(f"--splits has to be at least 1; got {options.splits}")
    tables = [load(options.data, options.target)] if options.data else shipped()
    for i, (name, X, y) in enumerate(tables):
        print(
            f"{name}\n{len(y)} rows, {X.shape[1]} columns; {options.splits} random splits, 80 % training, 20 % test\n"
        )
        results = [one_split(X, y, seed) for seed in range(options.splits)]
        show(results)
        print()
        if i == 0:
            draw(results[0], f"{name} (test rows of the first split)", options.figure)
    print("RMSE and NLPD: smaller is better. 68%, 90%, 95%: share of outcomes inside intervals of that level.")
    print(
        "improved: predictions that RIO brought nearer to the outcome. trust: how much of the network's output is kept."
    )
    print(f"The figure is in {options.figure}")


if __name__ == "__main__":
    main()
