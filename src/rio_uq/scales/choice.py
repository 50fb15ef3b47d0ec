"""Which scale outcomes are taken on, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from rio_uq._base.array import Array
from rio_uq.scales.contract import Scale
from rio_uq.scales.named import IDENTITY, NamedScale, named_scale
from rio_uq.scales.transformer import TransformerScale

LEAST_RATIO = {"log": 2.5, "sqrt": 1.6, "logit": 1.5}
"""Ratio of the steepest to the flattest slope over the outcomes below which a scale is as good as straight."""

FEWEST_ROWS, FEWEST_VALUES = 20, 5
"""Rows, and distinct outcomes, below which nothing can be said of scales: any suits two values."""

LEAST_GAIN, LEAST_GAIN_OF_A_ROW = 5.0, 0.03
"""Log density of left-out rows that a scale has to gain over outcomes as they are: in all, and on average."""

STANDARD_ERRORS = 2.0
"""The gain has to be larger than this many of its standard errors, too."""

OUTSIDE = 0.01
"""Share of 95 % intervals that leave the range of outcomes from which on one standard error is enough."""


@dataclass(frozen=True, eq=False)
class ScaleChoice:
    """The scale of each output, and the evidence.

    Attributes
    ----------
    scales : tuple of Scale
    gains : tuple of mappings from str to float
        For each output, the mean log density of left-out rows on each scale that was tried, Jacobian included, less
        that of outcomes as they are. Empty where nothing was tried.
    outside : tuple of float
        For each output, the share of 95 % intervals of left-out rows that leave the range of outcomes, where these are
        taken as they are.
    """

    scales: tuple[Scale, ...]
    gains: tuple[Mapping[str, float], ...] = field(repr=False)
    outside: tuple[float, ...] = field(repr=False)

    @classmethod
    def of_outcomes_as_they_are(cls, n_outputs: int) -> ScaleChoice:
        return cls((IDENTITY,) * n_outputs, ({},) * n_outputs, (0.0,) * n_outputs)

    def in_words(self, output: int) -> str:
        """A sentence on one output."""
        scale, gains = self.scales[output], self.gains[output]
        words = f"Residuals are taken on the scale of {scale.in_words()}"
        if scale.kind in gains:
            return f"{words}: left-out rows gain {gains[scale.kind]:.2f} nats each over outcomes as they are."
        if gains:
            tried = ", ".join(f"{name} {gain:+.2f}" for name, gain in gains.items())
            outside = self.outside[output]
            left = f"; {outside:.0%} of 95 % intervals leave the range of outcomes" if outside > OUTSIDE else ""
            return f"{words}: left-out rows show little evidence of another one (nats each: {tried}){left}."
        return f"{words}."


def outcome_scale(scale: Any, y: Array, bounds: tuple[float, float]) -> Scale:
    """The scale of a name, or of a transformer, which a clone is fitted of, for outcomes (n,)."""
    if isinstance(scale, str):
        return named_scale(scale, y, bounds)
    return TransformerScale.of(clone(scale).fit(y[:, None]), y, bounds)


def candidates(y: Array, y_pred: Array, bounds: tuple[float, float]) -> list[NamedScale]:
    """The scales that may suit outcomes (n,) and predictions (n,) of one output.

    All of them have to have their place on a scale, and spread over it so far that it differs from a straight line.
    """
    if len(y) < FEWEST_ROWS or len(np.unique(y)) < FEWEST_VALUES:
        return []
    scales: dict[str, NamedScale] = {}
    for kind in ("log", "sqrt", "logit"):
        try:
            scale = named_scale(kind, y, bounds)
        except ValueError:
            continue
        if scale.contains(y_pred).all() and _ratio_of_slopes(scale, y) > LEAST_RATIO[kind]:
            scales[kind] = scale
    return [scales["logit"]] if "logit" in scales else list(scales.values())


def _ratio_of_slopes(scale: NamedScale, y: Array) -> float:
    """Between nine outcomes of ten."""
    with np.errstate(divide="ignore"):
        return float(np.exp(np.ptp(scale.log_slope(np.quantile(y, [0.05, 0.5, 0.95])))))


def chosen(
    options: list[NamedScale], identity: Scale, log_density: Mapping[str, Array], weight: Array, outside: float
) -> tuple[Scale, dict[str, float]]:
    """The scale of one output and its gains, from the log density of each left-out row on each scale."""
    as_it_is = log_density[identity.kind]
    gains = {scale.kind: float(np.average(log_density[scale.kind] - as_it_is, weights=weight)) for scale in options}
    best = max(options, key=lambda scale: gains[scale.kind])
    error = float(np.std(log_density[best.kind] - as_it_is)) / np.sqrt(len(as_it_is))
    least = max(LEAST_GAIN_OF_A_ROW, LEAST_GAIN / len(as_it_is), STANDARD_ERRORS * error)
    if outside > OUTSIDE:
        least = error
    return (best if gains[best.kind] > least else identity), gains
