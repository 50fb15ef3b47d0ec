"""The command line of every benchmark: ``python -m benchmarks.<name> run|page [options]``.

A benchmark is a package with a module ``run``, which measures what is missing and stores it, and a module ``page``,
which writes the page from what is stored; `OTHERS` of the package names further ones. All have ``main(options)`` and,
where they have options of their own, ``add_options(parser)``.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from lab.json_lines import Row, read_rows

FOLDER = Path(__file__).parent
COMMANDS = ("run", "page")


def main(name: str, arguments: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    package = import_module(f"benchmarks.{name}")
    prog = f"python -m benchmarks.{name}"
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=prog, description=package.__doc__, formatter_class=raw)
    commands = (*COMMANDS, *getattr(package, "OTHERS", ()))
    parser.add_argument("command", choices=commands, help="measure what is missing, or write the page; each has --help")
    command = parser.parse_args(arguments[:1]).command
    module = import_module(f"benchmarks.{name}.{command}")
    parser = argparse.ArgumentParser(prog=f"{prog} {command}", description=module.__doc__, formatter_class=raw)
    results = FOLDER / name / getattr(package, "RESULTS", "result.jsonl")
    parser.add_argument("--results", type=Path, default=results, help="stored measurements (default: %(default)s)")
    if command == "page":
        page = FOLDER / name / "README.md"
        parser.add_argument("-o", "--output", type=Path, default=page, help="the page (default: %(default)s)")
    if hasattr(module, "add_options"):
        module.add_options(parser)
    module.main(parser.parse_args(arguments[1:]))


def stored_rows(path: Path) -> list[Row]:
    """The stored measurements; exits where there are none."""
    rows = read_rows(path)
    if not rows:
        sys.exit(f"there are no measurements in {path}: make them with `run`")
    return rows
