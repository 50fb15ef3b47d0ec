"""Types of command-line options, and the data sets that a command can use."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping

from lab.datasets import DATASETS, HOW_TO_GET_DATA, DataSet, available


def names_among(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """The type of an option that takes names separated by commas.

    Examples
    --------
    >>> names_among(["yacht", "CCS"])("CCS, yacht")
    ['CCS', 'yacht']
    """
    choices = list(choices)

    def names(text: str) -> list[str]:
        parts = [part.strip() for part in text.split(",")]
        unknown = [part for part in parts if part not in choices]
        if unknown:
            raise ArgumentTypeError(f"{', '.join(unknown)} is not among {', '.join(choices)}")
        return parts

    return names


def numbers(text: str) -> list[int]:
    """Integers separated by commas."""
    return [int(part) for part in text.split(",")]


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that takes an integer not below a bound."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise ArgumentTypeError(f"it has to be at least {least}")
        return value

    return number


at_least_one, at_least_two = at_least(1), at_least(2)


def positive(text: str) -> float:
    value = float(text)
    if not value > 0.0:
        raise ArgumentTypeError("it has to be more than 0")
    return value


def usable_datasets(
    names: list[str], *, download: bool = False, datasets: Mapping[str, DataSet] = DATASETS
) -> list[str]:
    """The data sets whose files are there; tells on standard error which are not, and exits if none is."""
    usable, missing = available(names, download=download, datasets=datasets)
    for reason in missing.values():
        print(f"left out: {reason}", file=sys.stderr)
    if not usable:
        sys.exit(f"there are no data to run on: {HOW_TO_GET_DATA}")
    return usable
