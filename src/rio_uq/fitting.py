"""From rows and options to a `Fitted`; and from a `Fitted` and further rows to another one.

All that is learnt from many rows is learnt as well from a random sample of them: hyperparameters, inducing points,
scalings, how noise depends on the row, and whether nearest rows or inducing points predict better. Only the posterior
needs all rows. That of inducing points is made of sums over rows, which one pass over the parts of a source adds up in
memory that does not grow with the rows. That of nearest rows keeps their features, predictions and residuals, which the
same pass collects: where they would take much of the memory there is, inducing points are taken.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_target
from rio_uq._base.warnings import MostlyEqualWarning, SeenRowsWarning, warn_user
from rio_uq.answers import LeaveOneOut
from rio_uq.fitted import Fitted
from rio_uq.gp.copies import are_counts_of_copies, unit_of_all_rows
from rio_uq.gp.deadline import TIME_IS_UP, Deadline
from rio_uq.gp.denser_rows import with_noise_of_denser_rows
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.problem import Problem
from rio_uq.learning_rows import learning_rows
from rio_uq.models.cross_fitting import FEWEST_ROWS
from rio_uq.models.learning_curve import gain_over_clones
from rio_uq.models.residuals import choose_residuals
from rio_uq.models.row_order import Blocks, blocks_if_dependent, labels_of_groups
from rio_uq.options import OptionError, Options
from rio_uq.outcome_scaling import choose_scale, on_scale, shape_on_scale
from rio_uq.row_parts import (
    check_all_parts,
    check_can_be_read_in_parts,
    check_memory,
    new_rows,
    options_of_sample,
    total_of_parts,
)
from rio_uq.rows.contract import ROW_ERRORS, Part, Source
from rio_uq.rows.examples import example_rows
from rio_uq.rows.kept import MOST_ROWS, KeptRows, keep_more, keep_rows
from rio_uq.scales.outputs import OutcomeScales
from rio_uq.trainer import Trainer, walk_options_of, with_or_without_model

clock: Callable[[], float] = time.monotonic
"""Of a time budget."""

FEWEST_OTHERS = 20
"""Outcomes beside the one that most rows have, for error bars to be made of."""


def fit(source: Source, options: Options, *, held_out: bool | None = None) -> Fitted:
    """Fit the GP to the residuals of the model, and first the model itself if it needs it.

    Parameters
    ----------
    source : Source
        Rows with outcomes.
    options : Options
    held_out : bool or None
        Whether the model has seen none of the rows, or all of them; None where nobody says, or the source has a mask.
    """
    deadline = Deadline.after(options.training.time_budget, clock)
    fitted = _fit(source, options, held_out, deadline)
    unfinished = ["the optimiser to converge"] if fitted.gp.message == TIME_IS_UP else []
    if missing := unfinished + deadline.left_out:
        warn_user(
            f"time_budget={options.training.time_budget:g} left no time for {_listed(missing)}, so that corrections "
            "and error bars are less sure than they could be; raise time_budget, or leave it out",
            ConvergenceWarning,
        )
    return fitted


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _fit(source: Source, options: Options, held_out: bool | None, deadline: Deadline) -> Fitted:
    if source.is_in_memory:
        return _fit_rows(source.take(np.arange(source.n_rows)), options, held_out, deadline)
    n_drawn = min(options.training.sample_rows, source.n_rows)
    is_sample = n_drawn < source.n_rows
    if is_sample:
        check_can_be_read_in_parts(options)
    sample = source.take(_draw(source.n_rows, n_drawn, options))
    if is_sample and sample.sample_weight is not None and not np.any(sample.sample_weight):
        raise ValueError(
            f"all of the {n_drawn} rows that were drawn to learn from have sample_weight 0: leave out rows without "
            "weight, or set a larger sample_rows"
        )
    try:
        fitted = _fit_rows(sample, options, held_out, deadline, n_all=source.n_rows if is_sample else None)
    except OptionError:
        raise
    except ROW_ERRORS:
        check_all_parts(source, sample, options)  # it says where the rows are, if they are the reason
        raise
    if not is_sample:
        return fitted
    if fitted.residuals is not None and fitted.residuals.kind in ("out-of-fold", "out-of-bag"):
        warn_user(
            f"the model has seen rows of {source.name} ({fitted.residuals.reason}): the GP is fitted to residuals of "
            f"{n_drawn:,} of its {source.n_rows:,} rows, by clones that were fitted to no others; set a larger "
            "sample_rows, or give rows that the model has not seen, with held_out=True",
            SeenRowsWarning,
        )
        return fitted
    if not fitted.gp.weight_unit.are_counts:
        rows = on_scale(new_rows(fitted, sample), fitted.scales)
        fitted = replace(fitted, gp=replace(fitted.gp, weight_unit=unit_of_all_rows(rows, source.n_rows)))
    total = total_of_parts(source, fitted, options)
    gp = fitted.gp.of_sums(total.sums)
    if not _leaves_out_groups(sample, fitted):
        gp = with_noise_of_denser_rows(gp, fitted.gp)
    gp = gp.reaching(total.y_pred_range)
    return replace(fitted, gp=gp, kept=replace(fitted.kept, n_fitted=total.n_rows), loo=None)


def partial_fit(fitted: Fitted, source: Source, options: Options) -> Fitted:
    """With further rows, at fixed hyperparameters; a calibration, which was that of another GP, is dropped."""
    if source.is_in_memory:
        new = new_rows(fitted, source.take(np.arange(source.n_rows)))
        gp = fitted.gp.with_rows(on_scale(new, fitted.scales), walk_options_of(options, source))
        n_new = len(new.features)
    else:
        if not fitted.gp.posterior.predicts_from_points:
            check_memory(fitted.kept.n_fitted + source.n_rows, fitted.kept.n_columns, fitted.gp.n_outputs)
        total = total_of_parts(source, fitted, options)
        if not total.n_rows:
            raise ValueError("sample_weight has to be more than zero in at least one row")
        some = source.take(_draw(source.n_rows, min(MOST_ROWS, source.n_rows), options))
        gp = fitted.gp.of_sums(fitted.gp.sums.plus(total.sums)).reaching(total.y_pred_range)
        n_new = total.n_rows
        new = new_rows(fitted, some, is_part=True)
    weight = np.ones(len(new.features)) if new.weight is None else new.weight
    added = KeptRows(new.features, new.y_pred, new.targets, weight, n_new)
    kept = keep_more(fitted.kept, added, options.new_seed())
    return replace(fitted, gp=gp, kept=kept, calibration=None, loo=None)


def _fit_rows(
    part: Part, options: Options, held_out: bool | None, deadline: Deadline, *, n_all: int | None = None
) -> Fitted:
    """Fit to rows in memory, which may be a sample of n_all rows that are read in parts."""
    in_parts, n_rows = n_all is not None, _num_samples(part.X)
    rows = learning_rows(part, partial(check_target, part.y), options, held_out)
    y, weight, features, unseen = rows.y, rows.weight, rows.features, rows.unseen
    if options.weights == "counts" and are_counts_of_copies(y.reshape(n_rows, -1), weight):
        warn_user(
            "weights='counts' says that a row of sample_weight 2 is two measurements, and here most of them would have "
            "agreed in all digits of a y that is found in no other row: weights are taken as relative, for copies of "
            "one measurement; use weights='relative' if they are, or give each measurement a row of its own"
        )
        options = replace(options, weights="relative")
    rng = options.new_rng()
    fit_rows = rows.for_model(part.y_pred, options)
    residuals = choose_residuals(
        options.estimator,
        fit_rows,
        residuals=options.residuals,
        cv=options.cv,
        combine=options.combine,
        uses_model=options.is_residual or options.kernel != "input",
        in_parts=in_parts,
        rng=rng,
        verbose=bool(options.verbose),
    )
    model, y_pred, outcome = residuals.model, residuals.y_pred, y.reshape(n_rows, -1)
    used = rows.used(y_pred)
    problem = Problem(
        features[used],
        y_pred[used],
        outcome[used],
        None if weight is None else weight[used],
        options.is_residual,
        unseen[used] if isinstance(unseen, np.ndarray) else None,
        None if residuals.fold is None else residuals.fold[used],
        None if residuals.own is None else residuals.own[used],
        None if residuals.like_clones is None else residuals.like_clones[used],
        is_corrected=not residuals.choice.is_of_clones_alone,
    )
    if rows.groups is not None and residuals.choice.kind == "out-of-fold" and features.shape[1]:
        # A clone that was fitted without a group of high outcomes predicts low ones for it: what its predictions say of
        # errors is nothing that those of the model have.
        options = replace(options, kernel="input" if options.kernel == "io" else options.kernel)
    _warn_of_one_value(problem.targets)
    if n_all is not None:
        options = options_of_sample(problem, options, n_all)
    train = Trainer(options, rng, deadline)
    scale_choice = choose_scale(problem, options, train.quickly, rng, deadline)
    scales = OutcomeScales(scale_choice.scales)
    # Clones do not tell how well the model does that has other rows behind it as well.
    is_of_clones = residuals.choice.kind == "out-of-fold"
    gp, left_out, model_choice = with_or_without_model(
        problem,
        scales,
        train,
        may_choose=not is_of_clones or residuals.choice.rows not in ("mixed", "unknown"),
        # With folds of the user's own, which need not be a number of them, a plain GP is not compared.
        gain_of_model=partial(gain_over_clones, options.estimator, fit_rows, y_pred, options.cv, rng)
        if is_of_clones
        else None,
    )
    says_folds = part.groups is not None or not isinstance(options.cv, int | np.integer)
    if not says_folds and options.training.guard:
        residual = on_scale(replace(problem, is_residual=gp.is_residual), scales).targets
        blocks = blocks_if_dependent(left_out, problem.targets, residual, used, n_rows)
        if blocks is not None:
            return _fit_blocks(part, options, held_out, blocks, deadline, n_all)
    if len(used) < FEWEST_ROWS and residuals.choice.may_be_fitted_to_all_rows:
        # Residuals of a model that was fitted to two or three rows are those of a curve through these points; of one
        # row nothing is known but its size.
        on_their_scale = scales.forward(problem.targets)
        spread = np.var(on_their_scale, axis=0, ddof=1) if len(used) > 1 else on_their_scale[0] ** 2
        gp = gp.with_noise_of_at_least(spread)
    fitted = Fitted(
        model=model,
        extract=rows.extract,
        gp=gp,
        y_shape=y.shape[1:],
        kept=keep_rows(features, y_pred, outcome, weight, used, rng),
        example=example_rows(rows.X),
        n_features_in=rows.n_features_in,
        feature_names_in=rows.feature_names_in,
        residuals=residuals.choice,
        shape=shape_on_scale(left_out, options, scales),
        scale_choice=scale_choice,
        model_choice=model_choice,
    )
    counts = _counts(used, n_rows, weight, unseen)
    return replace(fitted, loo=_leave_one_out(left_out, fitted, problem.targets, used, counts))


def _leaves_out_groups(sample: Part, fitted: Fitted) -> bool:
    """Whether the noise is that of new groups, or of new blocks of successive rows, of which left-out single rows, with
    others of their group beside them, tell nothing.
    """
    is_in_blocks = fitted.residuals is not None and "successive" in fitted.residuals.evidence
    return is_in_blocks or labels_of_groups(sample.groups, _num_samples(sample.X)) is not None


def _warn_of_one_value(outcome: Array) -> None:
    """Warn where most outcomes (n, q) of a column are one value, and few are others."""
    n_rows = len(outcome)
    for column in outcome.T if n_rows >= FEWEST_ROWS else ():
        values, counts = np.unique(column, return_counts=True)
        n_others = n_rows - int(counts.max())
        usual = f"{values[counts.argmax()]:g}"
        if not n_others:
            warn_user(
                f"y is {usual} in all {n_rows} rows: nothing tells how outcomes scatter, and error bars mean nothing; "
                "fit to rows whose outcomes differ",
                MostlyEqualWarning,
            )
        elif n_others < min(FEWEST_OTHERS, 0.5 * n_rows):
            warn_user(
                f"y is {usual} in {n_rows - n_others} of {n_rows} rows, too many to tell how other outcomes scatter: "
                f"do not rely on error bars. Fit to more rows; if {usual} stands for something that did not happen, "
                "let a classifier say when it does, and fit RIO to the rows where it did",
                MostlyEqualWarning,
            )


def _fit_blocks(
    part: Part, options: Options, held_out: bool | None, blocks: Blocks, deadline: Deadline, n_all: int | None
) -> Fitted:
    """Fit to rows whose groups are blocks of successive rows, with a warning."""
    blocks.warn()
    with warnings.catch_warnings():
        for category in (SeenRowsWarning, MostlyEqualWarning):  # they were there the first time
            warnings.simplefilter("ignore", category)
        fitted = _fit_rows(replace(part, groups=blocks.block), options, held_out, deadline, n_all=n_all)
    return fitted if fitted.residuals is None else replace(fitted, residuals=blocks.added_to(fitted.residuals))


def _leave_one_out(
    left_out: LeftOut, fitted: Fitted, outcome: Array, used: NDArray[np.intp], counts: Array
) -> LeaveOneOut:
    """In the order of the rows; NaN for those without a weight or without a prediction."""
    residual, std, by_fold = (left_out.of_rows(values) for values in (left_out.residual, left_out.std, left_out.scores))
    centre = fitted.scales.forward(outcome) - residual
    moments = (centre, std) if fitted.scales.is_identity else fitted.moments(centre, std)
    columns = np.full((4, len(counts), outcome.shape[1]), np.nan)
    columns[:, used] = np.stack([*moments, residual / std, by_fold])
    counts = np.where(np.isnan(columns).any(axis=(0, 2)), 0.0, counts)
    mean, spread, z, z_by_fold = (fitted.shaped(column) for column in columns)
    return LeaveOneOut(mean, spread, z, counts, z_by_fold)


def _counts(used: NDArray[np.intp], n_rows: int, weight: Array | None, unseen: Mask | bool | None) -> Array:
    """See `LeaveOneOut.weight`."""
    counts = np.zeros(n_rows)
    counts[used] = 1.0 if weight is None else weight[used]
    return np.where(unseen, counts, 0.0) if isinstance(unseen, np.ndarray) else counts


def _draw(n_rows: int, n_drawn: int, options: Options) -> NDArray[np.intp]:
    """Numbers of rows, drawn without replacement, in order."""
    return np.sort(options.new_rng().choice(n_rows, n_drawn, replace=False))
