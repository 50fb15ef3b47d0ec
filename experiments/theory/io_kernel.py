"""Theorem 3: a GP with the I/O kernel generalises better than one with the input or the output kernel alone.

Outcomes are y = f_in(x) + f_out(ŷ(x)) + ξ with f_in and f_out drawn from GPs with RBF kernels on x and on the output ŷ
of a network. The network is one of random weights: two layers of tanh units, far from affine, with outputs of unit
variance. What is measured is the mean squared error of f_in + f_out at new x. The signal variance is one, of which
``output_share`` is that of f_out. The GPs have

- "known" hyperparameters: the kernels that f_in and f_out were drawn with; a GP that lacks one of the two
  takes its part for noise, as the GP of Theorem 1 takes g. The I/O kernel is then the Bayes-optimal predictor;
- "fitted" ones: all signal variances, lengthscales and noise variances by maximum likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from experiments.theory.learner import conditioned, fitted, generators, prediction, prior_draws
from rio_uq.gp.kernels.io import Kernel, io_kernel
from rio_uq.gp.posterior import Posterior

KINDS = ("io", "input", "output")
HYPERPARAMETERS = ("known", "fitted")


@dataclass(frozen=True)
class Setting:
    """Sizes and variances of a problem with an input and an output part."""

    n: int = 100
    noise: float = 0.1
    output_share: float = 0.5
    n_test: int = 400
    n_inputs: int = 3
    input_lengthscale: float = 1.5
    output_lengthscale: float = 0.5

    def variance(self, part: str) -> float:
        return self.output_share if part == "output" else 1.0 - self.output_share

    def lengthscale(self, part: str) -> float:
        return self.output_lengthscale if part == "output" else self.input_lengthscale

    def kernel(self, kind: str) -> Kernel:
        return io_kernel(self.n_inputs, 1, kind=kind)

    def parameters(self, kind: str) -> tuple[np.ndarray, float]:
        """Log-parameters of a kernel and the apparent noise variance of a GP which has no other."""
        parts = [term.part for term in self.kernel(kind).terms]
        theta = np.log([value for part in parts for value in (self.variance(part), self.lengthscale(part))])
        return theta, self.noise + 1.0 - sum(self.variance(part) for part in parts)


BASE = Setting()
"""The others differ from it in one respect."""
NOISES = (0.01, 0.03, 0.1, 0.3, 1.0)
SIZES = (25, 50, 100, 200)
OUTPUT_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
SETTINGS = tuple(
    dict.fromkeys(
        [replace(BASE, noise=noise) for noise in NOISES]
        + [replace(BASE, n=n) for n in SIZES]
        + [replace(BASE, output_share=share) for share in OUTPUT_SHARES]
    )
)


@dataclass(frozen=True)
class Network:
    """A network of one output with two layers of tanh units."""

    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    last: np.ndarray

    @classmethod
    def random(cls, n_inputs: int, width: int, rng: np.random.Generator) -> Network:
        return cls(
            rng.normal(size=(n_inputs, width)) * 2.0 / np.sqrt(n_inputs),
            rng.normal(size=width),
            rng.normal(size=(width, width)) * 2.0 / np.sqrt(width),
            rng.normal(size=width),
        )

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.tanh(np.tanh(X @ self.first + self.first_bias) @ self.second) @ self.last


@dataclass(frozen=True)
class Problem:
    """One draw: rows c = (x, ŷ(x)), the first n of them for training; f_in + f_out; and noise."""

    setting: Setting
    rows: np.ndarray
    signal: np.ndarray
    noise: np.ndarray

    def learner(self, kind: str, hyperparameters: str) -> Posterior:
        n, kernel = self.setting.n, self.setting.kernel(kind)
        rows, targets = self.rows[:n], (self.signal + self.noise)[:n]
        if hyperparameters == "fitted":
            return fitted(kernel, rows, targets)
        return conditioned(kernel, *self.setting.parameters(kind), rows, targets)

    def error(self, learner: Posterior) -> float:
        n = self.setting.n
        return float(np.mean((self.signal[n:] - prediction(learner, self.rows[n:])) ** 2))


def draw_problem(setting: Setting, rng: np.random.Generator) -> Problem:
    """Inputs are standard normal."""
    X = rng.normal(size=(setting.n + setting.n_test, setting.n_inputs))
    output = Network.random(setting.n_inputs, 16, rng)(X)
    rows = np.column_stack([X, (output - output.mean()) / output.std()])
    theta, _ = setting.parameters("io")
    (signal,) = prior_draws(setting.kernel("io"), theta, rows, 1, rng)
    return Problem(setting, rows, signal, rng.normal(scale=np.sqrt(setting.noise), size=len(rows)))


def errors_of_kernels(
    repeats: int,
    seed: int,
    settings: Sequence[Setting] = SETTINGS,
    *,
    hyperparameters: Sequence[str] = HYPERPARAMETERS,
) -> pd.DataFrame:
    """Mean squared errors of the three kernels.

    Returns
    -------
    DataFrame
        One line for each setting, repeat and hyperparameters: ``n``, ``noise``, ``output_share``, and the errors
        ``io``, ``input`` and ``output``.
    """
    lines = []
    for setting in settings:
        for repeat, rng in enumerate(generators(seed, repeats)):
            problem = draw_problem(setting, rng)
            for choice in hyperparameters:
                errors = {kind: problem.error(problem.learner(kind, choice)) for kind in KINDS}
                sizes = {"n": setting.n, "noise": setting.noise, "output_share": setting.output_share}
                lines.append({"repeat": repeat, "hyperparameters": choice, **sizes, **errors})
    return pd.DataFrame(lines)
