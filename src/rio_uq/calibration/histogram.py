"""Histograms that go from one that is given as far to that of the data as there is evidence for.

With masses w_j of bins that are given, counts n_j of n rows, and masses drawn from a Dirichlet distribution with the
parameters A w_j, the expected masses are

    (n_j + A w_j)/(n + A)

and the log evidence over the given masses is log Γ(A)/Γ(A + n) + Σ_j (log Γ(A w_j + n_j)/Γ(A w_j) − n_j log w_j). The
likeliest of some A is taken.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from rio_uq._base.array import Array

MIDDLE = 1.0 - np.arange(1, 10) / 10.0
FINEST, STEPS_PER_DECADE = 12, 4
"""Edges of bins of a tail probability: tenths, and so many for each power of ten below, down to the least."""

PRIOR_ROWS, LEAST_PRIOR = (4.0, 1.0, 0.25, 0.0625), 10.0
"""Values of A in units of n, and the least one."""

EVIDENCE = 3.0
"""Log evidence that a histogram needs over the masses that are given."""


def edges_down_to(tail: float) -> Array:
    """Inner edges of bins of a tail probability, descending from one, as fine as the least one is small."""
    finer = 10.0 ** (-np.arange(STEPS_PER_DECADE + 1, FINEST * STEPS_PER_DECADE) / STEPS_PER_DECADE)
    return np.concatenate([MIDDLE, finer[finer >= tail]])


def likeliest_masses(masses: Array, counts: Array) -> tuple[Array, float]:
    """Masses of bins and the evidence for them; those that are given and zero, if there is too little."""
    total = float(counts.sum())

    def evidence(prior: float) -> float:
        of_bins = gammaln(prior * masses + counts) - gammaln(prior * masses) - counts * np.log(masses)
        return float(gammaln(prior) - gammaln(prior + total) + of_bins.sum())

    gain, prior = max((evidence(prior), prior) for prior in (max(n * total, LEAST_PRIOR) for n in PRIOR_ROWS))
    return ((counts + prior * masses) / (total + prior), gain) if gain > EVIDENCE else (masses, 0.0)
