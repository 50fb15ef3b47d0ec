"""From rows to a GP on residuals: scale, build the kernel, train, guard the correction, learn the noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rio_uq._base.array import Array, Mask
from rio_uq.gp.attempts import Plan, normal_attempt, robust_attempt
from rio_uq.gp.copies import as_measurements
from rio_uq.gp.edges import Edges, open_slope
from rio_uq.gp.guard import FEWEST_ROWS, shrunk
from rio_uq.gp.inference import inference_for
from rio_uq.gp.kernels.io import Kernel, io_kernel
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.left_out_rows import ALL_ROWS, left_out_rows
from rio_uq.gp.noise import holds_between_folds, learn_noise
from rio_uq.gp.noise.constant import with_noise_of
from rio_uq.gp.noise.growth import Growth, fit_growth
from rio_uq.gp.noise.student import Student
from rio_uq.gp.noise.tails import (
    EVIDENCE,
    gain_over_normal,
    has_few_outliers,
    likeliest_tails,
    may_have_tails,
    winsorised,
)
from rio_uq.gp.observations import Observations
from rio_uq.gp.problem import Problem
from rio_uq.gp.residual import ResidualGP, in_units_of_data
from rio_uq.gp.roughness import AUTO, ORDERS, likeliest_order
from rio_uq.gp.scaling import Scaling
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales
from rio_uq.gp.trust import spread_out

ORDER_SHARE = 0.2
"""Of a time budget: what the choice of an order of roughness may use of the time that is left."""


@dataclass(frozen=True)
class KernelChoice:
    """The kernel's structure, see `rio_uq.gp.kernels.io.io_kernel`; an input family may be "auto", see
    `rio_uq.gp.roughness`.
    """

    kind: str
    input_family: str
    output_family: str
    ard: bool


class TrainedGP(NamedTuple):
    """A GP, and the leave-one-out errors of its rows."""

    gp: ResidualGP
    left_out: LeftOut

    @property
    def optimum(self) -> Array:
        """Log-parameters and log noise variances of the likelihood, of scaled rows and targets."""
        posterior = self.gp.posterior
        return np.concatenate([posterior.theta, np.log(posterior.likelihood_noise)])


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
    average: bool = False,
    keeps_constant: bool = False,
    are_counts: bool = False,
    first_end: Array | None = None,
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
    noise : {"constant", "io", "student"}
        Whether noise may depend on the row and, with a guard, have heavy tails; or whether it has them in any case.
    walk_options : dict
        How to walk over rows, see `rio_uq.gp.observations.Observations`.
    guard : bool
        Whether corrections are shrunk to what left-out rows support, see `rio_uq.gp.guard`.
    average : bool
        Whether few rows are averaged over hyperparameters, see `rio_uq.gp.averaged`.
    keeps_constant : bool
        Whether the constant part of corrections is not shrunk: on another scale than their own, predictions that are
        right in the mean of outcomes are off by a constant.
    are_counts : bool
        Whether weights are numbers of measurements, see `rio_uq.gp.copies`.
    first_end : (p,) array or None
        The `TrainedGP.optimum` of a search from the RIO start, if there was one.
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
        outputs, targets, rounding = Scaling.identity(p), Scaling.identity(q), None

    rows = np.hstack([inputs.apply(features), outputs.apply(y_pred)])

    def kernel_of(input_family: str, kind: str = choice.kind) -> Kernel:
        return io_kernel(d, p, input_family=input_family, output_family=choice.output_family, ard=choice.ard, kind=kind)

    family = choice.input_family
    if family == AUTO and choice.kind != "output" and inference.keeps_rows and not inference.trains_folds:
        outcome = problem.targets + y_pred if problem.is_residual else problem.targets
        scaled = Scaling.standardizing(outcome, weight, rounding).apply(outcome)
        data = Observations(rows, scaled, weight, **walk_options)
        kernels = {name: kernel_of(name, "input") for name in ORDERS}
        deadline = settings.deadline.part(ORDER_SHARE)
        family = likeliest_order(kernels, data, Scales.of(data, d, 0.0), settings.n_neighbors, deadline)
    kernel = kernel_of(ORDERS[0] if family == AUTO else family)
    own_folds = problem.fold if problem.fold is not None and np.ptp(problem.fold) > 0 else None
    needs_all = own_folds is not None or problem.held_out is not None
    chosen = ALL_ROWS if needs_all else left_out_rows(len(rows), place)
    counts = _shape_weight(weight, problem.held_out, len(rows))[chosen]
    plan = Plan(
        problem=problem,
        rows=rows,
        kernel=kernel,
        has_slope=choice.kind == "io" and "linear" in choice.output_family.split("+"),
        outputs=outputs,
        settings=settings,
        starts=starts,
        n_restarts=n_restarts,
        prior=prior,
        walk_options=walk_options,
        rng=rng,
        guard=guard,
        average=average,
        keeps_constant=keeps_constant,
        left_out_rows=chosen,
        counts=counts,
        own_folds=own_folds,
        first_end=first_end,
    )
    began = settings.deadline.clock()
    attempt = normal_attempt(plan, targets)
    seconds = settings.deadline.clock() - began
    is_asked_for = noise == "student" and len(rows) >= FEWEST_ROWS
    is_heavy = is_asked_for
    leaves_all_out = chosen is ALL_ROWS  # a precision for each row takes its error without it
    if is_asked_for or (noise == "io" and guard and not keeps_constant and leaves_all_out and may_have_tails(problem)):
        tails = likeliest_tails(attempt.guarded.residual, counts)
        is_heavy = is_asked_for or gain_over_normal(tails, attempt.guarded.residual, counts) > EVIDENCE
        if is_heavy and not is_asked_for and not inference.trains_folds:
            is_heavy = has_few_outliers(tails, attempt.guarded.residual, counts)
        if is_heavy and (is_asked_for or not settings.deadline.leaves_out("a Student likelihood", seconds)):
            attempt = robust_attempt(plan, attempt, tails, rounding, is_asked_for=is_asked_for)
    targets, data, trained, posterior = attempt.targets, attempt.data, attempt.trained, attempt.posterior
    left_out, guarded, constant = attempt.left_out, attempt.guarded, attempt.constant
    some = data.subset(chosen)
    kind = "constant" if noise != "constant" and settings.deadline.leaves_out("varying noise") else noise
    if own_folds is not None and not holds_between_folds(noise, posterior, some, guarded.errors, d, own_folds, rng):
        kind = "constant"
    posterior, noise_model, noise_variance = learn_noise(
        kind, posterior, some, guarded.errors, d, problem.held_out, rng
    )
    if is_heavy and not noise_model.varies:
        errors = winsorised(guarded.residual, counts), guarded.latent
        posterior = with_noise_of(posterior, errors, counts, np.zeros(q))
        posterior, _, noise_variance = learn_noise("constant", posterior, some, errors, d, problem.held_out, rng)
    growth = Growth.none(q)
    if noise_model.varies and problem.is_residual and not keeps_constant:
        growth = fit_growth(y_pred[chosen], guarded.residual, counts)
    edges = None
    if problem.is_residual:
        slope = open_slope(some.rows[:, d:], guarded.residual, counts, guarded.correction)
        edges = Edges.of(rows[:, d:], slope)
    shift = attempt.shift
    gp = ResidualGP(
        posterior=posterior,
        noise=noise_model if attempt.degrees is None else Student(noise_model, attempt.degrees),
        noise_choice=noise,
        inputs=inputs,
        outputs=outputs,
        targets=targets,
        bound=in_units_of_data(trained.bound, data.total_weight, targets),
        n_iter=trained.n_iter,
        converged=trained.converged,
        message=trained.message,
        is_residual=problem.is_residual,
        slope_at=spread_out(rows[:, d:]),
        correction=guarded.correction,
        constant=(1.0 if keeps_constant else guarded.correction) * targets.offset + targets.scale * shift,
        growth=growth,
        weight_unit=weight_unit,
        edges=edges,
    )
    response = noise_model.response(rows, data.targets, posterior)
    if response.precision is not None or not np.array_equal(response.targets, data.targets):
        weighed = replace(data, targets=response.targets, precision=response.precision)
        of_response = posterior.of_rows(weighed)
        gp = gp.with_posterior(replace(of_response, noise_variance=posterior.noise_variance))
    residual, latent = shrunk(*left_out, guarded.correction, constant + some.targets)
    residual = residual - shift
    std = np.sqrt(latent + noise_variance)
    scores = guarded.residual / np.sqrt(guarded.latent + noise_variance)
    expected = targets.offset + targets.scale * guarded.expected
    of_some = LeftOut(targets.scale * residual, targets.scale * std, scores, expected, counts, place)
    return TrainedGP(gp, of_some.among(len(rows), chosen))


def _shape_weight(weight: Array | None, held_out: Mask | None, n_rows: int) -> Array:
    counts = np.ones(n_rows) if weight is None else weight
    return counts if held_out is None else np.where(held_out, counts, 0.0)
