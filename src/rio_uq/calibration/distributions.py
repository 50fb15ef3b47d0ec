"""Distributions of outcomes that are not normal, in the form of SciPy's frozen ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.calibration.calibration import Calibration
from rio_uq.calibration.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedDistribution:
    """The distribution of each outcome after a calibration that is not normal.

    It has those methods of a frozen SciPy distribution that such a calibration can answer. There is no ``pdf``, and so
    no ``logpdf``: distribution functions that are made of ranks have steps or kinks at every calibration row, and their
    slopes say nothing. Quantiles beyond what the calibration rows support are errors.

    Attributes
    ----------
    centre, spread : (n,) or (n, q) arrays
        RIO's mean and standard deviation.
    calibration : Calibration
    member : (n,) or (n, q) array of int
        Which of the calibration's distributions of scores is that of each outcome, group by group, output by output.
    """

    centre: Array
    spread: Array
    calibration: Calibration
    member: NDArray[np.intp]

    def mean(self) -> Array:
        """The mean after "isotonic"; conformal forms know quantiles only, and this is RIO's mean."""
        shift: Array = np.array([score.mean for score in self._scores])[self.member]
        return self.centre + self.spread * shift

    def std(self) -> Array:
        """As ``predict(return_std=True)`` gives it."""
        return self.spread * self.calibration.std_factor.ravel()[self.member]

    def var(self) -> Array:
        """The square of ``std()``."""
        return self.std() ** 2

    def median(self) -> Array:
        return self.ppf(0.5)

    def ppf(self, q: Any) -> Array:
        """Quantiles; q is broadcast against the outcomes."""
        probabilities = np.asarray(q, dtype=float)
        self.calibration.check_support(probabilities)
        scores = self._of_each("ppf", probabilities)
        return self.calibration.outcomes(self.centre, self.spread, scores, probabilities)

    def cdf(self, x: Any) -> Array:
        """The probability of an outcome of x or less: the largest q whose quantile is x or less."""
        values = np.asarray(x, dtype=float)
        if self.calibration.widening:  # an x that is such a quantile, but for rounding, is one
            with np.errstate(invalid="ignore"):
                nudged = values + 2.0 * self.calibration.widening * (np.abs(values) + np.abs(self.centre))
            values = np.where(np.isfinite(values), nudged, values)
        return self._of_each("cdf", (values - self.centre) / self.spread)

    def sf(self, x: Any) -> Array:
        """One minus ``cdf``."""
        return 1.0 - self.cdf(x)

    def interval(self, confidence: Any) -> tuple[Array, Array]:
        """The ends of the central interval."""
        level = np.asarray(confidence, dtype=float)
        return self.ppf(0.5 - 0.5 * level), self.ppf(0.5 + 0.5 * level)

    @property
    def _scores(self) -> Sequence[Scores]:
        return [score for outputs in self.calibration.scores for score in outputs]

    def _of_each(self, method: str, values: Array) -> Array:
        values, member = np.broadcast_arrays(values, self.member)
        results = np.full(values.shape, np.nan)
        for number, score in enumerate(self._scores):
            chosen = (member == number) & ~np.isnan(values)
            results[chosen] = getattr(score, method)(values[chosen])
        return results


@dataclass(frozen=True, eq=False, repr=False)
class ShapedDistribution(CalibratedDistribution):
    """The distribution of each outcome where the scores of left-out rows are not normal.

    It has the methods of a frozen SciPy distribution, and ``crps``. ``calibration`` holds the shape of each output,
    see `rio_uq.calibration.shape.Shape`, all of which have a density.
    """

    def ppf(self, q: Any) -> Array:
        """Quantiles; q is broadcast against the outcomes."""
        return self.centre + self.spread * self._of_each("ppf", np.asarray(q, dtype=float))

    def logpdf(self, x: Any) -> Array:
        z = (np.asarray(x, dtype=float) - self.centre) / self.spread
        return self._of_each("logpdf", z) - np.log(self.spread)

    def pdf(self, x: Any) -> Array:
        return np.exp(self.logpdf(x))

    def crps(self, x: Any) -> Array:
        """Continuous ranked probability score of each outcome x."""
        return self.spread * self._of_each("crps", (np.asarray(x, dtype=float) - self.centre) / self.spread)

    def rvs(self, size: Any = None, random_state: Any = None) -> Array:
        """Draws of each outcome for itself, see `RIORegressor.sample_y` for joint ones.

        Parameters
        ----------
        size : int or tuple of int, optional
            As of a frozen SciPy distribution: a shape that ends in that of the outcomes, which is the default.
        random_state : None, int, Generator or RandomState
        """
        rng = random_state if hasattr(random_state, "uniform") else np.random.default_rng(random_state)
        uniform = rng.uniform(size=self.centre.shape if size is None else size)
        return self.ppf(np.maximum(uniform, np.finfo(float).tiny))
