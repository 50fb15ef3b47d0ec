"""Measure the error bars of altered rows on some splits of each data set; splits that are stored are left out.

The model is the paper's network of each run, and it predicts the altered rows too, so that both x and ŷ change. The
standard deviation is the score by which altered rows are to be told from clean test rows: the area under the ROC curve
is the chance that an altered row has the larger one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict

from benchmarks.shift.alterations import alterations
from benchmarks.shift.error_bars import Measurement, compare, error_bars, places
from lab.datasets import DATASETS, DataNotFoundError
from lab.json_lines import read_rows, write_rows
from lab.options import at_least_one, names_among, usable_datasets

SMALL = ("yacht", "ENB/h", "airfoil", "CCS")
MEMBERS = 5
"""Networks of the ensemble."""


def other_data(name: str) -> str:
    """The data set whose rows are given to the model of this one."""
    return "CCS" if name == "airfoil" else "airfoil"


def one_run(name: str, run: int) -> Iterator[Measurement]:
    """All measurements on one split of a data set."""
    import torch

    from lab.base_models import hidden_layers, train_network

    torch.set_num_threads(1)
    X, y = DATASETS[name].load()
    other = DATASETS[other_data(name)].load()[0]
    train, test = DATASETS[name].split(len(y), run)
    hidden = hidden_layers(name)
    networks = [train_network(X[train], y[train], hidden, run + 1000 * i) for i in range(MEMBERS)]
    altered = list(alterations(networks[0], X[test], y[test], other))
    yield from compare(error_bars(networks, X[train], y[train], run), X[test], y[test], altered)
    yield from places(networks[0], X[train], y[test], altered)


def add_options(parser: argparse.ArgumentParser) -> None:
    named = {"type": names_among(DATASETS), "default": list(SMALL)}
    parser.add_argument("--datasets", **named, help=f"names separated by commas (default: {', '.join(SMALL)})")
    parser.add_argument("--runs", type=at_least_one, default=3, help="number of random splits (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    rows = read_rows(options.results)
    stored = {(row["dataset"], row["run"]) for row in rows}
    names = usable_datasets(options.datasets)
    for name, run in ((name, run) for name in names for run in range(options.runs)):
        if (name, run) in stored:
            continue
        began = time.monotonic()
        try:
            rows += [{"dataset": name, "run": run, **asdict(one)} for one in one_run(name, run)]
        except DataNotFoundError as error:
            sys.exit(f"rows of other data are needed too: {error}")
        write_rows(options.results, rows)
        print(f"{name}, run {run}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
