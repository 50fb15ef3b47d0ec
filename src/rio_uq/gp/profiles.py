"""Profiles g(ρ) of the stationary kernels k = v g(ρ), where ρ is a squared distance and g(0) = 1.

The RBF kernel is not among them: `rio_uq.gp.terms` has a shorter way for it.

Each has its value and its slope dg/dρ, written to ``out`` in place. With ``s = √ρ``:

    matern12            g = exp(−s)                          dg/dρ = −g/(2s), taken as 0 at s = 0
    matern32            g = (1 + √3 s) exp(−√3 s)            dg/dρ = −3/2 exp(−√3 s)
    matern52            g = (1 + √5 s + 5ρ/3) exp(−√5 s)     dg/dρ = −5/6 (1 + √5 s) exp(−√5 s)
    rational_quadratic  g = (1 + ρ/2α)^−α                    dg/dρ = −½ (1 + ρ/2α)^(−α−1)

The last has a shape α; with u = ρ/2α, dg/dlog α = α g (u/(1 + u) − log(1 + u)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rio_uq.gp.typing import Array

InPlace = Callable[[Array, float, Array], None]


@dataclass(frozen=True)
class Profile:
    value: InPlace
    slope: InPlace
    shape_slope: InPlace | None = None

    @property
    def has_shape(self) -> bool:
        return self.shape_slope is not None


def _matern12(rho: Array, shape: float, out: Array) -> None:
    np.sqrt(rho, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)


def _matern12_slope(rho: Array, shape: float, out: Array) -> None:
    distance = np.sqrt(rho)
    np.exp(-distance, out=out)
    np.divide(out, -2.0 * distance, out=out, where=distance > 0.0)
    out *= distance > 0.0


def _matern32(rho: Array, shape: float, out: Array) -> None:
    scaled = np.sqrt(3.0 * rho)
    np.exp(-scaled, out=out)
    scaled += 1.0
    out *= scaled


def _matern32_slope(rho: Array, shape: float, out: Array) -> None:
    np.multiply(rho, 3.0, out=out)
    _matern12(out, shape, out)
    out *= -1.5


def _matern52(rho: Array, shape: float, out: Array) -> None:
    scaled = 5.0 * rho
    np.sqrt(scaled, out=scaled)
    np.negative(scaled, out=out)
    np.exp(out, out=out)
    polynomial = scaled / 3.0
    polynomial += 1.0
    polynomial *= scaled
    polynomial += 1.0
    out *= polynomial


def _matern52_slope(rho: Array, shape: float, out: Array) -> None:
    scaled = np.sqrt(5.0 * rho)
    np.exp(-scaled, out=out)
    scaled += 1.0
    out *= scaled
    out *= -5.0 / 6.0


def _rational_quadratic(rho: Array, shape: float, out: Array) -> None:
    np.multiply(rho, 0.5 / shape, out=out)
    np.log1p(out, out=out)
    out *= -shape
    np.exp(out, out=out)


def _rational_quadratic_slope(rho: Array, shape: float, out: Array) -> None:
    _rational_quadratic(rho, shape, out)
    out /= 1.0 + rho * (0.5 / shape)
    out *= -0.5


def _rational_quadratic_shape_slope(rho: Array, shape: float, out: Array) -> None:
    _rational_quadratic(rho, shape, out)
    u = rho * (0.5 / shape)
    out *= shape * (u / (1.0 + u) - np.log1p(u))


PROFILES = {
    "matern12": Profile(_matern12, _matern12_slope),
    "matern32": Profile(_matern32, _matern32_slope),
    "matern52": Profile(_matern52, _matern52_slope),
    "rational_quadratic": Profile(_rational_quadratic, _rational_quadratic_slope, _rational_quadratic_shape_slope),
}
