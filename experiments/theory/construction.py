"""Functions that are partly easy and partly impossible for a GP, and networks that have learnt some of both.

Outcomes are y = h + ξ = f + g + ξ. The apparent signal f is a draw of GP(0, k) on the unit square. The apparent noise g
has to be ε-indistinguishable for the GP: the paper's appendix gives it the values +σ_g at points x_i and −σ_g at points
x_i + v, but no values elsewhere. A generalisation error is an expectation over new x, so here g is defined for all of
them: a square wave of amplitude σ_g along v with half period |v| and random phase. It

- changes its sign between x and x + v, everywhere, hence on the pairs of the training data, as the construction asks;
- has g² = σ_g² at every x, so that E[g²] = σ_g² is exact on any test points;
- is independent of f, and of mean zero over its phase.

Test points are uniform on the square and nothing to do with the pairs: what is measured there is how well h itself,
f and g and without ξ, is predicted.

A network ĥ = h − r_f − r_g is given by what it has left over.

- r_f = αf + √(α(1−α)) f' with f' another draw of GP(0, k), so that r_f ~ GP(0, αk), and what the network knows of f is
  independent of it. At α = 1 it knows nothing.
- r_g = √(1 − δ/σ_g²) g for 0 ≤ δ ≤ σ_g²: the network knows the wave in part. For δ < 0 it knows nothing of g and adds
  complexity of its own, r_g = g + √(−δ) s with s the unit wave shifted by v/2, which is orthogonal to g and changes its
  sign between x and x + v too. In both cases E[r_g²] = σ_g² − δ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.theory.learner import prior_draws
from rio_uq.gp.kernels.io import io_kernel

KERNEL = io_kernel(2, 0, kind="input")


@dataclass(frozen=True)
class Setting:
    """Sizes and variances of a problem; the variance of f is one."""

    n_pairs: int = 60
    n_test: int = 600
    lengthscale: float = 0.25
    half_period: float = 0.002
    noise: float = 0.1
    complexity: float = 0.5
    """σ_g²"""

    def theta(self, alpha: float = 1.0) -> np.ndarray:
        """Log-parameters of αk."""
        return np.log([alpha, self.lengthscale])

    def apparent_noise(self, delta: float = 0.0) -> float:
        """The noise variance that a GP finds which cannot tell g from noise."""
        return self.noise + self.complexity - delta


@dataclass(frozen=True)
class Problem:
    """One draw: values at the training rows x_i, x_i + v and, after them, at the test rows.

    Attributes
    ----------
    setting : Setting
    rows : (2 n_pairs + n_test, 2) array
    f, other : arrays
        Two independent draws of GP(0, k): the apparent signal, and what r_f is mixed with.
    wave, shifted_wave : arrays
        ±1: g is σ_g times the first, spurious complexity is a multiple of the second.
    noise : array
        ξ
    """

    setting: Setting
    rows: np.ndarray
    f: np.ndarray
    other: np.ndarray
    wave: np.ndarray
    shifted_wave: np.ndarray
    noise: np.ndarray

    @property
    def train(self) -> slice:
        return slice(0, 2 * self.setting.n_pairs)

    @property
    def test(self) -> slice:
        return slice(2 * self.setting.n_pairs, None)

    @property
    def g(self) -> np.ndarray:
        return np.sqrt(self.setting.complexity) * self.wave

    @property
    def h(self) -> np.ndarray:
        return self.f + self.g

    def remainder(self, alpha: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
        """r_f and r_g of a network."""
        if not 0.0 < alpha <= 1.0 or delta > self.setting.complexity:
            raise ValueError(f"alpha has to be in (0, 1] and delta at most σ_g²; got alpha={alpha}, delta={delta}")
        r_f = alpha * self.f + np.sqrt(alpha * (1.0 - alpha)) * self.other
        left = np.sqrt(1.0 - max(delta, 0.0) / self.setting.complexity) * self.g
        return r_f, left + np.sqrt(max(-delta, 0.0)) * self.shifted_wave


def draw_problem(setting: Setting, rng: np.random.Generator) -> Problem:
    """A problem of a setting.

    Two settings that differ in the half period only, with generators in the same state, give the same x_i, test points,
    noise, and values of f there.
    """
    n, m = setting.n_pairs, setting.n_test
    first, test = rng.uniform(size=(n, 2)), rng.uniform(size=(m, 2))
    phase = rng.uniform(0.0, 2.0)
    noise = rng.normal(scale=np.sqrt(setting.noise), size=2 * n + m)
    second = first + np.array([setting.half_period, 0.0])
    # Points of f in this order, so that those which do not depend on v are drawn first.
    draws = prior_draws(KERNEL, setting.theta(), np.vstack([first, test, second]), 2, rng)
    f, other = np.concatenate([draws[:, :n], draws[:, n + m :], draws[:, n : n + m]], axis=1)
    rows = np.vstack([first, second, test])
    half_periods = rows[:, 0] / setting.half_period + phase
    return Problem(setting, rows, f, other, _square(half_periods), _square(half_periods + 0.5), noise)


def _square(half_periods: np.ndarray) -> np.ndarray:
    return np.where(np.floor(half_periods) % 2.0 == 0.0, 1.0, -1.0)
