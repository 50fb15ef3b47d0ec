"""Hyperparameters among all rows, where those of a subset are a start: neighbours are nearer there.

A subset of a few thousand rows hardly tells how a function behaves at the distance of neighbours among many. So
hyperparameters are moved to where some left-out rows are predicted better, given their k nearest others among all
rows. A left-out row c with target r has the neighbours N with targets r_N, and with K = κ(N, N), A = K + σ² D and
w = A⁻¹ κ(N, c)

    e = r − w·r_N        v = κ(c, c) − w·κ(N, c) + σ²/ω        S = Σ ω e²/W        W = Σ ω
    F = ½ Σ ω log N(e | 0, v) − ¼ W log S − ½ |θ − θ₀|²/τ²

around those of the subset, θ₀. The density alone would give up accuracy where errors are not normal with one variance:
−½ W log S is that of the same errors, if the likeliest variance were theirs. With α = A⁻¹ r_N and u = (−w, 1),
v = uᵀ K̃ u with the noisy matrix K̃ of N and c together, and for any change of it

    dv = uᵀ dK̃ u        de = −uᵀ dK̃ (α, 0)

so that the adjoint of each of these small matrices is ∂F/∂v u uᵀ − ∂F/∂e u (α, 0)ᵀ, where ∂(−¼ W log S)/∂e = −½ ω e/S.
Several outputs share W log S, with the mean of their S. Slopes of linear terms are left as they are: near rows tell
nothing about them, and the targets are less what the slopes say.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.backend.walking import Block, sum_over_rows
from rio_uq.gp.inference.neighbours import Indices, Neighbours
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search, maximize_with_prior
from rio_uq.gp.priors import Prior

NEIGHBOURS = 30
"""k, at most."""

DEVIATION = 0.5
"""τ."""

ROUNDS, ITERATIONS, TOLERANCE = 2, 15, 1e-4
"""Searches, each with the neighbours by the hyperparameters before it; their iterations and relative gain."""

STACK = 2**16
"""Entries of a stack of matrices."""

JITTER = 1e-11
"""Share of variances that is added to them, for copies of rows without noise."""


class LeftOutFit:
    """How well some rows are predicted from their nearest others, by log-parameters and log noise variances.

    Parameters
    ----------
    kernel : Kernel
    data : Observations
    numbers : (b,) array of int
        The rows that are left out.
    nearest : (b, k) array of int
        Their nearest others.
    """

    def __init__(self, kernel: Kernel, data: Observations, numbers: Indices, nearest: Indices) -> None:
        self.kernel, self.n_jobs = kernel, data.n_jobs
        together = np.column_stack([nearest, numbers])  # the last one is the row itself
        self.rows = data.rows[together] - data.rows[numbers][:, None, :]  # small differences keep their digits
        self.targets = data.targets[together]
        ones = np.ones(len(data))
        self.weight = (ones if data.weight is None else data.weight)[numbers]
        effective = ones if data.effective_weight is None else data.effective_weight
        self.inverse_weight = 1.0 / effective[together]

    def __call__(self, x: Array) -> tuple[float, Array]:
        n_parameters = self.kernel.n_parameters
        theta, noise_variance = x[:n_parameters], np.exp(x[n_parameters:])

        def work(span: int, block: Block) -> tuple[Array, Array]:
            return self._of_block(block[1], theta, noise_variance)

        block_rows = max(1, STACK // self.rows.shape[1] ** 2)
        values, by_x = sum_over_rows(len(self.rows), block_rows, self.n_jobs, work)
        by_x[:, n_parameters:] *= noise_variance
        total, n_outputs = float(self.weight.sum()), self.targets.shape[-1]
        log_density, squares = values
        value = 0.5 * log_density - 0.25 * n_outputs * total * np.log(squares / (n_outputs * total))
        return float(value), 0.5 * by_x[0] - 0.25 * n_outputs * total / squares * by_x[1]

    def _of_block(self, block: slice, theta: Array, noise_variance: Array) -> tuple[Array, Array]:
        """The log density and Σ ω e², (2,), and their slopes by θ and by noise variances, (2, p)."""
        rows, inverse_weight, weight = self.rows[block], self.inverse_weight[block], self.weight[block]
        parts = list(zip(self.kernel.terms, self.kernel.split(theta), strict=True))
        k = rows.shape[1] - 1
        matrix = np.zeros((len(rows), k + 1, k + 1))
        for term, part in parts:
            if not term.is_linear:
                matrix += term.between(part, rows, rows)
        near, inside = matrix[:, :k, :k].copy(), np.arange(k)
        diagonal = (1.0 + JITTER) * near[:, inside, inside]
        adjoints, values, by_noise = np.zeros((2, *matrix.shape)), np.zeros(2), np.zeros((2, len(noise_variance)))
        for output, noise in enumerate(noise_variance):
            r_near, r = self.targets[block, :k, output], self.targets[block, k, output]
            near[:, inside, inside] = diagonal + noise * inverse_weight[:, :k]
            solved = np.linalg.solve(near, np.stack([matrix[:, :k, k], r_near], axis=-1))
            w, alpha = solved[..., 0], solved[..., 1]
            e = r - np.einsum("bk,bk->b", w, r_near)
            v = matrix[:, k, k] - np.einsum("bk,bk->b", w, matrix[:, :k, k])
            v = np.maximum(v, 0.0) + noise * inverse_weight[:, k]
            values += -0.5 * weight @ (np.log(2.0 * np.pi * v) + e**2 / v), weight @ e**2
            u = np.column_stack([-w, np.ones(len(w))])
            slopes = (-weight * e / v, -0.5 * weight * (1.0 / v - (e / v) ** 2)), (2.0 * weight * e, 0.0 * e)
            for of_value, (by_e, by_v) in enumerate(slopes):
                right = by_v[:, None] * u
                right[:, :k] -= by_e[:, None] * alpha
                adjoints[of_value] += u[:, :, None] * right[:, None, :]
                by_noise[of_value, output] = float(np.einsum("bi,bi,bi->", u, right, inverse_weight))
        by_theta = [
            np.zeros((2, len(part)))
            if term.is_linear
            else np.stack([term.by_theta_between(part, rows, adjoint) for adjoint in adjoints])
            for term, part in parts
        ]
        return values, np.hstack([*by_theta, by_noise])


def moved_to_full_density(
    kernel: Kernel, x: Array, data: Observations, numbers: Indices, n_neighbors: int, bounds: Array, search: Search
) -> Array:
    """Log-parameters and log noise variances by errors and density of left-out rows, near those of a subset.

    Parameters
    ----------
    data : Observations
        All rows, with targets less what slopes say.
    numbers : (b,) array of int
        The rows that are left out.
    n_neighbors : int
        That predictions are made from.
    search : Search
        That of the subset.
    """
    prior = Prior(x, np.full(len(x), DEVIATION**-2), np.zeros(len(x)))
    k = min(n_neighbors, NEIGHBOURS)
    short = replace(search, max_iter=min(ITERATIONS, search.max_iter), tolerance=TOLERANCE, curvature=None)
    with single_blas_thread:
        for _ in range(ROUNDS):
            if search.deadline.has_passed:
                break
            theta = x[: kernel.n_parameters]
            nearest = Neighbours.of(kernel, theta, data.rows).nearest_others(numbers, data.rows[numbers], k)
            x = maximize_with_prior(LeftOutFit(kernel, data, numbers, nearest), x, bounds, prior, short).x
    return x
