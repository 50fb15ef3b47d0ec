"""Distributions of outcomes that are not normal, in the form of SciPy's frozen ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rio_uq._base.array import Array
from rio_uq.calibration.calibration import Calibration
from rio_uq.calibration.scores import Scores, normal_nodes
from rio_uq.scales.contract import Scale

CRPS_STEP = 0.05
"""Of the grid of quantiles, in those of a normal distribution."""


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
        if not np.ndim(values):  # once for each distribution of scores, not for each outcome
            return np.array([float(getattr(score, method)(values)) for score in self._scores])[self.member]
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


@dataclass(frozen=True, eq=False, repr=False)
class TransformedDistribution:
    """The distribution of each outcome on another scale than its own, see `rio_uq.scales`.

    It has those methods of a frozen SciPy distribution that the one on the scale has. Where outcomes have bounds that
    they reach, as on the scale "sqrt", there is some probability at the bounds themselves.

    Attributes
    ----------
    on_scale : distribution
        Of g(y), normal, shaped or calibrated.
    scales : tuple of Scale
        Of each output.
    centre, spread : (n,) or (n, q) arrays
        Mean and standard deviation of outcomes.
    """

    on_scale: Any
    scales: tuple[Scale, ...]
    centre: Array
    spread: Array

    def mean(self) -> Array:
        return self.centre

    def std(self) -> Array:
        return self.spread

    def var(self) -> Array:
        """The square of ``std()``."""
        return self.spread**2

    def median(self) -> Array:
        return self.ppf(0.5)

    def ppf(self, q: Any) -> Array:
        """Quantiles; q is broadcast against the outcomes."""
        return self._each("inverse", self.on_scale.ppf(q))

    def cdf(self, x: Any) -> Array:
        """The probability of an outcome of x or less."""
        x = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = self.on_scale.cdf(self._each("forward", x))
        lowest, highest = (self._each("inverse", np.full_like(self.centre, end)) for end in (-np.inf, np.inf))
        return np.where(x < lowest, 0.0, np.where(x >= highest, 1.0, inside))

    def sf(self, x: Any) -> Array:
        """One minus ``cdf``."""
        return 1.0 - self.cdf(x)

    def interval(self, confidence: Any) -> tuple[Array, Array]:
        """The ends of the central interval."""
        level = np.asarray(confidence, dtype=float)
        return self.ppf(0.5 - 0.5 * level), self.ppf(0.5 + 0.5 * level)

    def _each(self, method: str, values: Array) -> Array:
        if self.centre.ndim == 1:
            return np.asarray(getattr(self.scales[0], method)(values))
        values = np.broadcast_to(values, np.broadcast_shapes(np.shape(values), self.centre.shape))
        columns = [getattr(scale, method)(values[..., i]) for i, scale in enumerate(self.scales)]
        return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class TransformedDensity(TransformedDistribution):
    """The same where the distribution on the scale has a density."""

    def logpdf(self, x: Any) -> Array:
        x = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.on_scale.logpdf(self._each("forward", x)) + self._each("log_slope", x)
        return np.where(self._each("contains", x), value, -np.inf)

    def pdf(self, x: Any) -> Array:
        return np.exp(self.logpdf(x))

    def crps(self, x: Any) -> Array:
        """Continuous ranked probability score of each outcome x: twice the mean pinball loss over quantiles."""
        nodes, weight = normal_nodes(CRPS_STEP)
        x = np.asarray(x, dtype=float)
        score = np.zeros(np.broadcast_shapes(x.shape, self.centre.shape))
        for probability, share in zip(ndtr(nodes), weight, strict=True):
            quantile = self.ppf(probability)
            score += 2.0 * share * ((x < quantile) - probability) * (quantile - x)
        return score

    def rvs(self, size: Any = None, random_state: Any = None) -> Array:
        """Draws of each outcome for itself, see `RIORegressor.sample_y` for joint ones."""
        draws = self.on_scale.rvs(size=self.centre.shape if size is None else size, random_state=random_state)
        return self._each("inverse", np.asarray(draws))
