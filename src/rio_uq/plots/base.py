"""The base of all figures: asking the regressor, colours, axes that look well without further work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from rio_uq._base.array import Array
from rio_uq._base.checks import check_count, check_finite, to_numeric
from rio_uq._base.extras import require
from rio_uq.regressor import RIORegressor, check_regressor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
GREY = "#777777"
CURVES = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)
"""The colours of Okabe and Ito, which most colour-blind people can tell apart; curves on one axes take turns."""

CURVE = "rio-uq curve"
PANEL = (5.2, 4.2)
"""Width and height of a panel, in inches."""


class Asked(NamedTuple):
    """A fitted regressor, and the rows that a figure asks it about.

    Attributes
    ----------
    rio : RIORegressor
    X : rows
    y : outcomes or None
    y_pred, groups : as in `RIORegressor.predict`
    output : int or None
        Which of several outputs.
    """

    rio: RIORegressor
    X: Any
    y: Any
    y_pred: Any
    groups: Any
    output: int | None

    def mean(self) -> Array:
        """Corrected predictions."""
        return np.asarray(self.rio.predict(self.X, y_pred=self.y_pred))

    def mean_and_std(self) -> tuple[Array, Array]:
        mean, std = self.rio.predict(self.X, y_pred=self.y_pred, groups=self.groups, return_std=True)
        return mean, std


class Figure:
    """A figure that knows its data.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What `plot` has drawn on.
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    def _begin(self, ax: Axes | None, *, title: str, xlabel: str, ylabel: str) -> Axes:
        """The axes to draw on, new ones if None, with their labels."""
        (drawn,) = new_axes(1) if ax is None else (ax,)
        label(drawn, title=title, xlabel=xlabel, ylabel=ylabel)
        self.ax_, self.figure_ = drawn, drawn.figure
        return drawn


class Display(Figure):
    """A figure of a regressor."""

    needs_outcomes: ClassVar[bool] = True

    @classmethod
    def from_estimator(
        cls,
        rio: RIORegressor,
        X: Any,
        y: Any = None,
        *,
        y_pred: Any = None,
        groups: Any = None,
        output: int | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Ask a fitted regressor about rows that it has not seen, and draw.

        Parameters
        ----------
        rio : fitted RIORegressor
        X, y : rows and their outcomes
            Figures of corrections do without outcomes.
        y_pred, groups : as in `RIORegressor.predict`
        output : int, optional
            Which of several outputs; a reliability curve is by default that of all of them together.
        ax : matplotlib Axes, optional
            Two of them for a `DecompositionDisplay`. By default axes in a figure of their own.
        **options
            Those of the figure itself, see its parameters.
        """
        check_regressor(rio)
        if y is None and cls.needs_outcomes:
            raise TypeError(f"{cls.__name__} compares with outcomes: give them as y, the third argument")
        return cls._from_rows(Asked(rio, X, y, y_pred, groups, output), ax=ax, **options)

    @classmethod
    def _from_rows(cls, *asked: Any, **options: Any) -> Self:
        """The drawn figure, from one `Asked` and the options of the figure itself."""
        raise NotImplementedError


def new_axes(n_panels: int) -> list[Axes]:
    """Axes side by side in a figure of their own."""
    plt = require("matplotlib.pyplot", "plots", "a figure")
    _, axes = plt.subplots(1, n_panels, figsize=(n_panels * PANEL[0], PANEL[1]), layout="constrained", squeeze=False)
    return list(axes[0])


def label(ax: Axes, *, title: str, xlabel: str, ylabel: str) -> None:
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)


def in_percent(ax: Axes, *which: str) -> None:
    """Show an axis, "x" or "y", that goes from 0 to 1 in per cent."""
    from matplotlib.ticker import PercentFormatter

    for name in which:
        getattr(ax, f"{name}axis").set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))


def dots(ax: Axes, x: Array, y: Array, colour: str, name: str | None = None, **style: Any) -> None:
    """Points that stay readable when there are many."""
    n_rows = len(x)
    ax.plot(
        x,
        y,
        linestyle="none",
        **{
            "marker": "o",
            "markersize": 4.0 if n_rows <= 500 else 2.5,
            "alpha": float(np.clip(8.0 / np.sqrt(max(n_rows, 1)), 0.15, 0.8)),
            "markeredgewidth": 0.0,
            "color": colour,
            "label": name,
            "rasterized": n_rows > 5000,
            **style,
        },
    )


def curve(ax: Axes, x: Array, y: Array, name: str | None) -> str:
    """A line in the next of the colours; returns that."""
    colour = CURVES[sum(line.get_gid() == CURVE for line in ax.lines) % len(CURVES)]
    ax.plot(x, y, color=colour, linewidth=2.0, label=name, gid=CURVE)
    return colour


def once(ax: Axes, name: str) -> str | None:
    """The name of a line of reference for the legend, or None if the axes have it already."""
    return None if name in ax.get_legend_handles_labels()[1] else name


def legend(ax: Axes, **options: Any) -> None:
    """A legend without a frame, whose keys are not as pale as dots may be."""
    shown = ax.legend(frameon=False, **options)
    for handle in shown.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)


def with_room_for_legend(ax: Axes) -> None:
    """Let the y-axis begin at zero, and end well above all lines."""
    top = max(float(np.max(line.get_ydata())) for line in ax.lines)
    ax.set_ylim(0.0, 1.35 * top or 1.0)


def flat(output: int | None, *, allow_infinity: bool = False, **arrays: ArrayLike) -> list[Array]:
    """Arrays (n,) of one length, of one output where there are several.

    Parameters
    ----------
    output : int or None
        Which of the columns of arrays of shape (n, q).
    allow_infinity : bool
    **arrays
        By the names that an error message should call them.
    """
    columns = {name: one_column(to_numeric(values, name), output, name) for name, values in arrays.items()}
    first, n_rows = next((name, len(column)) for name, column in columns.items())
    for name, column in columns.items():
        if len(column) != n_rows:
            raise ValueError(f"{first} has {n_rows} rows and {name} has {len(column)}: they have to be the same rows")
        if n_rows == 0:
            raise ValueError(f"{name} is empty: there is nothing to draw")
        infinite = np.isinf(column) & allow_infinity
        check_finite(np.where(infinite, 0.0, column), name, "every row needs a value")
    return list(columns.values())


def one_column(array: Array, output: int | None, name: str) -> Array:
    """(n,) of an array of shape (n,) or (n, q)."""
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has to have shape (n,), or (n, q) for q outputs; got {array.shape}")
    array = array[:, None] if array.ndim == 1 else array
    n_outputs = array.shape[1]
    if output is None and n_outputs > 1:
        raise ValueError(f"{name} has {n_outputs} outputs, and a figure shows one: choose it with output=0, say")
    if output is None:
        return array[:, 0]
    check_count(output, "output", at_least=0)
    if output >= n_outputs:
        raise ValueError(f"output has to be less than {n_outputs}, the number of outputs of {name}; got {output}")
    return array[:, output]
