"""The average over hyperparameters that few rows leave open.

Given rows r, log-parameters and log noise variances x have the density p(x | r) ∝ p(r | x) p(x), with its largest value
at x̂, near which it is nearly normal with the precision H (`rio_uq.gp.curvature`). That each of many lengthscales is
open does not mean that the kernel is: if each were drawn for itself, some would be short in nearly all draws, and the
kernel rougher than any that the rows speak for. So the d lengthscales of a term may change together as the rows allow,
and beside that by 1/√d each. With P the matrix that takes changes of x to those of lengthscales beside the mean change
of their term, times √d, the average is over

    f(x) = p(r | x) p(x) exp(−½ |P (x − x̂)|²)        of the precision A = H + PᵀP

No eigenvalue of A is taken to be smaller than ¼, for what rows say nothing of is still not off by any factor. Members
are the optimum, t = 0, and the GPs at

    x_j = x̂ + C t_j        C Cᵀ = A⁻¹        t_j from a Student distribution with ν degrees of freedom

or at the nearest point within the bounds, always with the same t_j. They have the shares of importance sampling, cut at
√J times their mean before they are made to add up to one,

    s_j ∝ f(x_j) (1 + |t_j|²/ν)^((ν + p)/2)

With m_j and v_j the mean and the latent variance of each member at a row,

    mean = Σ_j s_j m_j        variance = Σ_j s_j (v_j + (m_j − mean)²)

**Other rows.** With further rows r', f grows by the factor p(r' | r, x), and so does s_j. Without row i it loses the
factor p(r_i | r_₋ᵢ, x), which each member has in closed form: with the residual e, the latent variance l and the weight
w of a row, log p = −½ (log(l + σ²/w) + e²/(l + σ²/w) + (w − 1) log σ²) for each output, but for constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import NotPositiveDefiniteError, inverse_root
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Member, Posterior
from rio_uq.gp.priors import Prior

MOST_ROWS = 200
"""More rows leave less open than their members cost."""

N_STEPS, DEGREES = 24, 5.0
"""Members beside the optimum, and ν."""

LEAST_CURVATURE = 0.25
"""Eigenvalue of A."""

LEAST_SHARE = 1e-3
"""Members with less are left out."""


@dataclass(frozen=True)
class AveragedPosterior(Posterior):
    """The average of several posteriors of the same rows; all else that a posterior has is that of the optimum.

    Attributes
    ----------
    mixture : tuple of Member
        Posteriors, and their shares, which add up to one.
    """

    mixture: tuple[Member, ...] = ()

    @property
    def members(self) -> tuple[Member, ...]:
        return self.mixture

    def moments(self, rows: Array, n_jobs: int, *, with_variance: bool) -> tuple[Array, Array]:
        each = [posterior.moments(rows, n_jobs, with_variance=with_variance) for _, posterior in self.mixture]
        means, variances = (np.stack(values) for values in zip(*each, strict=True))
        mean = _average(self._shares, means)
        return mean, _average(self._shares, variances + (means - mean) ** 2) if with_variance else mean

    def covariance(self, rows: Array) -> Array:
        means = np.stack([posterior.moments(rows, 1, with_variance=False)[0] for _, posterior in self.mixture])
        away = np.moveaxis(means - _average(self._shares, means), 2, 1)  # (J, q, n)
        within = np.stack([posterior.covariance(rows) for _, posterior in self.mixture])
        return _average(self._shares, within + away[:, :, :, None] * away[:, :, None, :])

    def of_terms(self, indices: Sequence[int]) -> Posterior:
        return self._each(lambda posterior: posterior.of_terms(indices))

    def of_rows(self, data: Observations) -> Posterior:
        """With the same shares."""
        return self._each(lambda posterior: posterior.of_rows(data))

    def with_rows(self, data: Observations) -> Posterior:
        grown = self._each(lambda posterior: posterior.with_rows(data))
        gains = [
            new.posterior.log_likelihood() - old.posterior.log_likelihood()
            for new, old in zip(grown.mixture, self.mixture, strict=True)
        ]
        logs = np.log(self._shares) + gains
        shares = np.exp(logs - logs.max())
        return _average_of_most(grown, shares / shares.sum(), [posterior for _, posterior in grown.mixture])

    def leave_one_out(self, data: Observations) -> tuple[Array, Array]:
        each = [posterior.leave_one_out(data) for _, posterior in self.mixture]
        residuals, latents = (np.stack(values) for values in zip(*each, strict=True))
        noise = np.stack([posterior.likelihood_noise for _, posterior in self.mixture])[:, None]  # (J, 1, q)
        counts, weight = (
            np.ones((len(data), 1)) if values is None else values[:, None]
            for values in (data.weight, data.effective_weight)
        )
        variances = latents + noise / weight
        losses = np.log(variances) + residuals**2 / variances + (counts - 1.0) * np.log(noise)
        density = -0.5 * losses.sum(axis=2)  # (J, n)
        shares = _shares_of(np.log(self._shares)[:, None] - density)[:, :, None]
        residual = _average(shares, residuals)
        return residual, _average(shares, latents + (residuals - residual) ** 2)

    @property
    def _shares(self) -> Array:
        return np.array([share for share, _ in self.mixture])

    def _each(self, change: Callable[[Posterior], Posterior]) -> AveragedPosterior:
        """The average of posteriors that are changed, as the optimum is."""
        changed = [change(posterior) for _, posterior in self.mixture]
        return average_of(change(Posterior(**_fields(self))), self._shares, changed)


def average_of(optimum: Posterior, shares: Array, posteriors: Sequence[Posterior]) -> AveragedPosterior:
    """Of members with shares that add up to one."""
    mixture = tuple(Member(float(share), posterior) for share, posterior in zip(shares, posteriors, strict=True))
    return AveragedPosterior(**_fields(optimum), mixture=mixture)


def _average_of_most(optimum: Posterior, shares: Array, posteriors: Sequence[Posterior]) -> AveragedPosterior:
    """Without members that have next to no share."""
    counted = np.flatnonzero(shares >= LEAST_SHARE).tolist()
    return average_of(optimum, shares[counted] / shares[counted].sum(), [posteriors[number] for number in counted])


def average_around(
    objective: ExactObjective, optimum: Posterior, curvature: Array, bounds: Array, prior: Prior
) -> AveragedPosterior:
    """The average around the optimum.

    Parameters
    ----------
    objective : ExactObjective
        Of its rows.
    optimum : Posterior
    curvature : (p, p) array
        H, there or close by.
    bounds : (p, 2) array
    prior : Prior
    """
    x = np.concatenate([optimum.theta, np.log(optimum.likelihood_noise)])
    beside = beside_others(objective.kernel, len(x))
    spread = inverse_root(curvature + beside.T @ beside, LEAST_CURVATURE)
    posteriors, logs = [optimum], [optimum.log_likelihood() + prior(x)[0]]
    for step in _steps(len(x)):
        at = np.clip(x + spread @ step, *bounds.T)
        with suppress(NotPositiveDefiniteError):
            posteriors.append(objective.posterior(at))
            density = posteriors[-1].log_likelihood() + prior(at)[0] - 0.5 * float(np.sum((beside @ (at - x)) ** 2))
            logs.append(density + 0.5 * (DEGREES + len(x)) * np.log1p(step @ step / DEGREES))
    return _average_of_most(optimum, _shares_of(np.array(logs)), posteriors)


def beside_others(kernel: Kernel, n_parameters: int) -> Array:
    """P, (p, p)."""
    names = [(number, name) for number, term in enumerate(kernel.terms) for name in term.parameter_names]
    matrix = np.zeros((n_parameters, n_parameters))
    for number in range(len(kernel.terms)):
        place = [at for at, name in enumerate(names) if name == (number, "lengthscale")]
        if place:
            matrix[np.ix_(place, place)] = np.sqrt(len(place)) * (np.eye(len(place)) - 1.0 / len(place))
    return matrix


def _steps(n_directions: int) -> Array:
    """t_j, (J, k), in pairs of opposite sign."""
    rng = np.random.default_rng(0)
    half = rng.standard_normal((N_STEPS // 2, n_directions))
    half *= np.sqrt(DEGREES / rng.chisquare(DEGREES, (N_STEPS // 2, 1)))
    return np.concatenate([half, -half])


def _shares_of(logs: Array) -> Array:
    """Shares (J, …) that add up to one, from their logarithms up to a constant."""
    shares = np.exp(logs - logs.max(axis=0))
    shares = np.minimum(shares, np.sqrt(len(logs)) * shares.mean(axis=0))
    return np.asarray(shares / shares.sum(axis=0))


def _average(shares: Array, values: Array) -> Array:
    """Over the first axis."""
    return np.asarray((shares.reshape(shares.shape + (1,) * (values.ndim - shares.ndim)) * values).sum(axis=0))


def _fields(posterior: Posterior) -> dict[str, Any]:
    """Of the optimum."""
    return {field.name: getattr(posterior, field.name) for field in fields(Posterior)}
