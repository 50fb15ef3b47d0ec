"""The shape of the predictive distribution, from the scores of left-out training rows.

RIO's standard deviations are right on the whole, and yet residuals are often not normal: with heavy tails, most are
smaller than a normal distribution has it, and a few are much larger. The shape is a distribution of scores
z = (y − mean)/std, by which an outcome is mean + std Z.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from rio_uq._base.array import Array
from rio_uq.calibration.calibration import Calibration
from rio_uq.calibration.normal import ScaledNormal
from rio_uq.calibration.scores import Density, normal_nodes
from rio_uq.calibration.skewed import SkewedStudent
from rio_uq.calibration.student import FEW_ROWS, Student
from rio_uq.calibration.tails import NormalTails

STUDENT_EVIDENCE = 2.0
"""Log likelihood that the Student distribution has to gain over a normal one with a scale of its own, where there are
so many rows that its tails are known."""

SKEW_EVIDENCE = 4.0
"""Log likelihood that skew has to gain over the Student distribution, evidence for histograms included."""

LEAST_SKEW = 0.5
"""Log likelihood that skew may gain, roughly, below which it is not tried."""

ALL_TOO_SMALL = 0.99
"""Scores whose root mean square is less are no evidence of heavy tails, and none of narrower ones if normal: standard
deviations of the GP are kept."""

MOST_DEGREES = 200.0
"""Degrees of freedom beyond which a Student distribution is as good as normal."""

MOST_ROWS = 20_000
"""More rows than these say nothing new of four parameters, and are not looked at."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Distributions of scores.

    Attributes
    ----------
    scores : tuple of Density
        One for each output.
    gains : tuple of float
        For each output, how much likelier its distribution makes the left-out rows than a normal one: the difference of
        log likelihoods, or the log evidence for a histogram. Where the normal one was kept, that of the Student
        distribution, which was not enough.
    nodes : (q, k) array or None
        Quantiles of the scores themselves at the nodes over which moments are taken, for outcomes on
        another scale: means are taken over these, since an exponential makes too much of a tail that nobody has seen.
    """

    scores: tuple[Density, ...]
    gains: tuple[float, ...] = field(repr=False)
    nodes: Array | None = field(default=None, repr=False)

    @property
    def is_normal(self) -> bool:
        return all(score.is_normal for score in self.scores)

    @property
    def calibration(self) -> Calibration:
        """The same as a calibration without groups."""
        return Calibration("none", None, (self.scores,))

    def of_normal_draws(self, draws: Array) -> Array:
        """Standard normal draws (n, q, k) as draws of unit variance that have the shape of each output."""
        columns = [
            column if score.is_normal else score.ppf(ndtr(column)) / score.std
            for score, column in zip(self.scores, draws.swapaxes(0, 1), strict=True)
        ]
        return np.stack(columns, axis=1)

    def in_words(self, output: int) -> str:
        """A sentence on one output."""
        score, gain = self.scores[output], self.gains[output]
        if gain <= STUDENT_EVIDENCE:
            nearly = "" if score.is_normal else "nearly "
            return (
                f"a {nearly}normal distribution: left-out rows show little evidence of heavier tails ({gain:+.1f} nats)"
            )
        return f"{score.in_words()}: on left-out rows it gains {gain:.1f} nats over a normal one"


def fit_shape(
    scores: Array, weight: Array, kind: str, *, normal_tails: bool = False, own_nodes: bool = False
) -> Shape | None:
    """Learn the shape of each output.

    Parameters
    ----------
    scores : (n, q) array
        Of left-out rows.
    weight : (n,) array
        How often each of them counts; rows of weight zero do not.
    kind : {"auto", "normal", "student"}
        "auto" chooses between a Student and a skewed Student distribution, and a normal one where many rows show no
        other; few cannot exclude that tails are heavier.
    normal_tails : bool
        Whether tails beyond the data are normal, see `rio_uq.calibration.tails`.
    own_nodes : bool
        Whether moments are taken over the scores themselves, see `Shape`.
    """
    if kind == "normal":
        return None
    used = np.flatnonzero((weight > 0.0) & np.isfinite(scores).all(axis=1))
    if len(used) > MOST_ROWS:
        used = np.sort(np.random.default_rng(0).choice(used, MOST_ROWS, replace=False))
    fits = [_fit_one(column, weight[used], kind) for column in scores[used].T]
    shapes = [
        NormalTails.of(shape, column) if normal_tails and not shape.is_normal else shape
        for (shape, _), column in zip(fits, scores[used].T, strict=True)
    ]
    nodes = _empirical_nodes(scores[used], weight[used]) if own_nodes and len(used) else None
    return Shape(tuple(shapes), tuple(gain for _, gain in fits), nodes)


def _empirical_nodes(scores: Array, weight: Array) -> Array:
    """Quantiles (q, k) of scores (n, q), between the middles of the steps of their distribution function."""
    probabilities = ndtr(normal_nodes()[0])
    columns = []
    for column in scores.T:
        order = np.argsort(column, kind="stable")
        ends = np.cumsum(weight[order]) / weight.sum()
        middles = ends - 0.5 * weight[order] / weight.sum()
        columns.append(np.interp(probabilities, middles, column[order]))
    return np.stack(columns)


def _fit_one(scores: Array, weight: Array, kind: str) -> tuple[Density, float]:
    if not scores.any():  # without a residual that is not zero there is no shape
        return ScaledNormal(len(scores), 1.0), 0.0

    def likelihood(fit: Density) -> float:
        return float(weight @ fit.logpdf(scores))

    student, size = Student.fit(scores, weight), float(np.sqrt(np.average(scores**2, weights=weight)))
    normal = likelihood(ScaledNormal(len(scores), size))
    gain = likelihood(student) - normal
    if kind == "auto" and gain <= STUDENT_EVIDENCE:
        if len(scores) > FEW_ROWS:
            refined, evidence = _normal_as_student(len(scores)).refined(scores / size, weight)
            return (refined, evidence) if evidence else (ScaledNormal(len(scores), 1.0), gain)
        if size < ALL_TOO_SMALL:
            return _fit_one(scores / size, weight, kind)
    refined, evidence = student.refined(scores, weight)
    if kind == "auto" and _may_be_skewed(student.cdf(scores), weight):
        skewed = SkewedStudent.fit(scores, weight)
        refined_skewed, its_evidence = skewed.refined(scores, weight)
        its_gain = likelihood(skewed) - normal + its_evidence
        if its_gain - gain - evidence > SKEW_EVIDENCE:
            return refined_skewed, its_gain
    return refined, gain + evidence


def _may_be_skewed(probabilities: Array, weight: Array) -> bool:
    """Whether skew is worth a fit, from values of a symmetric distribution function.

    The likelihood of normal scores u = Φ⁻¹(F(z)) gains about n γ²/12 by a small skewness γ.
    """
    u = ndtri(np.clip(probabilities, 1e-12, 1.0 - 1e-12))
    u = u - np.average(u, weights=weight)
    variance = float(np.average(u**2, weights=weight))
    skewness = float(np.average(u**3, weights=weight)) / variance**1.5 if variance > 0.0 else 0.0
    return float(weight.sum()) * skewness**2 / 12.0 > LEAST_SKEW


def _normal_as_student(n_rows: int) -> Student:
    """A normal distribution as one of so many degrees of freedom that there is no difference to speak of."""
    return Student(n_rows, MOST_DEGREES, float(np.sqrt(MOST_DEGREES / (MOST_DEGREES - 2.0))))
