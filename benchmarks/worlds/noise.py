"""Laws of noise: outcomes around their conditional mean (their conditional median where there is no variance)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.worlds.truths import lasting

Outcomes = Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Noise:
    """How outcomes scatter.

    Attributes
    ----------
    name : str
    outcomes : callable
        Of a generator, inputs (n, d) and conditional means (n,) or (n, q): outcomes of the shape of the means.
    is_continuous : bool
        Whether no value has a probability of its own.
    has_variance : bool
        Whether the variance is finite.
    """

    name: str
    outcomes: Outcomes
    is_continuous: bool = True
    has_variance: bool = True


def additive(name: str, draws: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray], **flags: bool) -> Noise:
    """Independent noise with mean zero that is added to the mean."""
    return Noise(name, lambda rng, X, mean: mean + draws(rng, mean.shape), **flags)


def scaled(name: str, scale: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Noise:
    """Normal noise, its standard deviation a function of inputs and means."""
    return Noise(name, lambda rng, X, mean: mean + scale(X, mean) * rng.normal(size=mean.shape))


def normal(scale: float = 1.0) -> Noise:
    return additive("normal", lambda rng, shape: scale * rng.normal(size=shape))


def outliers(share: float, scale: float = 10.0) -> Noise:
    """A share of rows with a standard deviation that is so many times that of the others."""

    def draws(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(rng.uniform(size=shape) < share, scale, 1.0) * rng.normal(size=shape)

    return additive(f"{100 * share:g} % outliers", draws)


def rounded(scale: float) -> Noise:
    def outcomes(rng: np.random.Generator, X: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return np.round(mean + scale * rng.normal(size=mean.shape))

    return Noise(f"rounded, σ = {scale:g}", outcomes, is_continuous=False)


def _zeros(rng: np.random.Generator, X: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return np.where(rng.uniform(size=mean.shape) < 0.9, 0.0, 10.0 * mean * rng.exponential(size=mean.shape))


def _one_field(X: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The noise of the first output depends on x, that of the others does not."""
    scale = np.ones_like(mean)
    scale[:, 0] = np.exp(1.5 * X[:, 0])
    return scale


NORMAL = normal()
LASTING = additive("lasting, 0.9 of it in the next row", lambda rng, shape: lasting(rng, shape, 0.9))
BY_X = scaled("normal, σ = exp(x₁)", lambda X, mean: np.exp(X[:, 0]))
BY_MEAN = scaled("normal, σ grows with ŷ", lambda X, mean: 0.1 + np.abs(mean))
BY_STEP = scaled("normal, σ a step of x₁", lambda X, mean: np.where(X[:, 0] < 0.0, 0.3, 3.0))
ONE_FIELD = scaled("normal, σ of one output grows with x₁", _one_field)
T3 = additive("Student, 3 degrees of freedom", lambda rng, shape: rng.standard_t(3, size=shape))
T2 = additive("Student, 2 degrees of freedom", lambda rng, shape: rng.standard_t(2, size=shape), has_variance=False)
CAUCHY = additive("Cauchy", lambda rng, shape: rng.standard_cauchy(size=shape), has_variance=False)
LOGNORMAL = additive("lognormal", lambda rng, shape: rng.lognormal(size=shape) - np.exp(0.5))
EXPONENTIAL = additive("exponential", lambda rng, shape: rng.exponential(size=shape) - 1.0)
UNIFORM = additive("uniform", lambda rng, shape: rng.uniform(-1.0, 1.0, size=shape))
BIMODAL = additive("bimodal", lambda rng, shape: rng.choice([-2.0, 2.0], size=shape) + 0.5 * rng.normal(size=shape))
POISSON = Noise("Poisson", lambda rng, X, mean: rng.poisson(mean).astype(float), is_continuous=False)
ZEROS = Noise("90 % zeros", _zeros, is_continuous=False)
TWO_VALUES = Noise("0 or 41", lambda rng, X, mean: 41.0 * (rng.uniform(size=mean.shape) < 0.5), is_continuous=False)
ZERO_OR_ONE = Noise("0 or 1", lambda rng, X, mean: 1.0 * (rng.uniform(size=mean.shape) < mean), is_continuous=False)
NONE = Noise("none", lambda rng, X, mean: mean, is_continuous=False)
ABOVE_ONE = Noise(
    "zero-inflated", lambda rng, X, mean: mean + (X[:, 0] >= 1.0) * rng.normal(size=mean.shape), is_continuous=False
)
"""Outcomes are exactly zero below x₁ = 1, and normal above."""

FACTOR = Noise(
    "a lognormal factor", lambda rng, X, mean: mean * np.exp(0.3 * rng.normal(size=mean.shape) - 0.5 * 0.3**2)
)
OUTLIERS_5, OUTLIERS_30 = outliers(0.05), outliers(0.3)
