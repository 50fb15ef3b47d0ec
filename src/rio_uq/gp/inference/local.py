"""The posterior at a row, given the training rows nearest to it and slopes that all rows share.

The kernel is a sum of stationary terms k, and of linear ones: slopes β ~ N(0, I) on φ(c), the columns of linear terms
times √v. Near rows say much about what is stationary, and little about slopes, which rows from everywhere determine. So
given β, the posterior at c is that of its nearest rows N, and β is that of a random subset of all rows,

    β ~ N(b, S)        S = (I + Φᵀ A⁻¹ Φ)⁻¹        b = S Φᵀ A⁻¹ r        with A = k(C, C) + σ² D of the subset

With A_N = k(N, N) + σ² D of the nearest rows and w = A_N⁻¹ k(N, c), the latent value at c is w·r_N + u·β and something
of variance k(c, c) − w·k(N, c), with u = φ(c) − Φ_Nᵀ w. Over β that is

    mean(c) = φ(c)·b + wᵀ (r_N − Φ_N b)        var(c) = k(c, c) − wᵀ k(N, c) + uᵀ S u

which is the exact posterior where N and the subset are all rows. What latent values at two rows have in common is what
their errors f(c) − w·r_N have, so that between rows

    cov(c, c') = k(c, c') − wᵀ k(N, c') − k(c, N') w' + wᵀ (k(N, N') + σ² D δ) w' + uᵀ S u'

with δ for rows that are in both N and N'.

**Leave-one-out.** The nearest rows of a training row are others. Where it is one of the subset, its part of the
information on β is taken off: with s = var(c) − uᵀSu + σ²/w_i, the variance of its outcome given β, and h = uᵀSu/s,

    r − mean(c) → (r − mean(c))/(1 − h)        uᵀSu → uᵀSu/(1 − h)

**Factors.** Bordered by right-hand sides B, with something large in the corner, the Cholesky factor of A_N has L⁻¹B in
its border: one factorisation of a stack of matrices has all of the solves that the formulas need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import cholesky, inverse, solve_lower
from rio_uq.gp.backend.walking import Block, walk
from rio_uq.gp.inference.neighbours import Indices, Neighbours
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations

CORNER = 1e100
"""In the corner of a bordered matrix."""

STACK = 2**17
"""Entries of a stack of matrices, which should stay in the cache of a processor."""

BLOCK_COLUMNS = 1024
"""Rows whose covariances with all others are made at once."""

Terms = tuple[int, ...]


class Slopes(NamedTuple):
    """β of each output, see the top of this module.

    Attributes
    ----------
    mean : (p, q) array
    covariance : (q, p, p) array
    """

    mean: Array
    covariance: Array

    @classmethod
    def of(cls, stationary: Array, design: Array, targets: Array, noise: Array, weight: Array) -> Slopes:
        """From the stationary kernel matrix of rows (m, m), Φ (m, p), targets (m, q), noise variances (q,) and weights
        (m,).
        """
        p, q = design.shape[1], targets.shape[1]
        mean, covariance = np.zeros((p, q)), np.zeros((q, p, p))
        for output in range(q):
            factor, _ = cholesky(stationary, diagonal=stationary.diagonal() + noise[output] / weight)
            half = solve_lower(factor, np.column_stack([design, targets[:, output]]))
            information, _ = cholesky(np.eye(p) + half[:, :p].T @ half[:, :p])
            covariance[output] = inverse(information)
            mean[:, output] = covariance[output] @ (half[:, :p].T @ half[:, p])
        return cls(mean, covariance)


class _Solved(NamedTuple):
    """Of b rows: the mean less φ(c)·b, the variance given β, and u."""

    mean: Array  # (b, q)
    variance: Array  # (b, q)
    u: Array  # (q, b, p)


@dataclass(frozen=True)
class Local:
    """Rows from which the nearest ones predict.

    Attributes
    ----------
    kernel : Kernel
    theta : (n_parameters,) array
    noise_variance : (q,) array
    data : Observations
        The first of which are the subset.
    n_subset, n_neighbors : int
    slopes : Slopes
    """

    kernel: Kernel
    theta: Array
    noise_variance: Array
    data: Observations
    n_subset: int
    n_neighbors: int
    slopes: Slopes

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        theta: Array,
        noise_variance: Array,
        data: Observations,
        n_subset: int,
        n_neighbors: int,
    ) -> Local:
        """With the slopes of the subset."""
        p = sum(term.stop - term.start for term in kernel.terms if term.is_linear)
        unknown = Slopes(np.zeros((p, data.n_outputs)), np.zeros((data.n_outputs, p, p)))
        local = cls(kernel, theta, noise_variance, data, n_subset, n_neighbors, unknown)
        return local if not p else replace(local, slopes=local.slopes_of_subset())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("neighbours", "weight")}

    @cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours.of(self.kernel, self.theta, self.data.rows)

    @cached_property
    def weight(self) -> Array:
        """w_i ρ_i of each row."""
        weight = self.data.effective_weight
        return np.ones(len(self.data)) if weight is None else weight

    def slopes_of_subset(self) -> Slopes:
        rows, targets = self.data.rows[: self.n_subset], self.data.targets[: self.n_subset]
        matrix = self._between(rows, rows, self._stationary())
        return Slopes.of(matrix, self.design(rows), targets, self.noise_variance, self.weight[: self.n_subset])

    @property
    def all_terms(self) -> Terms:
        return tuple(range(len(self.kernel.terms)))

    def _stationary(self, terms: Terms | None = None) -> list[int]:
        return [i for i in (self.all_terms if terms is None else terms) if not self.kernel.terms[i].is_linear]

    def design(self, rows: Array, terms: Terms | None = None) -> Array:
        """φ of rows (..., D): (..., p), zero where it belongs to other terms than those asked for."""
        columns = [np.zeros((*rows.shape[:-1], 0))]
        for number, (term, theta) in enumerate(zip(self.kernel.terms, self.kernel.split(self.theta), strict=True)):
            if term.is_linear:
                is_asked_for = float(terms is None or number in terms)
                columns.append(is_asked_for * np.exp(0.5 * theta) * rows[..., term.start : term.stop])
        return np.concatenate(columns, axis=-1)

    def _between(self, x: Array, z: Array, terms: list[int]) -> Array:
        """The sum of stationary terms of stacks of rows."""
        parts = self.kernel.split(self.theta)
        total = np.zeros((*x.shape[:-1], z.shape[-2]))
        for i in terms:
            total += self.kernel.terms[i].between(parts[i], x, z)
        return total

    def moments(self, rows: Array, terms: Terms, n_jobs: int, *, with_variance: bool) -> tuple[Array, Array]:
        """Mean and, if asked for, variance of the sum of some terms at each row, (n, q) each."""
        mean = np.empty((len(rows), self.data.n_outputs))
        variance = np.empty_like(mean) if with_variance else mean
        k = min(self.n_neighbors, len(self.data))

        def work(block: slice) -> None:
            part = np.asarray(rows[block], dtype=float)
            solved = self._solve(part, self.neighbours.nearest(part, k), terms, with_slopes=with_variance)
            mean[block] = solved.mean + self._slope_part(part, terms)
            if with_variance:
                variance[block] = np.maximum(solved.variance, 0.0) + self._of_slopes(solved.u)

        self._walk(len(rows), n_jobs, work)
        return mean, variance

    def nearest_others(self, numbers: Indices) -> Indices:
        """The rows nearest to some of its rows, without themselves."""
        return self.neighbours.nearest_others(
            numbers, self.data.rows[numbers], min(self.n_neighbors, len(self.data) - 1)
        )

    def leave_one_out(self, numbers: Indices, n_jobs: int, nearest: Indices | None = None) -> tuple[Array, Array]:
        """Residual and latent variance of some of its rows, (b, q) each, given the nearest others."""
        residual, variance = np.empty((2, len(numbers), self.data.n_outputs))

        def work(block: slice) -> None:
            own = numbers[block]
            rows = self.data.rows[own]
            others = self.nearest_others(own) if nearest is None else nearest[block]
            solved = self._solve(rows, others, self.all_terms)
            of_slopes, given_slopes = self._of_slopes(solved.u), np.maximum(solved.variance, 0.0)
            share = of_slopes / (given_slopes + self.noise_variance / self.weight[own, None])
            left = np.where((own < self.n_subset)[:, None], np.maximum(1.0 - share, np.finfo(float).eps), 1.0)
            mean = solved.mean + self._slope_part(rows, self.all_terms)
            residual[block] = (self.data.targets[own] - mean) / left
            variance[block] = given_slopes + of_slopes / left

        self._walk(len(numbers), n_jobs, work)
        return residual, variance

    def covariance(self, rows: Array, terms: Terms) -> Array:
        """Covariance of the sum of some terms between rows, (q, n, n)."""
        nearest = self.neighbours.nearest(rows, min(self.n_neighbors, len(self.data)))
        asked, all_stationary = self._stationary(terms), self._stationary()
        used, place = np.unique(nearest, return_inverse=True)
        w = np.zeros((self.data.n_outputs, len(rows), len(used)))
        size = max(1, STACK // nearest.shape[1] ** 2)
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            numbers = np.arange(len(rows))[part, None]
            w[:, numbers, place.reshape(nearest.shape)[part]] = self._weights(rows[part], nearest[part], asked)
        neighbours = self.data.rows[used]
        u = self.design(rows, terms) - w @ self.design(neighbours)
        total = u @ self.slopes.covariance @ np.swapaxes(u, -1, -2) + self._between(rows, rows, asked)
        cross = w @ self._between(neighbours, rows, asked)
        total -= cross + np.swapaxes(cross, -1, -2)
        for start in range(0, len(used), BLOCK_COLUMNS):
            part = slice(start, start + BLOCK_COLUMNS)
            columns = w @ self._between(neighbours, neighbours[part], all_stationary)
            columns += w[:, :, part] * (self.noise_variance[:, None, None] / self.weight[used[part]])
            total += columns @ np.swapaxes(w[:, :, part], -1, -2)
        return np.asarray(total)

    def _weights(self, rows: Array, nearest: Indices, asked: list[int]) -> Array:
        """w of a stack of rows, (q, b, k)."""
        near = self.data.rows[nearest] - rows[:, None, :]
        matrix = self._between(near, near, self._stationary())
        cross = self._between(near, np.zeros_like(near[:, :1]), asked)
        noise = (self.noise_variance[:, None, None] / self.weight[nearest])[..., None] * np.eye(nearest.shape[1])
        return np.asarray(np.linalg.solve(matrix + noise, np.broadcast_to(cross, (*noise.shape[:-1], 1)))[..., 0])

    def _slope_part(self, rows: Array, terms: Terms) -> Array:
        """φ(c)·b, (b, q): not by BLAS, whose rounding depends on the number of rows."""
        return np.asarray(np.einsum("bp,pq->bq", self.design(rows, terms), self.slopes.mean))

    def _of_slopes(self, u: Array) -> Array:
        """uᵀ S u, (b, q)."""
        return np.asarray(np.einsum("qbi,qij,qbj->bq", u, self.slopes.covariance, u))

    def _walk(self, n_rows: int, n_jobs: int, work: Callable[[slice], None]) -> None:
        block_rows = self.neighbours.block_rows

        def of_span(span: int, blocks: list[Block]) -> None:
            for _, block in blocks:
                work(block)

        walk(n_rows, block_rows, n_jobs, of_span)

    def _solve(self, rows: Array, nearest: Indices, terms: Terms, *, with_slopes: bool = True) -> _Solved:
        """Given β and the nearest rows (b, k) of rows (b, D)."""
        (b, k), q = nearest.shape, self.data.n_outputs
        p = self.slopes.mean.shape[0] if with_slopes else 0
        solved = _Solved(np.empty((b, q)), np.empty((b, q)), np.empty((q, b, p)))
        size = max(1, STACK // (k + p + 2) ** 2)
        for start in range(0, b, size):
            part = slice(start, start + size)
            self._solve_stack(rows[part], nearest[part], terms, p, part, solved)
        return solved

    def _solve_stack(self, rows: Array, nearest: Indices, terms: Terms, p: int, part: slice, out: _Solved) -> None:
        asked, (b, k) = self._stationary(terms), nearest.shape
        neighbours, targets, weight = self.data.rows[nearest], self.data.targets[nearest], self.weight[nearest]
        design = self.design(neighbours)
        near = neighbours - rows[:, None, :]  # stationary terms see differences alone, and small ones keep their digits
        matrix = self._between(near, near, self._stationary())
        prior = self._between(np.zeros((1, rows.shape[1])), np.zeros((1, rows.shape[1])), asked)[0, 0]
        bordered = np.zeros((b, k + p + 2, k + p + 2))
        bordered[:, :k, :k] = matrix
        bordered[:, k, :k] = self._between(np.zeros((b, 1, rows.shape[1])), near, asked)[:, 0]
        bordered[:, k + 2 :, :k] = np.swapaxes(design[:, :, :p], -1, -2)
        border, inside = np.arange(k, k + p + 2), np.arange(k)
        bordered[:, border, border] = CORNER
        for output, noise in enumerate(self.noise_variance):
            bordered[:, inside, inside] = matrix[:, inside, inside] + noise / weight
            bordered[:, k + 1, :k] = targets[:, :, output] - design @ self.slopes.mean[:, output]
            halves = _cholesky_of_stack(bordered, k)[:, k:, :k]
            inner = np.matmul(halves, halves[:, 0, :, None])[..., 0]  # wᵀ of all right-hand sides
            out.mean[part, output] = inner[:, 1]
            out.variance[part, output] = prior - inner[:, 0]
            out.u[output, part] = self.design(rows, terms)[:, :p] - inner[:, 2:]


def _cholesky_of_stack(matrices: Array, k: int) -> Array:
    """Lower factors of a stack of bordered matrices; with jitter on the first k of the diagonal where one needs it, so
    that a row does not depend on others of its stack.
    """
    try:
        return np.asarray(np.linalg.cholesky(matrices))
    except np.linalg.LinAlgError:
        return np.stack([_cholesky_of_one(matrix, k) for matrix in matrices])


def _cholesky_of_one(matrix: Array, k: int) -> Array:
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        factor, _ = cholesky(matrix[:k, :k])
        halves = solve_lower(factor, matrix[k:, :k].T).T
        return np.block([[factor, np.zeros((k, len(halves)))], [halves, np.zeros((len(halves), len(halves)))]])
