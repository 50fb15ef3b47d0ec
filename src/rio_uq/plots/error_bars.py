"""Error bars beside outcomes: each of them, and how often they hold what they should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array
from rio_uq._base.checks import check_levels, check_target, to_numeric
from rio_uq.metrics import LEVELS, coverage_curve
from rio_uq.plots.base import (
    BLUE,
    GREY,
    VERMILLION,
    Display,
    curve,
    dots,
    evenly_by,
    flat,
    in_percent,
    legend,
    once,
    one_column,
)
from rio_uq.summary import percent

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
    def from_estimator(
        cls,
        rio: Any,
        X: Any,
        y: Any,
        *,
        y_pred: Any = None,
        groups: Any = None,
        output: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """From ``rio.predict_interval`` on rows that it has not seen.

        Parameters
        ----------
        rio : fitted RIORegressor
        X, y : rows and their outcomes
        y_pred, groups : as in `RIORegressor.predict`
        output : int, optional
            Which of several outputs; by default all of them together.
        name : str, optional
        ax : matplotlib Axes, optional
        """
        outcome = check_target(y, _num_samples(X))
        inside = [
            cls._inside(rio, X, outcome, y_pred, groups, output, np.arange(rows.start, rows.stop))
            for rows in gen_batches(_num_samples(X), BATCH_ROWS)
        ]
        return cls(levels=LEVELS, coverage=np.concatenate(inside).mean(axis=0), name=name).plot(ax)

    @staticmethod
    def _inside(
        rio: Any, X: Any, outcome: Array, y_pred: Any, groups: Any, output: int | None, rows: NDArray[np.intp]
    ) -> Array:
        """Whether the outcomes of some rows are inside the interval of each level, (number of outcomes, k)."""
        known = None if y_pred is None else to_numeric(y_pred, "y_pred")[rows]
        members = None if groups is None else _safe_indexing(groups, rows)
        bands = rio.predict_interval(_safe_indexing(X, rows), confidence_level=LEVELS, y_pred=known, groups=members)
        if output is not None:
            outcome = one_column(outcome, output, "y")
            bands = bands[:, output] if bands.ndim == 4 else bands
        values = outcome[rows].reshape(*bands.shape[:-2], 1)
        inside = (bands[..., 0, :] <= values) & (values <= bands[..., 1, :])
        return np.asarray(inside.reshape(-1, len(LEVELS)))

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
    def from_estimator(
        cls,
        rio: Any,
        X: Any,
        y: Any,
        *,
        y_pred: Any = None,
        groups: Any = None,
        confidence_level: float = 0.95,
        output: int | None = None,
        max_rows: int = 300,
        ax: Axes | None = None,
    ) -> Self:
        """From ``rio.predict`` and ``rio.predict_interval``; ``output`` is which of several outputs."""
        level = float(check_levels(confidence_level, "confidence_level"))
        band = rio.predict_interval(X, confidence_level=level, y_pred=y_pred, groups=groups)
        outcome, mean = flat(output, y=y, mean=rio.predict(X, y_pred=y_pred))
        lower, upper = flat(output, allow_infinity=True, lower=band[..., 0], upper=band[..., 1])
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
        half = stats.norm.ppf(0.5 + 0.5 * level) * spread
        return cls(
            y_true=outcome,
            mean=centre,
            lower=centre - half,
            upper=centre + half,
            confidence_level=level,
            max_rows=max_rows,
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
        known = np.concatenate([self.mean, self.lower, self.upper])
        known = known[np.isfinite(known)]
        margin = 0.1 * np.ptp(known)
        low, high = known.min() - margin, known.max() + margin
        return np.clip(self.lower[rows], low, high), np.clip(self.upper[rows], low, high)
