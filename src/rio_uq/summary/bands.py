"""Bands of rows, by the prediction or by one feature, in which corrections are largest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rio_uq._base.array import Array, Mask
from rio_uq.rows.kept import KeptRows
from rio_uq.summary.words import how_wrong, number, percent

N_BANDS, ROWS_OF_A_BAND = 5, 10


@dataclass(frozen=True)
class Band:
    """Rows where the prediction, or one feature, lies between two bounds.

    Attributes
    ----------
    variable : str or None
        The name of the feature; None for the model's prediction.
    low, high : float
        Above ``low``, and up to ``high``; −∞ and ∞ at the ends. Both are the same for rows with one value.
    share : float
        Of all rows.
    correction, size : float
        Means of the correction and of its absolute value.
    output : int
        The output that is corrected.
    """

    variable: str | None
    low: float
    high: float
    share: float
    correction: float
    size: float
    output: int = 0

    def __str__(self) -> str:
        about = "predictions" if self.variable is None else f"predictions where {self.variable} is"
        wrong = how_wrong(self.correction, self.size)
        return f"{about} {self.range_in_words()} are {wrong} ({percent(self.share)} of rows)"

    def range_in_words(self) -> str:
        """Such as "up to 3"."""
        if self.low == self.high:
            return number(self.low)
        if math.isinf(self.low):
            return f"up to {number(self.high)}"
        if math.isinf(self.high):
            return f"above {number(self.low)}"
        return f"between {number(self.low)} and {number(self.high)}"


def worst_bands(
    variables: Sequence[tuple[str | None, Array]], correction: Array, weight: Array, *, n_bands: int, output: int
) -> list[Band]:
    """Of each variable the band of rows with the largest mean absolute correction, largest first.

    Parameters
    ----------
    variables : sequence of pairs
        Name (None for the prediction) and values (n,).
    correction, weight : (n,) arrays
    n_bands : int
        Each variable is cut into at most this many bands with about the same number of rows.
    output : int
        The output that is corrected.
    """
    worst = []
    for name, values in variables:
        bands = [
            Band(name, low, high, *_band_means(rows, correction, weight), output)
            for low, high, rows in cut(values, n_bands)
        ]
        if len(bands) > 1:
            worst.append(max(bands, key=lambda band: band.size))
    return sorted(worst, key=lambda band: -band.size)


def _band_means(rows: Mask, correction: Array, weight: Array) -> tuple[float, float, float]:
    """Share of rows, mean correction, mean absolute correction."""
    within = weight[rows]
    mean, size = (np.average(values[rows], weights=within) for values in (correction, np.abs(correction)))
    return float(within.sum() / weight.sum()), float(mean), float(size)


def cut(values: Array, n_bands: int) -> list[tuple[float, float, Mask]]:
    """Bands of values with their bounds; each value for itself where there are no more of them than bands."""
    distinct = np.unique(values)
    if len(distinct) <= n_bands:
        return [(float(value), float(value), values == value) for value in distinct]
    inner = np.unique(np.quantile(values, np.arange(1, n_bands) / n_bands, method="nearest"))
    edges = [-np.inf, *inner[inner < distinct[-1]].tolist(), np.inf]
    return [(low, high, (values > low) & (values <= high)) for low, high in pairwise(edges)]


def bands_of_outputs(rows: KeptRows, correction: Array, chosen: list[tuple[str, int]]) -> list[Band]:
    """The worst bands of each output, by its prediction if it has one, and by features."""
    n_bands = min(N_BANDS, len(correction) // ROWS_OF_A_BAND)
    if n_bands < 2:
        return []
    features = [(name, rows.features[:, i]) for name, i in chosen]
    has_prediction = rows.y_pred.shape[1] == correction.shape[1]
    return [
        band
        for output in range(correction.shape[1])
        for band in worst_bands(
            [*([(None, rows.y_pred[:, output])] if has_prediction else []), *features],
            correction[:, output],
            rows.weight,
            n_bands=n_bands,
            output=output,
        )
    ]
