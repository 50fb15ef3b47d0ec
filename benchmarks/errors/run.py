"""Measure each method on each table, with each model, in each run; goes on where it stopped, one run of all first."""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

from benchmarks.errors.measures import measures_of, standard_error_of_gain
from benchmarks.errors.methods import CONFIDENCE, METHODS, MODELS, RIO, learn
from benchmarks.errors.tables import TABLES, rows_of, split_of
from lab.json_lines import Row, append_row, read_rows
from lab.options import at_least_one, names_among

N_RUNS = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    for option, choices in (("tables", list(TABLES)), ("models", list(MODELS))):
        text = f"names with commas, among {', '.join(choices)} (all)"
        parser.add_argument(f"--{option}", type=names_among(choices), default=choices, help=text)
    parser.add_argument("--runs", type=at_least_one, default=N_RUNS, help="random splits (default: %(default)s)")


def key_of(row: Row) -> tuple[str, str, int]:
    return row["table"], row["model"], row["run"]


def measured(table: str, model: str, run: int) -> Row:
    """All methods on one split."""
    learnt = learn(split_of(table, run), model, run)
    wrong = (learnt.test.argmax(axis=1) != learnt.split.y_test).astype(float)
    scores, seconds = {}, {}
    for name, method in METHODS.items():
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores[name] = method(learnt)
        seconds[name] = time.process_time() - began
    row: Row = {"table": table, "model": model, "run": run, "n_train": len(learnt.split.y), "n_test": len(wrong)}
    row |= {"n_classes": learnt.test.shape[1], "n_features": learnt.split.X.shape[1], "errors": float(wrong.mean())}
    row["methods"] = {
        name: {**measures_of(one, wrong), "seconds": round(seconds[name], 2)} for name, one in scores.items()
    }
    if 0.0 < wrong.mean() < 1.0:
        row["gain_error"] = standard_error_of_gain(scores[RIO].error, scores[CONFIDENCE].error, wrong)
    return row


def main(options: argparse.Namespace) -> None:
    path: Path = options.results
    done = {key_of(row) for row in read_rows(path)}
    tables = sorted(options.tables, key=lambda name: rows_of(name)[0].size)
    for run, table, model in product(range(options.runs), tables, options.models):
        if (table, model, run) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = measured(table, model, run)
        append_row(path, row)
        own, plain = (row["methods"][name].get("auroc") for name in (RIO, CONFIDENCE))
        print(table, model, run, f"errors {row['errors']:.3f}", "AUROC", own, "confidence", plain, flush=True)
