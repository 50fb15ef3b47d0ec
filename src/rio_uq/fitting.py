"""From rows and options to a `Fitted`; and from a `Fitted` and further rows to another one.

All that is learnt from many rows is learnt as well from a random sample of them: hyperparameters, inducing points,
scalings and how noise depends on the row. Only the posterior needs all rows. It is made of sums over rows, which one
pass over the parts of a source adds up in memory that does not grow with the rows.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, validate_data

from rio_uq._base.array import Array
from rio_uq._base.checks import check_held_out, check_target, check_weight
from rio_uq._base.warnings import SeenRowsWarning, warn_user
from rio_uq.calibration.shape import fit_shape
from rio_uq.features.extractors import Extractor, extractor
from rio_uq.fitted import Fitted, LeaveOneOut, model_predictions
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.gp.inference.collapsed import Sums
from rio_uq.gp.problem import Problem
from rio_uq.gp.residual import KernelChoice, LeftOut, fit_residual_gp
from rio_uq.models import base as base_model
from rio_uq.models.residuals import TrainingRows, choose_residuals, without_copies_of_seen_rows
from rio_uq.options import OptionError, Options, training_settings
from rio_uq.rows.contract import ROW_ERRORS, Part, Source
from rio_uq.rows.examples import example_rows
from rio_uq.rows.kept import MOST_ROWS, KeptRows, keep_more, keep_rows


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
    if source.is_in_memory:
        return _fit_rows(source.take(np.arange(source.n_rows)), options, held_out)
    n_drawn = min(options.training.sample_rows, source.n_rows)
    is_sample = n_drawn < source.n_rows
    if is_sample:
        _check_can_be_read_in_parts(options)
        options = replace(options, inference="sparse" if options.inference == "auto" else options.inference)
    sample = source.take(_draw(source.n_rows, n_drawn, options))
    if is_sample and sample.sample_weight is not None and not np.any(sample.sample_weight):
        raise ValueError(
            f"all of the {n_drawn} rows that were drawn to learn from have sample_weight 0: leave out rows without "
            "weight, or set a larger sample_rows"
        )
    try:
        fitted = _fit_rows(sample, options, held_out, in_parts=is_sample)
    except OptionError:
        raise
    except ROW_ERRORS:
        source.total(_check_part, _Checks.of(sample, options))  # it says where the rows are, if they are the reason
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
    total = source.total(partial(_sums_of_part, _walk_options(options, source)), fitted)
    return replace(fitted, gp=fitted.gp.of_sums(total.sums), kept=replace(fitted.kept, n_fitted=total.n_rows), loo=None)


def partial_fit(fitted: Fitted, source: Source, options: Options) -> Fitted:
    """With further rows, at fixed hyperparameters; a calibration, which was that of another GP, is dropped."""
    if source.is_in_memory:
        new = _new_rows(fitted, source.take(np.arange(source.n_rows)))
        gp, n_new = fitted.gp.with_rows(new, _walk_options(options, source)), len(new.features)
    else:
        total = source.total(partial(_sums_of_part, _walk_options(options, source)), fitted)
        if not total.n_rows:
            raise ValueError("sample_weight has to be more than zero in at least one row")
        some = source.take(_draw(source.n_rows, min(MOST_ROWS, source.n_rows), options))
        gp, n_new = fitted.gp.of_sums(fitted.gp.sums.plus(total.sums)), total.n_rows
        new = _new_rows(fitted, some, is_part=True)
    weight = np.ones(len(new.features)) if new.weight is None else new.weight
    outcome = new.targets + fitted.base(new.y_pred)
    added = KeptRows(new.features, new.y_pred, outcome, weight, n_new)
    kept = keep_more(fitted.kept, added, options.new_seed())
    return replace(fitted, gp=gp, kept=kept, calibration=None, loo=None)


def _fit_rows(part: Part, options: Options, held_out: bool | None, *, in_parts: bool = False) -> Fitted:
    """Fit to rows in memory, which may be a sample of more that are read in parts."""
    X, n_rows = part.X, _num_samples(part.X)
    n_features_in, feature_names_in = _columns_of(X)
    y = check_target(part.y, n_rows)
    weight = check_weight(part.sample_weight, n_rows)
    unseen = check_held_out(part.held_out if held_out is None else held_out, n_rows)
    rng = options.new_rng()
    extract = None if options.kernel == "output" else extractor(options.features, X, y, options.estimator)
    features = np.empty((n_rows, 0)) if extract is None else extract(X)
    if isinstance(unseen, np.ndarray):
        unseen = without_copies_of_seen_rows(unseen, features, y)
    chosen = choose_residuals(
        options.estimator,
        TrainingRows(X, y, weight, features, part.y_pred, unseen, part.groups, options.fit_params),
        residuals=options.residuals,
        cv=options.cv,
        combine=options.combine,
        uses_model=options.is_residual or options.kernel != "input",
        in_parts=in_parts,
        rng=rng,
        verbose=bool(options.verbose),
    )
    model, y_pred = chosen.model, chosen.y_pred
    used = np.isfinite(y_pred).all(axis=1) & (True if weight is None else weight > 0.0)
    target = y.reshape(n_rows, -1) - y_pred if options.is_residual else y.reshape(n_rows, -1)
    training = options.training
    gp, left_out = fit_residual_gp(
        Problem(
            features[used],
            y_pred[used],
            target[used],
            None if weight is None else weight[used],
            options.is_residual,
            unseen[used] if isinstance(unseen, np.ndarray) else None,
        ),
        KernelChoice(options.kernel, options.input_kernel, options.output_kernel, options.ard),
        training_settings(options, features.shape[1], y_pred.shape[1]),
        standardize_output=training.standardize_output,
        starts=training.starts,
        n_restarts=training.n_restarts,
        prior=training.prior,
        noise=options.noise,
        walk_options=_walk_options(options),
        rng=rng,
    )
    if chosen.choice.kind == "in-sample" and chosen.choice.rows == "fitted here" and used.sum() > 1:
        # Residuals of a model that was fitted to two or three rows are those of a curve through these points.
        gp = gp.with_noise_of_at_least(np.var(y.reshape(n_rows, -1)[used], axis=0, ddof=1))
    return Fitted(
        model=model,
        extract=extract,
        gp=gp,
        y_shape=y.shape[1:],
        kept=keep_rows(features, y_pred, y.reshape(n_rows, -1), weight, np.flatnonzero(used), rng),
        example=example_rows(X),
        n_features_in=n_features_in,
        feature_names_in=feature_names_in,
        residuals=chosen.choice,
        loo=_leave_one_out(left_out, y, np.flatnonzero(used)),
        shape=fit_shape(left_out.scores, left_out.weight, options.distribution),
    )


def _leave_one_out(left_out: LeftOut, y: Array, used: NDArray[np.intp]) -> LeaveOneOut:
    """In the order of y; NaN for rows without a weight or without a prediction."""
    residual, std, z = (np.full((len(y), left_out.std.shape[1]), np.nan) for _ in range(3))
    for values, of_distinct in zip((residual, std, z), (left_out.residual, left_out.std, left_out.scores), strict=True):
        values[used] = left_out.of_rows(of_distinct)
    return LeaveOneOut(*(values.reshape(y.shape) for values in (y.reshape(residual.shape) - residual, std, z)))


def _columns_of(X: Any) -> tuple[int | None, tuple[str, ...] | None]:
    """Number and names of the columns of X, as scikit-learn counts them."""
    seen = BaseEstimator()
    validate_data(seen, X, reset=True, skip_check_array=True)
    names = getattr(seen, "feature_names_in_", None)
    return getattr(seen, "n_features_in_", None), None if names is None else tuple(names.tolist())


def _walk_options(options: Options, source: Source | None = None) -> dict[str, Any]:
    """How the engine walks over rows."""
    memory = {"cache_bytes": 0} if options.training.low_memory else {}
    n_jobs = effective_jobs(options.n_jobs) if source is None else source.n_jobs(options.n_jobs)
    return {"n_jobs": n_jobs, "dtype": np.dtype(options.training.dtype), **memory}


def _new_rows(fitted: Fitted, part: Part, *, is_part: bool = False) -> Problem:
    """New rows with a positive weight; in a part of them all weights may be zero."""
    inputs = fitted.inputs(part)
    features, y_pred = inputs.features, inputs.y_pred
    outcome = fitted.outcome(part.y, len(y_pred))
    weight = check_weight(part.sample_weight, len(y_pred), may_vanish=is_part)
    problem = Problem(features, y_pred, outcome - fitted.base(y_pred), weight, fitted.gp.is_residual)
    return problem if weight is None else problem.subset(weight > 0.0)


class _Total(NamedTuple):
    """The sums of the GP over rows, and how many there were with a positive weight."""

    sums: Sums
    n_rows: int

    def plus(self, other: _Total) -> _Total:
        return _Total(self.sums.plus(other.sums), self.n_rows + other.n_rows)


def _sums_of_part(walk_options: dict[str, Any], fitted: Fitted, part: Part) -> _Total:
    new = _new_rows(fitted, part, is_part=True)
    return _Total(fitted.gp.sums_of(new, walk_options), len(new.features))


def _draw(n_rows: int, n_drawn: int, options: Options) -> NDArray[np.intp]:
    """Numbers of rows, drawn without replacement, in order."""
    return np.sort(options.new_rng().choice(n_rows, n_drawn, replace=False))


def _check_can_be_read_in_parts(options: Options) -> None:
    """Raise if all rows would have to be in memory."""
    many = f"X has more than sample_rows={options.training.sample_rows} rows, so that they are read in parts"
    if base_model.needs_fit(options.estimator) or options.residuals == "cross-fit":
        raise ValueError(
            f"{many}, and the model is to be fitted to all of them: fit it before, on as many rows as it takes, "
            "and give RIORegressor the fitted model and rows that it has not seen; or give y_pred and no model"
        )
    if options.inference == "exact":
        raise ValueError(f"{many}, and inference='exact' keeps all of them: use inference='sparse'")


class _Checks(NamedTuple):
    """Checks that rows have to pass, with the extractor and the model where there are any."""

    extract: Extractor | None
    model: Any
    asks_model: bool

    @classmethod
    def of(cls, sample: Part, options: Options) -> _Checks:
        extract = None
        if options.kernel != "output":
            with suppress(*ROW_ERRORS):
                extract = extractor(options.features, sample.X, sample.y, options.estimator)
        return cls(extract, options.estimator, not base_model.needs_fit(options.estimator))


class _Nothing(NamedTuple):
    def plus(self, other: _Nothing) -> _Nothing:
        return self


def _check_part(checks: _Checks, part: Part) -> _Nothing:
    """Raise for rows that no GP can be fitted to."""
    n_rows = _num_samples(part.X)
    y = check_target(part.y, n_rows)
    check_weight(part.sample_weight, n_rows, may_vanish=True)
    check_held_out(part.held_out, n_rows)
    if checks.extract is not None:
        checks.extract(part.X)
    if checks.asks_model and (part.y_pred is not None or checks.model is not None):
        model_predictions(checks.model, part.X, part.y_pred, 1 if y.ndim == 1 else y.shape[1])
    return _Nothing()
