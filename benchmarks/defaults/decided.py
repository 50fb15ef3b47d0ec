"""Decide anew, for fits that are stored, which residuals RIO takes; no GP is fitted.

The splits, models and cases are those of `run`, and only those where it matters. The page has its decisions from here,
as far as there are any. It goes on where it was interrupted; to decide everything again, move the file away.
"""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.defaults.decisions import chosen_residuals
from benchmarks.defaults.measures import CASES
from benchmarks.defaults.models import MODELS
from benchmarks.defaults.run import rows_of, store_of, usable
from benchmarks.defaults.tables import TABLES, rows_of_table
from benchmarks.defaults.targets import decisions
from lab.options import names_among
from lab.store import KEY, Store


@dataclass(frozen=True)
class Decided:
    """One decision.

    Attributes
    ----------
    table, dataset, run, method
        As in `benchmarks.defaults.measures.Row`.
    kind, rows : str
        Residuals that RIO takes, and what it believes of the rows.
    memorised, clones_worse, share, share_error : float
        The numbers behind it: see `rio_uq.models.residual_choice.ResidualChoice`; None where clones were not asked.
    """

    table: str
    dataset: str
    run: int
    method: str
    kind: str
    rows: str
    memorised: float | None
    clones_worse: float | None
    share: float | None
    share_error: float | None


NUMBERS = ("memorised", "clones_worse", "share", "share_error")


def store_of_decisions(results: Path) -> Store:
    """Beside the stored fits."""
    return Store(results.with_name("decided.csv"), Decided)


def decide(name: str, X: Any, y: np.ndarray, case: str, run: int) -> dict[str, Any]:
    """What RIO takes on the split of a fit."""
    trained, given, _ = rows_of(len(y), case, run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name](X, run).fit(rows_of_table(X, trained), y[trained])
        choice, _ = chosen_residuals(model, rows_of_table(X, given), y[given], run)
    numbers = {number: choice.evidence.get(number) for number in NUMBERS}
    rounded = {number: None if value is None else float(f"{value:.5g}") for number, value in numbers.items()}
    return {"kind": choice.kind, "rows": choice.rows} | rounded


def with_decisions(rows: pd.DataFrame, decided: pd.DataFrame) -> pd.DataFrame:
    """Fits with the residuals that were decided on anew, and ``is_anew``."""
    both = rows[KEY].merge(decided[[*KEY, "kind", "rows"]], on=KEY, how="left").set_index(rows.index)
    is_anew = both["kind"].notna()
    anew = {name: both[name].where(is_anew, rows[name]) for name in ("kind", "rows")}
    return rows.assign(**anew, is_anew=is_anew)


def missing_fits(options: argparse.Namespace) -> pd.DataFrame:
    """The stored fits where it matters that have no decision yet."""
    fits = decisions(store_of(options.results).read_or_unpack())
    wanted = {"dataset": options.datasets, "method": options.models, "table": options.cases}
    fits = fits[fits[list(wanted)].isin(wanted).all(axis=1)]
    done = store_of_decisions(options.results).keys()
    return fits[[tuple(key) not in done for key in fits[KEY].to_numpy()]]


def add_options(parser: argparse.ArgumentParser) -> None:
    for option, choices in (("datasets", TABLES), ("models", MODELS), ("cases", CASES)):
        named = {"type": names_among(choices), "default": list(choices)}
        parser.add_argument(f"--{option}", **named, help=f"names with commas, among {', '.join(choices)} (all)")


def main(options: argparse.Namespace) -> None:
    options.datasets = usable(options.datasets)
    store, missing = store_of_decisions(options.results), missing_fits(options)
    print(f"{len(missing)} decisions are missing in {store.path}", file=sys.stderr)
    for number, (case, dataset, run, model) in enumerate(missing[KEY].to_numpy(), start=1):
        X, y = TABLES[dataset]()
        try:
            store.append(Decided(case, dataset, int(run), model, **decide(model, X, y, case, int(run))))
        except Exception:
            print(f"{case}: {model} failed on {dataset}, run {run}", file=sys.stderr)
            traceback.print_exc()
        if number % 20 == 0:
            print(f"{number} of {len(missing)}: {model} on {dataset}", file=sys.stderr, flush=True)
    store.pack()
