"""Stochastic variational inference: the uncollapsed bound, whose gradient a mini-batch of rows estimates.

The inducing variables are whitened, u = L v with K_uu = L Lᵀ, so that p(v) = N(0, I), and each output has its
q(v) = N(μ, S). With a_i = L⁻¹ k_i the latent value of row i has under q the mean a_iᵀμ and the variance
k(c_i, c_i) − |a_i|² + a_iᵀ S a_i. In the sums of the sparse GP, V = Σ a_i a_iᵀ, β = Σ a_i r_i, s, t and n, the
bound Σ_i E_q log N(r_i | f_i, σ²) − KL(q ‖ p) of one output is

    F = −n/2 log 2πσ² − (s − 2 βᵀμ + μᵀVμ + t − tr V + tr VS)/2σ² − ½ (tr S + |μ|² − m − log|S|)

    ∂F/∂V = (I − S − μμᵀ)/2σ²     ∂F/∂β = μ/σ²     ∂F/∂t = −1/2σ²     ∂F/∂log σ² = ½ ((s − … + tr VS)/σ² − n)
    ∂F/∂μ = (β − Vμ)/σ² − μ       ∂F/∂S = ½ (S⁻¹ − I − V/σ²)

It is linear in the sums, so a batch whose rows weigh as much as all rows gives an unbiased estimate of it and of its
gradient.

**Natural gradient.** It is the gradient by the expectations E v = μ and E vvᵀ = S + μμᵀ of the natural parameters S⁻¹μ
and S⁻¹, and a step of size ρ along it is

    S⁻¹μ ← (1 − ρ) S⁻¹μ + ρ β/σ²     S⁻¹ ← (1 − ρ) S⁻¹ + ρ (I + V/σ²)

On all rows and with ρ = 1 it ends at S⁻¹ = B and μ = B⁻¹β/σ², where F is the collapsed bound. From the prior on, q has
the form S⁻¹ = I + V̂/σ² and S⁻¹μ = β̂/σ², with V̂ and β̂ running means of the sums of batches.

**Hyperparameters.** Were q(v) held fast while they move, a larger variance of the kernel would make the fit to the rows
worse at once, and steps would have to be tiny. Instead the information about u stays: V̂ = Lᵀ Λ L and β̂ = Lᵀ λ with
fixed Λ and λ, and q follows prior and noise. With U = V̂/σ², η = β̂/σ², S = (I + U)⁻¹ and μ = Sη,

    ∂F/∂η = S (∂F/∂μ) = g     ∂F/∂U = −S (∂F/∂S) S − ½ (g μᵀ + μ gᵀ) = G

which is zero at the optimum of q. For dK = L X Lᵀ there is dL = L P, where P is the lower triangle of X with half of
its diagonal, and

    dV = −P V − V Pᵀ     dβ = −P β     dU = PᵀU + U P − U dlog σ²     dη = Pᵀη − η dlog σ²

so ∂F/∂P = −2 (∂F/∂V) V − (∂F/∂β) βᵀ + 2 U G + η gᵀ, and Lᵀ (∂F/∂K) L is the symmetric part of its lower triangle,
diagonal halved. ∂F/∂log σ² gets −tr GU − gᵀη in addition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import cholesky, inverse, log_determinant, solve_lower
from rio_uq.gp.deadline import TIME_IS_UP
from rio_uq.gp.inference.collapsed import Adjoints, CollapsedBound, Sums
from rio_uq.gp.inference.sparse import Sparse, SparseObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search
from rio_uq.gp.priors import Prior
from rio_uq.gp.progress import ProgressBar
from rio_uq.gp.settings import Settings

Split = Callable[[Array], tuple[Array, Array, Array]]

BATCH_ROWS = 1024

FIRST_STEPS = 100
"""On batches, before greedy inducing points are chosen again."""

NATURAL_STEP, LEARNING_RATE = 0.1, 0.1
"""First sizes of the steps of q(v), unless a batch has a larger share of the rows, and of the log-parameters."""

PATIENCE, HALVINGS = 5, 5
"""After so many passes without gain steps are halved; after so many halvings the search has converged."""


class Variational(NamedTuple):
    """q(v) of each of q outputs, by its running sums over rows: S⁻¹ = I + V̂/σ² and S⁻¹μ = β̂/σ²."""

    v: Array  # V̂, (m, m)
    beta: Array  # β̂, (m, q)

    @classmethod
    def prior(cls, n_points: int, n_outputs: int) -> Variational:
        return cls(np.zeros((n_points, n_points)), np.zeros((n_points, n_outputs)))

    def natural_step(self, sums: Sums, size: float) -> Variational:
        """One step along the natural gradient, from whitened sums that stand for all rows."""
        return Variational((1.0 - size) * self.v + size * sums.phi, (1.0 - size) * self.beta + size * sums.b)

    def following(self, old: Array, new: Array) -> Variational:
        """The same information about u where K_uu has got another Cholesky factor."""
        turn = solve_lower(old, new).T
        return Variational(turn @ self.v @ turn.T, turn @ self.beta)


def uncollapsed(q: Variational, noise_variance: Array, sums: Sums) -> tuple[float, Adjoints]:
    """The bound F at a given q(v), and its adjoints, from whitened sums that stand for all rows."""
    v, beta = sums.phi, sums.b
    m = len(v)
    identity = np.eye(m)
    value, by_log_noise = 0.0, np.empty(len(noise_variance))
    by_v, by_p = np.zeros((m, m)), np.zeros((m, m))
    by_beta = np.empty_like(beta)
    for output, noise in enumerate(noise_variance):
        u, eta, b = q.v / noise, q.beta[:, output] / noise, beta[:, output]
        factor, _ = cholesky(identity + u)
        covariance = inverse(factor)
        mean = covariance @ eta
        second = covariance + np.outer(mean, mean)
        misfit = float(sums.s[output] - 2.0 * b @ mean + np.vdot(v, second) + sums.t - v.trace()) / noise
        divergence = 0.5 * (second.trace() - m + log_determinant(factor))
        value += 0.5 * (sums.log_precision - sums.n * np.log(2.0 * np.pi * noise) - misfit) - divergence
        by_output = (identity - second) / (2.0 * noise)
        by_v += by_output
        by_beta[:, output] = mean / noise
        by_eta = covariance @ ((b - v @ mean) / noise - mean)
        by_u = -0.5 * covariance @ (u - v / noise) @ covariance
        by_u -= 0.5 * (np.outer(by_eta, mean) + np.outer(mean, by_eta))
        by_log_noise[output] = 0.5 * (misfit - sums.n) - np.vdot(by_u, u) - by_eta @ eta
        by_p += 2.0 * (u @ by_u - by_output @ v) + np.outer(eta, by_eta) - np.outer(by_beta[:, output], b)
    lower = np.tril(by_p)
    lower[np.diag_indices(m)] *= 0.5
    by_t = -0.5 * float((1.0 / noise_variance).sum())
    return float(value), Adjoints(by_v, by_beta, by_t, 0.5 * (lower + lower.T), by_log_noise)


class Adam:
    """Steps of about the same size in every coordinate, uphill, from noisy gradients."""

    decay_mean, decay_square = 0.9, 0.999

    def __init__(self, n_parameters: int) -> None:
        self.mean, self.square = np.zeros((2, n_parameters))
        self.n_steps = 0

    def move(self, gradient: Array, rate: float) -> Array:
        """The step to add to the parameters."""
        self.n_steps += 1
        self.mean += (1.0 - self.decay_mean) * (gradient - self.mean)
        self.square += (1.0 - self.decay_square) * (gradient**2 - self.square)
        mean = self.mean / (1.0 - self.decay_mean**self.n_steps)
        square = self.square / (1.0 - self.decay_square**self.n_steps)
        return np.asarray(rate * mean / (np.sqrt(square) + 1e-8))


def standing_for_all(data: Observations, indices: NDArray[np.intp]) -> Observations:
    """A batch of the rows, each with the weight of all the rows that it stands for."""
    batch = data.subset(indices)
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    return replace(batch, weight=weight * (data.total_weight / weight.sum()))


def n_batches(data: Observations) -> int:
    """Of one pass."""
    return ceil(len(data) / BATCH_ROWS)


def batches(data: Observations, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """The rows of one pass in random order, in batches of nearly the same size."""
    return np.array_split(rng.permutation(len(data)), n_batches(data))


class Climb:
    """Where the search is: log-parameters, noise and inducing points in one vector x, and q(v).

    Parameters
    ----------
    kernel : Kernel
    start : (p,) array
    split : callable
        From x to theta, log noise variances and inducing points.
    bounds : (p, 2) array
    prior : Prior
    """

    def __init__(self, kernel: Kernel, start: Array, split: Split, bounds: Array, prior: Prior) -> None:
        self.kernel, self.split, self.bounds, self.prior = kernel, split, bounds, prior
        self.x = np.clip(start, bounds[:, 0], bounds[:, 1])
        _, log_noise, points = split(self.x)
        self.q, self.n_points = Variational.prior(len(points), len(log_noise)), len(points)
        self.adam = Adam(len(start))

    def step(self, batch: Observations, natural_step_size: float, rate: float) -> float:
        """Move q(v) along the natural gradient and x by Adam, both by the gradients of the batch where they are now.

        The gradient of x is that at q(v) before its step: as q(v) has not seen the batch, the estimate is unbiased.

        Returns
        -------
        float
            The objective before the step as the batch estimates it.
        """

        def bound_of(noise_variance: Array, sums: Sums) -> tuple[float, Adjoints]:
            bound = uncollapsed(self.q, noise_variance, sums)
            self.q = self.q.natural_step(sums, natural_step_size)
            return bound

        bound = CollapsedBound(self.kernel, batch, self.n_points, bound_of)
        value, (by_theta, by_log_noise, by_points) = bound(*self.split(self.x))
        log_density, prior_gradient = self.prior(self.x)
        gradient = np.concatenate([by_theta, by_log_noise, by_points.ravel()])[: len(self.x)] + prior_gradient
        if rate > 0.0:
            self._move(self.adam.move(gradient, rate), bound.jitter)
        return value + log_density

    def _move(self, step: Array, jitter: float) -> None:
        old = self._factor(jitter)
        self.x = np.clip(self.x + step, self.bounds[:, 0], self.bounds[:, 1])
        self.q = self.q.following(old, self._factor(jitter))

    def _factor(self, jitter: float) -> Array:
        theta, _, points = self.split(self.x)
        return cholesky(self.kernel.matrix(theta, points, points), jitter)[0]


class SVGPObjective(SparseObjective):
    """The uncollapsed bound. Where a value is asked for, it is that with q(v) at its optimum: the collapsed bound."""

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        """Maximise the uncollapsed bound plus the log density of the prior in passes over the rows.

        A pass has gained nothing if the mean of its estimates is not above that of the best pass by more than the
        tolerance, in shares of its size. The value is that of the best pass, an estimate.
        """
        data, rng = self.data, search.rng
        state = Climb(self.kernel, self.start(x), self.split, self.bounds(bounds), prior)
        # q(v) as that of the prior is no start for x.
        state.step(standing_for_all(data, batches(data, rng)[0]), 1.0, 0.0)
        bar = ProgressBar(search.label, search.max_iter) if search.verbose else None
        best, waited, halvings, n_passes = -np.inf, 0, 0, 0
        is_in_time, began = True, search.deadline.clock()
        while n_passes < search.max_iter and halvings <= HALVINGS and is_in_time:
            halved, order = 0.5**halvings, batches(data, rng)
            natural = max(NATURAL_STEP * halved, 1.0 / len(order))
            values = [state.step(standing_for_all(data, batch), natural, LEARNING_RATE * halved) for batch in order]
            value = float(np.mean(values))
            n_passes += 1
            is_in_time = search.deadline.allows((search.deadline.clock() - began) / n_passes)
            waited = 0 if value > best + search.tolerance * max(1.0, abs(value)) else waited + 1
            best = max(best, value)
            if waited == PATIENCE:
                halvings, waited = halvings + 1, 0
            if bar is not None:
                bar.update(n_passes, value)
        if bar is not None:
            bar.finish(n_passes, best)
        converged = halvings > HALVINGS
        message = "no gain with smaller steps" if converged else "the passes over the rows have run out"
        message = message if is_in_time or converged else TIME_IS_UP
        return Optimum(state.x, best, n_passes, converged, message, is_estimate=True)


class SVGP(Sparse):
    """Inducing points, with the uncollapsed bound in batches of rows as objective.

    Training ends with one pass over all rows that takes q(v) to its optimum: the posterior is that of the sparse GP.
    """

    def _first_round(self, data: Observations) -> int:
        return ceil(FIRST_STEPS / n_batches(data))

    def _objective_at(self, kernel: Kernel, data: Observations, points: Array, settings: Settings) -> SparseObjective:
        return SVGPObjective(kernel, data, points, move_points=settings.optimize_inducing)
