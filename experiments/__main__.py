"""The paper's experiments on the command line: ``python -m experiments --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.measures import store_of
from experiments.runner import FIGURES, FOLDER, NETWORKS, PREDICTIONS, RESULTS, work
from experiments.when.sweeps import SWEEPS
from lab.datasets import DATASETS, DataNotFoundError, available
from lab.json_lines import read_rows
from lab.options import at_least_one, at_least_two, names_among, usable_datasets
from lab.peers.process import add_peers_python, check_peers_python
from lab.tasks import open_tasks, run_tasks
from rio_uq._base.extras import require

TABLE_NAMES = ("default", "ard", "iterations", "random-forest", "ours", "gain")
SECTIONS = ("parameters", "age", "images", "theory", "fit-times")
"""Sections of the page of results that commands write for themselves, each into a file beside the rows."""
WHEN = RESULTS.with_name("when.jsonl")
IMAGES = RESULTS.with_name("images.jsonl")

SMALL = ("yacht", "ENB/h", "ENB/c", "airfoil", "CCS", "wine/r")
HOUR = (
    ("default", SMALL, 3),
    ("ard", SMALL, 3),
    ("random-forest", SMALL, 2),
    ("ours", SMALL, 3),
    ("iterations", SMALL, 1),
    ("default", ("wine/w", "CCPP"), 1),
    ("ours", ("wine/w", "CCPP", "protein"), 1),
    ("default", ("protein",), 1),
)
"""Table, data sets and number of runs of the version that ends within an hour on two processors."""


def main(arguments: list[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    options.command(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="The experiments of the RIO paper.")
    commands = parser.add_subparsers(dest="name", required=True)
    results = argparse.ArgumentParser(add_help=False)
    results.add_argument("--results", type=Path, default=RESULTS, help="file of the rows (default: %(default)s)")
    jobs = argparse.ArgumentParser(add_help=False)
    jobs.add_argument("--jobs", type=at_least_one, default=1, help="processes side by side (default: %(default)s)")

    def add(name: str, command: object, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text, parents=list(parents))
        added.set_defaults(command=command)
        return added

    add("list", list_datasets, "The data sets, where they come from, and which are there.")
    run = add("run", run_table, "Train and measure; goes on where it was interrupted.", results, jobs)
    run.add_argument("--table", choices=TABLE_NAMES, default="default", help="which table (default: %(default)s)")
    named = {"type": names_among(DATASETS), "default": list(DATASETS)}
    run.add_argument("--datasets", **named, help="names separated by commas, as `list` shows them (default: all)")
    run.add_argument("--methods", help="methods of the table separated by commas (default: all)")
    run.add_argument("--runs", type=at_least_one, default=10, help="number of random splits (default: %(default)s)")
    run.add_argument("--download", action="store_true", help="get missing files from the UCI archive")
    table = add("table", show_table, "A table of the paper, from the rows that are there.", results)
    table.add_argument("table", choices=[*TABLE_NAMES[:4], "spearman"], help="which table")
    table.add_argument("--format", choices=["text", "markdown", "latex", "csv"], default="text", help="%(default)s")
    figures = add(
        "figures", draw_figures, "All figures of the paper, from the rows and predictions that are there.", results
    )
    figures.add_argument("--table", choices=TABLE_NAMES[:4], default="default", help="of which table (%(default)s)")
    figures.add_argument("--folder", type=Path, default=FIGURES, help="where they go (default: %(default)s)")
    age = add("age", run_age, "Age estimation: network, SVGP, RIO and ours, by bands of predicted age.", results, jobs)
    age.add_argument("--runs", type=at_least_one, default=5, help="number of random splits (default: %(default)s)")
    images = add("images", run_images, "Our own network on images, with RIO and Gaussian processes beside it.", jobs)
    images.add_argument("--results", type=Path, default=IMAGES, help="file of the rows (default: %(default)s)")
    images.add_argument("--runs", type=at_least_one, default=5, help="number of random splits (default: %(default)s)")
    images.add_argument("--page-only", action="store_true", help="write the section from the rows that are there")
    theory = add("theory", run_theory, "The three theorems as numerical experiments.", results)
    theory.add_argument("--repeats", type=at_least_two, default=None, help="draws of each experiment (default: enough)")
    parameters = add("parameters", run_parameters, "Why SVGP does better here, beside GPflow's.", results)
    parameters.add_argument(
        "--runs", type=at_least_one, default=5, help="number of random splits (default: %(default)s)"
    )
    add_peers_python(parameters)
    when = add("when", run_when, "What the model adds: RIO beside the model alone and a plain GP, experiments/WHEN.md.")
    when.add_argument("--results", type=Path, default=WHEN, help="file of the rows (default: %(default)s)")
    when.add_argument("--sweeps", type=names_among(SWEEPS), default=list(SWEEPS), help="with commas (default: all)")
    when.add_argument("--most-rows", type=at_least_one, help="leave out fits to more rows (default: none)")
    when.add_argument("--page-only", action="store_true", help="write the page from the rows that are there")
    add("report", write_report, "The page of results, experiments/RESULTS.md, from the rows that are there.", results)
    add("paper", run_paper, "A version of everything that ends within an hour on two processors.", results, jobs)
    return parser


def list_datasets(options: argparse.Namespace) -> None:
    for dataset in DATASETS.values():
        place = dataset.find()
        n, d = dataset.shape
        print(f"{dataset.name:<8} {n:>7} × {d:<4} {dataset.target:<30} {dataset.page} ({dataset.file})")
        print(f"{'':<8} {place if place else 'not there'}; SHA-256 {dataset.sha256 or 'not known'}")


def run_table(options: argparse.Namespace) -> None:
    from experiments.methods import TABLES, applies

    choices = list(TABLES[options.table])
    try:
        methods = names_among(choices)(options.methods) if options.methods else choices
    except argparse.ArgumentTypeError as error:
        sys.exit(f"--methods of table {options.table}: {error}")
    usable = usable_datasets(options.datasets, download=options.download)
    tasks = open_tasks(options.table, usable, options.runs, methods, store_of(options.results), applies)
    print(f"{sum(len(task.methods) for task in tasks)} results are missing in {options.results}", file=sys.stderr)
    run_tasks(tasks, options.jobs, options.results, work)


def show_table(options: argparse.Namespace) -> None:
    from experiments import report, tables
    from experiments.rendering import FORMATS, LEGEND, render

    name = "default" if options.table == "spearman" else options.table
    rows = store_of(options.results).read_or_unpack()
    entries = tables.summary(rows, name)
    if not len(entries):
        sys.exit(f"there are no rows of table {name} in {options.results}: make them with `run --table {name}`")
    report.name_absent_datasets(entries)
    if options.table == "spearman":
        correlations = tables.noise_correlation(entries)
        shown = report.spearman_table(correlations, FORMATS[options.format]) if options.format != "csv" else None
        print(correlations.to_csv(index=False) if shown is None else shown, end="")
    elif options.format == "csv":
        paper = tables.paper_table(name)
        both = entries.merge(paper, on=["dataset", "method"], how="left", suffixes=("", "_paper"))
        print(both.to_csv(index=False), end="")
    else:
        print(render(entries, tables.paper_table(name), FORMATS[options.format]))
        print(LEGEND)


def draw_figures(options: argparse.Namespace) -> None:
    from experiments.figures import draw_all

    rows = store_of(options.results).read_or_unpack()
    for path in draw_all(rows, PREDICTIONS, options.folder, options.table):
        print(path)


def run_age(options: argparse.Namespace) -> None:
    from experiments import age

    try:
        section = age.run(options.runs, options.jobs, options.results, PREDICTIONS, FIGURES)
    except DataNotFoundError as error:
        sys.exit(str(error))
    keep_section("age", section, options.results)


def run_images(options: argparse.Namespace) -> None:
    from experiments.images.data import digits

    try:
        require("torch", "experiments", "the experiment on images")
        digits()
    except ImportError as error:
        sys.exit(str(error))
    from experiments.images.run import measure, write

    if not options.page_only:
        measure(options.runs, options.jobs, options.results, NETWORKS)
    if not read_rows(options.results):
        sys.exit(f"there are no rows in {options.results}: make them without --page-only")
    keep_section("images", write(options.runs, options.results, FIGURES), options.results)


def run_theory(options: argparse.Namespace) -> None:
    from experiments import theory

    repeats = {} if options.repeats is None else {"repeats": options.repeats}
    keep_section("theory", theory.run(FIGURES, **repeats), options.results)


def run_parameters(options: argparse.Namespace) -> None:
    from experiments import parameters

    check_peers_python(options.peers_python)
    keep_section("parameters", parameters.section(options.runs, options.peers_python), options.results)


def run_when(options: argparse.Namespace) -> None:
    from experiments.when import page
    from experiments.when.run import run

    if not options.page_only:
        run(options.results, options.sweeps, options.most_rows)
    rows = read_rows(options.results)
    if not rows:
        sys.exit(f"there are no rows in {options.results}: make them without --page-only")
    page.write(rows, FOLDER / "WHEN.md", FIGURES / "when.png")
    print(f"written: {FOLDER / 'WHEN.md'}")


def keep_section(name: str, text: str, results: Path) -> None:
    """Print a section, and keep it for the page of results."""
    print(text)
    path = results.with_name(f"{name}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_report(options: argparse.Namespace) -> None:
    from experiments.report import figures_section, report

    store = store_of(options.results)
    rows = store.read_or_unpack()
    if not len(rows):
        sys.exit(f"there are no rows in {options.results}: make them with `run`")
    _, missing = available(list(DATASETS))
    files = [options.results.with_name(f"{name}.md") for name in SECTIONS]
    sections = [path.read_text() for path in files if path.exists()]
    text = report(rows, missing, [*sections, figures_section(FIGURES, FOLDER)])
    (FOLDER / "RESULTS.md").write_text(text)
    if options.results.exists():
        store.pack()
    print(f"written: {FOLDER / 'RESULTS.md'}")


def run_paper(options: argparse.Namespace) -> None:
    from experiments.methods import TABLES, applies

    usable = usable_datasets(list(DATASETS))
    store = store_of(options.results)
    for table, datasets, runs in HOUR:
        there = [name for name in datasets if name in usable]
        print(f"table {table}: {', '.join(there)}, {runs} runs", file=sys.stderr)
        tasks = open_tasks(table, there, runs, list(TABLES[table]), store, applies)
        run_tasks(tasks, options.jobs, options.results, work)
    options.runs, options.repeats = 1, 40
    run_theory(options)
    try:
        run_age(options)
    except SystemExit as error:  # the faces are not there, which is no reason to lose the rest
        print(f"left out: {error}", file=sys.stderr)
    options.table, options.folder = "default", FIGURES
    draw_figures(options)
    write_report(options)


if __name__ == "__main__":
    main()
