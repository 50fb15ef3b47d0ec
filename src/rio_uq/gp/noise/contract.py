"""The contract of a noise model.

A new noise model is one file with a class that answers to `Noise` and a function that answers to `FitNoise`, and an
entry in `rio_uq.gp.noise.NOISES`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior


class Response(NamedTuple):
    """The outcomes of rows as inference takes them: Gaussian, with the noise variance σ²/precision.

    Attributes
    ----------
    targets : (n, q) array
    precision : (n,) array or None
        None where all are one.
    """

    targets: Array
    precision: Array | None = None


class Noise(Protocol):
    """The distribution of outcomes around the latent value, as a function of scaled rows.

    Attributes
    ----------
    varies : bool
        Whether it depends on the row.
    """

    @property
    def varies(self) -> bool: ...

    def response(self, rows: Array, targets: Array, posterior: Posterior) -> Response:
        """Response and precision of rows (n, D) with their targets (n, q), which are new to a posterior."""

    def variance(self, rows: Array, level: Array, n_jobs: int = 1) -> Array:
        """Noise variance at each row, shape (n, q), from that of a typical row (q,)."""


class LearntNoise(NamedTuple):
    """The noise model of one output, and what it says of the rows that it was learnt from; in units of the noise
    variance of that output.

    Attributes
    ----------
    noise : Noise
    level : float
        Noise variance of a typical row.
    left_out : (n,) array
        Noise variance at each row, as it would be without that row.
    """

    noise: Noise
    level: float
    left_out: Array


class FitNoise(Protocol):
    """How the noise model of one output is learnt."""

    def __call__(
        self,
        posterior: Posterior,
        data: Observations,
        n_inputs: int,
        residual: Array,
        latent: Array,
        rng: np.random.Generator,
    ) -> LearntNoise:
        """Learn from leave-one-out residuals and latent variances (n,), in units of the output's noise variance."""
