"""Sets of classes that hold the right one with the probability asked for. Pure functions on arrays.

The score of a class at a row is 1 − p, with p its corrected probability. Of n calibration rows, exchangeable with a new
one, the score of the right class at the new row is among the ⌈(n + 1) L⌉ smallest with a probability of at least L,
whatever the model: all classes whose score is no larger than that of this rank make a set that holds the right one so
often. Ranks among the rows of each class say so of rows of that class.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_choice

METHODS = ("conformal", "class-conditional")

ROUNDING = 1e-9
"""Of (n + 1) L, which is a whole number for many levels: 0.9 · 10 is a little more than 9."""


@dataclass(frozen=True, eq=False)
class SetCalibration:
    """Scores of the right classes of calibration rows.

    Attributes
    ----------
    method : {"conformal", "class-conditional"}
    scores : tuple of arrays
        In ascending order: of all rows, or of those of each class.
    """

    method: str
    scores: tuple[Array, ...] = field(repr=False)

    @classmethod
    def of(cls, method: str, probabilities: Array, label: NDArray[np.intp]) -> SetCalibration:
        """From corrected probabilities (n, K) of calibration rows, and the columns of the right classes (n,)."""
        check_choice(method, "method", METHODS)
        score = scores_of(probabilities)[np.arange(len(label)), label]
        if method == "conformal":
            return cls(method, (np.sort(score),))
        return cls(method, tuple(np.sort(score[label == k]) for k in range(probabilities.shape[1])))

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.scores))

    def thresholds(self, level: float) -> Array:
        """The largest score of a class in a set, (1,) or (K,); infinite where rows are too few to leave classes out."""
        return np.array([_threshold(score, level) for score in self.scores])

    def check_support(self, level: float) -> None:
        """Raise an error that says how many rows are needed, if there are too few for sets of that level."""
        if np.isfinite(self.thresholds(level)).any():
            return
        needed = int(np.ceil(level / (1.0 - level) - ROUNDING))
        n_rows, of_class = max(map(len, self.scores)), " of a class" if self.method != "conformal" else ""
        raise ValueError(
            f"sets of level {level:.6g} need at least {needed} calibration rows{of_class}, and there are {n_rows}: "
            f"calibrate on more rows, or ask for a level of {n_rows / (n_rows + 1.0):.4g} at most"
        )

    def sets(self, probabilities: Array, level: float) -> Mask:
        """Whether each class is in the set of each row, (n, K). The likeliest class always is."""
        inside = scores_of(probabilities) <= self.thresholds(level)
        inside[np.arange(len(inside)), probabilities.argmax(axis=1)] = True
        return inside


def scores_of(probabilities: Array) -> Array:
    return 1.0 - probabilities


def _threshold(score: Array, level: float) -> float:
    rank = int(np.ceil((len(score) + 1) * level - ROUNDING))
    return float(score[rank - 1]) if rank <= len(score) else np.inf
