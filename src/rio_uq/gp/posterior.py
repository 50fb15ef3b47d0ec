"""What a trained GP knows: plain arrays in a frozen dataclass, and prediction from them.

With k = k(Z, c) the covariances of a new row with the m points, both kinds of GP predict by

    mean(c) = kᵀ W                    W: (m, q) weights
    var(c)  = k(c, c) − |R k|²        of the latent residual; an outcome adds the noise variance

R takes off the prior variance what the data tell. The exact GP has its training rows as points and R = L⁻¹ with
L Lᵀ = K + σ² I; for the sparse GP see `rio_uq.gp.inference.sparse.posterior`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import lower_product
from rio_uq.gp.inference.statistics import Evidence
from rio_uq.gp.kernels.io import Kernel, KernelAt
from rio_uq.gp.rows import Block, block_rows_for, walk


@dataclass(frozen=True)
class Posterior:
    """A trained GP.

    Attributes
    ----------
    kernel : Kernel
    theta : (n_parameters,) array
        Log-parameters of the kernel.
    noise_variance : (q,) array
    points : (m, D) array
        Training rows of the exact GP, inducing points of the sparse one.
    weights : (m, q) array
    reducers : tuple of (m, m) arrays
        The matrices R, one for each output.
    evidence : Evidence or None
        What it takes to add rows.
    """

    kernel: Kernel
    theta: Array
    noise_variance: Array
    points: Array
    weights: Array
    reducers: tuple[Array, ...]
    evidence: Evidence | None = None

    @cached_property
    def at(self) -> KernelAt:
        """The kernel at the points: made once, since a single row costs less than this."""
        return self.kernel.at(self.theta, self.points)

    @cached_property
    def is_triangular(self) -> bool:
        """Whether R is lower triangular, as that of the exact GP is: half the work."""
        return not any(np.triu(reducer, 1).any() for reducer in self.reducers)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("at", "is_triangular")}

    def reduced(self, cross: Array) -> Iterator[Array]:
        """R k of each output, for the columns k of ``cross``."""
        product = lower_product if self.is_triangular else np.matmul
        return (product(reducer, cross) for reducer in self.reducers)

    @property
    def n_outputs(self) -> int:
        return int(self.weights.shape[1])

    def of_terms(self, indices: Sequence[int]) -> Posterior:
        """The posterior of the sum of some of the kernel's terms alone."""
        kernel, theta = self.kernel.restricted(indices, self.theta)
        return replace(self, kernel=kernel, theta=theta, evidence=None)


def predict_mean(posterior: Posterior, rows: Array, *, n_jobs: int = 1) -> Array:
    """Posterior mean of the latent residual at each row, shape (n, q)."""
    return _predict(posterior, rows, n_jobs, with_variance=False)[0]


def predict(posterior: Posterior, rows: Array, *, n_jobs: int = 1) -> tuple[Array, Array]:
    """Posterior mean and variance of the latent residual at each row, both of shape (n, q).

    Rows are worked off in blocks: memory does not grow with n beyond the two results.
    """
    return _predict(posterior, rows, n_jobs, with_variance=True)


def _predict(posterior: Posterior, rows: Array, n_jobs: int, *, with_variance: bool) -> tuple[Array, Array]:
    mean = np.empty((len(rows), posterior.n_outputs))
    variance = np.empty_like(mean) if with_variance else mean
    kernel, at = posterior.kernel, posterior.at

    def work(span: int, blocks: list[Block]) -> None:
        for _, block in blocks:
            part = np.asarray(rows[block], dtype=float)
            cross = at.matrix(kernel.designs(part))
            mean[block] = cross.T @ posterior.weights
            if with_variance:
                prior = kernel.diagonal(posterior.theta, part)
                told = np.stack([_squared_norms(columns) for columns in posterior.reduced(cross)], axis=1)
                variance[block] = _clipped(prior[:, None] - told, prior)

    walk(len(rows), block_rows_for(len(posterior.points)), n_jobs, work)
    return mean, variance


def _squared_norms(columns: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", columns, columns))


def _clipped(variance: Array, prior: Array) -> Array:
    lowest = variance.min(initial=0.0)
    if lowest < -1e-6 * prior.max(initial=0.0):
        warnings.warn(
            f"a predicted variance was {lowest:.1e} (prior {prior.max():.1e}) and was set to zero: the kernel matrix "
            "is badly conditioned; remove duplicate rows or use fewer inducing points",
            RuntimeWarning,
            stacklevel=2,
        )
    return np.maximum(variance, 0.0)


def covariance(posterior: Posterior, rows: Array) -> Array:
    """Posterior covariance of the latent residual between rows, shape (q, n, n)."""
    cross = posterior.kernel.matrix(posterior.theta, posterior.points, rows)
    prior = posterior.kernel.matrix(posterior.theta, rows, rows)
    return condition(posterior, prior, cross)


def condition(posterior: Posterior, prior: Array, cross: Array) -> Array:
    """Posterior covariance (q, k, k) of k linear functionals of the latent residual.

    Parameters
    ----------
    prior : (k, k) array
        Their prior covariance.
    cross : (m, k) array
        Their prior covariance with the values at the points.
    """
    return np.stack([prior - part.T @ part for part in posterior.reduced(cross)])


def sample(posterior: Posterior, rows: Array, n_samples: int, rng: np.random.Generator) -> Array:
    """Joint draws of the latent residual at the rows, shape (n, q, n_samples)."""
    mean = predict_mean(posterior, rows)
    draws = np.empty((*mean.shape, n_samples))
    for output, matrix in enumerate(covariance(posterior, rows)):
        values, vectors = np.linalg.eigh(matrix)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        draws[:, output] = mean[:, [output]] + root @ rng.standard_normal((len(root), n_samples))
    return draws
