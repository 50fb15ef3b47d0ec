"""A scale that the user gives, as a transformer of scikit-learn with an inverse."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rio_uq._base.array import Array, Mask

FURTHEST = 50.0
"""The inverse is asked for values up to this many spreads of the data away."""

BISECTIONS = 60

ROUND_TRIP = 1e-6
"""Of the spread of values: an inverse that is further off from where it came is at its end."""

N_GRID = 1000
JUMP, MOST_JUMPS = 0.5, 0.02
"""Slopes of neighbours among so many points, evenly spaced on the scale, differ by less than this on the scale of
logarithms, but for a few kinks: a share of the points.
"""

ALTERNATIVES = (
    "use a smooth one, such as PowerTransformer() or FunctionTransformer(np.log1p, np.expm1), or a scale by its name, "
    "'log', 'sqrt' or 'logit'"
)


@dataclass(frozen=True, eq=False)
class TransformerScale:
    """g is ``transform`` of a fitted transformer, g⁻¹ its ``inverse_transform``.

    Attributes
    ----------
    transformer : object
    lowest, highest : float
        The range of values on the scale that have an inverse: values beyond are moved there.
    step : float
        Half the distance of the points that a slope is taken from, in the units of y.
    lower, upper : float
        Bounds of outcomes.
    """

    kind: ClassVar[str] = "transformer"
    is_identity: ClassVar[bool] = False
    transformer: Any
    lowest: float
    highest: float
    step: float
    lower: float = -np.inf
    upper: float = np.inf

    @classmethod
    def of(cls, transformer: Any, y: Array, bounds: tuple[float, float] = (-np.inf, np.inf)) -> TransformerScale:
        """For a fitted transformer and outcomes (n,)."""
        step = 1e-5 * float(np.std(y) or 1.0)
        u = _transformed(transformer, y)
        if not np.isfinite(u).all() or np.any(np.diff(u[np.argsort(y)]) < 0.0):
            raise ValueError(
                "scale has to be an increasing transformation that is finite for all outcomes: "
                f"{type(transformer).__name__} is not on these"
            )
        back = _inverse(transformer, u)
        if not np.allclose(back, y, rtol=1e-3, atol=1e-3 * float(np.std(y))):
            worst = int(np.argmax(np.abs(back - y)))
            raise ValueError(
                f"the inverse of scale has to undo it: {type(transformer).__name__} makes {u[worst]:g} of "
                f"{y[worst]:g}, and of that {back[worst]:g}"
            )
        _check_smooth(transformer, y, u)
        spread = float(np.ptp(u)) or 1.0
        error = ROUND_TRIP * spread + 10.0 * float(np.abs(_transformed(transformer, back) - u).max())
        lowest = _last_undone(transformer, float(u.min()), float(u.min()) - FURTHEST * spread, error)
        highest = _last_undone(transformer, float(u.max()), float(u.max()) + FURTHEST * spread, error)
        first, last = _inverse(transformer, np.array([lowest, highest]))
        if first > back.min():  # the square of a root that is less than zero by rounding
            lowest = float(u.min())
        if last < back.max():
            highest = float(u.max())
        return cls(transformer, lowest, highest, step, *bounds)

    @cached_property
    def _range(self) -> tuple[float, float]:
        """The outcomes at the ends of the scale."""
        first, last = _inverse(self.transformer, np.array([self.lowest, self.highest]))
        return max(float(first), self.lower), min(float(last), self.upper)

    def contains(self, y: Array) -> Mask:
        first, last = self._range
        return np.asarray((y >= first) & (y <= last))

    def forward(self, y: Array) -> Array:
        first, last = self._range
        y = np.asarray(y, dtype=float)
        u = np.where(y < first, -np.inf, np.where(y > last, np.inf, np.nan))
        inside = self.contains(y)
        if inside.any():
            u[inside] = _transformed(self.transformer, y[inside])
        return u

    def forward_prediction(self, y_pred: Array) -> Array:
        """Predictions that have no place on the scale are moved to the end that they are nearest to."""
        return np.clip(self.forward(y_pred), self.lowest, self.highest)

    def inverse(self, u: Array) -> Array:
        y = _inverse(self.transformer, np.clip(np.asarray(u, dtype=float), self.lowest, self.highest))
        return np.asarray(np.clip(y, self.lower, self.upper))

    def log_slope(self, y: Array) -> Array:
        """By differences: central ones, but for outcomes at an end of the scale."""
        y = np.where(self.contains(y), y, np.nan)
        below, above = (np.clip(y + sign * self.step, *self._range) for sign in (-1.0, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log((self.forward(above) - self.forward(below)) / (above - below)))

    def in_words(self) -> str:
        return f"outcomes transformed by {type(self.transformer).__name__}"


def _transformed(transformer: Any, y: Array) -> Array:
    column = np.asarray(y, dtype=float).reshape(-1, 1)
    return np.asarray(transformer.transform(column), dtype=float).reshape(np.shape(y))


def _inverse(transformer: Any, u: Array) -> Array:
    with np.errstate(all="ignore"):
        column = np.asarray(u, dtype=float).reshape(-1, 1)
        return np.asarray(transformer.inverse_transform(column), dtype=float).reshape(np.shape(u))


def _last_undone(transformer: Any, inside: float, outside: float, error: float) -> float:
    """By bisection, the value nearest to ``outside`` whose inverse is finite and leads back to it."""
    if _is_undone(transformer, outside, error):
        return outside
    for _ in range(BISECTIONS):
        middle = 0.5 * (inside + outside)
        if _is_undone(transformer, middle, error):
            inside = middle
        else:
            outside = middle
    return inside


def _is_undone(transformer: Any, u: float, error: float) -> bool:
    y = _tried(transformer.inverse_transform, u)
    return bool(np.isfinite(y) and abs(_tried(transformer.transform, y) - u) <= error)


def _tried(function: Callable[[Array], Any], value: float) -> float:
    """The function of a value at which it may not be defined: NaN where it is not."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return float(np.ravel(function(np.array([[value]])))[0])
        except ValueError:  # of Box-Cox at zero
            return np.nan


def _check_smooth(transformer: Any, y: Array, u: Array) -> None:
    """Raise for steps, kinks all over, and a scale that ends at the outcomes of `fit`: its densities say nothing."""
    name = type(transformer).__name__
    if np.ptp(u) == 0.0:
        return
    grid = np.linspace(u.min(), u.max(), N_GRID)
    back = _inverse(transformer, grid)
    if not np.isfinite(back).all() or np.any(np.diff(back) <= 0.0):
        raise ValueError(f"scale has to increase strictly, and {name} has steps between these outcomes: {ALTERNATIVES}")
    jumps = np.abs(np.diff(np.log(np.diff(back)))) > JUMP
    if jumps.mean() > MOST_JUMPS:
        raise ValueError(f"scale has to be smooth, and {name} follows the single outcomes of fit: {ALTERNATIVES}")
    beyond = np.array([y.min(), y.max()]) + 1e-3 * np.ptp(y) * np.array([-1.0, 1.0])
    for end, at_end in zip(beyond, (u.min(), u.max()), strict=True):
        if _tried(transformer.transform, end) == at_end:
            raise ValueError(
                f"scale has to go on beyond the outcomes of fit, and {name} takes {end:g} for the same as the last of "
                f"them: {ALTERNATIVES}"
            )
