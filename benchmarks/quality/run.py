"""Train and measure each method on each split; goes on where it was interrupted."""

from __future__ import annotations

import argparse
import sys

from benchmarks.quality.methods import GROUPS
from benchmarks.quality.protocol import DATASETS, SMALL, missing_tasks, work
from lab.options import at_least_one, names_among, usable_datasets
from lab.tasks import Task, run_tasks


def add_options(parser: argparse.ArgumentParser) -> None:
    methods = [name for group in GROUPS.values() for name in group]
    small = [*SMALL, "wine/r*"]
    named = {"type": names_among(DATASETS), "default": small}
    parser.add_argument("--datasets", **named, help=f"names separated by commas (default: {', '.join(small)})")
    parser.add_argument("--methods", type=names_among(methods), default=methods, help="names, with commas (all)")
    parser.add_argument("--runs", type=at_least_one, default=5, help="number of random splits (default: %(default)s)")
    parser.add_argument("--jobs", type=at_least_one, default=1, help="processes side by side (default: %(default)s)")
    parser.add_argument("--download", action="store_true", help="get missing files from the UCI archive")


def main(options: argparse.Namespace) -> None:
    usable = usable_datasets(options.datasets, download=options.download, datasets=DATASETS)

    def still_missing() -> list[Task]:
        return missing_tasks(GROUPS, usable, options.runs, options.methods, options.results)

    tasks = still_missing()
    print(f"{sum(len(task.methods) for task in tasks)} results are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results, work)
    if failed := sum(len(task.methods) for task in still_missing()):
        sys.exit(f"{failed} results could not be had, for the reasons above: the same command tries them again")
