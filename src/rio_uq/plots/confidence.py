"""Whether a classifier's confidence is right, and what its errors have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rio_uq._base.array import Array
from rio_uq.classifier import RIOClassifier, check_fitted_classifier
from rio_uq.plots.base import BLUE, GREY, VERMILLION, Figure, flat, in_percent, legend
from rio_uq.summary.bands import Band

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceDisplay(Figure):
    """The share of right labels among rows of about the same confidence.

    Rows are put into groups of about the same size. If confidence is right, groups lie on the diagonal; below it the
    model is surer than it should be. That of the model as it is, is grey.

    Parameters
    ----------
    confidence, own, right : (n,) arrays
        Corrected and the model's own probability of its label, and whether that is right.
    n_groups : int
        At most; each has at least ten rows.

    Attributes
    ----------
    group_confidence, group_share, group_own, group_own_share : arrays
        Mean confidence and share of right labels of each group, by corrected and by the model's own confidence.
    ax_, figure_ : matplotlib Axes and Figure
    """

    confidence: Array
    own: Array
    right: Array
    n_groups: int = 10

    def __post_init__(self) -> None:
        self.group_confidence, self.group_share = self._groups(self.confidence)
        self.group_own, self.group_own_share = self._groups(self.own)

    def _groups(self, confidence: Array) -> tuple[Array, Array]:
        n_groups = max(1, min(self.n_groups, len(confidence) // 10))
        groups = np.array_split(np.argsort(confidence, kind="stable"), n_groups)
        mean, share = (np.array([values[rows].mean() for rows in groups]) for values in (confidence, self.right))
        return mean, share

    @classmethod
    def from_estimator(
        cls, rio: RIOClassifier, X: Any, y: Any, *, y_proba: Any = None, n_groups: int = 10, ax: Axes | None = None
    ) -> Self:
        """Ask a fitted classifier about rows that it has not seen, and draw.

        Parameters
        ----------
        rio : fitted RIOClassifier
        X, y : rows and their labels
        y_proba : as in `RIOClassifier.predict_proba`
        n_groups : int
        ax : matplotlib Axes, optional
            By default axes in a figure of their own.
        """
        check_fitted_classifier(rio)
        right, own = rio.label_is_right(X, y, y_proba=y_proba)
        score = rio.error_score(X, y_proba=y_proba)
        return cls.from_predictions(right, 1.0 - score, own, n_groups=n_groups, ax=ax)

    @classmethod
    def from_predictions(
        cls, right: ArrayLike, confidence: ArrayLike, own: ArrayLike, *, n_groups: int = 10, ax: Axes | None = None
    ) -> Self:
        """From whether labels are right, and their probabilities, corrected and as the model gives them."""
        is_right, corrected, as_given = flat(None, right=right, confidence=confidence, own=own)
        return cls(confidence=corrected, own=as_given, right=is_right, n_groups=n_groups).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        ax = self._begin(ax, title="Is confidence right?", xlabel="confidence", ylabel="share of right labels")
        ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linewidth=1.0, linestyle="--")
        ax.plot(self.group_own, self.group_own_share, "o-", color=GREY, markersize=5.0, label="the model's own")
        ax.plot(self.group_confidence, self.group_share, "D-", color=BLUE, markersize=5.0, label="RIO")
        lowest = float(min(self.group_confidence.min(), self.group_own.min(), self.group_share.min(), 0.5))
        ax.set(xlim=(max(lowest - 0.05, 0.0), 1.02), ylim=(0.0, 1.02))
        in_percent(ax, "x", "y")
        legend(ax, loc="upper left")
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class ErrorBandsDisplay(Figure):
    """What errors have in common: bands of rows in which labels are wrong more or less often than confidence says.

    Parameters
    ----------
    bands : list of Band
        See `rio_uq.summary.ClassifierSummary`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    bands: list[Band]

    @classmethod
    def from_estimator(
        cls, rio: RIOClassifier, X: Any = None, *, y_proba: Any = None, n_bands: int = 8, ax: Axes | None = None
    ) -> Self:
        """Ask a fitted classifier, and draw.

        Parameters
        ----------
        rio : fitted RIOClassifier
            Without a correction there is nothing to draw.
        X : rows, optional
            By default those of `fit`, or 2,000 of them.
        y_proba : as in `RIOClassifier.predict_proba`
        n_bands : int
            At most, the largest first.
        ax : matplotlib Axes, optional
        """
        check_fitted_classifier(rio)
        bands = list(rio.summary(X, y_proba=y_proba).bands[:n_bands])
        if not bands:
            raise ValueError(
                "there are no bands to draw: confidence is not corrected (see correction_choice_), or there are fewer "
                "than 20 rows"
            )
        return cls(bands=bands).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on axes of its own if None."""
        ax = self._begin(ax, title="Where the model is wrong", xlabel="errors beside what confidence says", ylabel="")
        names = [f"{band.variable or 'confidence'} {band.range_in_words()}" for band in self.bands]
        sizes = np.array([band.correction for band in self.bands])
        colours = [VERMILLION if size > 0.0 else BLUE for size in sizes]
        ax.barh(np.arange(len(sizes)), sizes, color=colours, tick_label=names)
        ax.axvline(0.0, color=GREY, linewidth=1.0)
        ax.invert_yaxis()
        in_percent(ax, "x")
        return self
