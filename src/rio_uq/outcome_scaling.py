"""The choice of the scale of outcomes, by the density of left-out rows on each scale that may suit them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.calibration.moments import moments
from rio_uq.calibration.normal import ScaledNormal
from rio_uq.calibration.scores import normal_nodes
from rio_uq.calibration.shape import Shape, fit_shape
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.deadline import NEVER, Deadline
from rio_uq.gp.fit import TrainedGP
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.problem import Problem
from rio_uq.options import OptionError, Options
from rio_uq.scales.choice import Beyond, ScaleChoice, candidates, chosen, outcome_scale, too_many
from rio_uq.scales.contract import Scale
from rio_uq.scales.outputs import OutcomeScales

SCALE_ROWS, SCALE_ITERATIONS = 300, 20
"""Rows and iterations by which scales are compared."""

SCALE_SHARE = 0.25
"""Of a time budget: what they may use of the time that is left."""

LARGEST_ERROR, STANDARD_ERRORS, LARGEST_SQUARE = 1.05, 1.0, 9.0
"""A scale is left out if squared errors of left-out rows, in the units of y, are this much larger than on none, and by
so many standard errors. Squares count up to the last number times their mean: of skewed outcomes a few would decide. A
scale of outcomes between two ends, whose errors have no tails, is left out if they are larger at all."""

STAGE = "the choice of a scale"
"""Of a fit, which a time budget may leave out."""

QuickTraining = Callable[[Problem, int], TrainedGP]
"""Fits the GP of a problem with at most so many iterations."""


def on_scale(problem: Problem, scales: OutcomeScales) -> Problem:
    """The problem of outcomes and predictions as one of residuals, or outcomes, on their scale."""
    outcome = scales.forward(problem.targets)
    if not problem.is_residual:
        return replace(problem, targets=outcome)
    y_pred = scales.forward_prediction(problem.y_pred)
    problem = replace(problem, y_pred=y_pred, targets=outcome - y_pred)
    if problem.own is None or problem.like_clones is None:
        return problem
    own, like_clones = map(scales.forward_prediction, (problem.own, problem.like_clones))
    return replace(problem, own=own, like_clones=like_clones)


def shape_on_scale(left_out: LeftOut, options: Options, scales: OutcomeScales) -> Shape | None:
    """How scores of left-out rows are distributed; None for a normal distribution by choice."""
    tails = {"normal_tails": scales.may_explode, "own_nodes": scales.is_another}
    with single_blas_thread:
        return fit_shape(left_out.scores, left_out.weight, options.distribution, **tails)


def choose_scale(
    problem: Problem, options: Options, train: QuickTraining, rng: np.random.Generator, deadline: Deadline = NEVER
) -> ScaleChoice:
    """The scale of each output, for outcomes as the targets of the problem; none where there is no time to compare."""
    bounds, outputs = options.outcome_bounds, range(problem.targets.shape[1])
    if options.scale == "auto":
        rows = np.arange(len(problem.features))
        if len(rows) > SCALE_ROWS:
            rows = np.sort(rng.choice(rows, SCALE_ROWS, replace=False))
        choices = [
            _best_scale(_of_output(problem, output), rows, bounds, options, train, deadline) for output in outputs
        ]
        return ScaleChoice(*(tuple(column) for column in zip(*choices, strict=True)))
    scales = tuple(outcome_scale(options.scale, problem.targets[:, output], bounds) for output in outputs)
    beyond = tuple(_beyond(scale, _of_output(problem, output)) for output, scale in enumerate(scales))
    for predictions in beyond:
        if predictions is not None and too_many(predictions, len(problem.features)):
            raise OptionError(
                f"scale={options.scale!r} takes predictions within the range of outcomes, and the model has "
                f"{predictions.n_rows} others, {predictions.example:g} among them: use scale='auto' or 'identity', or "
                "a model whose predictions are within it"
            )
    return ScaleChoice(scales, ({},) * len(scales), (0.0,) * len(scales), beyond)


def _beyond(scale: Scale, problem: Problem) -> Beyond | None:
    """Predictions of one output that are moved to the end of its scale."""
    if scale.kind == "identity" or not problem.is_residual:
        return None
    return Beyond.of(scale, problem.y_pred[:, 0])


def _of_output(problem: Problem, output: int) -> Problem:
    """The same rows with one of the outputs, and its prediction where there is one for each."""
    one = slice(output, output + 1)
    y_pred = problem.y_pred[:, one] if problem.has_prediction_for_each_target else problem.y_pred
    return replace(problem, targets=problem.targets[:, one], y_pred=y_pred, own=None, like_clones=None)


def _best_scale(
    problem: Problem,
    rows: NDArray[np.intp],
    bounds: tuple[float, float],
    options: Options,
    train: QuickTraining,
    deadline: Deadline,
) -> tuple[Scale, dict[str, float], float, Beyond | None]:
    """The scale of one output, its gains, how many intervals leave the range of outcomes on none, and predictions
    without a place: see `rio_uq.scales.choice.ScaleChoice`.

    All outcomes have to have their place on a scale. Scales are compared on some of the rows.
    """
    all_rows, y = problem, problem.targets[:, 0]
    identity = outcome_scale("identity", y, bounds)
    others, left_out_for = candidates(y, problem.y_pred[:, 0] if problem.is_residual else y, bounds)
    if not others or deadline.leaves_out(STAGE):
        return identity, {}, 0.0, left_out_for
    problem, y = problem.subset(rows), y[rows]
    log_density, square, outside = {}, {}, 0.0
    began = deadline.clock()
    for scale in (identity, *others):
        one = OutcomeScales((scale,))
        _, left_out = train(on_scale(problem, one), SCALE_ITERATIONS)
        shape = shape_on_scale(left_out, options, one)
        scores = ScaledNormal(len(y), 1.0) if shape is None else shape.scores[0]
        z, std = (left_out.of_rows(values)[:, 0] for values in (left_out.scores, left_out.std))
        log_density[scale.kind] = scores.logpdf(z) - np.log(std) + scale.log_slope(y)
        mean, _ = moments(one, (scale.forward(y) - z * std)[:, None], std[:, None], _nodes(shape))
        square[scale.kind] = (y - mean[:, 0]) ** 2
        if scale is identity:
            if deadline.part(SCALE_SHARE).leaves_out(STAGE, len(others) * (deadline.clock() - began)):
                return identity, {}, 0.0, left_out_for
            centre = y - z * std
            ends = (centre + std * end for end in scores.ppf(np.array([0.025, 0.975])))
            lower, upper = others[0].lower, others[0].upper
            outside = float(np.mean(np.any([(end < lower) | (end > upper) for end in ends], axis=0)))
    weight = _weight_of_rows(left_out)
    accurate = [
        scale
        for scale in others
        if not _errs_more(square[scale.kind], square[identity.kind], weight, has_tails=np.isinf(scale.upper))
    ]
    best, gains = chosen(others, accurate, identity, log_density, weight, outside)
    return best, gains, outside, _beyond(best, all_rows)


def _errs_more(square: Array, other: Array, weight: Array, *, has_tails: bool) -> bool:
    """Whether squared errors of left-out rows (n,) are larger than others of the same rows, clearly so if they have
    tails.
    """
    if not has_tails:
        return bool(weight @ (square - other) > 0.0)
    largest = LARGEST_SQUARE * np.average(other, weights=weight)
    more = np.minimum(square, largest) - LARGEST_ERROR * np.minimum(other, largest)
    error = float(np.std(more)) / np.sqrt(len(more))
    return bool(np.average(more, weights=weight) > STANDARD_ERRORS * error)


def _nodes(shape: Shape | None) -> Array:
    """Scores of one output, (1, 1, k), over which means are taken."""
    return normal_nodes()[0][None, None] if shape is None or shape.nodes is None else shape.nodes[None]


def _weight_of_rows(left_out: LeftOut) -> Array:
    return left_out.weight if left_out.place is None else left_out.weight[left_out.place]
