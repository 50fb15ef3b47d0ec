"""Where the optimiser starts, the bounds it keeps to, and the weak prior that settles what the data leave open.

The likelihood has several optima, and one start finds the nearest one only. Two are worth a visit:

- the *RIO* start: the model is right but for something smooth; half of the residual is noise;
- the *plain GP* start: the model is useless. The linear output kernel is wide enough to take all of ŷ back, the
  input kernel as wide as y itself, and there is little noise. From here the optimiser finds the GP that one would
  have fitted to y without the model, if that one is better.

A start is a vector of the kernel's log-parameters followed by the log noise variances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.terms import Term
from rio_uq.gp.rows import Rows

LENGTHSCALE = 0.5
"""Lengthscales start at this times √d of the spread. From half of √d more optima were found than from √d."""

NOTHING_LEFT = 1e6
"""A model leaves nothing of y if the mean square of y is more than this times that of the residual."""

LENGTHSCALE_DEVIATION, NOISE_DEVIATION, NOISE_SHARE = 1.0, 1.0, 0.3
"""The weak prior: standard deviations on the logarithms, and the noise it expects as a share of the targets."""


@dataclass(frozen=True)
class Scales:
    """Sizes of the data that starts and bounds are made from.

    Attributes
    ----------
    columns : (D,) array
        Spread of each column of the rows.
    target : float
        Mean square of the targets.
    outcome : float
        Mean square of y in the units of the targets.
    prediction : float
        What one unit of the output columns is worth in the units of the targets.
    """

    columns: Array
    target: float
    outcome: float
    prediction: float

    @classmethod
    def of(cls, data: Rows, n_inputs: int, prediction: float) -> Scales:
        spread = np.sqrt(data.moments / data.total_pull)
        weight = np.ones(len(data)) if data.weight is None else data.weight
        target = float(np.average((data.targets**2).mean(axis=1), weights=weight))
        outcomes = data.targets + prediction * data.rows[:, n_inputs:][:, : data.n_outputs]
        outcome = float(np.average((outcomes**2).mean(axis=1), weights=weight))
        return cls(np.where(spread > 0.0, spread, 1.0), target or 1.0, outcome, prediction)

    @property
    def model_can_be_beaten(self) -> bool:
        """Whether a GP without the model is conceivable: not if y is constant, or if the model leaves nothing of it."""
        return 0.0 < self.outcome < NOTHING_LEFT * self.target

    def of_columns(self, term: Term) -> Array:
        """The spread of the columns behind each lengthscale of a term."""
        spread = self.columns[term.start : term.stop]
        return spread if term.ard else np.sqrt(np.mean(spread**2, keepdims=True))


@dataclass(frozen=True)
class Prior:
    """Independent normal priors on the log-parameters and log noise variances; zero precision where there is none.

    With one lengthscale for each feature and few rows, the likelihood alone has optima that memorise: features that
    matter by chance, noise that has vanished. A prior this weak decides only where the data do not.
    """

    mean: Array
    precision: Array

    @classmethod
    def flat(cls, n_parameters: int) -> Prior:
        return cls(np.zeros(n_parameters), np.zeros(n_parameters))

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Log density up to a constant, and its gradient."""
        pull = self.precision * (self.mean - x[: len(self.mean)])
        gradient = np.zeros_like(x)
        gradient[: len(self.mean)] = pull
        return float(-0.5 * pull @ (self.mean - x[: len(self.mean)])), gradient


def weak_prior(kernel: Kernel, n_outputs: int, scales: Scales) -> Prior:
    """Lengthscales around √d of the spread of their columns, noise around a third of the targets, each give or take.

    Variances have none.
    """
    means, precisions = [], []
    for term in kernel.terms:
        lengthscales = np.log(np.sqrt(term.stop - term.start) * scales.of_columns(term))
        is_lengthscale = np.array([name == "lengthscale" for name in term.parameter_names])
        mean = np.zeros(term.n_parameters)
        mean[is_lengthscale] = lengthscales if is_lengthscale.any() else []
        means.append(mean)
        precisions.append(is_lengthscale / LENGTHSCALE_DEVIATION**2)
    means.append(np.full(n_outputs, np.log(NOISE_SHARE * scales.target)))
    precisions.append(np.full(n_outputs, 1.0 / NOISE_DEVIATION**2))
    return Prior(np.concatenate(means), np.concatenate(precisions))


def rio_start(kernel: Kernel, n_outputs: int, scales: Scales) -> Array:
    """The model is right but for something smooth."""
    share = 0.5 * scales.target / len(kernel.terms)
    return _assemble(kernel, n_outputs, scales, {"input": share, "output": share}, share, 0.5 * scales.target)


def plain_gp_start(kernel: Kernel, n_outputs: int, scales: Scales) -> Array:
    """The model is useless."""
    stationary = {"input": scales.outcome, "output": 0.01 * scales.target}
    return _assemble(kernel, n_outputs, scales, stationary, scales.prediction**2, 0.01 * scales.outcome)


def unit_start(kernel: Kernel, n_outputs: int) -> Array:
    """All variances and lengthscales one: where the paper's experiments start."""
    return np.zeros(kernel.n_parameters + n_outputs)


def _assemble(
    kernel: Kernel, n_outputs: int, scales: Scales, stationary: dict[str, float], linear: float, noise: float
) -> Array:
    parts = []
    for term in kernel.terms:
        n_columns = term.stop - term.start
        spread = scales.of_columns(term)
        if term.family == "linear":
            parts.append(np.log(linear / spread**2))
        else:
            parts.append(np.log([stationary[term.part], *(LENGTHSCALE * np.sqrt(n_columns) * spread)]))
            parts.append(np.zeros(term.n_parameters - 1 - term.n_scales))
    return np.concatenate([*parts, np.full(n_outputs, np.log(noise))])


def bounds_of(kernel: Kernel, n_outputs: int, scales: Scales) -> Array:
    """Bounds of the log-parameters and log noise variances, shape (p, 2)."""
    low, high = [], []
    largest = max(scales.target, scales.outcome) if scales.model_can_be_beaten else scales.target
    for term in kernel.terms:
        spread = scales.of_columns(term)
        if term.family == "linear":
            low.append(1e-8 * scales.target / spread**2)
            high.append(1e4 * largest / spread**2)
        else:
            n_shapes = term.n_parameters - 1 - term.n_scales
            low.append(np.array([1e-8 * scales.target, *(1e-2 * spread), *[1e-2] * n_shapes]))
            high.append(np.array([1e4 * largest, *(1e4 * spread), *[1e3] * n_shapes]))
    low.append(np.full(n_outputs, 1e-6 * scales.target))
    high.append(np.full(n_outputs, 1e2 * largest))
    return np.asarray(np.log(np.column_stack([np.concatenate(low), np.concatenate(high)])))


def random_starts(start: Array, n_starts: int, rng: np.random.Generator) -> list[Array]:
    """Starts around a given one: each parameter times a log-normal factor."""
    return [np.asarray(start + rng.normal(size=start.shape)) for _ in range(n_starts)]
