"""Fit RIO as it comes to models as they come; what is stored is left out.

Of each split, a third of the rows (1,000 at most) is given to RIO. The model was trained on the same rows ("seen"), on
as many others ("new"), or on half of each ("half"); what is left are test rows, 2,000 at most.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.defaults.models import MODELS
from lab.datasets import DATASETS
from lab.json_lines import Row, append_row, read_rows
from lab.options import at_least_one, names_among, usable_datasets
from rio_uq import RIORegressor, metrics

CASES = ("seen", "new", "half")
LEVELS = (0.5, 0.68, 0.8, 0.9, 0.95, 0.99)
MOST_ROWS, MOST_TEST_ROWS = 1000, 2000


def rows_of(n: int, case: str, run: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of the rows that the model is trained on, that RIO is given, and of test rows."""
    order = np.random.default_rng(run).permutation(n)
    k = min(n // 3, MOST_ROWS)
    given, others, test = order[:k], order[k : 2 * k], order[2 * k :][:MOST_TEST_ROWS]
    half = np.concatenate([given[: k // 2], others[: k // 2]])
    return {"seen": given, "new": others, "half": half}[case], given, test


def measure(make: Any, X: np.ndarray, y: np.ndarray, case: str, run: int) -> Row:
    trained, given, test = rows_of(len(y), case, run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(run).fit(X[trained], y[trained])
        began = time.process_time()
        rio = RIORegressor(model, random_state=run, n_jobs=1).fit(X[given], y[given])
        seconds = time.process_time() - began
    distribution = rio.predict_dist(X[test])
    covered = [float(np.mean((low <= y[test]) & (y[test] <= high))) for low, high in map(distribution.interval, LEVELS)]
    own, new = y[trained] - model.predict(X[trained]), y[test] - model.predict(X[test])
    return {
        "n": len(given),
        "n_test": len(test),
        "kind": rio.residuals_.kind,
        "rows": rio.residuals_.rows,
        "memorised": float(np.sqrt(np.mean(new**2) / max(np.mean(own**2), 1e-300))),
        "coverage": dict(zip(map(str, LEVELS), covered, strict=True)),
        "rmse": metrics.rmse(y[test], rio.predict(X[test])),
        "model_rmse": float(np.sqrt(np.mean(new**2))),
        "nlpd": metrics.nlpd(y[test], distribution),
        "crps": metrics.crps(y[test], distribution),
        "seconds": seconds,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    small = ["yacht", "ENB/h", "CCS", "airfoil", "wine/r"]
    named = {"type": names_among(DATASETS), "default": small}
    parser.add_argument("--datasets", **named, help=f"names separated by commas (default: {', '.join(small)})")
    parser.add_argument("--models", type=names_among(MODELS), default=list(MODELS), help="(default: all)")
    parser.add_argument("--runs", type=at_least_one, default=1, help="number of random splits (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    stored = {(row["dataset"], row["model"], row["case"], row["run"]) for row in read_rows(options.results)}
    for run in range(options.runs):
        for dataset in usable_datasets(options.datasets):
            X, y = DATASETS[dataset].load()
            for model in options.models:
                for case in CASES:
                    key = {"dataset": dataset, "model": model, "case": case, "run": run}
                    if tuple(key.values()) in stored:
                        continue
                    append_row(options.results, {**key, **measure(MODELS[model], X, y, case, run)})
            print(f"{dataset}, run {run}", file=sys.stderr, flush=True)
