"""Profiles g(ρ) of the stationary kernels k = v g(ρ), where ρ is a squared distance and g(0) = 1.

The RBF kernel is not among them: `rio_uq.gp.kernels.terms` has a shorter way for it.

Each is written in a multiple r of ρ, which costs nothing where ρ is made, and with s = √r:

    matern12            r = ρ        g = e⁻ˢ                  dg/dr = −e⁻ˢ/2s, taken as 0 at s = 0
    matern32            r = 3ρ       g = (1 + s) e⁻ˢ          dg/dr = −½ e⁻ˢ
    matern52            r = 5ρ       g = (1 + s + r/3) e⁻ˢ    dg/dr = −⅙ (1 + s) e⁻ˢ
    rational_quadratic  r = ρ/2α     g = (1 + r)^−α           dg/dr = −α g/(1 + r)

The last has a shape α, with dg/dlog α = α g (r/(1 + r) − log(1 + r)). What value and slopes have in common is computed
once: they are written together, the slopes without their constant factors, which sums are multiplied by later. The
factor v comes into the exponent, e⁻ˢ to exp(log v − s).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array


@dataclass(frozen=True)
class Profile:
    """How a block of a stationary kernel is filled.

    Attributes
    ----------
    multiple : callable
        r/ρ, given α.
    slope_factor : callable
        The constant factor of dg/dr, given α.
    fill : callable
        Given log v, α, the saved arrays and one for intermediate results: the first of the saved arrays holds r, and
        then k; the second gets dk/dr without its factor, the third, if there is one, dk/dlog α without the factor α.
    has_shape : bool
    """

    multiple: Callable[[float], float]
    slope_factor: Callable[[float], float]
    fill: Callable[[float, float, Array, Array], None]
    has_shape: bool = False


def _matern12(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope = saved
    np.sqrt(value, out=scratch)
    np.subtract(log_variance, scratch, out=value)
    np.exp(value, out=value)
    slope.fill(0.0)
    np.divide(value, scratch, out=slope, where=scratch > 0.0)


def _matern32(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope = saved
    np.sqrt(value, out=value)
    np.subtract(log_variance, value, out=slope)
    np.exp(slope, out=slope)
    value += 1.0
    value *= slope


def _matern52(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope = saved
    np.sqrt(value, out=slope)
    np.subtract(log_variance, slope, out=scratch)
    np.exp(scratch, out=scratch)
    slope += 1.0
    slope *= scratch
    scratch *= 1.0 / 3.0
    value *= scratch
    value += slope


def _rational_quadratic(log_variance: float, shape: float, saved: Array, scratch: Array) -> None:
    value, slope, shape_slope = saved
    np.log1p(value, out=scratch)
    np.add(value, 1.0, out=slope)
    np.reciprocal(slope, out=slope)
    np.subtract(1.0, slope, out=shape_slope)
    shape_slope -= scratch
    scratch *= -shape
    scratch += log_variance
    np.exp(scratch, out=value)
    slope *= value
    shape_slope *= value


PROFILES = {
    "matern12": Profile(lambda shape: 1.0, lambda shape: -0.5, _matern12),
    "matern32": Profile(lambda shape: 3.0, lambda shape: -0.5, _matern32),
    "matern52": Profile(lambda shape: 5.0, lambda shape: -1.0 / 6.0, _matern52),
    "rational_quadratic": Profile(lambda shape: 0.5 / shape, lambda shape: -shape, _rational_quadratic, has_shape=True),
}
