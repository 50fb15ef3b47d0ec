"""The GP on residuals in the units of the data: scales, builds the kernel, trains, and scales back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rio_uq._base import array as gp_typing
from rio_uq._base.array import Array, Mask
from rio_uq.gp import posterior as gp_posterior
from rio_uq.gp.inference import exact
from rio_uq.gp.inference.statistics import Statistics
from rio_uq.gp.inference.updating import add_rows, leave_one_out, log_likelihood, of_sums, sums_of
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.noise.varying import NoiseField, fit_noise_field, noise_of_unseen_rows
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.rows import Rows
from rio_uq.gp.scaling import Scaling
from rio_uq.gp.starts import Scales, bounds_of, plain_gp_start, random_starts, rio_start, unit_start, weak_prior
from rio_uq.gp.training import Settings, train

TRUST_ROWS = 200
"""The slope of the output part on ŷ is taken over this many rows."""


@dataclass(frozen=True)
class Problem:
    """What the GP is trained on.

    Attributes
    ----------
    features, y_pred, targets : (n, d), (n, q), (n, q) arrays
    weight : (n,) array or None
    is_residual : bool
        Whether the targets are residuals, not outcomes.
    held_out : (n,) array of bool or None
        Rows that the model was not trained on; None where there is no telling, or no difference.
    """

    features: Array
    y_pred: Array
    targets: Array
    weight: Array | None
    is_residual: bool
    held_out: Mask | None = None

    def without_copies(self) -> Problem:
        """Equal rows as one row that counts as often, in sorted order: the exact GP is then cheaper, and what it learns
        does not depend on the order of the rows.
        """
        # A model may give equal rows predictions that differ in the last digits.
        y_pred, targets = _rounded(self.y_pred), _rounded(self.targets)
        held_out = np.zeros((len(self.features), 0)) if self.held_out is None else self.held_out[:, None]
        keys = np.hstack([self.features, y_pred, targets, held_out])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        weight = np.bincount(group.ravel(), weights=self.weight).astype(float)
        unit = bool((weight == 1.0).all())
        return replace(
            self,
            features=self.features[first],
            y_pred=y_pred[first],
            targets=targets[first],
            weight=None if unit else weight,
            held_out=None if self.held_out is None else self.held_out[first],
        )

    def telling_weight(self) -> Array | None:
        """What each row counts in learning hyperparameters, given a problem without copies.

        Rows with equal features and different outcomes were measured several times, and tell how large the noise is.
        Where all outcomes agree, they are one measurement that was copied, and count as one: taken for several, they
        would tell that there is no noise, and the GP would memorise. A row of weight two is the same as two copies;
        weights below one are kept.
        """
        if self.weight is None or not self.features.shape[1]:
            return self.weight
        _, place = np.unique(self.features, axis=0, return_inverse=True)
        measured = np.unique(np.column_stack([place.ravel(), self.y_pred, self.targets]), axis=0)
        n_outcomes = np.bincount(measured[:, 0].astype(int))
        weight = np.where(n_outcomes[place.ravel()] > 1, self.weight, np.minimum(self.weight, 1.0))
        return None if (weight == 1.0).all() else weight


def _rounded(values: Array) -> Array:
    """To ten digits of the spread of each column."""
    spread = np.ptp(values, axis=0)
    with np.errstate(divide="ignore"):
        decimals = np.clip(10 - np.floor(np.log10(spread)), -200, 200)
    columns = [
        column if width == 0.0 else np.round(column, int(places))
        for column, width, places in zip(values.T, spread, decimals, strict=True)
    ]
    return np.stack(columns, axis=1)


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
    field : NoiseField or None
        Of noise that depends on the row, as a function of scaled rows.
    inputs, outputs, targets : Scaling
        Of the features, of ŷ and of the residuals.
    bound : float
        Log marginal likelihood, or its lower bound, of the targets.
    is_residual : bool
        Whether the targets are residuals, not outcomes.
    slope_at : (k, q) array
        Scaled predictions over which the slope of the output part is taken.
    """

    posterior: Posterior
    field: NoiseField | None
    inputs: Scaling
    outputs: Scaling
    targets: Scaling
    bound: float
    n_iter: int
    converged: bool
    message: str
    is_residual: bool
    slope_at: Array

    def trust(self) -> tuple[Array, Array]:
        """How much of ŷ is kept in the corrected prediction, and the posterior standard deviation of that, both (q,);
        NaN where ŷ is constant.
        """
        slope, std = _output_slope(self.posterior, self.slope_at)
        unit = self.targets.scale / self.outputs.scale
        return float(self.is_residual) + unit * slope, unit * std

    def with_rows(self, problem: Problem, walk_options: dict[str, Any]) -> ResidualGP:
        """With further rows in the posterior and in the bound; all else that was learnt stays as it is."""
        return self._with_posterior(add_rows(self.posterior, self._data(problem, walk_options)))

    def sums_of(self, problem: Problem, walk_options: dict[str, Any]) -> Statistics:
        """What rows tell the sparse GP at its hyperparameters, such that it can be added to what others do."""
        return sums_of(self.posterior, self._data(problem, walk_options))

    def of_sums(self, sums: Statistics) -> ResidualGP:
        """With the rows behind these sums in the posterior and in the bound, and no others."""
        return self._with_posterior(of_sums(self.posterior, sums))

    def _data(self, problem: Problem, walk_options: dict[str, Any]) -> Rows:
        rows = self._rows(problem.features, problem.y_pred)
        return Rows(rows, self.targets.apply(problem.targets), problem.weight, **walk_options)

    def _with_posterior(self, posterior: Posterior) -> ResidualGP:
        bound, total_weight = log_likelihood(posterior)
        return replace(self, posterior=posterior, bound=_in_units_of_data(bound, total_weight, self.targets))

    @property
    def noise_variance(self) -> Array:
        """Of each output, (q,): of a typical row where it depends on the row."""
        return self.posterior.noise_variance * self.targets.scale**2

    def noise_at(self, features: Array, y_pred: Array, n_jobs: int) -> Array:
        """Noise variance at each row, shape (n, q)."""
        if self.field is None:
            return np.tile(self.noise_variance, (len(y_pred), 1))
        return self.field.factor(self._rows(features, y_pred), n_jobs)[:, None] * self.noise_variance

    def _rows(self, features: Array, y_pred: Array) -> Array:
        return np.hstack([self.inputs.apply(features), self.outputs.apply(y_pred)])

    def mean(self, features: Array, y_pred: Array, n_jobs: int) -> Array:
        """Mean of the target at each row, shape (n, q)."""
        mean = gp_posterior.predict_mean(self.posterior, self._rows(features, y_pred), n_jobs=n_jobs)
        return self.targets.offset + self.targets.scale * mean

    def mean_and_variance(self, features: Array, y_pred: Array, n_jobs: int) -> tuple[Array, Array]:
        """Mean of the target and variance of its latent value at each row, both of shape (n, q)."""
        mean, variance = gp_posterior.predict(self.posterior, self._rows(features, y_pred), n_jobs=n_jobs)
        return self.targets.offset + self.targets.scale * mean, self.targets.scale**2 * variance

    def covariance(self, features: Array, y_pred: Array) -> Array:
        """Covariance of the latent target between rows, shape (q, n, n)."""
        matrices = gp_posterior.covariance(self.posterior, self._rows(features, y_pred))
        return matrices * self.targets.scale[:, None, None] ** 2

    def sample(self, features: Array, y_pred: Array, n_samples: int, rng: np.random.Generator) -> Array:
        """Joint draws of the latent target, shape (n, q, n_samples)."""
        draws = gp_posterior.sample(self.posterior, self._rows(features, y_pred), n_samples, rng)
        return self.targets.offset[:, None] + self.targets.scale[:, None] * draws

    def part(self, name: str, features: Array, y_pred: Array, n_jobs: int) -> Array:
        """The part of the mean, less its offset, that comes from the "input" or the "output" kernel, (n, q)."""
        terms = self.posterior.kernel.part(name)
        if not terms:
            return np.zeros_like(y_pred)
        rows = self._rows(features, y_pred)
        return self.targets.scale * gp_posterior.predict_mean(self.posterior.of_terms(terms), rows, n_jobs=n_jobs)

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """Variances, lengthscales and shapes of each term, in the units of the data."""
        kernel = self.posterior.kernel
        found: dict[str, dict[str, Any]] = {}
        units = np.concatenate([self.inputs.scale, self.outputs.scale])
        for term, theta in zip(kernel.terms, kernel.split(self.posterior.theta), strict=True):
            columns = units[term.start : term.stop]
            values: dict[str, Any] = {}
            if term.family == "linear":
                values["variance"] = np.squeeze(self.targets.scale[:, None] ** 2 * np.exp(theta) / columns**2)[()]
            else:
                values["variance"] = np.squeeze(self.targets.scale**2 * np.exp(theta[0]))[()]
                values["lengthscale"] = np.squeeze(np.exp(theta[1 : 1 + term.n_scales]) * columns)[()]
                if "shape" in term.parameter_names:
                    values["shape"] = float(np.exp(theta[-1]))
            name = f"{term.part}:{term.family}"
            repeats = sum(known.split("#")[0] == name for known in found)
            found[f"{name}#{repeats + 1}" if repeats else name] = values
        return found


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
) -> ResidualGP:
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
        How to walk over rows, see `rio_uq.gp.rows.Rows`.
    """
    if settings.is_exact(len(problem.features)):
        problem = problem.without_copies()
    features, y_pred, weight = problem.features, problem.y_pred, problem.weight
    d, q = features.shape[1], problem.targets.shape[1]
    inputs = Scaling.standardizing(features, weight)
    if standardize_output:
        largest = np.maximum(np.abs(y_pred).max(axis=0), np.abs(problem.targets + y_pred).max(axis=0))
        rounding = np.maximum(4.0 * np.finfo(float).eps * largest, np.finfo(float).tiny ** 0.25)
        outputs = Scaling.standardizing(y_pred, weight)
        targets = Scaling.standardizing(problem.targets, weight, rounding)
        if len(features) == 1:  # one residual is all that is known of their size
            targets = Scaling(np.zeros(q), np.maximum(np.abs(problem.targets[0]), rounding))
    else:
        outputs, targets = Scaling.identity(q), Scaling.identity(q)

    rows = np.hstack([inputs.apply(features), outputs.apply(y_pred)])
    data = Rows(rows, targets.apply(problem.targets), weight, **walk_options)
    kernel = io_kernel(
        d, q, input_family=choice.input_family, output_family=choice.output_family, ard=choice.ard, kind=choice.kind
    )
    # What ŷ is worth in the units of the targets: nothing where the targets are outcomes already.
    prediction = float(np.mean(outputs.scale / targets.scale)) if problem.is_residual else 0.0
    scales = Scales.of(data, d, prediction)
    bounds = bounds_of(kernel, q, scales)
    points = [unit_start(kernel, q) if starts == "unit" else rio_start(kernel, q, scales)]
    has_slope = choice.kind == "io" and "linear" in choice.output_family.split("+")
    if starts == "auto" and problem.is_residual and has_slope and scales.model_can_be_beaten:
        points.append(plain_gp_start(kernel, q, scales))
    points += random_starts(points[0], n_restarts, rng)
    density = weak_prior(kernel, q, scales) if prior == "weak" else None

    is_exact = settings.is_exact(len(data))
    telling = replace(data, weight=problem.telling_weight()) if is_exact else data
    trained = train(kernel, telling, points, bounds, settings, rng, density)
    posterior, field = trained.posterior, None
    if telling.weight is not data.weight:
        posterior = exact.posterior(kernel, posterior.theta, np.log(posterior.noise_variance), data)
    if problem.held_out is not None or noise == "io":
        residuals = leave_one_out(posterior, data)
        posterior, field = _learn_noise(posterior, telling, residuals, problem, noise, rng)

    return ResidualGP(
        posterior=posterior,
        field=field,
        inputs=inputs,
        outputs=outputs,
        targets=targets,
        bound=_in_units_of_data(trained.bound, telling.total_weight, targets),
        n_iter=trained.n_iter,
        converged=trained.converged,
        message=trained.message,
        is_residual=problem.is_residual,
        slope_at=_spread_out(rows[:, d:]),
    )


def _in_units_of_data(bound: float, total_weight: float, targets: Scaling) -> float:
    """The log likelihood of targets from that of scaled ones."""
    return bound - total_weight * float(np.log(targets.scale).sum())


def _learn_noise(
    posterior: Posterior,
    data: Rows,
    left_out: tuple[gp_typing.Array, gp_typing.Array],
    problem: Problem,
    noise: str,
    rng: np.random.Generator,
) -> tuple[Posterior, NoiseField | None]:
    """The noise of new rows, from leave-one-out residuals; the mean and the latent variance stay as they are.

    Giving each row the weight that its noise deserves and training again was tried. It lowered NLPD, but raised RMSE
    and CRPS: noise seems large where the kernel does not fit, and with weights it never will.
    """
    residual, latent = left_out[0] / np.sqrt(posterior.noise_variance), left_out[1] / posterior.noise_variance
    weight: gp_typing.Array = np.ones(len(data)) if data.weight is None else data.weight
    level = 1.0
    if problem.held_out is not None:
        seen, level = noise_of_unseen_rows(residual, latent, weight, problem.held_out)
        each = np.where(problem.held_out, level, seen)[:, None]
        residual, latent = residual / np.sqrt(each), latent / each
    field = None
    if noise == "io":
        field = fit_noise_field(posterior.kernel, data, problem.features.shape[1], residual, latent, rng)
    if field is not None:
        typical = float(np.average(np.log(field.factor(data.rows, data.n_jobs)), weights=weight))
        field = replace(field, offset=field.offset - typical)
        level *= float(np.exp(typical))
    return replace(posterior, noise_variance=level * posterior.noise_variance), field


def _spread_out(y_pred: Array) -> Array:
    """At most `TRUST_ROWS` of the predictions (n, q), evenly spread in the order of the first output."""
    ordered = y_pred[np.argsort(y_pred[:, 0], kind="stable")]
    return np.asarray(ordered[np.linspace(0, len(ordered) - 1, min(TRUST_ROWS, len(ordered))).round().astype(int)])


def _output_slope(posterior: Posterior, y_pred: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of the slope of the output part on ŷ, for each output, in scaled units; NaN where ŷ
    is constant.

    The least-squares slope over given predictions is a linear functional a·f of the output part f, so with C rows that
    have these predictions its posterior mean is aᵀ k(C, Z) W, and its prior variance aᵀ k(C, C) a is reduced as any
    other.
    """
    q = posterior.n_outputs
    terms = posterior.kernel.part("output")
    if not terms:
        return np.zeros(q), np.zeros(q)
    is_constant = np.ptp(y_pred, axis=0) == 0.0
    n_inputs = posterior.points.shape[1] - q
    chosen = np.hstack([np.zeros((len(y_pred), n_inputs)), y_pred])  # the output part does not look at inputs
    functional = np.linalg.pinv(np.where(is_constant, 0.0, y_pred - y_pred.mean(axis=0))).T  # (rows, q)
    part = posterior.of_terms(terms)
    cross = part.kernel.matrix(part.theta, part.points, chosen) @ functional
    prior = functional.T @ part.kernel.matrix(part.theta, chosen, chosen) @ functional
    variance = gp_posterior.condition(part, prior, cross)
    outputs = np.arange(q)
    slope = (cross.T @ part.weights)[outputs, outputs]
    std = np.sqrt(np.maximum(variance[outputs, outputs, outputs], 0.0))
    return np.where(is_constant, np.nan, slope), np.where(is_constant, np.nan, std)
