"""A scale that the user gives, as a transformer of scikit-learn with an inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rio_uq._base.array import Array, Mask

FURTHEST = 50.0
"""The inverse is asked for values up to this many spreads of the data away."""

BISECTIONS = 60


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
        free = cls(transformer, -np.inf, np.inf, 1e-5 * float(np.std(y) or 1.0), *bounds)
        u = free.forward(y)
        order = np.argsort(y)
        if not np.isfinite(u).all() or np.any(np.diff(u[order]) < 0.0):
            raise ValueError(
                "scale has to be an increasing transformation that is finite for all outcomes: "
                f"{type(transformer).__name__} is not on these"
            )
        back = free.inverse(u)
        if not np.allclose(back, y, rtol=1e-3, atol=1e-3 * float(np.std(y))):
            worst = int(np.argmax(np.abs(back - y)))
            name = type(transformer).__name__
            raise ValueError(
                f"the inverse of scale has to undo it: {name} makes {u[worst]:g} of {y[worst]:g}, and of that "
                f"{back[worst]:g}"
            )
        centre, spread = float(np.median(u)), float(np.ptp(u)) or 1.0
        lowest, highest = (free._last_finite(centre, centre + sign * FURTHEST * spread) for sign in (-1.0, 1.0))
        return cls(transformer, lowest, highest, free.step, *bounds)

    def _last_finite(self, inside: float, outside: float) -> float:
        """By bisection, the value nearest to ``outside`` whose inverse is finite."""
        if np.isfinite(self.inverse(np.array([outside]))[0]):
            return outside
        for _ in range(BISECTIONS):
            middle = 0.5 * (inside + outside)
            if np.isfinite(self.inverse(np.array([middle]))[0]):
                inside = middle
            else:
                outside = middle
        return inside

    def contains(self, y: Array) -> Mask:
        first, last = self.inverse(np.array([self.lowest, self.highest]))
        return np.asarray((y > first) & (y < last) & (y >= self.lower) & (y <= self.upper))

    def forward(self, y: Array) -> Array:
        column = np.asarray(y, dtype=float).reshape(-1, 1)
        return np.asarray(self.transformer.transform(column), dtype=float).reshape(np.shape(y))

    def forward_prediction(self, y_pred: Array) -> Array:
        """Predictions that have no place on the scale are moved to the end that they are nearest to."""
        first, last = self.inverse(np.array([self.lowest, self.highest]))
        u = np.where(y_pred < 0.5 * (first + last), self.lowest, self.highest)
        inside = self.contains(y_pred)
        u[inside] = self.forward(y_pred[inside]) if inside.any() else u[inside]
        return np.clip(u, self.lowest, self.highest)

    def inverse(self, u: Array) -> Array:
        with np.errstate(all="ignore"):
            column = np.clip(np.asarray(u, dtype=float), self.lowest, self.highest).reshape(-1, 1)
            y = np.asarray(self.transformer.inverse_transform(column), dtype=float).reshape(np.shape(u))
        return np.asarray(np.clip(y, self.lower, self.upper))

    def log_slope(self, y: Array) -> Array:
        """By central differences."""
        slope = (self.forward(y + self.step) - self.forward(y - self.step)) / (2.0 * self.step)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(slope)

    def in_words(self) -> str:
        return f"outcomes transformed by {type(self.transformer).__name__}"
