"""The weak prior on hyperparameters, which settles what the data leave open.

Logarithms of lengthscales and of noise variances are normal. The standard deviation √v of a term of the kernel, in
units of that of the targets, is exponential: the density falls from "the model is right and the residual is noise", at
√v = 0, and each further standard deviation that a correction claims for itself costs λ nats,

    log p(log v) = ½ log v − λ √v + const        d/dlog v = ½ − ½ λ √v

The term ½ log v, of the change from √v to log v, keeps the optimum from v = 0, which no gradient leads away from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.starts import Scales

LENGTHSCALE_DEVIATION, NOISE_DEVIATION, NOISE_SHARE = 1.0, 1.0, 0.3
"""Standard deviations on the logarithms, and the noise that is expected as a share of the targets."""

RATE = 1.0
"""λ. Few rows with nothing to learn are better off with a larger one, smooth trends in many rows with a smaller one."""


@dataclass(frozen=True)
class Prior:
    """Independent priors on the log-parameters and log noise variances.

    With one lengthscale for each feature and few rows, the likelihood alone has optima that memorise: features that
    matter by chance, noise that has vanished. A prior this weak decides only where the data do not.

    Attributes
    ----------
    mean, precision : (p,) arrays
        Of normal priors; zero precision where there is none.
    rate : (p,) array
        λ of variances, in the unit of √v; zero where there is none.
    """

    mean: Array
    precision: Array
    rate: Array

    @classmethod
    def flat(cls, n_parameters: int) -> Prior:
        return cls(*np.zeros((3, n_parameters)))

    @cached_property
    def is_flat(self) -> bool:
        return not (self.precision.any() or self.rate.any())

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Log density up to a constant, and its gradient."""
        if self.is_flat:
            return 0.0, np.zeros_like(x)
        log = x[: len(self.mean)]
        away, claim = self.mean - log, self.rate * np.exp(0.5 * log)
        gradient = np.zeros_like(x)
        gradient[: len(self.mean)] = self.precision * away + 0.5 * (self.rate > 0.0) - 0.5 * claim
        value = -0.5 * (self.precision * away) @ away + 0.5 * log[self.rate > 0.0].sum() - claim.sum()
        return float(value), gradient

    def curvature(self, x: Array) -> Array:
        """Minus the second derivatives of the log density, (p,)."""
        return np.asarray(self.precision + 0.25 * self.rate * np.exp(0.5 * x[: len(self.mean)]))


def weak_prior(kernel: Kernel, n_outputs: int, scales: Scales) -> Prior:
    """Lengthscales around √d of the spread of their columns, noise around a third of the targets, each give or take;
    variances no larger than they have to be.
    """
    means, precisions, rates = [], [], []
    for term in kernel.terms:
        spread = scales.of_columns(term)
        names = np.array(term.parameter_names)
        mean, rate = np.zeros((2, term.n_parameters))
        is_lengthscale = names == "lengthscale"
        mean[is_lengthscale] = np.log(np.sqrt(term.stop - term.start) * spread) if is_lengthscale.any() else []
        rate[names == "variance"] = RATE / np.sqrt(scales.target)
        rate[names == "slope_variance"] = RATE * spread / np.sqrt(scales.target) if "slope_variance" in names else []
        means.append(mean)
        precisions.append(is_lengthscale / LENGTHSCALE_DEVIATION**2)
        rates.append(rate)
    means.append(np.full(n_outputs, np.log(NOISE_SHARE * scales.target)))
    precisions.append(np.full(n_outputs, 1.0 / NOISE_DEVIATION**2))
    rates.append(np.zeros(n_outputs))
    return Prior(np.concatenate(means), np.concatenate(precisions), np.concatenate(rates))
