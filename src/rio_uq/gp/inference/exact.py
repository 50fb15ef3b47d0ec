"""The exact GP: log marginal likelihood, its gradient, posterior, leave-one-out.

For one output with targets r, write A = K + σ² D with D = diag(1/w), n' = Σ w_i and α = A⁻¹ r. A row of weight w
stands for w equal rows, whose likelihood is that of their mean with noise σ²/w, times what they have in excess:

    log p(r) = −½ rᵀα − ½ log|A| − n/2 log 2π − ½ (n' − n) log 2πσ² − ½ Σ_i log w_i

    ∂/∂K       = ½ (α αᵀ − A⁻¹)
    ∂/∂log σ²  = ½ σ² Σ_i (α_i² − [A⁻¹]_ii)/w_i − ½ (n' − n)

Several outputs share K, have a noise variance each, and add up. Where row i has the noise variance σ²/ρ_i, D is
diag(1/wρ), and ½ Σ_i (w_i − 1) log ρ_i is added.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import cholesky, log_determinant, lower_inverse, solve_lower, triangular_inverse
from rio_uq.gp.inference.statistics import ExactEvidence
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.symmetric import RowsMatrix
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.rows import Rows


class MarginalLikelihood:
    """log p(r) as a function of theta and noise, on fixed rows. It owns the (n, n) arrays that an evaluation works in.

    Examples
    --------
    >>> import numpy as np
    >>> from rio_uq.gp.kernels.io import io_kernel
    >>> from rio_uq.gp.rows import Rows
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> likelihood = MarginalLikelihood(io_kernel(2, 1), Rows(rows, np.sin(rows[:, :1])))
    >>> value, gradients = likelihood(np.zeros(4), np.log([0.1]))
    >>> [gradient.shape for gradient in gradients]
    [(4,), (1,)]
    """

    def __init__(self, kernel: Kernel, data: Rows) -> None:
        self.data = data
        self._matrix = RowsMatrix(kernel, data.rows)
        self._inverse_pull = _inverse_pull(data)
        self._work = np.empty_like(self._matrix.value)
        self._sum = np.empty_like(self._work) if data.n_outputs > 1 else None

    def __call__(self, theta: Array, log_noise: Array) -> tuple[float, tuple[Array, Array]]:
        """The value and its gradients with respect to theta and to the log noise variances (q,)."""
        data, per_pull = self.data, self._inverse_pull
        n = len(data)
        excess = data.total_weight - n
        value = 0.5 * data.n_outputs * (float(np.log(per_pull).sum()) + data.log_precision - n * np.log(2.0 * np.pi))
        alphas = np.empty_like(data.targets, dtype=float)
        by_log_noise = np.empty(data.n_outputs)
        matrix = self._matrix.fill(theta)
        for output, noise in enumerate(np.exp(log_noise)):
            r = data.targets[:, output]
            factor = _factor(matrix, noise * per_pull, out=self._work)
            alphas[:, output] = alpha = _solve(factor, r)
            value -= 0.5 * (r @ alpha + log_determinant(factor) + excess * np.log(2.0 * np.pi * noise))
            precision = lower_inverse(factor, overwrite=True)
            by_log_noise[output] = 0.5 * (noise * (per_pull @ (alpha**2 - precision.diagonal())) - excess)
            if self._sum is not None:
                np.add(precision, self._sum if output else 0.0, out=self._sum)
        by_theta = self._matrix.pullback(alphas, precision if self._sum is None else self._sum)
        return float(value), (by_theta, by_log_noise)


def log_marginal_likelihood(
    kernel: Kernel, theta: Array, log_noise: Array, data: Rows
) -> tuple[float, tuple[Array, Array]]:
    """log p(r) and its gradients, once."""
    return MarginalLikelihood(kernel, data)(theta, log_noise)


def posterior(kernel: Kernel, theta: Array, log_noise: Array, data: Rows) -> Posterior:
    """The exact posterior: its points are the rows, its weights α, and R = L⁻¹ with A = L Lᵀ."""
    noise_variance = np.exp(log_noise)
    factors = _factors(kernel, theta, noise_variance, data)
    weights = np.stack([_solve(factor, r) for factor, r in zip(factors, data.targets.T, strict=True)], axis=1)
    reducers = tuple(triangular_inverse(factor) for factor in factors)
    points, evidence = np.array(data.rows, dtype=float), _gather(noise_variance, data)
    return Posterior(kernel, theta, noise_variance, points, weights, reducers, evidence)


def _gather(noise_variance: Array, data: Rows) -> ExactEvidence:
    targets = np.array(data.targets, dtype=float)
    pull = np.ones(len(data)) if data.pull is None else np.array(data.pull, dtype=float)
    return ExactEvidence(noise_variance, targets, pull, data.total_weight, data.log_precision)


def extended(known: Posterior, evidence: ExactEvidence, data: Rows) -> Posterior:
    """The posterior of the rows that are known and of further ones, without factorising A again.

    With C = k(new, known) and E = k(new, new) + σ² D of the new rows, the factor of the larger matrix has the old one
    in its corner, and its inverse R follows block by block:

        [A  Cᵀ]   [L  0] [Lᵀ Mᵀ]                                          [ R          0  ]
        [C  E ] = [M  N] [0  Nᵀ]    M = C Rᵀ    N Nᵀ = E − M Mᵀ      R' = [−N⁻¹ M R   N⁻¹]

    and α = R'ᵀ R' r of all rows. k new rows cost O(n² k) instead of O(n³).
    """
    added = _gather(evidence.noise_variance, data)
    targets = np.vstack([evidence.targets, added.targets])
    cross = known.kernel.matrix(known.theta, data.rows, known.points)
    prior = known.kernel.matrix(known.theta, data.rows, data.rows)
    reducers, weights = [], []
    for reducer, noise, r in zip(known.reducers, evidence.noise_variance, targets.T, strict=True):
        told = cross @ reducer.T
        new = triangular_inverse(_factor(prior - told @ told.T, noise / added.pull))
        grown = np.block([[reducer, np.zeros(cross.T.shape)], [-new @ told @ reducer, new]])
        reducers.append(grown)
        weights.append(grown.T @ (grown @ r))
    everything = ExactEvidence(
        evidence.noise_variance,
        targets,
        np.concatenate([evidence.pull, added.pull]),
        evidence.total_weight + added.total_weight,
        evidence.log_precision + added.log_precision,
    )
    return replace(
        known,
        points=np.vstack([known.points, data.rows]),
        weights=np.stack(weights, axis=1),
        reducers=tuple(reducers),
        evidence=everything,
    )


def likelihood_of(reducers: tuple[Array, ...], evidence: ExactEvidence) -> float:
    """log p(r) of the rows behind a posterior, with rᵀα = |R r|² and log|A| = −2 Σ log R_ii."""
    n, q = evidence.targets.shape
    excess = evidence.total_weight - n
    value: float = 0.5 * q * float(evidence.log_precision - np.log(evidence.pull).sum() - n * np.log(2.0 * np.pi))
    for reducer, noise, r in zip(reducers, evidence.noise_variance, evidence.targets.T, strict=True):
        misfit = float(((reducer @ r) ** 2).sum())
        value += float(np.log(reducer.diagonal()).sum() - 0.5 * (misfit + excess * np.log(2.0 * np.pi * noise)))
    return value


def leave_one_out(known: Posterior, evidence: ExactEvidence) -> tuple[Array, Array]:
    """What the GP says of each row's outcome without that row, at fixed hyperparameters.

    In closed form, with α = A⁻¹r and A⁻¹ = RᵀR: the residual r_i − mean_i is α_i/[A⁻¹]_ii, and the variance of the
    latent value is 1/[A⁻¹]_ii − σ²/(w_i ρ_i).

    Returns
    -------
    residual, variance : (n, q) arrays
        Target minus leave-one-out mean, and the leave-one-out variance of the latent value (without noise).
    """
    left_out = np.stack([1.0 / np.einsum("ij,ij->j", reducer, reducer) for reducer in known.reducers], axis=1)
    variance = np.maximum(left_out - evidence.noise_variance / evidence.pull[:, None], 0.0)
    return known.weights * left_out, variance


def _factors(kernel: Kernel, theta: Array, noise_variance: Array, data: Rows) -> list[Array]:
    matrix = RowsMatrix(kernel, data.rows).fill(theta)
    return [_factor(matrix, noise * _inverse_pull(data)) for noise in noise_variance]


def _inverse_pull(data: Rows) -> Array:
    return np.ones(len(data)) if data.pull is None else 1.0 / data.pull


def _factor(matrix: Array, noise: Array, out: Array | None = None) -> Array:
    return cholesky(matrix, diagonal=matrix.diagonal() + noise, out=out)[0]


def _solve(factor: Array, right: Array) -> Array:
    half = solve_lower(factor, right[:, None])
    return solve_lower(factor, half, transposed=True)[:, 0]
