"""Which scale outcomes are taken on, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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

MOST_BEYOND = 0.2
"""Share of predictions without a place on a scale up to which it is used all the same: they are moved to its end."""

OUTSIDE = 0.01
"""Share of 95 % intervals that leave the range of outcomes from which on one standard error is enough."""


class Beyond(NamedTuple):
    """Predictions given to `fit` that have no place on a scale, as a linear model has of prices.

    Attributes
    ----------
    kind : str
        Of the scale.
    n_rows : int
    example : float
        One of the predictions.
    """

    kind: str
    n_rows: int
    example: float

    @classmethod
    def of(cls, scale: Scale, y_pred: Array) -> Beyond | None:
        """Those among predictions (n,); None if there are none."""
        outside = np.flatnonzero(~scale.contains(y_pred))
        return cls(scale.kind, len(outside), float(y_pred[outside[0]])) if len(outside) else None

    def in_words(self) -> str:
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        others = "" if self.n_rows == 1 else " and the like"
        return (
            f"the model predicts {self.example:.4g}{others} for {rows}, which has no place on the scale {self.kind!r}"
        )


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
    beyond : tuple of Beyond or None
        For each output, predictions without a place on the scale, which are moved to its end; or on the scale that was
        not tried for them, if there are too many.
    """

    scales: tuple[Scale, ...]
    gains: tuple[Mapping[str, float], ...] = field(repr=False)
    outside: tuple[float, ...] = field(repr=False)
    beyond: tuple[Beyond | None, ...] = field(repr=False)

    @classmethod
    def of_outcomes_as_they_are(cls, n_outputs: int) -> ScaleChoice:
        return cls((IDENTITY,) * n_outputs, ({},) * n_outputs, (0.0,) * n_outputs, (None,) * n_outputs)

    @property
    def has_evidence(self) -> bool:
        """Whether there is more to say than which scale it is."""
        return any(self.gains) or any(beyond is not None for beyond in self.beyond)

    def in_words(self, output: int) -> str:
        """A sentence on one output, or two."""
        scale, gains, beyond = self.scales[output], self.gains[output], self.beyond[output]
        words = f"Residuals are taken on the scale of {scale.in_words()}"
        moved = ""
        if beyond is not None and beyond.kind == scale.kind:
            end = float(scale.inverse(scale.forward_prediction(np.array([beyond.example])))[0])
            moved = f" There {beyond.in_words()}: it counts as {end:.3g}."
        if scale.kind in gains:
            return f"{words}: left-out rows gain {gains[scale.kind]:.2f} nats each over outcomes as they are.{moved}"
        if beyond is not None and not moved and not gains:
            return f"{words}: {beyond.in_words()}."
        if gains:
            tried = ", ".join(f"{name} {gain:+.2f}" for name, gain in gains.items())
            outside = self.outside[output]
            left = f"; {outside:.0%} of 95 % intervals leave the range of outcomes" if outside > OUTSIDE else ""
            return f"{words}: left-out rows show little evidence of another one (nats each: {tried}){left}."
        return f"{words}.{moved}"


def outcome_scale(scale: Any, y: Array, bounds: tuple[float, float]) -> Scale:
    """The scale of a name, or of a transformer, which a clone is fitted of, for outcomes (n,)."""
    if isinstance(scale, str):
        return named_scale(scale, y, bounds)
    return TransformerScale.of(clone(scale).fit(y[:, None]), y, bounds)


def too_many(beyond: Beyond | None, n_rows: int) -> bool:
    """Whether so many of the predictions have no place on a scale that it is not used."""
    return beyond is not None and beyond.n_rows > MOST_BEYOND * n_rows


def candidates(y: Array, y_pred: Array, bounds: tuple[float, float]) -> tuple[list[NamedScale], Beyond | None]:
    """The scales that may suit outcomes (n,) and predictions (n,) of one output, and predictions that no scale suits.

    All outcomes have to have their place on a scale, and spread over it so far that it differs from a straight line.
    Most predictions have to have theirs.
    """
    if len(y) < FEWEST_ROWS or len(np.unique(y)) < FEWEST_VALUES:
        return [], None
    scales: dict[str, NamedScale] = {}
    left_out: Beyond | None = None
    for kind in ("log", "sqrt", "logit"):
        try:
            scale = named_scale(kind, y, bounds)
        except ValueError:
            continue
        if _ratio_of_slopes(scale, y) <= LEAST_RATIO[kind]:
            continue
        beyond = Beyond.of(scale, y_pred)
        if too_many(beyond, len(y)):
            left_out = left_out or beyond
        else:
            scales[kind] = scale
    return [scales["logit"]] if "logit" in scales else list(scales.values()), None if scales else left_out


def _ratio_of_slopes(scale: NamedScale, y: Array) -> float:
    """Between nine outcomes of ten."""
    with np.errstate(divide="ignore"):
        return float(np.exp(np.ptp(scale.log_slope(np.quantile(y, [0.05, 0.5, 0.95])))))


def chosen(
    options: list[NamedScale],
    accurate: list[NamedScale],
    identity: Scale,
    log_density: Mapping[str, Array],
    weight: Array,
    outside: float,
) -> tuple[Scale, dict[str, float]]:
    """The scale of one output, among the accurate ones, and the gains of all, from the log density of each left-out
    row on each scale.
    """
    as_it_is = log_density[identity.kind]
    gains = {scale.kind: float(np.average(log_density[scale.kind] - as_it_is, weights=weight)) for scale in options}
    if not accurate:
        return identity, gains
    best = max(accurate, key=lambda scale: gains[scale.kind])
    error = float(np.std(log_density[best.kind] - as_it_is)) / np.sqrt(len(as_it_is))
    least = max(LEAST_GAIN_OF_A_ROW, LEAST_GAIN / len(as_it_is), STANDARD_ERRORS * error)
    if outside > OUTSIDE:
        least = error
    return (best if gains[best.kind] > least else identity), gains
