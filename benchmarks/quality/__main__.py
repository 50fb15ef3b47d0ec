"""The quality benchmark on the command line: ``python -m benchmarks.quality --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.quality.methods import GROUPS
from benchmarks.quality.protocol import DATASETS, SMALL, missing_tasks, store_of, work
from experiments.__main__ import chosen
from experiments.datasets import HOW_TO_GET_DATA
from experiments.runner import available, run_tasks

RESULTS = Path(__file__).parent / "rows.csv"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description="Quality beside other methods.")
    commands = parser.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="train and measure; goes on where it was interrupted")
    small = ",".join((*SMALL, "wine/r*"))
    run.add_argument("--datasets", default=small, help=f"names separated by commas (default: {small})")
    run.add_argument("--methods", help="names separated by commas (default: all)")
    run.add_argument("--runs", type=int, default=5, help="number of random splits (default: %(default)s)")
    run.add_argument("--jobs", type=int, default=1, help="processes side by side (default: %(default)s)")
    run.add_argument("--results", type=Path, default=RESULTS, help="file of the rows (default: %(default)s)")
    run.add_argument("--download", action="store_true", help="get missing files from the UCI archive")
    run.set_defaults(run=run_methods)

    page = commands.add_parser("page", help="write the page of results and its diagrams")
    page.add_argument("-o", "--output", type=Path, default=Path("benchmarks/quality.md"), help="default: %(default)s")
    page.add_argument("--results", type=Path, default=RESULTS, help="file of the rows (default: %(default)s)")
    page.set_defaults(run=write)

    options = parser.parse_args(arguments)
    options.run(options, parser)


def run_methods(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    known = [name for group in GROUPS.values() for name in group]
    methods = chosen(options.methods, known, "methods", parser)
    names = chosen(options.datasets, list(DATASETS), "datasets", parser)
    if options.runs < 1 or options.jobs < 1:
        parser.error("--runs and --jobs have to be at least 1")
    usable, missing = available(names, download=options.download, datasets=DATASETS)
    for reason in missing.values():
        print(f"left out: {reason}", file=sys.stderr)
    if not usable:
        sys.exit(f"there are no data to run on: {HOW_TO_GET_DATA}")

    def still_missing() -> list:
        return missing_tasks(GROUPS, usable, options.runs, methods, options.results)

    tasks = still_missing()
    print(f"{sum(len(task.methods) for task in tasks)} results are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results, work)
    if failed := sum(len(task.methods) for task in still_missing()):
        sys.exit(f"{failed} results could not be had, for the reasons above: the same command tries them again")


def write(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    from benchmarks.quality.page import write_page

    rows = store_of(options.results).read()
    if rows.empty:
        sys.exit(f"there are no results in {options.results}: `python -m benchmarks.quality run` makes them")
    write_page(rows, options.output)
    print(f"{len(rows)} results written to {options.output}")


if __name__ == "__main__":
    main()
