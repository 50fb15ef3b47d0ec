"""Calibration: error bars set right on rows that neither the model nor the GP has seen.

RIO estimates from left-out rows how the score z = (y − mean)/std of a new row is distributed. Calibration rows show how
it is in fact. The quantile of an outcome is then mean + z_p std, with z_p the quantile of the scores: calibrated
intervals are wide where RIO's are wide, and narrow where they are narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq._base.checks import check_choice, check_groups, check_levels, named
from rio_uq._base.warnings import warn_user
from rio_uq.calibration.conformal import SymmetricConformal, TwoSidedConformal
from rio_uq.calibration.isotonic import Recalibrated
from rio_uq.calibration.normal import ScaledNormal
from rio_uq.calibration.scores import ONE_SIGMA, ROUNDING, LearntScores, Scores

CROSS_CONFORMAL = "cross-conformal"
"""The method that takes scores of the rows of `fit`, not of further rows."""

CONFORMAL: dict[str, type[SymmetricConformal | TwoSidedConformal]] = {
    "conformal": SymmetricConformal,
    "conformal-asymmetric": TwoSidedConformal,
    CROSS_CONFORMAL: SymmetricConformal,
}
METHODS: dict[str, type[LearntScores]] = {**CONFORMAL, "variance": ScaledNormal, "isotonic": Recalibrated}

FEW_ROWS = 50.0
"""An effective number of rows below which weights deserve a warning."""

WIDENING = 32.0 * float(np.finfo(float).eps)
"""Rounding: mean + ((y − mean)/std) std falls short of y by a few units in the last place, for some means and stds.
Where outcomes are discrete, so that a new one is the end of the interval itself, it would be outside.
"""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Distributions of scores, learnt from calibration rows.

    Attributes
    ----------
    method : str
    groups : tuple or None
        The labels of groups that are calibrated each for itself.
    scores : tuple of tuples
        How scores are distributed in each group, for each output.
    """

    method: str
    groups: tuple[Any, ...] | None
    scores: tuple[tuple[Scores, ...], ...] = field(repr=False)

    def __repr__(self) -> str:
        weights = f", n_effective={self.n_effective}" if self.is_weighted else ""
        return f"{type(self).__name__}(method={self.method!r}, groups={self.groups!r}{weights})"

    def in_words(self) -> str:
        """A sentence."""
        rows = "the rows of fit, each without its fold" if self.method == CROSS_CONFORMAL else "other rows"
        count = f"{sum(self.n_rows):,}"
        if self.is_weighted:
            count += f", which count as {sum(self.n_effective):,.0f} by their weights"
        return f"Error bars were calibrated on {rows} ({self.method}; {count})."

    @property
    def is_normal(self) -> bool:
        """Whether outcomes are still held to be normal."""
        return all(score.is_normal for outputs in self.scores for score in outputs)

    @property
    def n_rows(self) -> tuple[int, ...]:
        """Calibration rows of each group."""
        return tuple(outputs[0].n_rows for outputs in self.scores)

    @property
    def is_weighted(self) -> bool:
        """Whether calibration rows count by weights, for rows to come that are distributed in another way."""
        return any(_weight(outputs[0]) is not None for outputs in self.scores)

    @property
    def n_effective(self) -> tuple[float, ...]:
        """Calibration rows of each group that weigh as much without weights: (Σ w)²/Σ w², rounded."""
        weights = [_weight(outputs[0]) for outputs in self.scores]
        return tuple(
            float(n) if weight is None else round(effective_rows(weight), 1)
            for n, weight in zip(self.n_rows, weights, strict=True)
        )

    @property
    def std_factor(self) -> Array:
        """The factor on RIO's standard deviation, for each group and output: (k, q)."""
        return np.array([[score.std for score in outputs] for outputs in self.scores])

    @property
    def widening(self) -> float:
        """The rounding outwards of the ends of conformal intervals, in units of |mean| + |z| std; 0 for others."""
        return WIDENING if any(score.parts_beyond for outputs in self.scores for score in outputs) else 0.0

    def outcomes(self, mean: Array, std: Array, scores: Array, probabilities: Any) -> Array:
        """Quantiles mean + z std of outcomes, from those of scores; all arrays are broadcast against each other."""
        step = scores * std
        ends = mean + step
        if self.widening:
            size = np.abs(mean) + np.abs(step) + np.finfo(float).tiny / self.widening  # beyond underflow, too
            ends = ends + self.widening * np.sign(np.asarray(probabilities) - 0.5) * size
        return np.asarray(ends)

    def quantiles(self, probabilities: Array) -> Array:
        """Quantiles of the scores for each group and output, an array of shape (k, q, ...)."""
        self.check_support(probabilities)
        return np.array([[score.ppf(probabilities) for score in outputs] for outputs in self.scores])

    def check_support(self, probabilities: Array) -> None:
        """Raise an error that says how many rows are needed, if there are too few for these quantiles."""
        level = float(np.abs(2.0 * check_levels(np.ravel(probabilities), "quantiles") - 1.0).max())
        for number, (score, *_) in enumerate(self.scores):
            total = _total_weight(score)
            highest = 1.0 - score.parts_beyond / (total + 1.0)
            if level > highest + ROUNDING:
                needed = int(np.ceil((score.parts_beyond / (1.0 - level + ROUNDING) - 1.0) * score.n_rows / total))
                like_these = " with weights like these" if self.is_weighted else ""
                group = "" if self.groups is None else f" in group {self.groups[number]!r}"
                lower, upper = 0.5 - 0.5 * level, 0.5 + 0.5 * level
                raise ValueError(
                    f"the interval of level {level:.6g} (quantiles {lower:.6g} and {upper:.6g}) needs at least "
                    f"{needed} calibration rows{like_these}, and there are {score.n_rows}{group}: calibrate on more "
                    f"rows, or ask for a level of {np.floor(1e4 * highest) / 1e4:.4g} at most"
                )

    def members(self, groups: Any, n_rows: int) -> NDArray[np.intp]:
        """The number of each row's group, shape (n_rows,), or (1,) where there are no groups."""
        if self.groups is None:
            if groups is not None:
                raise ValueError(
                    "groups were given, and error bars have not been calibrated by group: leave groups out, or call "
                    "calibrate with groups first"
                )
            return np.zeros(1, dtype=np.intp)
        if groups is None:
            raise ValueError("error bars have been calibrated by group: give the group of each row as groups=...")
        labels = check_groups(groups, n_rows)
        number = {label: index for index, label in enumerate(self.groups)}
        unknown = [label for label in dict.fromkeys(labels) if label not in number]
        if unknown:
            raise ValueError(
                f"groups has {named(unknown)}, of which there were no calibration rows: known are {named(self.groups)}"
            )
        return np.array([number[label] for label in labels], dtype=np.intp)


UNCALIBRATED = Calibration("none", None, ((ScaledNormal(0, 1.0),),))
"""RIO's own normal distribution."""


def calibration_of(scores: Array, *, method: str, groups: Any = None, weight: Array | None = None) -> Calibration:
    """How scores are distributed, for each group and each output.

    Parameters
    ----------
    scores : (n, q) array
        (y − mean)/std of calibration rows; infinite, for conformal methods, where no interval holds the outcome.
    method : {"conformal", "conformal-asymmetric", "cross-conformal", "variance", "isotonic"}
    groups : array of shape (n,), optional
    weight : (n,) array, optional
        How much each row counts, in units of a row to come; conformal methods only.
    """
    check_choice(method, "method", METHODS)
    if weight is not None and method not in CONFORMAL:
        raise ValueError(
            f"rows to come (X_new) give weights to calibration rows, which {', '.join(map(repr, CONFORMAL))} can take; "
            f"got method={method!r}"
        )
    if groups is None:
        return Calibration(method, None, (_of_outputs(method, scores, weight, ""),))
    rows: dict[Any, list[int]] = {}
    for row, label in enumerate(check_groups(groups, len(scores))):
        rows.setdefault(label, []).append(row)
    learnt = [
        _of_outputs(method, scores[members], None if weight is None else weight[members], f" in group {label!r}")
        for label, members in rows.items()
    ]
    return Calibration(method, tuple(rows), tuple(learnt))


def _of_outputs(method: str, scores: Array, weight: Array | None, where: str) -> tuple[Scores, ...]:
    kind, n_rows = METHODS[method], len(scores)
    if n_rows < kind.least_rows:
        raise ValueError(
            f"method={method!r} needs at least {kind.least_rows} calibration rows, and there "
            f"{'is' if n_rows == 1 else 'are'} {n_rows}{where}: calibrate on more rows"
        )
    if kind.parts_beyond == 0 and not scores.any(axis=0).all():
        raise ValueError(f"all calibration rows{where} are predicted exactly: there is no error to calibrate on")
    if weight is not None:
        _check_weight(weight, kind.parts_beyond, where)
        learnt: tuple[Scores, ...] = tuple(CONFORMAL[method].of(column, weight) for column in scores.T)
    else:
        learnt = tuple(kind.of(column) for column in scores.T)
    if not all(np.isfinite(score.std) for score in learnt):
        raise ValueError(
            f"too many of the calibration rows{where} have outcomes beyond the range of the scale: not even the "
            f"{ONE_SIGMA:.0%} interval has an end; fit again with another scale or other bounds"
        )
    return learnt


def _check_weight(weight: Array, parts_beyond: int, where: str) -> None:
    """Raise if not even the 68.27 % interval has an end, and warn if few rows decide on intervals."""
    n_rows, n_effective = len(weight), effective_rows(weight) if weight.any() else 0.0
    if parts_beyond / (1.0 + weight.sum()) > 1.0 - ONE_SIGMA + ROUNDING:
        raise ValueError(
            f"the {n_rows} calibration rows{where} have little in common with rows to come, and weigh as much as "
            f"{weight.sum():.1f} of these: calibrate on rows that are like those to come"
        )
    if n_effective < min(FEW_ROWS, 0.5 * n_rows):
        warn_user(
            f"the {n_rows} calibration rows{where} count as {n_effective:.0f} by their weights, so that intervals are "
            "uncertain: calibrate on more rows that are like those to come"
        )


def effective_rows(weight: Array) -> float:
    """(Σ w)²/Σ w²."""
    return float(weight.sum() ** 2 / (weight @ weight))


def _weight(score: Scores) -> Array | None:
    return score.weight if isinstance(score, SymmetricConformal | TwoSidedConformal) else None


def _total_weight(score: Scores) -> float:
    """Of calibration rows, in units of a row to come."""
    weight = _weight(score)
    return float(score.n_rows) if weight is None else float(weight.sum())
