"""Remove rows from what is stored, so that `run` makes them anew: those of RIO, when its defaults have changed.

Nothing else may append to the file meanwhile.
"""

from __future__ import annotations

import argparse

from benchmarks.standard.methods import OURS
from benchmarks.standard.run import add_choices, store_of
from lab.datasets.standard import STANDARD
from lab.files import whole_file


def add_options(parser: argparse.ArgumentParser) -> None:
    add_choices(parser, list(STANDARD), list(OURS))


def main(options: argparse.Namespace) -> None:
    store = store_of(options.results)
    rows = store.read_or_unpack()
    forgotten = (
        rows["dataset"].isin(options.datasets)
        & rows["method"].isin(options.methods)
        & rows["table"].isin(options.tables)
    )
    with whole_file(store.path) as partial:
        rows[~forgotten].to_csv(partial, index=False)
    store.packed.unlink(missing_ok=True)
    store.pack()
    print(f"{forgotten.sum()} of {len(rows)} rows removed from {store.packed}")
