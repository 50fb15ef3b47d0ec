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
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples, validate_data

from rio_uq._base.array import Array
from rio_uq._base.checks import check_held_out, check_target, check_weight
from rio_uq.features.extractors import Extractor, extractor
from rio_uq.fitted import Fitted, model_predictions
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.gp.inference.collapsed import Sums
from rio_uq.gp.problem import Problem
from rio_uq.gp.residual import KernelChoice, fit_residual_gp
from rio_uq.models import base as base_model
from rio_uq.models.cross_fitting import FoldAverage, check_groups_unused, is_cross_fit, make_folds, out_of_fold
from rio_uq.options import Options, training_settings
from rio_uq.rows.contract import ROW_ERRORS, Part, Source
from rio_uq.rows.examples import example_rows
from rio_uq.rows.kept import MOST_ROWS, KeptRows, keep_more, keep_rows


def fit(source: Source, options: Options) -> Fitted:
    """Fit the GP to the residuals of the model, and first the model itself if it needs it.

    Parameters
    ----------
    source : Source
        Rows with outcomes.
    options : Options
    """
    if source.is_in_memory:
        return _fit_rows(source.take(np.arange(source.n_rows)), options)
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
        fitted = _fit_rows(sample, options)
    except ROW_ERRORS:
        source.total(_check_part, _Checks.of(sample, options))  # it says where the rows are, if they are the reason
        raise
    if not is_sample:
        return fitted
    sums = source.total(partial(_sums_of_part, _walk_options(options, source)), fitted)
    return replace(fitted, gp=fitted.gp.of_sums(sums), kept=replace(fitted.kept, n_fitted=source.n_rows))


def partial_fit(fitted: Fitted, source: Source, options: Options) -> Fitted:
    """With further rows, at fixed hyperparameters; a calibration, which was that of another GP, is dropped."""
    if source.is_in_memory:
        new = _new_rows(fitted, source.take(np.arange(source.n_rows)))
        gp, n_new = fitted.gp.with_rows(new, _walk_options(options, source)), len(new.features)
    else:
        sums = fitted.gp.sums.plus(source.total(partial(_sums_of_part, _walk_options(options, source)), fitted))
        some = source.take(_draw(source.n_rows, min(MOST_ROWS, source.n_rows), options))
        gp, new, n_new = fitted.gp.of_sums(sums), _new_rows(fitted, some, is_part=True), source.n_rows
    weight = np.ones(len(new.features)) if new.weight is None else new.weight
    added = KeptRows(new.features, new.y_pred, weight, n_new)
    return replace(fitted, gp=gp, kept=keep_more(fitted.kept, added, options.new_seed()), calibration=None)


def _fit_rows(part: Part, options: Options) -> Fitted:
    """Fit to rows in memory."""
    X, n_rows = part.X, _num_samples(part.X)
    n_features_in, feature_names_in = _columns_of(X)
    y = check_target(part.y, n_rows)
    weight = check_weight(part.sample_weight, n_rows)
    held_out = check_held_out(part.held_out, n_rows)
    rng = options.new_rng()
    extract = None if options.kernel == "output" else extractor(options.features, X, y)
    features = np.empty((n_rows, 0)) if extract is None else extract(X)
    n_outputs = 1 if y.ndim == 1 else y.shape[1]
    n_counted = n_rows if weight is None else int(np.count_nonzero(weight))
    if is_cross_fit(options.residuals, options.cv, options.estimator, n_counted, part.y_pred, held_out):
        model, y_pred = _cross_fit(X, y, weight, features, part.groups, options, rng)
    else:
        check_groups_unused(part.groups)
        model = base_model.fitted(options.estimator, X, y, weight)
        y_pred = model_predictions(model, X, part.y_pred, n_outputs)
    used = np.isfinite(y_pred).all(axis=1) & (True if weight is None else weight > 0.0)
    target = y.reshape(n_rows, -1) - y_pred if options.is_residual else y.reshape(n_rows, -1)
    training = options.training
    gp = fit_residual_gp(
        Problem(
            features[used],
            y_pred[used],
            target[used],
            None if weight is None else weight[used],
            options.is_residual,
            None if held_out is None else held_out[used],
        ),
        KernelChoice(options.kernel, options.input_kernel, options.output_kernel, options.ard),
        training_settings(options, features.shape[1], n_outputs),
        standardize_output=training.standardize_output,
        starts=training.starts,
        n_restarts=training.n_restarts,
        prior=training.prior,
        noise=options.noise,
        walk_options=_walk_options(options),
        rng=rng,
    )
    return Fitted(
        model=model,
        extract=extract,
        gp=gp,
        y_shape=y.shape[1:],
        kept=keep_rows(features, y_pred, weight, np.flatnonzero(used), rng),
        example=example_rows(X),
        n_features_in=n_features_in,
        feature_names_in=feature_names_in,
    )


def _columns_of(X: Any) -> tuple[int | None, tuple[str, ...] | None]:
    """Number and names of the columns of X, as scikit-learn counts them."""
    seen = BaseEstimator()
    validate_data(seen, X, reset=True, skip_check_array=True)
    names = getattr(seen, "feature_names_in_", None)
    return getattr(seen, "n_features_in_", None), None if names is None else tuple(names.tolist())


def _cross_fit(
    X: Any,
    y: Array,
    weight: Array | None,
    features: Array,
    groups: Any,
    options: Options,
    rng: np.random.Generator,
) -> tuple[Any, Array]:
    """The model that predicts new rows, and out-of-fold predictions (n, q), NaN for rows that no fold predicts."""
    (X,) = indexable(X)
    folds = make_folds(options.cv, X, y, features, groups, weight, rng)
    out = out_of_fold(options.estimator, X, y, weight, folds)
    if options.combine == "average":
        return FoldAverage(out.models), out.prediction
    return base_model.fitted(options.estimator, X, y, weight), out.prediction


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


def _sums_of_part(walk_options: dict[str, Any], fitted: Fitted, part: Part) -> Sums:
    return fitted.gp.sums_of(_new_rows(fitted, part, is_part=True), walk_options)


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
                extract = extractor(options.features, sample.X, sample.y)
        return cls(extract, options.estimator, not base_model.needs_fit(options.estimator))


class _Nothing(NamedTuple):
    def plus(self, other: _Nothing) -> _Nothing:
        return self


def _check_part(checks: _Checks, part: Part) -> _Nothing:
    """Raise for rows that no GP can be fitted to."""
    n_rows = _num_samples(part.X)
    y = check_target(part.y, n_rows)
    check_weight(part.sample_weight, n_rows, may_vanish=True)
    if checks.extract is not None:
        checks.extract(part.X)
    if checks.asks_model and (part.y_pred is not None or checks.model is not None):
        model_predictions(checks.model, part.X, part.y_pred, 1 if y.ndim == 1 else y.shape[1])
    return _Nothing()
