"""Where the optimiser starts, and the bounds it keeps to.

The likelihood has several optima, and one start finds the nearest one only. Three are worth a visit:

- the *RIO* start: the model is right but for something smooth; half of the residual is noise;
- the *plain GP* start: the model is useless. The linear output kernel is wide enough to take all of ŷ back, the
  input kernel as wide as y itself, and there is little noise. From here the optimiser finds the GP that one would
  have fitted to y without the model, if that one is better;
- the *rough* start: the RIO start with short lengthscales, for what changes from one row to the next.

A start is a vector of the kernel's log-parameters followed by the log noise variances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array, Mask
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.terms import Term
from rio_uq.gp.observations import Observations

LENGTHSCALE = 0.5
"""Lengthscales start at this times √d of the spread. From half of √d more optima were found than from √d."""

SHORTER = 0.1
"""Factor on lengthscales where something rough is looked for."""

NOTHING_LEFT = 1e6
"""A model leaves nothing of y if the mean square of y is more than this times that of the residual."""


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
    def of(cls, data: Observations, n_inputs: int, prediction: float) -> Scales:
        spread = np.sqrt(data.moments / data.total_effective_weight)
        weight = np.ones(len(data)) if data.weight is None else data.weight
        target = float(np.average((data.targets**2).mean(axis=1), weights=weight))
        outcomes = data.targets + prediction * data.rows[:, n_inputs:] if prediction else data.targets
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


def rio_start(kernel: Kernel, n_outputs: int, scales: Scales) -> Array:
    """The model is right but for something smooth."""
    share = 0.5 * scales.target / len(kernel.terms)
    return _assemble(kernel, n_outputs, scales, {"input": share, "output": share}, share, 0.5 * scales.target)


def plain_gp_start(kernel: Kernel, n_outputs: int, scales: Scales) -> Array:
    """The model is useless."""
    stationary = {"input": scales.outcome, "output": 0.01 * scales.target}
    return _assemble(kernel, n_outputs, scales, stationary, scales.prediction**2, 0.01 * scales.outcome)


def rough_start(kernel: Kernel, start: Array) -> Array:
    """A start with shorter lengthscales: where a function is rough, long ones lead to the optimum at which it is
    nothing but noise.
    """
    is_length = [name == "lengthscale" for term in kernel.terms for name in term.parameter_names]
    shift = np.concatenate([is_length, np.zeros(len(start) - len(is_length))])
    return np.asarray(start + np.log(SHORTER) * shift)


def in_other_units(kernel: Kernel, x: Array, old: Array, new: Array) -> Array:
    """The same GP on targets in units ``new`` (q,) instead of ``old``; outputs share the kernel, which takes the mean
    of the logarithms.
    """
    factor = 2.0 * np.log(old / new)
    return np.asarray(x + np.concatenate([factor.mean() * _is_variance(kernel), factor]))


def without_signal(kernel: Kernel, x: Array, bounds: Array, noise: Array) -> Array:
    """x with the least variances within the bounds, and with noise variances (q,): a GP that has learnt nothing."""
    nothing = np.concatenate([x[: -len(noise)], np.log(np.maximum(noise, np.finfo(float).tiny))])
    is_variance = np.concatenate([_is_variance(kernel), np.zeros(len(noise), dtype=bool)])
    return np.clip(np.where(is_variance, bounds[:, 0], nothing), *bounds.T)


def _is_variance(kernel: Kernel) -> Mask:
    names = [name for term in kernel.terms for name in term.parameter_names]
    return np.array([name in ("variance", "slope_variance") for name in names])


def unit_start(kernel: Kernel, n_outputs: int) -> Array:
    """All variances and lengthscales one: where the paper's experiments start."""
    return np.zeros(kernel.n_parameters + n_outputs)


def _assemble(
    kernel: Kernel, n_outputs: int, scales: Scales, variance: dict[str, float], slope: float, noise: float
) -> Array:
    """A start from the variances of stationary terms by their part, of slopes, and of the noise."""

    def of_term(term: Term) -> Array:
        spread = scales.of_columns(term)
        lengthscale = LENGTHSCALE * np.sqrt(term.stop - term.start) * spread
        return _parameters(term, variance[term.part], slope / spread**2, lengthscale, 1.0)

    return np.concatenate([*(np.log(of_term(term)) for term in kernel.terms), np.full(n_outputs, np.log(noise))])


def bounds_of(kernel: Kernel, n_outputs: int, scales: Scales) -> Array:
    """Bounds of the log-parameters and log noise variances, shape (p, 2)."""
    low, high = [], []
    largest = max(scales.target, scales.outcome) if scales.model_can_be_beaten else scales.target
    for term in kernel.terms:
        spread = scales.of_columns(term)
        low.append(_parameters(term, 1e-8 * scales.target, 1e-8 * scales.target / spread**2, 1e-2 * spread, 1e-2))
        high.append(_parameters(term, 1e4 * largest, 1e4 * largest / spread**2, 1e4 * spread, 1e3))
    low.append(np.full(n_outputs, 1e-6 * scales.target))
    high.append(np.full(n_outputs, 1e2 * largest))
    return np.asarray(np.log(np.column_stack([np.concatenate(low), np.concatenate(high)])))


def _parameters(term: Term, variance: float, slope_variance: Array, lengthscale: Array, shape: float) -> Array:
    """Those of the values that are parameters of the term, in their order."""
    values: dict[str, float | Array] = {
        "variance": variance,
        "slope_variance": slope_variance,
        "lengthscale": lengthscale,
        "shape": shape,
    }
    return np.concatenate([np.atleast_1d(values[name]) for name in dict.fromkeys(term.parameter_names)])


def random_starts(start: Array, n_starts: int, rng: np.random.Generator) -> list[Array]:
    """Starts around a given one: each parameter times a log-normal factor."""
    return [np.asarray(start + rng.normal(size=start.shape)) for _ in range(n_starts)]
