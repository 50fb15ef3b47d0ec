"""The posterior: plain arrays in a frozen dataclass, and prediction from them.

With k = k(Z, c) the covariances of a new row with the m points, both kinds of GP predict by

    mean(c) = kᵀ W                    W: (m, q) weights
    var(c)  = k(c, c) − |R k|²        of the latent residual; an outcome adds the noise variance

The variance factors R take off the prior variance what the data explain. The exact GP has its training rows as points
and R = L⁻¹ with L Lᵀ = K + σ² I; for the sparse GP see `rio_uq.gp.inference.sparse`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq._base.warnings import warn_user
from rio_uq.gp.backend.linalg import lower_product
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.backend.walking import Block, block_rows_for, walk
from rio_uq.gp.kernels.io import Kernel, KernelAt

if TYPE_CHECKING:
    from rio_uq._base.summand import Summand
    from rio_uq.gp.inference.contract import Statistics
    from rio_uq.gp.observations import Observations


class Member(NamedTuple):
    """A posterior, and its share of an average."""

    share: float
    posterior: Posterior


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
    variance_factors : tuple of (m, m) arrays
        The matrices R, one for each output.
    statistics : Statistics or None
        Sufficient statistics of its rows, to which further ones can be added.

    Examples
    --------
    Rows that are added give the posterior of all rows:

    >>> import numpy as np
    >>> from rio_uq.gp.inference import exact
    >>> from rio_uq.gp.kernels.io import io_kernel
    >>> from rio_uq.gp.observations import Observations
    >>> rows = np.random.default_rng(0).normal(size=(30, 3))
    >>> targets, kernel, log_noise = np.sin(rows[:, :1]), io_kernel(2, 1), np.log([0.1])
    >>> whole = exact.posterior(kernel, np.zeros(4), log_noise, Observations(rows, targets))
    >>> first = exact.posterior(kernel, np.zeros(4), log_noise, Observations(rows[:20], targets[:20]))
    >>> both = first.with_rows(Observations(rows[20:], targets[20:]))
    >>> bool(np.allclose(predict_mean(both, rows), predict_mean(whole, rows)))
    True
    """

    kernel: Kernel
    theta: Array
    noise_variance: Array
    points: Array
    weights: Array
    variance_factors: tuple[Array, ...]
    statistics: Statistics | None = None

    predicts_from_points: ClassVar[bool] = True
    """Whether points, weights and variance factors are all that predictions need."""

    @property
    def members(self) -> tuple[Member, ...]:
        """The posteriors that it is the average of: itself, unless hyperparameters are averaged over."""
        return (Member(1.0, self),)

    @cached_property
    def at(self) -> KernelAt:
        """The kernel at the points: made once, since a single row costs less than this."""
        return self.kernel.at(self.theta, self.points)

    @cached_property
    def is_triangular(self) -> bool:
        """Whether R is lower triangular, as that of the exact GP is: half the work."""
        return not any(np.triu(factor, 1).any() for factor in self.variance_factors)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("at", "is_triangular")}

    def reduced(self, cross: Array) -> Iterator[Array]:
        """R k of each output, for the columns k of ``cross``."""
        product = lower_product if self.is_triangular else np.matmul
        return (product(factor, cross) for factor in self.variance_factors)

    def moments(self, rows: Array, n_jobs: int, *, with_variance: bool) -> tuple[Array, Array]:
        """Mean and, if asked for, variance of the latent residual at each row, (n, q) each."""
        mean = np.empty((len(rows), self.n_outputs))
        variance = np.empty_like(mean) if with_variance else mean
        kernel, at = self.kernel, self.at

        def work(span: int, blocks: list[Block]) -> list[tuple[float, float]]:
            """Fill in the blocks; lowest variance and largest prior variance of those negative beyond rounding."""
            negative = []
            for _, block in blocks:
                part = np.asarray(rows[block], dtype=float)
                cross = at.matrix(kernel.designs(part))
                mean[block] = cross.T @ self.weights
                if with_variance:
                    prior = kernel.diagonal(self.theta, part)
                    explained = np.stack([_squared_norms(columns) for columns in self.reduced(cross)], axis=1)
                    unexplained = prior[:, None] - explained
                    variance[block] = np.maximum(unexplained, 0.0)
                    lowest, largest = float(unexplained.min(initial=0.0)), float(prior.max(initial=0.0))
                    if lowest < -1e-6 * largest:
                        negative.append((lowest, largest))
            return negative

        spans = walk(len(rows), block_rows_for(len(self.points)), n_jobs, work)
        negative = [pair for span in spans for pair in span]
        if negative:
            lowest, largest = min(negative)
            warn_user(
                f"a predicted variance was {lowest:.1e} (prior {largest:.1e}) and was set to zero: the kernel matrix "
                "is badly conditioned; remove duplicate rows or use fewer inducing points",
                RuntimeWarning,
            )
        return mean, variance

    def covariance(self, rows: Array) -> Array:
        """Covariance of the latent residual between rows, shape (q, n, n)."""
        cross = self.kernel.matrix(self.theta, self.points, rows)
        return condition(self, self.kernel.matrix(self.theta, rows, rows), cross)

    @property
    def n_outputs(self) -> int:
        return int(self.weights.shape[1])

    def of_terms(self, indices: Sequence[int]) -> Posterior:
        """The posterior of the sum of some of the kernel's terms alone."""
        kernel, theta = self.kernel.restricted(indices, self.theta)
        return replace(self, kernel=kernel, theta=theta, statistics=None)

    def of_rows(self, data: Observations) -> Posterior:
        """The posterior of other rows alone, at the same hyperparameters and inducing points."""
        with single_blas_thread:
            return self._statistics.of_rows(self, data)

    def with_rows(self, data: Observations) -> Posterior:
        """The posterior of its rows and of further ones.

        The noise variance may have been set to another one than that of the likelihood: it stays, and new rows are
        weighed by that of the likelihood, as the old ones were.
        """
        with single_blas_thread:
            return self._statistics.with_rows(self, data)

    def leave_one_out(self, data: Observations) -> tuple[Array, Array]:
        """Leave-one-out residuals and latent variances, each (n, q), of the rows behind it."""
        with single_blas_thread:
            return self._statistics.leave_one_out(self, data)

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the rows behind it, or its lower bound."""
        return self._statistics.log_likelihood(self)

    @property
    def total_weight(self) -> float:
        """Σ w_i of the rows behind it."""
        return self._statistics.total_weight

    @property
    def likelihood_noise(self) -> Array:
        """The noise variances (q,) by which its rows are weighed; those of new outcomes may be others."""
        return self._statistics.noise_variance

    @property
    def sums(self) -> Summand:
        """All that it needs of the rows behind it, such that those of further rows can be added."""
        return self._statistics.sums

    def sums_of(self, data: Observations) -> Summand:
        """The same sums of other rows, such that both can be added."""
        with single_blas_thread:
            return self._statistics.sums_of(self, data)

    def with_sums(self, sums: Any) -> Posterior:
        """The posterior of the rows behind these sums, and no others."""
        with single_blas_thread:
            return self._statistics.with_sums(self, sums)

    @property
    def _statistics(self) -> Statistics:
        if self.statistics is None:
            raise ValueError("rows cannot be added to a posterior, nor left out, without their sufficient statistics")
        return self.statistics


def predict_mean(posterior: Posterior, rows: Array, *, n_jobs: int = 1) -> Array:
    """Posterior mean of the latent residual at each row, shape (n, q)."""
    return posterior.moments(rows, n_jobs, with_variance=False)[0]


def predict(posterior: Posterior, rows: Array, *, n_jobs: int = 1) -> tuple[Array, Array]:
    """Posterior mean and variance of the latent residual at each row, both of shape (n, q).

    Rows are worked off in blocks: memory does not grow with n beyond the two results.
    """
    return posterior.moments(rows, n_jobs, with_variance=True)


def _squared_norms(columns: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", columns, columns))


def covariance(posterior: Posterior, rows: Array) -> Array:
    """Posterior covariance of the latent residual between rows, shape (q, n, n)."""
    return posterior.covariance(rows)


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
