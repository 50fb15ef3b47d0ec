"""Means over repeats with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd


class Summary(NamedTuple):
    """Means and their standard errors, each with the same index and columns."""

    mean: pd.DataFrame
    error: pd.DataFrame


def summarize(results: pd.DataFrame, by: str | Sequence[str]) -> Summary:
    """Of all numbers, over the repeats that agree in ``by``."""
    keys = [by] if isinstance(by, str) else list(by)
    numbers = results.select_dtypes("number").columns.difference([*keys, "repeat"], sort=False)
    groups = results.groupby(by if isinstance(by, str) else keys)[list(numbers)]
    return Summary(groups.mean(), groups.sem())


def plus_minus(values: pd.Series, digits: int = 4) -> str:
    """The mean and its standard error, such as "0.1234 ± 0.0005"."""
    return f"{values.mean():.{digits}f} ± {values.sem():.{digits}f}"
