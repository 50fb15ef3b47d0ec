"""The posterior at a row, given the training rows nearest to it and what all rows say about shared features.

The kernel is φ(c)·φ(c') + κ(c, c'), features and a rest, see `rio_uq.gp.inference.two_parts`. Near rows say much about
the rest, and little about the weights β of the features, which rows from everywhere determine. So given β, the
posterior at c is that of its nearest rows N. With A_N = κ(N, N) + σ² D of these and w = A_N⁻¹ κ(N, c), the latent value
at c is w·r_N + u·β and something of variance κ(c, c) − w·κ(N, c), with u = φ(c) − Φ_Nᵀ w. With β ~ N(b, S) that is

    mean(c) = φ(c)·b + wᵀ (r_N − Φ_N b)        var(c) = κ(c, c) − wᵀ κ(N, c) + uᵀ S u

What latent values at two rows have in common is what their errors f(c) − w·r_N have, so that between rows

    cov(c, c') = κ(c, c') − wᵀ κ(N, c') − κ(c, N') w' + wᵀ (κ(N, N') + σ² D δ) w' + uᵀ S u'

with δ for rows that are in both N and N'.

**Weights of features.** Rows are in random order. A first part of them, the subset, tells of β as the exact GP has it,
and every further row i what it has to say beside its nearest rows among those before it (Vecchia): given these and β,
it is w·r_N + u·β and something of variance s_i = κ(c, c) − w·κ(N, c) + σ²/w_i, so that

    S = (I + Φᵀ A⁻¹ Φ + Σ_i u_i u_iᵀ/s_i)⁻¹        b = S (Φᵀ A⁻¹ r + Σ_i u_i (r_i − w·r_N)/s_i)

with Φ, r and A = κ(C, C) + σ² D of the subset. Where N and the subset are all rows, this is the exact posterior; with
no rows nearby it is that of the sparse GP (FITC).

**Leave-one-out.** The nearest rows of a training row are others. Where it has told of β, that part is taken off: with
s, the variance of its outcome given β, and h = uᵀSu/s,

    r − mean(c) → (r − mean(c))/(1 − h)        uᵀSu → uᵀSu/(1 − h)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import cholesky, inverse, solve_lower
from rio_uq.gp.backend.walking import Block, sum_over_rows, walk
from rio_uq.gp.inference.neighbours import Indices, Neighbours
from rio_uq.gp.inference.two_parts import Terms, TwoParts
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations

STACK = 2**16
"""Entries of a stack of matrices, which should stay in the cache of a processor."""

JITTER = 1e-11
"""Share of variances that is added to them, for copies of rows without noise."""

BLOCK_COLUMNS = 1024
"""Rows whose covariances with all others are made at once."""

INFORMING_ROWS = 50_000
"""Rows that tell of β, at most, so that the time this takes does not grow with all of them."""

INFORMING_NEIGHBOURS = 30
"""Rows that each of them is given, at most."""

CACHED = ("neighbours", "features", "weight")
"""Of a `Local`."""


class Weights(NamedTuple):
    """β of each output, see the top of this module.

    Attributes
    ----------
    mean : (p, q) array
    covariance : (q, p, p) array
    """

    mean: Array
    covariance: Array

    @classmethod
    def zero(cls, n_features: int, n_outputs: int) -> Weights:
        """Known to be zero, which leaves what is local."""
        return cls(np.zeros((n_features, n_outputs)), np.zeros((n_outputs, n_features, n_features)))

    @classmethod
    def of(cls, information: Array, about: Array) -> Weights:
        """From Σ u uᵀ/s (q, p, p) and Σ u r/s (q, p), which the prior is added to."""
        mean, covariance = np.zeros(about.T.shape), np.zeros(information.shape)
        for output, (of_rows, right) in enumerate(zip(information, about, strict=True)):
            factor, _ = cholesky(np.eye(len(right)) + of_rows)
            covariance[output] = inverse(factor)
            mean[:, output] = covariance[output] @ right
        return cls(mean, covariance)


class _Solved(NamedTuple):
    """Of b rows: w·r_N, the variance given β, and u."""

    local: Array  # (b, q)
    variance: Array  # (b, q)
    u: Array  # (q, b, p)


@dataclass(frozen=True)
class Local:
    """Rows from which the nearest ones predict.

    Attributes
    ----------
    parts : TwoParts
        Of the kernel.
    noise_variance : (q,) array
    data : Observations
        The first of which are the subset.
    n_subset, n_neighbors : int
    weights : Weights
        Of the features.
    most_informing : int or None
        Rows that tell of β, unless the subset has more; None for `INFORMING_ROWS`.
    """

    parts: TwoParts
    noise_variance: Array
    data: Observations
    n_subset: int
    n_neighbors: int
    weights: Weights = field(repr=False)
    most_informing: int | None = None

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        theta: Array,
        noise_variance: Array,
        data: Observations,
        n_subset: int,
        n_neighbors: int,
        points: Array,
        weights: Weights | None = None,
        most_informing: int | None = None,
    ) -> Local:
        """With the weights that the rows tell of, where these are not known already."""
        parts = TwoParts(kernel, theta, points)
        local = cls(
            parts,
            noise_variance,
            data,
            n_subset,
            n_neighbors,
            Weights.zero(parts.n_features, data.n_outputs) if weights is None else weights,
            most_informing,
        )
        if weights is not None or not parts.n_features:
            return local
        return local.changed(weights=Weights.of(*local._information()))

    def changed(self, *, noise_variance: Array | None = None, weights: Weights | None = None) -> Local:
        """With other noise variances or weights; what does not depend on them is not made again."""
        noise_variance = self.noise_variance if noise_variance is None else noise_variance
        changed = replace(self, noise_variance=noise_variance, weights=self.weights if weights is None else weights)
        changed.__dict__.update({name: self.__dict__[name] for name in CACHED if name in self.__dict__})
        return changed

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in CACHED}

    @cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours.of(self.parts.kernel, self.parts.theta, self.data.rows)

    @cached_property
    def features(self) -> Array:
        """Φ of all rows, (n, p)."""
        features = np.empty((len(self.data), self.parts.n_features))

        def work(span: int, blocks: list[Block]) -> None:
            for _, block in blocks:
                features[block] = self.parts.features(self.data.rows[block])

        if self.parts.n_features:
            walk(len(features), BLOCK_COLUMNS, self.data.n_jobs, work)
        return features

    @cached_property
    def weight(self) -> Array:
        """w_i ρ_i of each row."""
        weight = self.data.effective_weight
        return np.ones(len(self.data)) if weight is None else weight

    @property
    def n_informing(self) -> int:
        """Rows that tell of β."""
        most = INFORMING_ROWS if self.most_informing is None else self.most_informing
        return min(len(self.data), max(self.n_subset, most))

    def _information(self) -> tuple[Array, Array]:
        """What rows tell of β: (q, p, p) and (q, p)."""
        self._share()
        information, about = self._of_subset()
        start = self.n_subset
        while start < self.n_informing:
            # Those before a row are searched in steps: the first half for all of the second one.
            numbers = np.arange(start, min(2 * start, self.n_informing))
            more_information, more_about = self._of_further(numbers, self.neighbours.first(start))
            information, about = information + more_information, about + more_about
            start += len(numbers)
        return information, about

    def _of_further(self, numbers: Indices, before: Neighbours) -> list[Array]:
        """Σ u uᵀ/s and Σ u (r − w·r_N)/s of rows beside their nearest ones among some before them."""
        k = min(self.n_neighbors, INFORMING_NEIGHBOURS, len(before.scaled))

        def work(span: int, block: Block) -> tuple[Array, Array]:
            own = numbers[block[1]]
            solved = self._solve(self.data.rows[own], before.nearest(self.data.rows[own], k))
            variance = np.maximum(solved.variance, 0.0) + self.noise_variance / self.weight[own, None]
            left = (self.data.targets[own] - solved.local) / variance
            scaled = solved.u / variance.T[:, :, None]
            return np.swapaxes(solved.u, 1, 2) @ scaled, np.einsum("qbp,bq->qp", solved.u, left)

        return sum_over_rows(len(numbers), self.neighbours.block_rows, self.data.n_jobs, work)

    def _of_subset(self) -> tuple[Array, Array]:
        """Φᵀ A⁻¹ Φ and Φᵀ A⁻¹ r."""
        m, p, q = self.n_subset, self.parts.n_features, self.data.n_outputs
        rows, features = self.data.rows[:m], self.features[:m]
        rest = self.parts.stationary(rows, rows) - self._points_of(features) @ self._points_of(features).T
        information, about = np.empty((q, p, p)), np.empty((q, p))
        for output, noise in enumerate(self.noise_variance):
            factor, _ = cholesky(rest, diagonal=rest.diagonal() + noise / self.weight[:m])
            half = solve_lower(factor, np.column_stack([features, self.data.targets[:m, output]]))
            information[output], about[output] = half[:, :p].T @ half[:, :p], half[:, :p].T @ half[:, p]
        return information, about

    def _points_of(self, features: Array) -> Array:
        """The features of the points alone."""
        return features[..., self.parts.n_slopes :]

    def moments(self, rows: Array, terms: Terms, n_jobs: int, *, with_variance: bool) -> tuple[Array, Array]:
        """Mean and, if asked for, variance of the sum of some terms at each row, (n, q) each."""
        mean = np.empty((len(rows), self.data.n_outputs))
        variance = np.empty_like(mean) if with_variance else mean
        k = min(self.n_neighbors, len(self.data))

        def work(numbers: Indices) -> None:
            part = np.asarray(rows[numbers], dtype=float)
            solved = self._solve(part, self.neighbours.nearest(part, k), terms)
            mean[numbers] = solved.local + self._of_mean_weights(solved.u)
            if with_variance:
                variance[numbers] = np.maximum(solved.variance, 0.0) + self._of_unknown_weights(solved.u)

        self._walk(self.neighbours.path(rows), n_jobs, work)
        return mean, variance

    def nearest_others(self, numbers: Indices) -> Indices:
        """The rows nearest to some of its rows, without themselves."""
        return self.neighbours.nearest_others(
            numbers, self.data.rows[numbers], min(self.n_neighbors, len(self.data) - 1)
        )

    def leave_one_out(self, numbers: Indices, n_jobs: int, nearest: Indices | None = None) -> tuple[Array, Array]:
        """Residual and latent variance of some of its rows, (b, q) each, given the nearest others."""
        residual, variance = np.empty((2, len(numbers), self.data.n_outputs))

        def work(block: Indices) -> None:
            own = numbers[block]
            others = self.nearest_others(own) if nearest is None else nearest[block]
            solved = self._solve(self.data.rows[own], others)
            of_weights, given_weights = self._of_unknown_weights(solved.u), np.maximum(solved.variance, 0.0)
            share = of_weights / (given_weights + self.noise_variance / self.weight[own, None])
            has_told = (own < self.n_informing)[:, None]
            left = np.where(has_told, np.maximum(1.0 - share, np.finfo(float).eps), 1.0)
            mean = solved.local + self._of_mean_weights(solved.u)
            residual[block] = (self.data.targets[own] - mean) / left
            variance[block] = given_weights + of_weights / left

        self._walk(self.neighbours.path(self.data.rows[numbers]), n_jobs, work)
        return residual, variance

    def covariance(self, rows: Array, terms: Terms) -> Array:
        """Covariance of the sum of some terms between rows, (q, n, n)."""
        nearest = self.neighbours.nearest(rows, min(self.n_neighbors, len(self.data)))
        used, place = np.unique(nearest, return_inverse=True)
        w = np.zeros((self.data.n_outputs, len(rows), len(used)))
        features = self.parts.features(rows, terms)
        for part in _stacks(*nearest.shape):
            numbers = np.arange(len(rows))[part, None]
            near = self._near(rows[part], nearest[part], features[part], terms)
            w[:, numbers, place.reshape(nearest.shape)[part]] = near.w
        neighbours, of_neighbours = self.data.rows[used], self.features[used]
        u = features - w @ of_neighbours
        shared = self._points_of(features)
        total = u @ self.weights.covariance @ np.swapaxes(u, -1, -2)
        total += self.parts.stationary(rows, rows, terms) - shared @ shared.T
        cross = w @ (self.parts.stationary(neighbours, rows, terms) - self._points_of(of_neighbours) @ shared.T)
        total -= cross + np.swapaxes(cross, -1, -2)
        for start in range(0, len(used), BLOCK_COLUMNS):
            part = slice(start, start + BLOCK_COLUMNS)
            rest = self.parts.stationary(neighbours, neighbours[part])
            rest -= self._points_of(of_neighbours) @ self._points_of(of_neighbours[part]).T
            columns = w @ rest + w[:, :, part] * (self.noise_variance[:, None, None] / self.weight[used[part]])
            total += columns @ np.swapaxes(w[:, :, part], -1, -2)
        return np.asarray(total)

    def _of_mean_weights(self, u: Array) -> Array:
        """u·b, (b, q): not by BLAS, whose rounding depends on the number of rows."""
        return np.asarray(np.einsum("qbp,pq->bq", u, self.weights.mean))

    def _of_unknown_weights(self, u: Array) -> Array:
        """uᵀ S u, (b, q)."""
        half = np.matmul(u[:, :, None, :], self.weights.covariance[:, None])[:, :, 0]
        return np.asarray(np.einsum("qbp,qbp->bq", half, u))

    def _walk(self, path: Indices, n_jobs: int, work: Callable[[Indices], None]) -> None:
        """Work on the numbers of a path, block by block."""

        def of_span(span: int, blocks: list[Block]) -> None:
            for _, block in blocks:
                work(path[block])

        self._share()
        walk(len(path), self.neighbours.block_rows, n_jobs, of_span)

    def _share(self) -> None:
        """Make what threads share before they begin: the threads that it takes itself are the same."""
        for name in CACHED:
            getattr(self, name)

    def _solve(self, rows: Array, nearest: Indices, terms: Terms | None = None) -> _Solved:
        """Given β and the nearest rows (b, k) of rows (b, D)."""
        b, p, q = len(rows), self.parts.n_features, self.data.n_outputs
        local, variance, u = np.empty((b, q)), np.empty((b, q)), np.empty((q, b, p))
        features = self.parts.features(rows, terms)
        for part in _stacks(*nearest.shape):
            near = self._near(rows[part], nearest[part], features[part], terms)
            local[part] = np.einsum("qbk,bkq->bq", near.w, self.data.targets[nearest[part]])
            variance[part] = (near.prior - np.einsum("qbk,bk->qb", near.w, near.cross)).T
            u[:, part] = features[part] - np.matmul(near.w[:, :, None, :], near.features)[:, :, 0]
        return _Solved(local, variance, u)

    def _near(self, rows: Array, nearest: Indices, features: Array, terms: Terms | None) -> _Near:
        """A stack of rows beside their nearest ones."""
        k = nearest.shape[1]
        near = np.zeros((len(rows), k + 1, rows.shape[1]))  # the last one is the row itself
        np.subtract(self.data.rows[nearest], rows[:, None, :], out=near[:, :k])  # small differences keep their digits
        around = self.features[nearest]
        kernel = self.parts.stationary(near, near)
        is_whole = terms is None or terms == self.parts.all_terms
        here = kernel[:, k] if is_whole else self.parts.stationary(near[:, k:], near, terms)[:, 0]
        matrix, cross, prior = kernel[:, :k, :k], here[:, :k], here[:, k]
        if len(self.parts.points):
            shared, shared_here = self._points_of(around), self._points_of(features)
            matrix -= np.matmul(shared, np.swapaxes(shared, -1, -2))
            cross = cross - np.matmul(shared, shared_here[:, :, None])[..., 0]
            prior = prior - np.einsum("bm,bm->b", shared_here, shared_here)
        w = np.empty((self.data.n_outputs, *nearest.shape))
        inside = np.arange(k)
        diagonal = (1.0 + JITTER) * matrix[:, inside, inside]
        for output, noise in enumerate(self.noise_variance):
            matrix[:, inside, inside] = diagonal + noise / self.weight[nearest]
            w[output] = np.linalg.solve(matrix, cross[..., None])[..., 0]
        return _Near(w, cross, prior, around)


class _Near(NamedTuple):
    """Of a stack of rows: w, κ(N, c), κ(c, c) and Φ_N."""

    w: Array  # (q, b, k)
    cross: Array  # (b, k)
    prior: Array  # (b,)
    features: Array  # (b, k, p)


def _stacks(n_rows: int, k: int) -> list[slice]:
    size = max(1, STACK // max(k, 1) ** 2)
    return [slice(start, start + size) for start in range(0, n_rows, size)]
