"""Whether uncertainty tells large errors from small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rio_uq._base.array import Array
from rio_uq.classifier import RIOClassifier
from rio_uq.metrics import risk_coverage_curve
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
    with_room_for_legend,
)
from rio_uq.regressor import RIORegressor

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class ErrorUncertaintyDisplay(Display):
    """Absolute errors against the standard deviations that were predicted.

    Rows are put into groups of about the same standard deviation. If error bars are right, the root mean squared error
    of a group is the root mean square of its standard deviations, and the groups lie on the diagonal.

    Parameters
    ----------
    std, error : (n,) arrays
        Standard deviations and absolute errors.
    n_groups : int
        At most; each has at least ten rows.

    Attributes
    ----------
    group_std, group_rmse : arrays
        Of each group.
    ax_, figure_ : matplotlib Axes and Figure
    """

    std: Array
    error: Array
    n_groups: int = 10

    def __post_init__(self) -> None:
        n_groups = max(1, min(self.n_groups, len(self.std) // 10))
        groups = np.array_split(np.argsort(self.std, kind="stable"), n_groups)
        self.group_std = np.array([np.sqrt(np.mean(self.std[rows] ** 2)) for rows in groups])
        self.group_rmse = np.array([np.sqrt(np.mean(self.error[rows] ** 2)) for rows in groups])

    @classmethod
    def _from_rows(cls, asked: Asked, **options: Any) -> Self:
        return cls.from_predictions(asked.y, *asked.mean_and_std(), output=asked.output, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike,
        *,
        output: int | None = None,
        n_groups: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """From outcomes, predictions and their standard deviations."""
        outcome, centre, spread = flat(output, y_true=y_true, mean=mean, std=std)
        return cls(std=spread, error=np.abs(outcome - centre), n_groups=n_groups).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        ax = self._begin(
            ax,
            title="Are uncertain predictions the wrong ones?",
            xlabel="predicted standard deviation",
            ylabel="absolute error",
        )
        # A few outliers would press all other rows to the floor.
        top = 1.35 * max(float(np.quantile(self.error, 0.995)), float(self.group_rmse.max())) or 1.0
        n_above = int((self.error > top).sum())
        dots(ax, self.std, self.error, BLUE, f"rows ({n_above} more above)" if n_above else "rows")
        ends = np.array([self.std.min(), self.std.max()])
        ax.plot(ends, ends, color=GREY, linewidth=1.0, linestyle="--", label="RMSE as predicted")
        ax.plot(self.group_std, self.group_rmse, "D-", color=VERMILLION, markersize=5.0, label="RMSE of groups of rows")
        ax.set_ylim(0.0, top)
        legend(ax, loc="upper left")
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class RiskCoverageDisplay(Display):
    """Mean absolute error of the rows that are kept when the most uncertain ones are left to a person; of a classifier
    the share of wrong labels, when those with the largest error scores are.

    Parameters
    ----------
    kept, risk : (n,) arrays
        Shares of rows, and the mean absolute error of that share with the smallest standard deviations.
    best_risk : (n,) array
        The same, if rows were ordered by their errors themselves.
    name : str, optional
        For the legend. Several displays can be drawn on one axes.
    error : str
        What is on the vertical axis.

    Attributes
    ----------
    area : float
        Mean of ``risk``.
    ax_, figure_ : matplotlib Axes and Figure
    """

    kept: Array
    risk: Array
    best_risk: Array
    name: str | None = None
    error: str = "mean absolute error"

    def __post_init__(self) -> None:
        self.area = float(np.mean(self.risk))

    @classmethod
    def from_estimator(
        cls,
        rio: RIORegressor | RIOClassifier,
        X: Any,
        y: Any = None,
        *,
        y_pred: Any = None,
        y_proba: Any = None,
        groups: Any = None,
        output: int | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Ask a fitted regressor or classifier about rows that it has not seen, and draw.

        Parameters
        ----------
        rio : fitted RIORegressor or RIOClassifier
        X, y : rows and their outcomes or labels
        y_pred, groups : as in `RIORegressor.predict`
        y_proba : as in `RIOClassifier.predict_proba`
        output : int, optional
            Which of several outputs of a regressor.
        ax : matplotlib Axes, optional
            By default axes in a figure of their own.
        **options
            Those of the figure itself, see its parameters.
        """
        if not isinstance(rio, RIOClassifier):
            return super().from_estimator(rio, X, y, y_pred=y_pred, groups=groups, output=output, ax=ax, **options)
        right, _ = rio.label_is_right(X, y, y_proba=y_proba)
        score = rio.error_score(X, y_proba=y_proba)
        kept, risk = risk_coverage_curve(1.0 - right, np.zeros_like(right), score)
        _, best = risk_coverage_curve(1.0 - right, np.zeros_like(right), 1.0 - right)
        return cls(kept=kept, risk=risk, best_risk=best, error="share of wrong labels", **options).plot(ax)

    @classmethod
    def _from_rows(cls, asked: Asked, **options: Any) -> Self:
        return cls.from_predictions(asked.y, *asked.mean_and_std(), output=asked.output, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike,
        *,
        output: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """From outcomes, predictions and their standard deviations."""
        outcome, centre, spread = flat(output, y_true=y_true, mean=mean, std=std)
        kept, risk = risk_coverage_curve(outcome, centre, spread)
        _, best = risk_coverage_curve(outcome, centre, np.abs(outcome - centre))
        return cls(kept=kept, risk=risk, best_risk=best, name=name).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        ax = self._begin(
            ax,
            title="What it helps to leave uncertain rows to a person",
            xlabel="rows kept, the safest first",
            ylabel=f"{self.error} of these",
        )
        curve(ax, self.kept, self.risk, f"{self.name or 'RIO'}: {self.area:.3g} on average")
        ax.axhline(self.risk[-1], color=GREY, linewidth=1.0, linestyle="--", label=once(ax, "rows in random order"))
        ax.plot(
            self.kept,
            self.best_risk,
            color=GREY,
            linewidth=1.0,
            linestyle=":",
            label=once(ax, "ordered by the errors themselves"),
        )
        ax.set_xlim(0.0, 1.0)
        with_room_for_legend(ax)
        in_percent(ax, "x")
        legend(ax, loc="upper left")
        return self
