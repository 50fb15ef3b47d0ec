"""Skewed scores: a Student distribution with one scale below its mode and another above it.

With a standard Student density t of ν degrees of freedom and c = √((ν − 2)/ν), the density at the distance x from the
mode is

    f(x) = 2/(c (κ₋ + κ₊)) t(x/(c κ₋))    below the mode,        … t(x/(c κ₊))    above it

P(x < 0) = κ₋/(κ₋ + κ₊), and with m = E|T| the mean is c m (κ₊ − κ₋). The mode lies at minus that, so that scores have
the mean zero and predictions stay the means of outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, stdtr, stdtrit

from rio_uq._base.array import Array
from rio_uq.calibration.scores import crps_by_quantiles
from rio_uq.calibration.student import LEAST_TAIL, LOG_SCALE, log_student, penalty

SKEW_DEVIATION = 0.5
"""Prior of γ in κ₊ = κ e^γ, κ₋ = κ e^−γ: normal around 0."""

LOG_EXCESS, LOG_RATIO = (-4.0, 7.0), (-1.5, 1.5)
"""Bounds of log(ν − 2) and of γ."""


@dataclass(frozen=True, eq=False)
class SkewedStudent:
    """A two-piece Student distribution with the mean zero.

    Attributes
    ----------
    n_rows : int
        Rows that it was learnt from.
    degrees : float
        ν > 2.
    lower, upper : float
        κ₋ and κ₊.
    """

    kind: ClassVar[str] = "skewed"
    is_normal: ClassVar[bool] = False
    parts_beyond: ClassVar[int] = 0
    n_rows: int
    degrees: float
    lower: float
    upper: float
    mean: float = 0.0

    @classmethod
    def fit(cls, scores: Array, weight: Array) -> Self:
        """ν, κ and γ by penalised likelihood."""

        def parameters(x: Array) -> tuple[int, float, float, float]:
            log_excess, log_scale, ratio = (float(value) for value in x)
            lower, upper = np.exp(log_scale - ratio), np.exp(log_scale + ratio)
            return len(scores), 2.0 + float(np.exp(log_excess)), float(lower), float(upper)

        def loss(x: Array) -> float:
            fit = cls(*parameters(x))
            prior = penalty(np.log(fit.degrees), np.log(fit.std)) + 0.5 * float(x[2] / SKEW_DEVIATION) ** 2
            return prior - float(weight @ fit.logpdf(scores))

        bounds = [LOG_EXCESS, LOG_SCALE, LOG_RATIO]
        optima = (minimize(loss, [1.5, 0.0, ratio], method="L-BFGS-B", bounds=bounds) for ratio in (-0.2, 0.2))
        return cls(*parameters(min(optima, key=lambda optimum: float(optimum.fun)).x))

    @property
    def std(self) -> float:
        below = self._below
        second = below * self.lower**2 + (1.0 - below) * self.upper**2
        return float(np.sqrt(second - self._mode**2))

    def ppf(self, p: Array) -> Array:
        probability, below = np.asarray(p, dtype=float), self._below
        left = self._quantile(np.minimum(0.5 * probability / below, 0.5))
        right = self._quantile(np.minimum(0.5 * (1.0 - probability) / (1.0 - below), 0.5))
        return self._mode + np.where(probability < below, self.lower * left, -self.upper * right)

    def cdf(self, z: Array) -> Array:
        x, below = np.asarray(z) - self._mode, self._below
        left = 2.0 * below * stdtr(self.degrees, np.minimum(x, 0.0) / (self.lower * self._unit))
        right = 2.0 * (1.0 - below) * stdtr(self.degrees, -np.maximum(x, 0.0) / (self.upper * self._unit))
        return np.asarray(np.where(x < 0.0, left, 1.0 - right))

    def logpdf(self, z: Array) -> Array:
        x = np.asarray(z) - self._mode
        scale = np.where(x < 0.0, self.lower, self.upper) * self._unit
        width = 0.5 * (self.lower + self.upper) * self._unit
        return np.asarray(log_student(x / scale, self.degrees) - np.log(width))

    def crps(self, z: Array) -> Array:
        return crps_by_quantiles(self, z)

    def in_words(self) -> str:
        side = "above" if self.upper > self.lower else "below"
        ratio = max(self.lower, self.upper) / min(self.lower, self.upper)
        wide = f"{ratio:.1f} times as wide {side}"
        return f"a skewed Student distribution with {self.degrees:.1f} degrees of freedom, {wide}"

    @property
    def _unit(self) -> float:
        """c."""
        return float(np.sqrt((self.degrees - 2.0) / self.degrees))

    @property
    def _below(self) -> float:
        """P(x < 0)."""
        return self.lower / (self.lower + self.upper)

    @property
    def _mode(self) -> float:
        v = self.degrees
        mean_size = 2.0 * np.sqrt(v / np.pi) * np.exp(gammaln(0.5 * v + 0.5) - gammaln(0.5 * v)) / (v - 1.0)
        return -float((self.upper - self.lower) * self._unit * mean_size)

    def _quantile(self, tail: Array) -> Array:
        """Of a Student variable of unit variance; of a tail of ½ at most."""
        quantile = self._unit * stdtrit(self.degrees, np.maximum(tail, LEAST_TAIL))
        return np.where(tail > 0.0, quantile, -np.inf)
