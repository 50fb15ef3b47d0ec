"""The scales that have names, with the range of outcomes.

With t the distance of an outcome from its bound, y − a above a lower bound a, and b − y below an upper bound b where
there is no lower one (the scale is then mirrored, so that it still increases; where there are both, b is the end of the
range and nothing more),

    identity   g = y
    log        g = log t
    sqrt       g = √(t + c)         c = ⅜ of the smallest positive t where some are zero (Anscombe's for counts), or 1 %
    logit      g = log((y − a)/(b − y))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from rio_uq._base.array import Array, Mask

ANSCOMBE, NO_ZEROS = 0.375, 0.01
"""c in units of the smallest positive outcome. With √(y + ⅜) the variance of a Poisson variable hardly depends on its
mean. Where no outcome is zero the offset is there for those to come: without any, their density would be infinite."""

FLOOR = 0.5
"""Predictions nearer to a bound than this times the nearest outcome are moved there, since log 0 is infinite."""


class _Function(NamedTuple):
    """A function h of the distance t, its inverse, and log h'."""

    forward: Callable[[Array], Array]
    inverse: Callable[[Array], Array]
    log_slope: Callable[[Array], Array]


_OF_DISTANCE = {
    "log": _Function(np.log, np.exp, lambda t: -np.log(t)),
    "sqrt": _Function(np.sqrt, lambda u: np.maximum(u, 0.0) ** 2, lambda t: -np.log(2.0) - 0.5 * np.log(t)),
}

NAMES = ("identity", *_OF_DISTANCE, "logit")


@dataclass(frozen=True)
class NamedScale:
    """One of `NAMES`.

    Attributes
    ----------
    kind : str
    lower, upper : float
        The range of outcomes, infinite where there is no bound.
    offset : float
        c of the square root.
    floor : float
        The least distance that predictions have, on the scale "log" from the bound that it is about, on "logit" from
        both.

    Examples
    --------
    >>> import numpy as np
    >>> scale = named_scale("log", np.array([1.0, 10.0, 100.0]))
    >>> scale.forward(np.array([10.0])).round(3), scale.inverse(np.array([0.0]))
    (array([2.303]), array([1.]))
    """

    kind: str = "identity"
    lower: float = -np.inf
    upper: float = np.inf
    offset: float = 0.0
    floor: float = 0.0

    @property
    def is_identity(self) -> bool:
        return self.kind == "identity" and not self.has_bounds

    @property
    def has_bounds(self) -> bool:
        return bool(np.isfinite(self.lower) or np.isfinite(self.upper))

    @property
    def _is_mirrored(self) -> bool:
        return not np.isfinite(self.lower)

    def distance(self, y: Array) -> Array:
        """t, of the scales "log" and "sqrt"."""
        return self.upper - y if self._is_mirrored else y - self.lower

    @property
    def excludes(self) -> tuple[bool, bool]:
        """Whether the lower and the upper bound themselves have no place on the scale."""
        has_place = self.kind in ("identity", "sqrt")
        return not (has_place or self._is_mirrored), not has_place and (self.kind == "logit" or self._is_mirrored)

    @property
    def range_of_predictions(self) -> tuple[float, float]:
        """Predictions beyond are moved to its ends."""
        below, above = self.excludes
        return self.lower + (self.floor if below else 0.0), self.upper - (self.floor if above else 0.0)

    def contains(self, y: Array) -> Mask:
        below, above = self.excludes
        return ((y > self.lower) if below else (y >= self.lower)) & ((y < self.upper) if above else (y <= self.upper))

    def forward(self, y: Array) -> Array:
        if self.is_identity:
            return y
        inside = np.clip(y, self.lower, self.upper)
        with np.errstate(divide="ignore"):  # log 0 is −∞
            u = self._forward_within(inside)
        return np.where(y < self.lower, -np.inf, np.where(y > self.upper, np.inf, u))

    def _forward_within(self, y: Array) -> Array:
        if self.kind == "identity":
            return y
        if self.kind == "logit":
            return np.asarray(logit((y - self.lower) / (self.upper - self.lower)))
        u = _OF_DISTANCE[self.kind].forward(self.distance(y) + self.offset)
        return -u if self._is_mirrored else u

    def forward_prediction(self, y_pred: Array) -> Array:
        if self.kind == "identity":
            return y_pred
        return self._forward_within(np.clip(y_pred, *self.range_of_predictions))

    def inverse(self, u: Array) -> Array:
        if self.kind == "logit":
            return np.asarray(self.lower + (self.upper - self.lower) * expit(u))
        if self.kind == "identity":
            return np.clip(u, self.lower, self.upper) if self.has_bounds else u
        with np.errstate(over="ignore"):
            distance = _OF_DISTANCE[self.kind].inverse(-u if self._is_mirrored else u) - self.offset
        y = self.upper - distance if self._is_mirrored else self.lower + distance
        return np.asarray(np.clip(y, self.lower, self.upper))

    def log_slope(self, y: Array) -> Array:
        y = np.where(self.contains(y), y, np.nan)
        if self.kind == "identity":
            return 0.0 * y
        if self.kind == "logit":
            return np.asarray(np.log(self.upper - self.lower) - np.log(y - self.lower) - np.log(self.upper - y))
        return _OF_DISTANCE[self.kind].log_slope(self.distance(y) + self.offset)

    def in_words(self) -> str:
        words = {
            "identity": "outcomes as they are",
            "log": "the logarithm of outcomes",
            "sqrt": "the square root of outcomes",
            "logit": "the logit of outcomes",
        }[self.kind]
        is_usual = (self.lower, self.upper) == _usual_range(self.kind)
        return words if is_usual else f"{words}, {self.range_in_words()}"

    def range_in_words(self) -> str:
        """A phrase after "outcomes"."""
        if np.isfinite(self.lower) and np.isfinite(self.upper):
            return f"between {self.lower:g} and {self.upper:g}"
        return f"from {self.lower:g} on" if np.isfinite(self.lower) else f"up to {self.upper:g}"


IDENTITY = NamedScale()


def _usual_range(kind: str) -> tuple[float, float]:
    """Of outcomes, where the user names no bounds."""
    return {"identity": (-np.inf, np.inf), "logit": (0.0, 1.0)}.get(kind, (0.0, np.inf))


def named_scale(kind: str, y: Array, bounds: tuple[float, float] = (-np.inf, np.inf)) -> NamedScale:
    """A scale for outcomes (n,).

    Parameters
    ----------
    kind : one of `NAMES`
    y : (n,) array
    bounds : pair of float
        The range of outcomes. Where there is none, zero is the lower bound of "log" and "sqrt", and "logit" is that of
        shares between 0 and 1.

    Raises
    ------
    ValueError
        Where some of the outcomes have no place on it.
    """
    lower, upper = bounds
    if not (np.isfinite(lower) or np.isfinite(upper)):
        lower, upper = _usual_range(kind)
    if kind == "logit" and not (np.isfinite(lower) and np.isfinite(upper)):
        raise ValueError(f"scale='logit' needs both bounds of outcomes; got bounds=({lower:g}, {upper:g})")
    scale = NamedScale(kind, lower, upper)
    outside = np.flatnonzero(~scale.contains(y))
    if len(outside):
        ends = {(True, True): ", the ends excluded,", (True, False): ", the lower end excluded,"}
        strictly = ends.get(scale.excludes, ", the upper end excluded," if scale.excludes[1] else ",")
        is_plain = kind == "identity"
        taker = "bounds say that outcomes are" if is_plain else f"scale={kind!r} takes outcomes"
        remedy = f"give bounds that hold all outcomes, or {'none' if is_plain else 'use another scale'}"
        raise ValueError(
            f"{taker} {scale.range_in_words()}{strictly} and y has {len(outside)} others, "
            f"{y[outside[0]]:g} in row {outside[0]} among them: {remedy}"
        )
    if kind == "identity":
        return scale
    if kind == "logit":
        return NamedScale(kind, lower, upper, floor=FLOOR * float(np.minimum(y - lower, upper - y).min()))
    distance = scale.distance(y)
    if kind == "sqrt":
        positive = distance[distance > 0.0]
        unit = NO_ZEROS if len(positive) == len(y) else ANSCOMBE
        return NamedScale(kind, lower, upper, unit * float(positive.min()) if len(positive) else 0.0)
    return NamedScale(kind, lower, upper, floor=FLOOR * float(distance.min()))
