"""Rows that are read in parts: checks, options for a sample of them, and what the posterior needs of all.

That of inducing points is made of sums over rows, which one pass over the parts adds up in memory that does not grow
with the rows. That of nearest rows keeps the rows themselves, which are gathered here.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array
from rio_uq._base.checks import check_held_out, check_target, check_weight
from rio_uq._base.summand import Summand
from rio_uq.features.extractors import Extractor, extractor
from rio_uq.fitted import Fitted
from rio_uq.gp.backend.memory import GIB, memory_of_machine
from rio_uq.gp.inference import inference_for
from rio_uq.gp.inference.nearest import memory_needed
from rio_uq.gp.problem import Problem
from rio_uq.gp.settings import Settings
from rio_uq.models import base as base_model
from rio_uq.options import OptionError, Options
from rio_uq.outcome_scaling import on_scale
from rio_uq.rows.contract import ROW_ERRORS, Part, Source
from rio_uq.trainer import walk_options_of

MEMORY_SHARE = 0.5
"""Of the memory of the machine that the rows of a GP of nearest rows may take, where nobody has asked for one."""


def new_rows(fitted: Fitted, part: Part, *, is_part: bool = False) -> Problem:
    """New rows with a positive weight and their outcomes; in a part of them all weights may be zero."""
    inputs = fitted.inputs(part)
    features, y_pred = inputs.features, inputs.y_pred
    outcome = fitted.scales.checked(fitted.outcome(part.y, len(y_pred)))
    weight = check_weight(part.sample_weight, len(y_pred), may_vanish=is_part)
    problem = Problem(features, y_pred, outcome, weight, fitted.gp.is_residual)
    return problem if weight is None else problem.subset(weight > 0.0)


class Total(NamedTuple):
    """All that the posterior needs of rows, how many there were with a positive weight, and the least and the largest
    of their predictions on the scale of outcomes, (at most 2, p).
    """

    sums: Summand
    n_rows: int
    y_pred_range: Array

    def plus(self, other: Total) -> Total:
        both = np.vstack([self.y_pred_range, other.y_pred_range])
        return Total(self.sums.plus(other.sums), self.n_rows + other.n_rows, _range_of(both))


def _range_of(y_pred: Array) -> Array:
    return np.stack([y_pred.min(axis=0), y_pred.max(axis=0)]) if len(y_pred) else y_pred


def total_of_parts(source: Source, fitted: Fitted, options: Options) -> Total:
    """Of all rows: sums are added up where they are made, and rows themselves here."""
    of_part = partial(_sums_of_part, walk_options_of(options, source))
    if fitted.gp.posterior.predicts_from_points:
        return source.total(of_part, fitted)
    of_parts: Iterable[Total] = source.each(of_part, fitted)
    return reduce(Total.plus, of_parts)


def _sums_of_part(walk_options: dict[str, Any], fitted: Fitted, part: Part) -> Total:
    new = on_scale(new_rows(fitted, part, is_part=True), fitted.scales)
    return Total(fitted.gp.sums_of(new, walk_options), len(new.features), _range_of(new.y_pred))


def check_can_be_read_in_parts(options: Options) -> None:
    """Raise if all rows would have to be in memory."""
    many = f"X has more than sample_rows={options.training.sample_rows} rows, so that they are read in parts"
    if base_model.needs_fit(options.estimator) or options.residuals == "cross-fit":
        raise ValueError(
            f"{many}, and the model is to be fitted to all of them: fit it before, on as many rows as it takes, "
            "and give RIORegressor the fitted model and rows that it has not seen; or give y_pred and no model"
        )
    if options.inference == "exact":
        raise ValueError(f"{many}, and inference='exact' needs a matrix of all of them: use inference='auto'")


def options_of_sample(sample: Problem, options: Options, n_all: int) -> Options:
    """Options for a sample of n_all rows, at whose hyperparameters the posterior of all of them is made."""
    if options.scale == "auto":
        options = replace(options, scale="identity")  # a sample does not show the range of all outcomes
    n_columns, n_outputs = sample.features.shape[1] + sample.y_pred.shape[1], sample.targets.shape[1]
    if options.inference == "nearest":
        check_memory(n_all, n_columns, n_outputs)
    if options.inference == "auto":
        is_much = memory_needed(n_all, n_columns, n_outputs) > MEMORY_SHARE * memory_of_machine()
        # Few rows would be those of an exact GP, which is none of all rows, and leave no others to choose by.
        is_exact = inference_for(Settings(), len(sample.features)).trains_folds
        if is_much or is_exact:
            options = replace(options, inference="sparse")
    return options


def check_memory(n_rows: int, n_columns: int, n_outputs: int) -> None:
    """Raise before rows are read, if they could not be in memory together."""
    needed, there = memory_needed(n_rows, n_columns, n_outputs), memory_of_machine()
    if needed > there:
        raise OptionError(
            f"a GP of nearest rows keeps all {n_rows:,} rows, for which it needs {needed / GIB:.1f} GiB, and this "
            f"machine has {there / GIB:.1f} GiB: fit with inference='sparse', whose memory does not grow with rows"
        )


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


def check_all_parts(source: Source, sample: Part, options: Options) -> None:
    """Raise for the first rows that no GP can be fitted to, with where they are."""
    source.total(_check_part, _Checks.of(sample, options))


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
        base_model.checked_predictions(checks.model, part.X, part.y_pred, 1 if y.ndim == 1 else y.shape[1])
    return _Nothing()
