"""The weak prior on hyperparameters, which settles what the data leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.starts import Scales

LENGTHSCALE_DEVIATION, NOISE_DEVIATION, NOISE_SHARE = 1.0, 1.0, 0.3
"""Standard deviations on the logarithms, and the noise that is expected as a share of the targets."""


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
        away = self.mean - x[: len(self.mean)]
        gradient = np.zeros_like(x)
        gradient[: len(self.mean)] = self.precision * away
        return float(-0.5 * (self.precision * away) @ away), gradient


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
