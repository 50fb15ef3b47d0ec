"""The GP on residuals in the units of the data: scales, builds the kernel, trains, and scales back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rio_uq._base.array import Array, Mask
from rio_uq.gp import folds
from rio_uq.gp import posterior as gp_posterior
from rio_uq.gp.copies import WeightUnit, as_measurements
from rio_uq.gp.edges import Edges, slope_of, slope_variance_of
from rio_uq.gp.inference import inference_for
from rio_uq.gp.inference.collapsed import Sums
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.noise import holds_between_folds, learn_noise
from rio_uq.gp.noise.constant import with_noise_of
from rio_uq.gp.noise.contract import Noise
from rio_uq.gp.noise.growth import Growth, fit_growth
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior, weak_prior
from rio_uq.gp.problem import Problem
from rio_uq.gp.scaling import Scaling
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, plain_gp_start, random_starts, rio_start, unit_start
from rio_uq.gp.training import train
from rio_uq.gp.trust import output_slope, spread_out


@dataclass(frozen=True)
class KernelChoice:
    """The kernel's structure, see `rio_uq.gp.kernels.io.io_kernel`."""

    kind: str
    input_family: str
    output_family: str
    ard: bool


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
    def sums(self) -> Sums:
        """Sums over the rows behind the sparse GP."""
        return self.posterior.sums

    def sums_of(self, problem: Problem, walk_options: dict[str, Any]) -> Sums:
        """The same sums of other rows, such that both can be added."""
        return self.posterior.sums_of(self._data(problem, walk_options))

    def of_sums(self, sums: Sums) -> ResidualGP:
        """With the rows behind these sums in the posterior and in the bound, and no others."""
        return self.with_posterior(self.posterior.with_sums(sums))

    def _data(self, problem: Problem, walk_options: dict[str, Any]) -> Observations:
        rows = self._rows(problem.features, problem.y_pred)
        targets, precision = self.noise.response(rows, self.targets.apply(problem.targets))
        weight = self.weight_unit.measurements(problem.weight, len(rows))
        return Observations(rows, targets, weight, precision, **walk_options)

    def with_posterior(self, posterior: Posterior) -> ResidualGP:
        """With another posterior, and its bound."""
        bound = _in_units_of_data(posterior.log_likelihood(), posterior.total_weight, self.targets)
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
        """What a latent standard deviation of one is in the units of the data, (q,)."""
        return folds.latent_share(self.correction) * self.targets.scale

    def mean_and_variance(self, features: Array, y_pred: Array, n_jobs: int) -> tuple[Array, Array]:
        """Mean of the target and variance of its latent value at each row, both of shape (n, q)."""
        rows = self._rows(features, y_pred)
        mean, variance = gp_posterior.predict(self.posterior, rows, n_jobs=n_jobs)
        beyond = self._beyond(rows)
        if beyond is not None:
            variance = variance + (beyond**2 @ slope_variance_of(self.posterior, self.n_predictions))[:, None]
        return self._corrected(self._bounded(mean, rows)), self.latent_unit**2 * variance

    def covariance(self, features: Array, y_pred: Array) -> Array:
        """Covariance of the latent target between rows, shape (q, n, n)."""
        rows = self._rows(features, y_pred)
        matrices, beyond = gp_posterior.covariance(self.posterior, rows), self._beyond(rows)
        if beyond is not None:
            matrices = matrices + beyond * slope_variance_of(self.posterior, self.n_predictions) @ beyond.T
        return matrices * self.latent_unit[:, None, None] ** 2

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
        return centre[:, :, None] + self.latent_unit[:, None] * (draws - mean[:, :, None])

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


class TrainedGP(NamedTuple):
    """A GP, and the leave-one-out errors of its rows."""

    gp: ResidualGP
    left_out: LeftOut


def fit_residual_gp(
    problem: Problem,
    choice: KernelChoice,
    settings: Settings,
    *,
    standardize_output: bool,
    starts: str,
    n_restarts: int,
    prior: str,
    noise: str,
    walk_options: dict[str, Any],
    rng: np.random.Generator,
    guard: bool = False,
    keeps_constant: bool = False,
    are_counts: bool = False,
) -> TrainedGP:
    """Scale, train from the starts, and put the result back into the units of the data.

    Parameters
    ----------
    standardize_output : bool
        Whether ŷ and the targets are standardised as the features always are.
    starts : {"auto", "rio", "unit"}
        The RIO start and, where it makes sense, the plain-GP start; the RIO start; the paper's.
    n_restarts : int
        Random starts around the first one, in addition.
    prior : {"weak", "flat"}
        On the hyperparameters.
    noise : {"constant", "io"}
        Whether noise may depend on the row.
    walk_options : dict
        How to walk over rows, see `rio_uq.gp.observations.Observations`.
    guard : bool
        Whether corrections are shrunk to what left-out rows support, see `rio_uq.gp.folds`.
    keeps_constant : bool
        Whether the constant part of corrections is not shrunk: on another scale than their own, predictions that are
        right in the mean of outcomes are off by a constant.
    are_counts : bool
        Whether weights are numbers of measurements, see `rio_uq.gp.copies`.
    """
    inference = inference_for(settings, len(problem.features))
    problem, place, weight_unit = as_measurements(problem, are_counts=are_counts, is_sorted=inference.sorts_rows)
    features, y_pred, weight = problem.features, problem.y_pred, problem.weight
    d, p, q = features.shape[1], y_pred.shape[1], problem.targets.shape[1]
    inputs = Scaling.standardizing(features, weight)
    if standardize_output:
        largest = np.abs(problem.targets).max(axis=0)
        if problem.has_prediction_for_each_target:
            largest = np.maximum(np.abs(y_pred).max(axis=0), np.abs(problem.targets + y_pred).max(axis=0))
        rounding = np.maximum(4.0 * np.finfo(float).eps * largest, np.finfo(float).tiny ** 0.25)
        outputs = Scaling.standardizing(y_pred, weight)
        targets = Scaling.standardizing(problem.targets, weight, rounding)
        if len(features) == 1:  # one residual is all that is known of their size
            targets = Scaling(np.zeros(q), np.maximum(np.abs(problem.targets[0]), rounding))
    else:
        outputs, targets = Scaling.identity(p), Scaling.identity(q)

    rows = np.hstack([inputs.apply(features), outputs.apply(y_pred)])
    data = Observations(rows, targets.apply(problem.targets), weight, **walk_options)
    kernel = io_kernel(
        d, p, input_family=choice.input_family, output_family=choice.output_family, ard=choice.ard, kind=choice.kind
    )
    # One unit of ŷ in those of the targets: nothing where the targets are outcomes already.
    prediction = float(np.mean(outputs.scale / targets.scale)) if problem.is_residual else 0.0
    scales = Scales.of(data, d, prediction)
    bounds = bounds_of(kernel, q, scales)
    points = [unit_start(kernel, q) if starts == "unit" else rio_start(kernel, q, scales)]
    has_slope = choice.kind == "io" and "linear" in choice.output_family.split("+")
    if starts == "auto" and problem.is_residual and has_slope and scales.model_can_be_beaten:
        points.append(plain_gp_start(kernel, q, scales))
    points += random_starts(points[0], n_restarts, rng)
    density = weak_prior(kernel, q, scales) if prior == "weak" else Prior.flat(len(bounds))
    constant = 0.0 if keeps_constant else targets.offset / targets.scale

    trained = train(kernel, data, points, bounds, settings, rng, density)
    posterior: Posterior = trained.posterior
    theta, log_noise, inducing_points = posterior.theta, np.log(posterior.noise_variance), posterior.points
    left_out = posterior.leave_one_out(data)
    counts = _shape_weight(data.weight, problem.held_out, len(rows))
    own_folds = problem.fold if problem.fold is not None and np.ptp(problem.fold) > 0 else None
    errors: tuple[Array, Array] = left_out
    correction: Array = np.ones(q)
    if guard and len(rows) >= folds.FEWEST_ROWS:
        by_fold = None
        expected: Array = data.targets - left_out[0]
        if inference.trains_folds:
            optimum = np.concatenate([theta, log_noise])
            search = folds.FoldSearch(trained.start, optimum, bounds, density, settings.max_iter)
            fold = folds.random_folds(len(rows)) if own_folds is None else own_folds
            by_fold = folds.predict_folds(kernel, data, fold, search)
            expected = by_fold.mean
        if problem.is_residual:
            correction = folds.supported_shares(constant + data.targets, constant + expected, counts)
        total = constant + data.targets
        errors = _shrunk(*left_out, correction, total)
        if by_fold is not None:
            errors = _of_folds(errors, by_fold, data.targets, correction, total, counts, is_own=own_folds is not None)
        posterior = with_noise_of(posterior, errors, counts, np.exp(bounds[-q:, 0]))
    kind = noise
    if own_folds is not None and not holds_between_folds(noise, posterior, data, errors, d, own_folds, rng):
        kind = "constant"
    posterior, noise_model, noise_variance = learn_noise(kind, posterior, data, errors, d, problem.held_out, rng)
    growth = Growth.none(q)
    if noise_model.varies and problem.is_residual and not keeps_constant:
        growth = fit_growth(y_pred, errors[0], counts)
    gp = ResidualGP(
        posterior=posterior,
        noise=noise_model,
        noise_choice=noise,
        inputs=inputs,
        outputs=outputs,
        targets=targets,
        bound=_in_units_of_data(trained.bound, data.total_weight, targets),
        n_iter=trained.n_iter,
        converged=trained.converged,
        message=trained.message,
        is_residual=problem.is_residual,
        slope_at=spread_out(rows[:, d:]),
        correction=correction,
        constant=targets.offset if keeps_constant else correction * targets.offset,
        growth=growth,
        weight_unit=weight_unit,
        edges=Edges.of(rows[:, d:]) if problem.is_residual else None,
    )
    response = noise_model.response(rows, data.targets)
    if response.precision is not None or not np.array_equal(response.targets, data.targets):
        weighed = replace(data, targets=response.targets, precision=response.precision)
        of_response = inference.posterior(kernel, theta, log_noise, inducing_points, weighed)
        gp = gp.with_posterior(replace(of_response, noise_variance=posterior.noise_variance))
    scores = errors[0] / np.sqrt(errors[1] + noise_variance)
    left_out = _shrunk(*left_out, correction, constant + data.targets)
    std = targets.scale * np.sqrt(left_out[1] + noise_variance)
    return TrainedGP(gp, LeftOut(targets.scale * left_out[0], std, scores, counts, place))


def _shrunk(residual: Array, latent: Array, correction: Array, target: Array) -> tuple[Array, Array]:
    """Residuals and latent variances of left-out rows where only a share of the correction is made: the residual is
    that share of its own, and the rest of the target.
    """
    return correction * residual + (1.0 - correction) * target, folds.latent_share(correction) ** 2 * latent


def _of_folds(
    left_out: tuple[Array, Array],
    by_fold: folds.FoldPredictions,
    targets: Array,
    correction: Array,
    total: Array,
    counts: Array,
    *,
    is_own: bool,
) -> tuple[Array, Array]:
    """Errors of folds as they would be with all other rows, beside the latent variances of the GP that predicts; for
    folds of the user's own, which keep rows apart that belong together, errors and variances as they are.
    """
    residual, latent = _shrunk(targets - by_fold.mean, by_fold.latent, correction, total)
    if is_own:
        return residual, latent
    if len(targets) <= folds.FEW_ROWS:  # ten folds, each without a tenth of the rows
        return residual, left_out[1]
    at_optimum, _ = _shrunk(targets - by_fold.mean_at_optimum, by_fold.latent, correction, total)
    return folds.gain_of_all_rows(left_out[0], at_optimum, counts) * residual, left_out[1]


def _shape_weight(weight: Array | None, held_out: Mask | None, n_rows: int) -> Array:
    counts = np.ones(n_rows) if weight is None else weight
    return counts if held_out is None else np.where(held_out, counts, 0.0)


def _in_units_of_data(bound: float, total_weight: float, targets: Scaling) -> float:
    """The log likelihood of targets from that of scaled ones."""
    return bound - total_weight * float(np.log(targets.scale).sum())
