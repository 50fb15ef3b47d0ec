"""Error bars beside outcomes: each of them, and how often they hold what they should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array, Mask, evenly_by
from rio_uq._base.checks import check_levels, check_target, to_numeric
from rio_uq.metrics import LEVELS, coverage_curve, normal_intervals
from rio_uq.plots.base import (
    BLUE,
    GREY,
    VERMILLION,
    Asked,
    Display,
    curve,
    dots,
    flat,
    in_percent,
    legend,
    once,
    one_column,
)
from rio_uq.summary.words import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BATCH_ROWS = 10_000
"""Intervals of all levels are made for so many rows at a time."""


@dataclass(kw_only=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """How many outcomes intervals hold, for every level from 1 % to 99 %: on the diagonal if error bars are right.

    Parameters
    ----------
    levels : (k,) array
        Levels of the intervals.
    coverage : (k,) array
        Shares of outcomes inside.
    name : str, optional
        For the legend. Several displays can be drawn on one axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    levels: Array
    coverage: Array
    name: str | None = None

    @classmethod
    def _from_rows(cls, asked: Asked, *, name: str | None = None, ax: Axes | None = None) -> Self:
        n_rows = _num_samples(asked.X)
        outcome = check_target(asked.y, n_rows)
        batches = (np.arange(rows.start, rows.stop) for rows in gen_batches(n_rows, BATCH_ROWS))
        inside = np.concatenate([_is_inside(asked, outcome, rows) for rows in batches])
        return cls(levels=LEVELS, coverage=inside.mean(axis=0), name=name).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike,
        *,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """From means and standard deviations of normal distributions, of shape (n,) or (n, q)."""
        return cls(levels=LEVELS, coverage=coverage_curve(y_true, mean, std), name=name).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        ax = self._begin(
            ax, title="Do intervals hold what they promise?", xlabel="level of the interval", ylabel="outcomes inside"
        )
        off = float(np.abs(self.coverage - self.levels).mean())
        colour = curve(ax, self.levels, self.coverage, f"{self.name or 'RIO'}: off by {percent(off, 1)} on average")
        ax.fill_between(self.levels, self.levels, self.coverage, color=colour, alpha=0.15, linewidth=0.0)
        ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linewidth=1.0, linestyle="--", label=once(ax, "as promised"))
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
        in_percent(ax, "x", "y")
        legend(ax, loc="upper left")
        return self


def _is_inside(asked: Asked, outcome: Array, rows: NDArray[np.intp]) -> Mask:
    """Whether the outcomes of some rows are inside the interval of each level, (number of outcomes, k)."""
    bands = asked.rio.predict_interval(
        _safe_indexing(asked.X, rows),
        confidence_level=LEVELS,
        y_pred=None if asked.y_pred is None else to_numeric(asked.y_pred, "y_pred")[rows],
        groups=None if asked.groups is None else _safe_indexing(asked.groups, rows),
    )
    if asked.output is not None:
        outcome = one_column(outcome, asked.output, "y")
        bands = bands[:, asked.output] if bands.ndim == 4 else bands
    values = outcome[rows].reshape(*bands.shape[:-2], 1)
    inside = (bands[..., 0, :] <= values) & (values <= bands[..., 1, :])
    return np.asarray(inside.reshape(-1, len(LEVELS)))


@dataclass(kw_only=True, eq=False, repr=False)
class ErrorBarDisplay(Display):
    """Predictions with error bars against outcomes.

    Parameters
    ----------
    y_true, mean, lower, upper : (n,) arrays
        Outcomes, predictions, and the bounds of their intervals.
    confidence_level : float
        Of the intervals.
    max_rows : int
        So many rows are drawn at most, spread evenly over the outcomes. Shares are those of all rows.

    Attributes
    ----------
    inside : (n,) array of bool
        Whether the interval holds the outcome.
    shown : array of int
        The rows drawn.
    ax_, figure_ : matplotlib Axes and Figure
    """

    y_true: Array
    mean: Array
    lower: Array
    upper: Array
    confidence_level: float = 0.95
    max_rows: int = 300

    def __post_init__(self) -> None:
        self.inside = (self.lower <= self.y_true) & (self.y_true <= self.upper)
        self.shown = evenly_by(self.y_true, self.max_rows)

    @classmethod
    def _from_rows(
        cls, asked: Asked, *, confidence_level: float = 0.95, max_rows: int = 300, ax: Axes | None = None
    ) -> Self:
        level = float(check_levels(confidence_level, "confidence_level"))
        band = asked.rio.predict_interval(asked.X, confidence_level=level, y_pred=asked.y_pred, groups=asked.groups)
        outcome, mean = flat(asked.output, y=asked.y, mean=asked.mean())
        lower, upper = flat(asked.output, allow_infinity=True, lower=band[..., 0], upper=band[..., 1])
        return cls(y_true=outcome, mean=mean, lower=lower, upper=upper, confidence_level=level, max_rows=max_rows).plot(
            ax
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike,
        *,
        confidence_level: float = 0.95,
        output: int | None = None,
        max_rows: int = 300,
        ax: Axes | None = None,
    ) -> Self:
        """From means and standard deviations of normal distributions."""
        outcome, centre, spread = flat(output, y_true=y_true, mean=mean, std=std)
        level = float(check_levels(confidence_level, "confidence_level"))
        ((lower, upper),) = normal_intervals(centre, spread, [level]).values()
        return cls(
            y_true=outcome, mean=centre, lower=lower, upper=upper, confidence_level=level, max_rows=max_rows
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        ax = self._begin(
            ax,
            title=f"RMSE {np.sqrt(np.mean((self.y_true - self.mean) ** 2)):.3g}",
            xlabel="outcome",
            ylabel=f"prediction with {percent(self.confidence_level)} error bar",
        )
        middle = float(np.mean(self.y_true))
        ax.axline((middle, middle), slope=1.0, color=GREY, linewidth=1.0, linestyle="--")
        for is_inside, colour, marker in ((True, BLUE, "o"), (False, VERMILLION, "D")):
            rows = self.shown[self.inside[self.shown] == is_inside]
            ax.vlines(self.y_true[rows], *self._ends(rows), color=colour, linewidth=0.9, alpha=0.4)
            share = float(np.mean(self.inside == is_inside))
            name = f"outcome {'inside' if is_inside else 'outside'} ({percent(share, 1)})"
            dots(ax, self.y_true[rows], self.mean[rows], colour, name, marker=marker, alpha=0.9)
        legend(ax, loc="upper left")
        return self

    def _ends(self, rows: NDArray[np.intp]) -> tuple[Array, Array]:
        """Lower and upper bounds, those at infinity cut off well outside of the rest."""
        ends = np.concatenate([self.mean, self.lower, self.upper])
        ends = ends[np.isfinite(ends)]
        margin = 0.1 * np.ptp(ends)
        low, high = ends.min() - margin, ends.max() + margin
        return np.clip(self.lower[rows], low, high), np.clip(self.upper[rows], low, high)
