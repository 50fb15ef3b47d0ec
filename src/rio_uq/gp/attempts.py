"""Attempts at a GP on the same rows: with normal noise and, where errors have heavy tails, with a Student likelihood.

An attempt is a trained GP whose correction is guarded by left-out rows. The second one begins where the first has
ended, and is given up if errors that leave out single rows, at hyperparameters which have seen them, are not clearly
smaller than the first one's: those of folds would be larger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp.averaged import MOST_ROWS, average_around
from rio_uq.gp.curvature import curvature_of_few
from rio_uq.gp.folds import FoldPredictions, FoldSearch, predict_folds, random_folds
from rio_uq.gp.groups import predict_groups
from rio_uq.gp.guard import FEWEST_ROWS, Guarded, guarded_errors, shrunk
from rio_uq.gp.inference import inference_for
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.left_out_rows import Rows
from rio_uq.gp.noise.constant import with_noise_of
from rio_uq.gp.noise.student import FURTHER_ITERATIONS, train_student
from rio_uq.gp.noise.tails import Tails, mean_beside_location, predicts_better
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior, weak_prior
from rio_uq.gp.problem import Problem
from rio_uq.gp.scaling import Scaling
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import (
    Scales,
    bounds_of,
    in_other_units,
    plain_gp_start,
    random_starts,
    rio_start,
    rough_start,
    unit_start,
)
from rio_uq.gp.training import Trained, train

ROUGH_ROWS = 200
"""From so many rows on something rough is looked for as well: fewer could not tell it from noise."""

TRAINING_SHARE, FOLDS_SHARE = 0.5, 0.8
"""Of a time budget: what training may use of the time that is left, and what folds may use of the rest."""

FIRST_ITERATIONS = 8
"""Of a Student likelihood at the first precisions, which change with what is learnt in them."""

COARSE = 1e-4
"""Relative gain of an iteration at which searches at precisions end that will change."""

SETTLED = 20.0
"""Nats by which the optimum is ahead of others, so that it is in folds of four fifths of the rows as well."""


@dataclass(frozen=True)
class Plan:
    """All that attempts share: see `rio_uq.gp.fit.fit_residual_gp`.

    Attributes
    ----------
    rows : (n, D) array
        Features and predictions, scaled.
    has_slope : bool
        Whether the kernel can take the model's output back, so that a second start makes sense.
    left_out_rows : (m,) array of int or slice
        The rows that are left out.
    counts : (m,) array
        How much each of them counts.
    own_folds : (n,) array of int or None
        Folds of the user's own, where all rows are left out.
    first_end : (p,) array or None
        See `rio_uq.gp.training.train`.
    """

    problem: Problem
    rows: Array
    kernel: Kernel
    has_slope: bool
    outputs: Scaling
    settings: Settings
    starts: str
    n_restarts: int
    prior: str
    walk_options: dict[str, Any]
    rng: np.random.Generator
    guard: bool
    average: bool
    keeps_constant: bool
    left_out_rows: Rows
    counts: Array
    own_folds: NDArray[np.intp] | None
    first_end: Array | None = None

    @property
    def guards(self) -> bool:
        return self.guard and len(self.rows) >= FEWEST_ROWS

    @property
    def averages(self) -> bool:
        """Whether predictions are averaged over hyperparameters."""
        is_exact = inference_for(self.settings, len(self.rows)).trains_folds
        return self.average and self.guards and self.prior == "weak" and is_exact and len(self.rows) <= MOST_ROWS


class Attempt(NamedTuple):
    """A trained GP, and what left-out rows say of it.

    Attributes
    ----------
    targets : Scaling
        The units in which it was trained.
    data : Observations
        All rows.
    trained : Trained
    posterior : Posterior
        With the noise that left-out rows show.
    left_out : (residual, latent)
        Of the rows that are left out, each alone and in closed form, (m, q) each.
    guarded : Guarded
    constant : (q,) array or float
        What targets are relative to.
    shift : (q,) array
        Of the mean beside the location that a Student likelihood finds.
    degrees : float or None
        ν of a Student likelihood.
    fold_optima : dict or None
        Hyperparameters without each fold, if any were trained.
    """

    targets: Scaling
    data: Observations
    trained: Trained
    posterior: Posterior
    left_out: tuple[Array, Array]
    guarded: Guarded
    constant: Array | float
    shift: Array
    degrees: float | None = None
    fold_optima: Mapping[int, Array] | None = None


class _TrainedGP(NamedTuple):
    """A GP before its correction is guarded; the curvature of its objective near the optimum, and hyperparameters that
    were good without each fold for another likelihood, where these are known.
    """

    targets: Scaling
    data: Observations
    trained: Trained
    bounds: Array
    prior: Prior
    left_out: tuple[Array, Array]
    degrees: float | None
    curvature: Array | None
    fold_optima: Mapping[int, Array] | None


def normal_attempt(plan: Plan, targets: Scaling) -> Attempt:
    """With normal noise, on targets in these units."""
    return _guarded(plan, _train(plan, targets))


def robust_attempt(plan: Plan, first: Attempt, tails: Tails, rounding: Array | None, *, is_asked_for: bool) -> Attempt:
    """The better one of an attempt and of one with a Student likelihood, by errors of left-out rows."""
    precision, weight = tails.precision(_residual_of_all_rows(plan, first)), plan.problem.weight
    units = first.targets
    if rounding is not None:
        weighed = precision if weight is None else weight * precision
        units = Scaling.standardizing(plan.problem.targets, weighed, rounding)

    def is_better(residual: Array) -> bool:
        errors = first.targets.scale * first.guarded.residual, units.scale * residual
        return is_asked_for or predicts_better(*errors, plan.counts)

    second = _train(plan, units, first, precision)
    residual, _ = second.left_out
    if not is_better(residual - mean_beside_location(residual, plan.counts)):
        return first
    attempt = _guarded(plan, second)
    return attempt if is_better(attempt.guarded.residual) else first


def _residual_of_all_rows(plan: Plan, attempt: Attempt) -> Array:
    """What is left of each row by the guarded correction, without that row."""
    if isinstance(plan.left_out_rows, slice):
        return attempt.guarded.residual
    left_out = attempt.trained.posterior.leave_one_out(attempt.data)
    return shrunk(*left_out, attempt.guarded.correction, attempt.constant + attempt.data.targets)[0]


def _train(plan: Plan, targets: Scaling, first: Attempt | None = None, precision: Array | None = None) -> _TrainedGP:
    """Train on targets in these units, by a Student likelihood where there are precisions; from the optimum of the
    first attempt on, if there is one of all rows: among fewer an outlier may have hidden all there is to learn.
    """
    problem, rows, kernel, rng = plan.problem, plan.rows, plan.kernel, plan.rng
    settings = replace(plan.settings, deadline=plan.settings.deadline.part(TRAINING_SHARE))
    d, q = problem.features.shape[1], problem.targets.shape[1]
    data = Observations(rows, targets.apply(problem.targets), problem.weight, precision, **plan.walk_options)
    # One unit of ŷ in those of the targets: nothing where the targets are outcomes already.
    prediction = float(np.mean(plan.outputs.scale / targets.scale)) if problem.is_residual else 0.0
    scales = Scales.of(replace(data, weight=data.effective_weight, precision=None), d, prediction)
    bounds = bounds_of(kernel, q, scales)
    prior = weak_prior(kernel, q, scales) if plan.prior == "weak" else Prior.flat(len(bounds))
    trains_folds = inference_for(settings, len(rows)).trains_folds
    curvature, fold_optima = None, None
    if first is None or not trains_folds:
        starts, rough = _starts(plan, scales)
        trained = train(kernel, data, starts, bounds, settings, rng, prior, rough, plan.first_end)
    else:

        def in_these_units(x: Array) -> Array:
            return in_other_units(kernel, x, first.targets.scale, targets.scale)

        tolerance = max(COARSE, settings.tolerance)
        max_iter = min(FIRST_ITERATIONS, settings.max_iter)
        settings = replace(settings, subset_rows=None, max_iter=max_iter, tolerance=tolerance)
        optimum = in_these_units(first.trained.optimum)
        curvature = curvature_of_few(kernel, data, optimum, bounds, prior)
        trained = train(kernel, data, [optimum], bounds, settings, rng, prior, curvature=curvature)
        trained = replace(
            trained,
            start=in_these_units(first.trained.start),
            converged=first.trained.converged,  # this search ends early on purpose
            message=first.trained.message,
        )
        if first.fold_optima is not None:
            fold_optima = {fold: in_these_units(x) for fold, x in first.fold_optima.items()}
    degrees = None
    if precision is not None:
        further = replace(settings, max_iter=min(FURTHER_ITERATIONS, settings.max_iter), subset_rows=None)

        def retrain(data: Observations, x: Array) -> Trained:
            return train(kernel, data, [x], bounds, further, rng, prior, curvature=curvature)

        trained, data, degrees = train_student(trained, data, retrain)
    elif trains_folds and plan.guards and not plan.settings.deadline.has_passed:
        curvature = curvature_of_few(kernel, data, trained.optimum, bounds, prior)
    if plan.averages and curvature is not None:
        average = average_around(ExactObjective(kernel, data), trained.posterior, curvature, bounds, prior)
        trained = replace(trained, posterior=average)
    left_out = trained.posterior.leave_one_out(data.subset(plan.left_out_rows))
    return _TrainedGP(targets, data, trained, bounds, prior, left_out, degrees, curvature, fold_optima)


def _starts(plan: Plan, scales: Scales) -> tuple[list[Array], Array | None]:
    """Starts of the search, and the one for what is rough, if any."""
    problem, kernel, q = plan.problem, plan.kernel, plan.problem.targets.shape[1]
    starts = [unit_start(kernel, q) if plan.starts == "unit" else rio_start(kernel, q, scales)]
    if plan.starts == "auto" and problem.is_residual and plan.has_slope and scales.model_can_be_beaten:
        starts.append(plain_gp_start(kernel, q, scales))
    is_rough_one_worth_it = plan.starts == "auto" and len(plan.rows) >= ROUGH_ROWS
    rough = rough_start(kernel, starts[0]) if is_rough_one_worth_it else None
    return [*starts, *random_starts(starts[0], plan.n_restarts, plan.rng)], rough


def _guarded(plan: Plan, gp: _TrainedGP) -> Attempt:
    """Shrink the correction to what left-out rows support."""
    problem, counts = plan.problem, plan.counts
    q, is_heavy = problem.targets.shape[1], gp.degrees is not None
    constant = 0.0 if plan.keeps_constant else gp.targets.offset / gp.targets.scale
    targets = gp.data.targets[plan.left_out_rows]
    posterior, guarded = gp.trained.posterior, Guarded(np.ones(q), *gp.left_out, targets - gp.left_out[0])
    shift: Array = np.zeros(q)
    by_fold = None
    if plan.guards:
        by_fold, of_model = _fold_predictions(plan, gp)
        guarded = guarded_errors(
            gp.left_out,
            by_fold,
            targets,
            constant,
            counts,
            shrinks=problem.is_residual,
            own_folds=plan.own_folds,
            of_model=of_model,
            is_heavy=is_heavy,
            is_corrected=problem.is_corrected,
        )
    if is_heavy:
        shift = mean_beside_location(guarded.residual, counts)
        guarded = guarded._replace(residual=guarded.residual - shift)
    if is_heavy or plan.guards:
        posterior = with_noise_of(posterior, guarded.errors, counts, np.exp(gp.bounds[-q:, 0]))
    fold_optima = None if by_fold is None else by_fold.optima or None
    return Attempt(
        gp.targets, gp.data, gp.trained, posterior, gp.left_out, guarded, constant, shift, gp.degrees, fold_optima
    )


def _fold_predictions(plan: Plan, gp: _TrainedGP) -> tuple[FoldPredictions | None, tuple[Array, ...] | None]:
    """Rows as GPs expect them that have not seen their fold, if inference has any; and residuals of the model itself,
    see `rio_uq.gp.guard.guarded_errors`.
    """
    problem, rows = plan.problem, plan.rows
    inference = inference_for(plan.settings, len(rows))
    if not inference.trains_folds:
        if plan.own_folds is None:
            return None, None
        return predict_groups(gp.trained.posterior, gp.data, plan.own_folds), None
    if plan.own_folds is None and plan.settings.deadline.leaves_out("errors of folds"):
        return None, None  # hyperparameters of a search that was cut short have hardly fitted single rows
    search = FoldSearch(
        gp.trained.start,
        gp.trained.optimum,
        gp.bounds,
        gp.prior,
        plan.settings.max_iter,
        gp.curvature,
        gp.fold_optima,
        gp.trained.lead > SETTLED,
        plan.settings.deadline.part(FOLDS_SHARE),
    )
    fold = random_folds(len(rows)) if plan.own_folds is None else plan.own_folds
    others = _other_predictions(problem)
    d = problem.features.shape[1]
    elsewhere = tuple(np.hstack([rows[:, :d], plan.outputs.apply(other)]) for other in others)
    by_fold = predict_folds(plan.kernel, gp.data, fold, search, elsewhere)
    of_model = tuple((problem.targets + problem.y_pred - other) / gp.targets.scale for other in others)
    return by_fold, of_model or None


def _other_predictions(problem: Problem) -> tuple[Array, ...]:
    """Of the model itself, and what they would be if it erred as its clones do, where the GP is fitted to residuals of
    these.
    """
    if problem.own is None or problem.like_clones is None or not problem.is_residual:
        return ()
    return problem.own, problem.like_clones
