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

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, NoReturn

import numpy as np
from scipy.linalg.blas import dsyr

from rio_uq._base.array import Array
from rio_uq._base.warnings import warn_user
from rio_uq.gp.backend.linalg import cholesky, log_determinant, lower_inverse, solve_lower, triangular_inverse
from rio_uq.gp.backend.memory import GIB, memory_of_machine
from rio_uq.gp.inference.collapsed import Sums
from rio_uq.gp.inference.contract import Objective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.kernels.symmetric import RowsMatrix
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search, maximize_with_prior
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings

MUCH = 4 * GIB
"""Memory above which further rows are added with a warning."""

EXPLORING_ROWS = 1000
"""On which starts are compared, at most."""


def memory_needed(n_rows: int, n_outputs: int) -> int:
    """Bytes of the kernel matrix, and of a factor for each output, at least."""
    return 8 * n_rows**2 * (n_outputs + 1)


def check_memory(n_rows: int, n_outputs: int) -> None:
    """Raise before anything is allocated, if the matrices could not be in memory."""
    needed, there = memory_needed(n_rows, n_outputs), memory_of_machine()
    if needed > there:
        raise ValueError(
            f"an exact GP of {n_rows:,} rows needs {needed / GIB:.1f} GiB for its matrices, and this machine has "
            f"{there / GIB:.1f} GiB: fit anew to all rows with inference='sparse', whose memory does not grow with them"
        )


class MarginalLikelihood:
    """log p(r) as a function of theta and noise, on fixed rows. It owns the (n, n) arrays that an evaluation works in.

    Examples
    --------
    >>> import numpy as np
    >>> from rio_uq.gp.kernels.io import io_kernel
    >>> from rio_uq.gp.observations import Observations
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> likelihood = MarginalLikelihood(io_kernel(2, 1), Observations(rows, np.sin(rows[:, :1])))
    >>> value, gradients = likelihood(np.zeros(4), np.log([0.1]))
    >>> [gradient.shape for gradient in gradients]
    [(4,), (1,)]
    """

    def __init__(self, kernel: Kernel, data: Observations) -> None:
        self.data = data
        self._matrix = RowsMatrix(kernel, data.rows)
        self._inverse_weight = _inverse_weight(data)
        self._excess = data.total_weight - len(data)
        of_rows = float(np.log(self._inverse_weight).sum()) + data.log_precision
        self._constant = 0.5 * data.n_outputs * (of_rows - len(data) * float(np.log(2.0 * np.pi)))
        self._work = np.empty_like(self._matrix.value)
        self._sum = np.empty_like(self._work) if data.n_outputs > 1 else None

    def __call__(self, theta: Array, log_noise: Array) -> tuple[float, tuple[Array, Array]]:
        """The value and its gradients with respect to theta and to the log noise variances (q,)."""
        data, inverse_weight, excess = self.data, self._inverse_weight, self._excess
        value = self._constant
        by_log_noise = np.empty(data.n_outputs)
        for output, (noise, factor, alpha) in enumerate(self._solved(theta, log_noise)):
            value += self._of_output(output, noise, factor, alpha)
            precision = lower_inverse(factor, overwrite=True)
            adjoint = dsyr(-1.0, alpha, lower=1, a=precision, overwrite_a=1)  # A⁻¹ − ααᵀ
            by_log_noise[output] = -0.5 * (noise * (inverse_weight @ adjoint.diagonal()) + excess)
            if self._sum is not None:
                np.add(adjoint, self._sum if output else 0.0, out=self._sum)
        by_theta = -self._matrix.pullback(adjoint if self._sum is None else self._sum)
        return float(value), (by_theta, by_log_noise)

    def value(self, theta: Array, log_noise: Array) -> float:
        """Without the gradients, for less than half of the work."""
        solved = enumerate(self._solved(theta, log_noise))
        return self._constant + sum(self._of_output(output, *solution) for output, solution in solved)

    def weights(self, theta: Array, log_noise: Array) -> Array:
        """α of each output, (n, q)."""
        return np.stack([alpha for _, _, alpha in self._solved(theta, log_noise)], axis=1)

    def _solved(self, theta: Array, log_noise: Array) -> Iterator[tuple[float, Array, Array]]:
        """σ², the factor of A and α of each output, one after the other in the same memory."""
        matrix = self._matrix.fill(theta)
        for noise, r in zip(np.exp(log_noise).tolist(), self.data.targets.T, strict=True):
            factor = _factor(matrix, noise * self._inverse_weight, out=self._work)
            yield noise, factor, _solve(factor, r)

    def _of_output(self, output: int, noise: float, factor: Array, alpha: Array) -> float:
        """What an output adds to the value."""
        misfit = float(self.data.targets[:, output] @ alpha)
        return -0.5 * (misfit + log_determinant(factor) + self._excess * float(np.log(2.0 * np.pi * noise)))


def posterior(kernel: Kernel, theta: Array, log_noise: Array, data: Observations) -> Posterior:
    """The exact posterior: its points are the rows, its weights α, and R = L⁻¹ with A = L Lᵀ."""
    return posterior_of(kernel, theta, np.exp(log_noise), data)


def posterior_of(kernel: Kernel, theta: Array, noise_variance: Array, data: Observations) -> Posterior:
    """The same from noise variances."""
    return ExactStatistics.of(noise_variance, data).posterior(kernel, theta, np.array(data.rows, dtype=float))


class ExactStatistics(NamedTuple):
    """The targets and weights of the rows, which are the points of the posterior.

    Attributes
    ----------
    noise_variance : (q,) array
        Of the likelihood.
    targets : (n, q) array
    effective_weight : (n,) array
        w_i ρ_i, weight times precision of each row.
    total_weight, log_precision : float
        Σ w_i and Σ w_i log ρ_i.
    """

    noise_variance: Array
    targets: Array
    effective_weight: Array
    total_weight: float
    log_precision: float

    @property
    def kind(self) -> str:
        return "exact"

    @classmethod
    def of(cls, noise_variance: Array, data: Observations) -> ExactStatistics:
        targets = np.array(data.targets, dtype=float)
        weight = np.ones(len(data)) if data.effective_weight is None else np.array(data.effective_weight, dtype=float)
        return cls(noise_variance, targets, weight, data.total_weight, data.log_precision)

    def posterior(self, kernel: Kernel, theta: Array, points: Array) -> Posterior:
        """Of these rows, with the points (n, D) as their places."""
        matrix, inverse_weight = RowsMatrix(kernel, points).fill(theta), 1.0 / self.effective_weight
        factors = [_factor(matrix, noise * inverse_weight) for noise in self.noise_variance]
        weights = np.stack([_solve(factor, r) for factor, r in zip(factors, self.targets.T, strict=True)], axis=1)
        variance_factors = tuple(triangular_inverse(factor) for factor in factors)
        return Posterior(kernel, theta, self.noise_variance, points, weights, variance_factors, self)

    @property
    def sums(self) -> Sums:
        _refuse_parts()

    def sums_of(self, posterior: Posterior, data: Observations) -> Sums:
        _refuse_parts()

    def with_sums(self, posterior: Posterior, sums: Sums) -> Posterior:
        _refuse_parts()

    def of_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        return posterior_of(posterior.kernel, posterior.theta, self.noise_variance, data)

    def with_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        """Without factorising A again: with C = k(new, old) and E = k(new, new) + σ² D of the new rows, the factor of
        the larger matrix has the old one in its corner, and its inverse R follows block by block:

            [A  Cᵀ]   [L  0] [Lᵀ Mᵀ]                                          [ R          0  ]
            [C  E ] = [M  N] [0  Nᵀ]    M = C Rᵀ    N Nᵀ = E − M Mᵀ      R' = [−N⁻¹ M R   N⁻¹]

        and α = R'ᵀ R' r of all rows. k new rows cost O(n² k) instead of O(n³).
        """
        n_rows = len(self.targets) + len(data)
        check_memory(n_rows, data.n_outputs)
        if (needed := memory_needed(n_rows, data.n_outputs)) > MUCH:
            warn_user(
                f"an exact GP of {n_rows:,} rows needs {needed / GIB:.1f} GiB for its matrices, and time that "
                "grows with their square: fit anew to all rows with inference='sparse' for less of both"
            )
        new = ExactStatistics.of(self.noise_variance, data)
        targets = np.vstack([self.targets, new.targets])
        cross = posterior.kernel.matrix(posterior.theta, data.rows, posterior.points)
        prior = posterior.kernel.matrix(posterior.theta, data.rows, data.rows)
        variance_factors, weights = [], []
        for old, noise, r in zip(posterior.variance_factors, self.noise_variance, targets.T, strict=True):
            m = cross @ old.T
            n_inverse = triangular_inverse(_factor(prior - m @ m.T, noise / new.effective_weight))
            grown = np.block([[old, np.zeros(cross.T.shape)], [-n_inverse @ m @ old, n_inverse]])
            variance_factors.append(grown)
            weights.append(grown.T @ (grown @ r))
        statistics = ExactStatistics(
            self.noise_variance,
            targets,
            np.concatenate([self.effective_weight, new.effective_weight]),
            self.total_weight + new.total_weight,
            self.log_precision + new.log_precision,
        )
        return replace(
            posterior,
            points=np.vstack([posterior.points, data.rows]),
            weights=np.stack(weights, axis=1),
            variance_factors=tuple(variance_factors),
            statistics=statistics,
        )

    def log_likelihood(self, posterior: Posterior) -> float:
        """log p(r) with rᵀα = |R r|² and log|A| = −2 Σ log R_ii."""
        n, q = self.targets.shape
        excess = self.total_weight - n
        log_weights = self.log_precision - np.log(self.effective_weight).sum()
        value: float = 0.5 * q * float(log_weights - n * np.log(2.0 * np.pi))
        for factor, noise, r in zip(posterior.variance_factors, self.noise_variance, self.targets.T, strict=True):
            misfit = float(((factor @ r) ** 2).sum())
            value += float(np.log(factor.diagonal()).sum() - 0.5 * (misfit + excess * np.log(2.0 * np.pi * noise)))
        return value

    def leave_one_out(self, posterior: Posterior, data: Observations) -> tuple[Array, Array]:
        """In closed form, with α = A⁻¹r and A⁻¹ = RᵀR: the residual r_i − mean_i is α_i/[A⁻¹]_ii, and the variance of
        the latent value is 1/[A⁻¹]_ii − σ²/(w_i ρ_i).
        """
        columns = [1.0 / np.einsum("ij,ij->j", factor, factor) for factor in posterior.variance_factors]
        left_out = np.stack(columns, axis=1)
        variance = np.maximum(left_out - self.noise_variance / self.effective_weight[:, None], 0.0)
        return posterior.weights * left_out, variance


class ExactObjective:
    """The log marginal likelihood as a function of log-parameters and log noise variances."""

    n_points = 0

    def __init__(self, kernel: Kernel, data: Observations) -> None:
        self.kernel, self.data = kernel, data
        self.likelihood = MarginalLikelihood(kernel, data)

    def __call__(self, x: Array) -> tuple[float, Array]:
        value, gradients = self.likelihood(*self._split(x))
        return value, np.concatenate(gradients)

    def value(self, x: Array) -> float:
        """Without the gradient."""
        return self.likelihood.value(*self._split(x))

    def _split(self, x: Array) -> tuple[Array, Array]:
        return x[: self.kernel.n_parameters], x[self.kernel.n_parameters :]

    def start(self, x: Array) -> Array:
        return x

    def bounds(self, bounds: Array) -> Array:
        return bounds

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        return maximize_with_prior(self, x, bounds, prior, search)

    def posterior(self, x: Array) -> Posterior:
        return posterior(self.kernel, *self._split(x), self.data)

    def mean(self, x: Array, rows: Array) -> Array:
        """Expected targets of some rows, for less than a posterior costs that knows their variances."""
        theta, log_noise = self._split(x)
        return self.kernel.matrix(theta, rows, self.data.rows) @ self.likelihood.weights(theta, log_noise)


class Exact:
    """All rows, with the log marginal likelihood as objective."""

    sorts_rows = True
    trains_folds = True
    keeps_rows = True

    def needs_exploring(self, settings: Settings) -> bool:
        return False

    def exploring_rows(self, n_rows: int) -> int:
        return min(n_rows, EXPLORING_ROWS)

    def rounds(self, settings: Settings, data: Observations) -> list[int]:
        return [settings.max_iter]

    def objective(
        self, kernel: Kernel, data: Observations, x: Array, settings: Settings, rng: np.random.Generator, n_points: int
    ) -> Objective:
        check_memory(len(data), data.n_outputs)
        return ExactObjective(kernel, data)


def _refuse_parts() -> NoReturn:
    raise ValueError(
        "rows that are read in parts cannot be added to an exact GP, which keeps all rows: give them as arrays, or "
        "fit with inference='sparse'"
    )


def _inverse_weight(data: Observations) -> Array:
    return np.ones(len(data)) if data.effective_weight is None else 1.0 / data.effective_weight


def _factor(matrix: Array, noise: Array, out: Array | None = None) -> Array:
    return cholesky(matrix, diagonal=matrix.diagonal() + noise, out=out)[0]


def _solve(factor: Array, right: Array) -> Array:
    half = solve_lower(factor, right[:, None])
    return solve_lower(factor, half, transposed=True)[:, 0]
