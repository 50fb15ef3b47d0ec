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
from rio_uq.calibration.conformal import SymmetricConformal, TwoSidedConformal
from rio_uq.calibration.isotonic import Recalibrated
from rio_uq.calibration.normal import ScaledNormal
from rio_uq.calibration.scores import ROUNDING, LearntScores, Scores

METHODS: dict[str, type[LearntScores]] = {
    "conformal": SymmetricConformal,
    "conformal-asymmetric": TwoSidedConformal,
    "variance": ScaledNormal,
    "isotonic": Recalibrated,
}


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

    @property
    def is_normal(self) -> bool:
        """Whether outcomes are still held to be normal."""
        return all(score.is_normal for outputs in self.scores for score in outputs)

    @property
    def n_rows(self) -> tuple[int, ...]:
        """Calibration rows of each group."""
        return tuple(outputs[0].n_rows for outputs in self.scores)

    @property
    def std_factor(self) -> Array:
        """The factor on RIO's standard deviation, for each group and output: (k, q)."""
        return np.array([[score.std for score in outputs] for outputs in self.scores])

    def quantiles(self, probabilities: Array) -> Array:
        """Quantiles of the scores for each group and output, an array of shape (k, q, ...)."""
        self.check_support(probabilities)
        return np.array([[score.ppf(probabilities) for score in outputs] for outputs in self.scores])

    def check_support(self, probabilities: Array) -> None:
        """Raise an error that says how many rows are needed, if there are too few for these quantiles."""
        level = float(np.abs(2.0 * check_levels(np.ravel(probabilities), "quantiles") - 1.0).max())
        for number, (score, *_) in enumerate(self.scores):
            highest = 1.0 - score.parts_beyond / (score.n_rows + 1)
            if level > highest + ROUNDING:
                needed = int(np.ceil(score.parts_beyond / (1.0 - level + ROUNDING))) - 1
                group = "" if self.groups is None else f" in group {self.groups[number]!r}"
                lower, upper = 0.5 - 0.5 * level, 0.5 + 0.5 * level
                raise ValueError(
                    f"the interval of level {level:.6g} (quantiles {lower:.6g} and {upper:.6g}) needs at least "
                    f"{needed} calibration rows, and there are {score.n_rows}{group}: calibrate on more rows, or ask "
                    f"for a level of {np.floor(1e4 * highest) / 1e4:.4g} at most"
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


def fit_calibration(y: Array, mean: Array, std: Array, *, method: str, groups: Any = None) -> Calibration:
    """Learn how scores are distributed, for each group and each output.

    Parameters
    ----------
    y, mean, std : (n, q) arrays
        Outcomes, and the predictive mean and standard deviation of each.
    method : {"conformal", "conformal-asymmetric", "variance", "isotonic"}
    groups : array of shape (n,), optional
    """
    check_choice(method, "method", METHODS)
    scores = (y - mean) / std
    if groups is None:
        return Calibration(method, None, (_of_outputs(method, scores, ""),))
    rows: dict[Any, list[int]] = {}
    for row, label in enumerate(check_groups(groups, len(y))):
        rows.setdefault(label, []).append(row)
    learnt = [_of_outputs(method, scores[members], f" in group {label!r}") for label, members in rows.items()]
    return Calibration(method, tuple(rows), tuple(learnt))


def _of_outputs(method: str, scores: Array, where: str) -> tuple[Scores, ...]:
    kind, n_rows = METHODS[method], len(scores)
    if n_rows < kind.least_rows:
        raise ValueError(
            f"method={method!r} needs at least {kind.least_rows} calibration rows, and there "
            f"{'is' if n_rows == 1 else 'are'} {n_rows}{where}: calibrate on more rows"
        )
    if kind.parts_beyond == 0 and not scores.any(axis=0).all():
        raise ValueError(f"all calibration rows{where} are predicted exactly: there is no error to calibrate on")
    return tuple(kind.of(column) for column in scores.T)
