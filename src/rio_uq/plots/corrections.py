"""Corrections of a model's predictions, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from rio_uq._base.array import Array
from rio_uq._base.checks import check_choice
from rio_uq.plots.base import (
    BLUE,
    GREEN,
    GREY,
    VERMILLION,
    Asked,
    Display,
    dots,
    flat,
    label,
    legend,
    new_axes,
    one_column,
)
from rio_uq.summary.parts import feature_relevance, without_shared_slope
from rio_uq.summary.words import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = 12


@dataclass(kw_only=True, eq=False, repr=False)
class BeforeAfterDisplay(Display):
    """Errors of the model's predictions, and of those that RIO has corrected.

    Parameters
    ----------
    before, after : (n,) arrays
        Errors, prediction minus outcome.
    kind : {"histogram", "scatter"}
        How errors are spread, before and after; or each row's absolute error before and after.

    Attributes
    ----------
    improved : float
        Share of rows whose absolute error is smaller after.
    ax_, figure_ : matplotlib Axes and Figure
    """

    before: Array
    after: Array
    kind: str = "histogram"

    def __post_init__(self) -> None:
        check_choice(self.kind, "kind", ("histogram", "scatter"))
        self.improved = float(np.mean(np.abs(self.after) < np.abs(self.before)))

    @classmethod
    def _from_rows(cls, asked: Asked, **options: Any) -> Self:
        mean = asked.mean()
        model = mean - asked.rio.predict_residual(asked.X, y_pred=asked.y_pred)
        return cls.from_predictions(asked.y, mean, model, output=asked.output, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        mean: ArrayLike,
        y_pred: ArrayLike,
        *,
        output: int | None = None,
        kind: str = "histogram",
        ax: Axes | None = None,
    ) -> Self:
        """From outcomes, corrected predictions, and those of the model."""
        outcome, corrected, model = flat(output, y_true=y_true, mean=mean, y_pred=y_pred)
        return cls(before=model - outcome, after=corrected - outcome, kind=kind).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        is_histogram = self.kind == "histogram"
        ax = self._begin(
            ax,
            title=f"{percent(self.improved)} of predictions come nearer to the outcome",
            xlabel="error: prediction − outcome" if is_histogram else "absolute error of the model",
            ylabel="rows" if is_histogram else "absolute error with RIO",
        )
        if is_histogram:
            self._histogram(ax)
        else:
            self._scatter(ax)
        legend(ax)
        return self

    def _histogram(self, ax: Axes) -> None:
        both = np.concatenate([self.before, self.after])
        n_bins = int(np.clip(np.sqrt(len(self.before)), 10, 60))
        edges = np.histogram_bin_edges(both, bins=n_bins).tolist()
        for errors, colour, name in ((self.before, GREY, "model"), (self.after, BLUE, "with RIO")):
            rmse = np.sqrt(np.mean(errors**2))
            ax.hist(errors, edges, histtype="stepfilled", color=colour, alpha=0.25)
            ax.hist(errors, edges, histtype="step", color=colour, linewidth=1.6, label=f"{name}: RMSE {rmse:.3g}")
        ax.axvline(0.0, color=GREY, linewidth=1.0, linestyle="--")

    def _scatter(self, ax: Axes) -> None:
        before, after = np.abs(self.before), np.abs(self.after)
        nearer = after < before
        dots(ax, before[nearer], after[nearer], BLUE, f"nearer ({percent(self.improved)})")
        dots(ax, before[~nearer], after[~nearer], VERMILLION, f"not nearer ({percent(1.0 - self.improved)})")
        ax.axline((0.0, 0.0), slope=1.0, color=GREY, linewidth=1.0, linestyle="--")
        largest = 1.04 * max(before.max(), after.max()) or 1.0
        ax.set(xlim=(0.0, largest), ylim=(0.0, largest), aspect="equal")


@dataclass(kw_only=True, eq=False, repr=False)
class CorrectionDisplay(Display):
    """The correction of each prediction against the prediction, with the residuals it was to foresee.

    Parameters
    ----------
    y_pred, correction : (n,) arrays
    std : (n,) array or None
        How sure the correction is: its standard deviation, without noise.
    residual : (n,) array or None
        Outcome minus prediction.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    needs_outcomes: ClassVar[bool] = False
    y_pred: Array
    correction: Array
    std: Array | None = None
    residual: Array | None = None

    @classmethod
    def _from_rows(cls, asked: Asked, **options: Any) -> Self:
        correction, std = asked.rio.predict_residual(
            asked.X, y_pred=asked.y_pred, groups=asked.groups, return_std=True, include_noise=False
        )
        model = asked.mean() - correction
        return cls.from_predictions(model, correction, std=std, y_true=asked.y, output=asked.output, **options)

    @classmethod
    def from_predictions(
        cls,
        y_pred: ArrayLike,
        correction: ArrayLike,
        *,
        std: ArrayLike | None = None,
        y_true: ArrayLike | None = None,
        output: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """From predictions of the model and their corrections."""
        model, change = flat(output, y_pred=y_pred, correction=correction)
        spread = None if std is None else flat(output, y_pred=y_pred, std=std)[1]
        residual = None if y_true is None else flat(output, y_pred=y_pred, y_true=y_true)[1] - model
        return cls(y_pred=model, correction=change, std=spread, residual=residual).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        ax = self._begin(
            ax, title="What RIO changes", xlabel="prediction of the model", ylabel="correction, and residual"
        )
        ax.axhline(0.0, color=GREY, linewidth=1.0, linestyle="--")
        if self.residual is not None:
            dots(ax, self.y_pred, self.residual, GREY, "residual: outcome − prediction")
        if self.std is not None:
            half = 1.96 * self.std
            ax.vlines(
                self.y_pred,
                self.correction - half,
                self.correction + half,
                color=BLUE,
                linewidth=0.9,
                alpha=float(np.clip(4.0 / np.sqrt(len(self.y_pred)), 0.05, 0.4)),
                label="95 % interval of the correction",
            )
        dots(ax, self.y_pred, self.correction, BLUE, "correction")
        legend(ax)
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class DecompositionDisplay(Display):
    """Where corrections come from: their output part as a curve over the prediction, and the features behind their
    input part. Where the two cancel, the slope that they share is left to the output part.

    Parameters
    ----------
    y_pred, input_part, output_part : (n,) arrays
        Predictions, and the two parts of their corrections.
    relevance : dict from str to float
        Of each feature: by how much the input part is expected to change when it moves by one standard deviation.
    is_curve : bool
        Whether the output part is a function of this prediction alone; with several outputs it looks at all of them.

    Attributes
    ----------
    ax_ : list of two matplotlib Axes
    figure_ : matplotlib Figure
    """

    needs_outcomes: ClassVar[bool] = False
    y_pred: Array
    input_part: Array
    output_part: Array
    relevance: dict[str, float]
    is_curve: bool = True

    @classmethod
    def _from_rows(cls, asked: Asked, **options: Any) -> Self:
        parts = asked.rio.decompose(asked.X, y_pred=asked.y_pred)
        model = asked.mean() - parts.input - parts.output
        fitted = asked.rio.fitted_
        values = feature_relevance(fitted.gp, fitted.kept.features)
        relevance = dict(zip(fitted.feature_names, one_column(values, asked.output, "y_pred").tolist(), strict=True))
        options = {"relevance": relevance, "is_curve": values.shape[1] == 1, "output": asked.output, **options}
        shown = without_shared_slope(parts.input, parts.output, model)
        return cls.from_predictions(model, *shown, **options)

    @classmethod
    def from_predictions(
        cls,
        y_pred: ArrayLike,
        input_part: ArrayLike,
        output_part: ArrayLike,
        *,
        relevance: dict[str, float] | None = None,
        is_curve: bool = True,
        output: int | None = None,
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """From predictions, the parts of their corrections, and relevances of features by name."""
        model, by_input, by_output = flat(output, y_pred=y_pred, input_part=input_part, output_part=output_part)
        return cls(
            y_pred=model,
            input_part=by_input,
            output_part=by_output,
            relevance=dict(relevance or {}),
            is_curve=is_curve,
        ).plot(ax)

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw on two axes, of its own if None."""
        axes = new_axes(2) if ax is None else list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
        if len(axes) != 2:
            raise ValueError(f"ax has to be two axes, for the output part and for the features; got {len(axes)}")
        self.ax_, self.figure_ = axes, axes[0].figure
        self._draw_output_part(axes[0])
        self._draw_features(axes[1])
        return self

    def _draw_output_part(self, ax: Axes) -> None:
        label(
            ax, title="The two parts of corrections", xlabel="prediction of the model", ylabel="part of the correction"
        )
        ax.axhline(0.0, color=GREY, linewidth=1.0, linestyle="--")
        dots(ax, self.y_pred, self.input_part, GREEN, "input part")
        if self.is_curve:
            _, order = np.unique(self.y_pred, return_index=True)
            ax.plot(self.y_pred[order], self.output_part[order], color=BLUE, linewidth=2.0, label="output part")
        else:
            dots(ax, self.y_pred, self.output_part, BLUE, "output part")
        legend(ax)

    def _draw_features(self, ax: Axes) -> None:
        ranked = sorted(self.relevance.items(), key=lambda item: -item[1])[:BARS]
        hidden = len(self.relevance) - len(ranked)
        title = "Features behind the input part" + (f" ({hidden} more)" if hidden else "")
        label(ax, title=title, xlabel="change expected when a feature moves by one std", ylabel="")
        if not ranked:
            ax.text(0.5, 0.5, "the kernel does not look at features", transform=ax.transAxes, ha="center", color=GREY)
            ax.set(xticks=[], yticks=[])
            return
        names, values = zip(*ranked, strict=True)
        ax.barh(range(len(names)), values, color=GREEN, height=0.7)
        ax.set_yticks(range(len(names)), [name if len(name) <= 30 else f"{name[:29]}…" for name in names])
        ax.tick_params(axis="y", length=0)
        ax.invert_yaxis()
