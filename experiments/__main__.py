"""The paper's experiments on the command line: ``python -m experiments --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.datasets import DATASETS, HOW_TO_GET_DATA
from experiments.runner import RESULTS, available, open_tasks, run_tasks
from experiments.store import Store

TABLE_NAMES = ("default", "ard", "iterations", "random-forest", "ours")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="The experiments of the RIO paper.")
    commands = parser.add_subparsers(dest="command", required=True)

    listing = commands.add_parser("list", help="the data sets, where they come from, and which are there")
    listing.set_defaults(run=list_datasets)

    run = commands.add_parser("run", help="train and measure; goes on where it was interrupted")
    run.add_argument("--table", choices=TABLE_NAMES, default="default", help="which table (default: %(default)s)")
    run.add_argument("--datasets", help="names separated by commas, as `list` shows them (default: all)")
    run.add_argument("--methods", help="methods of the table separated by commas (default: all)")
    run.add_argument("--runs", type=int, default=10, help="number of random splits (default: %(default)s)")
    run.add_argument("--jobs", type=int, default=1, help="processes side by side (default: %(default)s)")
    run.add_argument("--results", type=Path, default=RESULTS, help="file of the rows (default: %(default)s)")
    run.add_argument("--download", action="store_true", help="get missing files from the UCI archive")
    run.set_defaults(run=run_table)

    options = parser.parse_args(arguments)
    options.run(options, parser)


def list_datasets(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    for dataset in DATASETS.values():
        place = dataset.find()
        n, d = dataset.shape
        print(f"{dataset.name:<8} {n:>7} × {d:<4} {dataset.target:<30} {dataset.page} ({dataset.file})")
        print(f"{'':<8} {place if place else 'not there'}; SHA-256 {dataset.sha256 or 'not known'}")


def run_table(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    from experiments.methods import TABLES

    methods = chosen(options.methods, list(TABLES[options.table]), "methods", parser)
    names = chosen(options.datasets, list(DATASETS), "datasets", parser)
    if options.runs < 1 or options.jobs < 1:
        parser.error("--runs and --jobs have to be at least 1")
    usable, missing = available(names, download=options.download)
    for reason in missing.values():
        print(f"left out: {reason}", file=sys.stderr)
    if not usable:
        sys.exit(f"there are no data to run on: {HOW_TO_GET_DATA}")
    tasks = open_tasks(options.table, usable, options.runs, methods, Store(options.results))
    print(f"{sum(len(task.methods) for task in tasks)} results are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results)


def chosen(text: str | None, known: list[str], name: str, parser: argparse.ArgumentParser) -> list[str]:
    """Names separated by commas, all of them known."""
    if text is None:
        return known
    names = [part.strip() for part in text.split(",")]
    unknown = [part for part in names if part not in known]
    if unknown:
        parser.error(f"--{name}: {', '.join(unknown)} is not among {', '.join(known)}")
    return names


if __name__ == "__main__":
    main()
