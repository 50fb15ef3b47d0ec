"""The GP on residuals in the units of the data: scales rows, asks the posterior, and scales back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq._base.summand import Summand
from rio_uq.gp import posterior as gp_posterior
from rio_uq.gp.copies import WeightUnit
from rio_uq.gp.edges import Edges, slope_of, slope_variance_of
from rio_uq.gp.guard import latent_share
from rio_uq.gp.noise.contract import Noise
from rio_uq.gp.noise.growth import Growth
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.problem import Problem
from rio_uq.gp.scaling import Scaling
from rio_uq.gp.trust import output_slope


@dataclass(frozen=True)
class ResidualGP:
    """A trained GP on residuals (or outcomes), which takes and gives the units of the data.

    Attributes
    ----------
    posterior : Posterior
        In scaled units.
    noise : Noise
        Of outcomes, as a function of scaled rows.
    noise_choice : str
        The noise that was asked for, one of `rio_uq.gp.noise.NOISES`; what was found may be simpler.
    inputs, outputs, targets : Scaling
        Of the features, of ŷ and of the residuals.
    bound : float
        Log marginal likelihood, or its lower bound, of the targets; of the noise's response to them where that is
        another.
    is_residual : bool
        Whether the targets are residuals, not outcomes.
    slope_at : (k, p) array
        Scaled predictions over which the slope of the output part is taken.
    correction : (q,) array
        The share of the correction that left-out rows support, between 0 and 1.
    constant : (q,) array
        The constant part of the mean, in the units of the data.
    growth : Growth
        Of noise beyond the largest predictions.
    weight_unit : WeightUnit
        How many measurements the weights of rows are.
    edges : Edges or None
        Of scaled predictions, beyond which a slope on ŷ does not go on; None where targets are outcomes, which follow
        the prediction, and in files that do not have them.
    """

    posterior: Posterior
    noise: Noise
    noise_choice: str
    inputs: Scaling
    outputs: Scaling
    targets: Scaling
    bound: float
    n_iter: int
    converged: bool
    message: str
    is_residual: bool
    slope_at: Array
    correction: Array
    constant: Array
    growth: Growth
    weight_unit: WeightUnit
    edges: Edges | None

    @property
    def n_predictions(self) -> int:
        """Columns of ŷ."""
        return len(self.outputs.scale)

    @property
    def n_outputs(self) -> int:
        """Columns of the targets; as many as predictions where they are residuals."""
        return len(self.targets.scale)

    @property
    def has_ard(self) -> bool:
        """Whether each column has a lengthscale of its own."""
        return all(term.ard for term in self.posterior.kernel.terms)

    @property
    def looks_at_model(self) -> bool:
        """Whether predictions of the model make a difference."""
        return self.is_residual or bool(self.posterior.kernel.part("output"))

    @property
    def looks_at_features(self) -> bool:
        return bool(self.posterior.kernel.part("input"))

    def trust(self) -> tuple[Array, Array]:
        """How much of ŷ is kept in the corrected prediction, and the posterior standard deviation of that, both (q,);
        NaN where ŷ is constant, and where there is not one prediction for each target.
        """
        q = self.n_outputs
        if self.n_predictions != q:
            return np.full(q, np.nan), np.full(q, np.nan)
        slope, std = output_slope(self.posterior, self.slope_at)
        unit = self.correction * self.targets.scale / self.outputs.scale
        return float(self.is_residual) + unit * slope, unit * std

    def with_rows(self, problem: Problem, walk_options: dict[str, Any]) -> ResidualGP:
        """With further rows in the posterior and in the bound; all else that was learnt stays as it is."""
        posterior = self.posterior.with_rows(self._data(problem, walk_options))
        return self.with_posterior(posterior).reaching(problem.y_pred)

    def reaching(self, y_pred: Array) -> ResidualGP:
        """With further predictions (n, p) in the range over which a slope is taken for known."""
        if self.edges is None or not len(y_pred):
            return self
        return replace(self, edges=self.edges.extended(Edges.of(self.outputs.apply(y_pred))))

    @property
    def sums(self) -> Summand:
        """All that the posterior needs of the rows behind it, see `rio_uq.gp.inference.contract.Statistics`."""
        return self.posterior.sums

    def sums_of(self, problem: Problem, walk_options: dict[str, Any]) -> Summand:
        """The same sums of other rows, such that both can be added."""
        return self.posterior.sums_of(self._data(problem, walk_options))

    def of_sums(self, sums: Summand) -> ResidualGP:
        """With the rows behind these sums in the posterior and in the bound, and no others."""
        return self.with_posterior(self.posterior.with_sums(sums))

    def _data(self, problem: Problem, walk_options: dict[str, Any]) -> Observations:
        rows = self._rows(problem.features, problem.y_pred)
        targets, precision = self.noise.response(rows, self.targets.apply(problem.targets), self.posterior)
        weight = self.weight_unit.measurements(problem.weight, len(rows))
        return Observations(rows, targets, weight, precision, **walk_options)

    def with_posterior(self, posterior: Posterior) -> ResidualGP:
        """With another posterior, and its bound."""
        bound = in_units_of_data(posterior.log_likelihood(), posterior.total_weight, self.targets)
        return replace(self, posterior=posterior, bound=bound)

    @property
    def noise_variance(self) -> Array:
        """Of each output, (q,): of a typical row where it depends on the row."""
        return self.posterior.noise_variance * self.targets.scale**2

    def noise_at(self, features: Array, y_pred: Array, n_jobs: int) -> Array:
        """Noise variance at each row, shape (n, q)."""
        variance = self.noise.variance(self._rows(features, y_pred), self.noise_variance, n_jobs)
        return variance if self.growth.is_none else variance * self.growth.factor(y_pred)

    def _rows(self, features: Array, y_pred: Array) -> Array:
        return np.hstack([self.inputs.apply(features), self.outputs.apply(y_pred)])

    def _beyond(self, rows: Array) -> Array | None:
        """How far the prediction of each row is beyond the range that was seen, (n, p); None if nowhere."""
        if self.edges is None:
            return None
        beyond = self.edges.beyond(rows[:, -self.n_predictions :])
        return beyond if beyond.any() else None

    def _left_open(self, rows: Array) -> Array | None:
        """Standard deviations of what a slope on ŷ that is not corrected adds beyond the range that was seen, (n, q) in
        the units of the data; None if nothing.
        """
        if self.edges is None or not self.edges.open_slope.any():
            return None
        far = self.edges.left_open(rows[:, -self.n_predictions :])
        return far * self.targets.scale if far.any() else None

    def mean(self, features: Array, y_pred: Array, n_jobs: int) -> Array:
        """Mean of the target at each row, shape (n, q)."""
        rows = self._rows(features, y_pred)
        return self._corrected(self._bounded(gp_posterior.predict_mean(self.posterior, rows, n_jobs=n_jobs), rows))

    def _bounded(self, mean: Array, rows: Array) -> Array:
        """A mean in scaled units without what the slope on ŷ has beyond the range of predictions."""
        beyond = self._beyond(rows)
        return mean if beyond is None else mean - beyond @ slope_of(self.posterior, self.n_predictions)

    def _corrected(self, mean: Array) -> Array:
        """The mean of the target from that in scaled units."""
        return self.constant + self.correction * self.targets.scale * mean

    @property
    def latent_unit(self) -> Array:
        """A latent standard deviation of one in the units of the data, (q,)."""
        return latent_share(self.correction) * self.targets.scale

    def mean_and_variance(self, features: Array, y_pred: Array, n_jobs: int) -> tuple[Array, Array]:
        """Mean of the target and variance of its latent value at each row, both of shape (n, q)."""
        rows = self._rows(features, y_pred)
        mean, variance = gp_posterior.predict(self.posterior, rows, n_jobs=n_jobs)
        beyond = self._beyond(rows)
        if beyond is not None:
            variance = variance + (beyond**2 @ slope_variance_of(self.posterior, self.n_predictions))[:, None]
        variance = self.latent_unit**2 * variance
        far = self._left_open(rows)
        return self._corrected(self._bounded(mean, rows)), variance if far is None else variance + far**2

    def covariance(self, features: Array, y_pred: Array) -> Array:
        """Covariance of the latent target between rows, shape (q, n, n)."""
        rows = self._rows(features, y_pred)
        matrices, beyond = gp_posterior.covariance(self.posterior, rows), self._beyond(rows)
        if beyond is not None:
            matrices = matrices + beyond * slope_variance_of(self.posterior, self.n_predictions) @ beyond.T
        matrices, far = matrices * self.latent_unit[:, None, None] ** 2, self._left_open(rows)
        return matrices if far is None else matrices + far.T[:, :, None] * far.T[:, None, :]

    def sample(self, features: Array, y_pred: Array, n_samples: int, rng: np.random.Generator) -> Array:
        """Joint draws of the latent target, shape (n, q, n_samples)."""
        rows = self._rows(features, y_pred)
        draws = gp_posterior.sample(self.posterior, rows, n_samples, rng)
        mean, beyond = gp_posterior.predict_mean(self.posterior, rows), self._beyond(rows)
        if beyond is not None:
            spread = beyond * np.sqrt(slope_variance_of(self.posterior, self.n_predictions))
            slopes = rng.standard_normal((self.n_predictions, self.n_outputs * n_samples))
            draws = draws + (spread @ slopes).reshape(draws.shape)
        centre = self._corrected(self._bounded(mean, rows))
        draws = centre[:, :, None] + self.latent_unit[:, None] * (draws - mean[:, :, None])
        far = self._left_open(rows)
        return draws if far is None else draws + far[:, :, None] * rng.standard_normal((self.n_outputs, n_samples))

    def part(self, name: str, features: Array, y_pred: Array, n_jobs: int) -> Array:
        """The part of the mean, less its offset, that comes from the "input" or the "output" kernel, (n, q)."""
        terms = self.posterior.kernel.part(name)
        if not terms:
            return np.zeros((len(y_pred), self.n_outputs))
        rows = self._rows(features, y_pred)
        part = gp_posterior.predict_mean(self.posterior.of_terms(terms), rows, n_jobs=n_jobs)
        return self.correction * self.targets.scale * (self._bounded(part, rows) if name == "output" else part)

    def with_noise_of_at_least(self, variance: Array) -> ResidualGP:
        """With a larger noise variance for predictions, (q,) in the units of y², where it is smaller than that."""
        noise = np.maximum(self.posterior.noise_variance, variance / self.targets.scale**2)
        return replace(self, posterior=replace(self.posterior, noise_variance=noise))

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """Variances, lengthscales and shapes of each term, in the units of the data."""
        kernel, terms = self.posterior.kernel, dict[str, dict[str, Any]]()
        units = np.concatenate([self.inputs.scale, self.outputs.scale])
        for term, theta in zip(kernel.terms, kernel.split(self.posterior.theta), strict=True):
            name = f"{term.part}:{term.family}"
            repeats = sum(other.split("#")[0] == name for other in terms)
            label = f"{name}#{repeats + 1}" if repeats else name
            terms[label] = term.in_units(theta, units, self.targets.scale)
        return terms


def in_units_of_data(bound: float, total_weight: float, targets: Scaling) -> float:
    """The log likelihood of targets from that of scaled ones."""
    return bound - total_weight * float(np.log(targets.scale).sum())
