"""What rows have told a GP at fixed hyperparameters, kept so that more rows can be added."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rio_uq._base.array import Array


class Statistics(NamedTuple):
    """All that the sparse GP needs of the rows, for q outputs: sums, so those of two sets of rows add up."""

    phi: Array  # (m, m); V if whitened
    b: Array  # (m, q); β if whitened
    s: Array  # (q,)
    t: float
    n: float
    log_precision: float = 0.0

    @classmethod
    def of_no_rows(cls, n_points: int, n_outputs: int) -> Statistics:
        return cls(np.zeros((n_points, n_points)), np.zeros((n_points, n_outputs)), np.zeros(n_outputs), 0.0, 0.0)

    def whitened(self, whitener: Array) -> Statistics:
        """With V and β for Φ and b, given L⁻¹."""
        return self._replace(phi=whitener @ self.phi @ whitener.T, b=whitener @ self.b)

    def plus(self, other: Statistics) -> Statistics:
        """Of both sets of rows."""
        return Statistics(
            self.phi + other.phi,
            self.b + other.b,
            self.s + other.s,
            self.t + other.t,
            self.n + other.n,
            self.log_precision + other.log_precision,
        )


class SparseEvidence(NamedTuple):
    """Of a sparse GP.

    Attributes
    ----------
    noise_variance : (q,) array
        Of the likelihood.
    sums : Statistics
        Of rows that were whitened before they were summed up: sums of Φ would lose V in their rounding.
    jitter : float
        That of the whitening, which further rows have to share.
    """

    noise_variance: Array
    sums: Statistics
    jitter: float


class ExactEvidence(NamedTuple):
    """Of an exact GP, whose posterior holds the rows themselves.

    Attributes
    ----------
    noise_variance : (q,) array
        Of the likelihood.
    targets : (n, q) array
    pull : (n,) array
        Weight times precision of each row.
    total_weight, log_precision : float
        Σ w_i and Σ w_i log ρ_i.
    """

    noise_variance: Array
    targets: Array
    pull: Array
    total_weight: float
    log_precision: float


Evidence = SparseEvidence | ExactEvidence
