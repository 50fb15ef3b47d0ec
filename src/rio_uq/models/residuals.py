"""Residuals of rows that the model has not seen: which predictions of the training rows the GP learns from.

A model that memorises has small residuals on the rows that it was trained on, and error bars made from them are too
small. So the question for every fitted model is whether it has seen the rows. It is answered, in this order, by the
user (``held_out``), by the model itself (`rio_uq.models.training_rows`), or by clones fitted to parts of the rows
(`rio_uq.models.seen_or_new`). Where rows were seen, or some of them, the GP gets out-of-bag or out-of-fold predictions
for all of them, and the model given still predicts new rows. A model that can be neither asked nor cloned is taken as
it is, with a warning.

Clones are fitted to all rows in memory, however many: clones of a sample memorise more than a model of all rows, and
boosted trees that have seen the rows look to them as if they had not. Of rows that are read in parts there is only a
sample, so that the verdict "new" counts for nothing there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable

from rio_uq._base.array import Array
from rio_uq._base.warnings import SeenRowsWarning
from rio_uq.gp.groups import group_folds
from rio_uq.models.base import check_fit_params_used, check_predictions, fitted, needs_fit
from rio_uq.models.clones import Clones
from rio_uq.models.cross_fitting import (
    FEWEST_ROWS,
    FoldAverage,
    are_the_same,
    can_be_refitted,
    check_can_be_refitted,
    has_frozen_parts,
)
from rio_uq.models.fit_rows import FitRows
from rio_uq.models.residual_choice import ResidualChoice, said, verdict_of
from rio_uq.models.seen_or_new import CLONES_WORSE, MATTERS, is_same_model, is_small, judge_outputs, times
from rio_uq.models.seen_warnings import (
    UNKNOWN,
    looks_seen,
    name_of,
    warn_of_answer,
    warn_of_many_others,
    warn_of_worse_clones,
    warn_unknown,
    warn_without_clones,
)
from rio_uq.models.training_rows import TrainingEvidence, told_share, training_evidence
from rio_uq.models.training_size import relative_size

FEWEST_TO_JUDGE, FEWEST_FOLDS, N_HALVINGS = 20, 4, 2
"""Rows and folds that clones are judged by: with fewer rows, out-of-fold predictions are taken without asking. To both
halves of so many random halvings there are clones, too."""

CLONES_BETTER = 0.95
"""Out-of-fold residuals in units of the model's own below which clones are better than the model."""

MANY_OTHERS = 3.0
"""Training rows of a model in units of those given, from which on clones of these are of another kind."""

EVEN = 0.75
"""Clones are averaged if the weight of rows that one is fitted to is no less than this share of that of another."""

SAMPLE_CANNOT_TELL = (
    "rows are read in parts, and clones fitted to a sample of them, which err otherwise than the model, do not tell"
)


@dataclass(frozen=True)
class Chosen:
    """The model that predicts new rows, predictions (n, q) of the rows given, NaN where there is none, and why; the
    folds, and predictions of a model that has more behind it than its clones: see `rio_uq.gp.problem.Problem`.
    """

    model: Any
    y_pred: Array
    choice: ResidualChoice
    fold: NDArray[np.intp] | None = None
    own: Array | None = None
    like_clones: Array | None = None


def choose_residuals(
    model: Any,
    rows: FitRows,
    *,
    residuals: str,
    cv: Any,
    combine: str,
    uses_model: bool,
    in_parts: bool,
    rng: np.random.Generator,
    verbose: bool = False,
) -> Chosen:
    """Predictions whose residuals are those of unseen rows.

    Parameters
    ----------
    model : estimator, callable or None
    rows : FitRows
    residuals, cv, combine, verbose : as in `RIORegressor`
    uses_model : bool
        Whether the GP looks at the model at all.
    in_parts : bool
        Whether these rows are a sample of more, all of which the model will predict itself.
    """
    chooser = _Chooser(model, rows, cv, combine, rng, verbose)
    chooser.check(residuals)
    chosen = _choose(chooser, residuals, uses_model=uses_model, in_parts=in_parts)
    if rows.groups is None or chosen.fold is not None:
        return chosen
    return replace(chosen, fold=group_folds(rows.groups))


def _choose(chooser: _Chooser, residuals: str, *, uses_model: bool, in_parts: bool) -> Chosen:
    model, rows, cv = chooser.model, chooser.rows, chooser.cv
    if rows.y_pred is not None:
        return chooser.given(warn=residuals == "auto" and uses_model)
    if model is None and not uses_model:
        nothing = np.zeros((len(rows.y), rows.n_outputs))
        return Chosen(None, nothing, ResidualChoice("given", "either", "there is no model"))
    if residuals == "cross-fit":
        return chooser.out_of_fold(_rows_of(model), "residuals='cross-fit' asks for them")
    if residuals == "in-sample":
        return chooser.own("unknown", "residuals='in-sample' asks for them")
    if needs_fit(model):
        if has_frozen_parts(model):
            return chooser.unknown(f"parts of {name_of(model)} are frozen")
        if rows.n_counted < FEWEST_ROWS and isinstance(cv, int | np.integer):
            return chooser.own("fitted here", f"{_rows(rows.n_counted)} too few for folds")
        return chooser.out_of_fold("fitted here", "the model was not fitted yet")
    if not uses_model:
        return chooser.own("either", "the GP does not look at the model")
    if rows.held_out is False and can_be_refitted(model):
        return chooser.out_of_fold("seen", said(rows.held_out))
    if rows.held_out is not None:
        chosen = chooser.own(verdict_of(rows.held_out), said(rows.held_out))
        warn_of_answer(rows.held_out, rows.y, chosen.y_pred)
        return chosen
    return chooser.decide(in_parts=in_parts)


def _rows_of(model: Any) -> str:
    return "fitted here" if needs_fit(model) else "seen"


class _Chooser:
    def __init__(
        self, model: Any, rows: FitRows, cv: Any, combine: str, rng: np.random.Generator, verbose: bool
    ) -> None:
        self.model, self.rows, self.cv, self.combine = model, rows, cv, combine
        self.clones = Clones(model, rows, rng, verbose=verbose, has_own_folds=self._has_own_folds)

    @property
    def _has_own_folds(self) -> bool:
        """Whether folds are the user's own, which keep groups or times apart."""
        return self.rows.groups is not None or not isinstance(self.cv, int | np.integer)

    def check(self, residuals: str) -> None:
        """Raise for options that contradict each other."""
        rows = self.rows
        if rows.held_out is not None and rows.y_pred is None and needs_fit(self.model):
            raise ValueError(
                "held_out names rows that a fitted model was not trained on, and this model is not fitted yet: fit it "
                "to the other rows first, or leave held_out out, and the model is cross-fitted"
            )
        if residuals != "cross-fit":
            return
        for value, name in ((rows.y_pred, "y_pred"), (rows.held_out, "held_out")):
            if value is not None:
                raise ValueError(
                    f"{name} was given, and residuals='cross-fit' makes predictions of its own, all of them for rows "
                    f"that the model has not seen: leave {name} out, or use residuals='in-sample'"
                )
        check_can_be_refitted(self.model)

    def given(self, *, warn: bool) -> Chosen:
        rows = self.rows
        check_fit_params_used(self.model, rows.fit_params)
        model = self._fitted()
        y_pred = check_predictions(rows.y_pred, len(rows.y), rows.n_outputs, "y_pred")
        if rows.held_out is not None:
            if warn:
                warn_of_answer(rows.held_out, rows.y, y_pred)
            choice = ResidualChoice("given", verdict_of(rows.held_out), said(rows.held_out))
            return Chosen(model, y_pred, choice)
        if warn:
            warn_unknown(
                "whether the model that made the predictions given was trained on these rows is not known",
                rows.y,
                y_pred,
            )
        return Chosen(
            model, y_pred, ResidualChoice("given", "unknown", "nobody has said whether the model has seen them")
        )

    def _fitted(self) -> Any:
        """The model itself, or a clone fitted to all rows."""
        rows = self.rows
        return fitted(self.model, rows.X, rows.y, rows.weight, rows.fit_params)

    def own(self, verdict: str, reason: str) -> Chosen:
        """The model's own predictions."""
        check_fit_params_used(self.model, self.rows.fit_params)
        model = self._fitted()
        if model is None:
            raise ValueError(
                "there is no model to ask for predictions: give RIORegressor an estimator, or give this method y_pred"
            )
        return Chosen(model, self.rows.predicted_by(model), ResidualChoice("in-sample", verdict, reason))

    def decide(self, *, in_parts: bool) -> Chosen:
        """Of a fitted model, whether it has seen the rows."""
        if not can_be_refitted(self.model):
            return self.unknown(f"{name_of(self.model)} cannot be cloned and fitted to folds to find out")
        if self._has_own_folds:
            # What is wrong with them is the user's, and no open question.
            self.clones.folds(self.cv, *indexable(self.rows.X))
        evidence = training_evidence(self.model, self.rows.X, self.rows.y)
        if evidence.verdict == "new":
            own = self.rows.predicted_by(self.model)
            if not (hint := looks_seen(self.rows.y, own)):
                return Chosen(self.model, own, ResidualChoice("in-sample", "new", evidence.reason))
            evidence = replace(evidence, verdict="mixed", reason=f"{evidence.reason}, but {hint}")
        # Folds of the user's own keep groups or times apart, which bootstrap samples do not.
        if evidence.out_of_bag is not None and not self._has_own_folds:
            choice = ResidualChoice("out-of-bag", "seen", evidence.reason)
            return self._beside_own(Chosen(self.model, evidence.out_of_bag, choice))
        verdict = evidence.verdict
        if verdict is not None and evidence.is_other and self.rows.n_counted < FEWEST_TO_JUDGE:
            verdict = "unknown"  # what clones of so few rows have in common with a model of many, nobody knows
        if verdict is not None:
            return self._or_unknown(
                lambda: self._beside_own(self.out_of_fold(verdict, evidence.reason), in_parts=in_parts),
                verdict,
                evidence.reason,
            )
        if self.rows.n_counted < FEWEST_TO_JUDGE:
            if self.rows.n_counted < FEWEST_ROWS:
                return self.unknown(f"{_rows(self.rows.n_counted)} too few for folds")
            reason = f"{_rows(self.rows.n_counted)} too few to tell, and out-of-fold residuals are safe"
            return self._or_unknown(lambda: self._beside_own(self.out_of_fold("unknown", reason)))
        return self._or_unknown(lambda: self._judged(evidence, in_parts=in_parts))

    def out_of_fold(self, verdict: str, reason: str) -> Chosen:
        """Predictions of clones, each for the rows that it was not fitted to."""
        rows = self.rows
        (X,) = indexable(rows.X)
        cv = self.cv if needs_fit(self.model) else self.clones.enough_folds(self.model, self.cv)
        folds, out = self.clones.of_folds(cv, X)
        if (more := self.clones.enough_folds(out.models[0], cv)) is not cv:
            folds, out = self.clones.of_folds(more, X)
        if are_the_same([rows.predicted_by(clone) for clone in out.models[:2]]):
            return self.unknown(self._not_fitted)
        size = None if needs_fit(self.model) else relative_size(self.model, out.models[0])
        # In units of all rows, not of those that the first clone was fitted to.
        numbers = {} if size is None else {"relative_size": size * len(folds[0][0]) / max(rows.n_counted, 1)}
        choice = ResidualChoice("out-of-fold", verdict, reason, len(folds), numbers)
        if not self._has_own_folds:
            return self._with_model(out.prediction, out.models, choice)
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        sizes = [float(weight[train].sum()) for train, _ in folds]
        with_model = self._with_model(out.prediction, out.models, choice, is_even=min(sizes) >= EVEN * max(sizes))
        fold = np.zeros(len(rows.y), dtype=np.intp)
        for number, (_, test) in enumerate(folds):
            fold[test] = number
        return replace(with_model, fold=fold)

    def _beside_own(self, chosen: Chosen, *, in_parts: bool = False) -> Chosen:
        """With the size of these residuals in units of the model's own, as the numbers behind what the model says; with
        a warning where clones do not speak for a model that has seen these rows and many others.
        """
        rows = self.rows
        outcome = rows.y.reshape(chosen.y_pred.shape)
        is_predicted = np.isfinite(chosen.y_pred).all(axis=1)
        unseen, own = (
            float(np.sqrt(np.mean((outcome - prediction)[is_predicted] ** 2)))
            for prediction in (chosen.y_pred, rows.predicted_by(self.model))
        )
        ratio = unseen / max(own, 1e-6 * float(rows.y.std()), np.finfo(float).tiny)
        choice = chosen.choice
        if choice.rows == "unknown" and ratio > CLONES_WORSE:
            warn_of_worse_clones(self.model, ratio)
        elif choice.evidence.get("relative_size", 1.0) >= MANY_OTHERS and not in_parts:
            warn_of_many_others(self.model, choice.evidence["relative_size"])
        reason = f"{choice.reason}; {choice.kind} residuals are {times(ratio)} its own"
        return replace(
            chosen, choice=replace(choice, reason=reason, evidence={**choice.evidence, "clones_worse": ratio})
        )

    def _judged(self, evidence: TrainingEvidence, *, in_parts: bool) -> Chosen:
        rows = self.rows
        (X,) = indexable(rows.X)
        n_folds = max(int(self.cv), FEWEST_FOLDS) if isinstance(self.cv, int | np.integer) else 5
        n_folds = self.clones.enough_folds(self.model, n_folds)
        # The training rows of a model are others than a sample of them, whatever the rows given are.
        evidence = replace(evidence, is_other=evidence.is_other and not in_parts)
        own, everything = rows.predicted_by(self.model), np.arange(len(rows.y))
        (clone,), (full,) = self.clones.predictions([(everything, everything)], X)
        is_same = is_same_model(rows.y, own, full)
        size = None if in_parts else relative_size(self.model, clone)
        folds = self.clones.folds(n_folds, X, groups=None)
        halves = [] if is_same else [half for _ in range(N_HALVINGS) for half in self.clones.folds(2, X, groups=None)]
        n_fits = len(folds) + len(halves) + 1
        clones, predictions = self.clones.predictions(folds + halves, X)
        if are_the_same(predictions[: len(folds)]):
            return self.unknown(self._not_fitted)
        by_clone = np.stack(predictions, axis=2)
        verdict = judge_outputs(
            rows.y,
            own,
            by_clone,
            folds,
            halves,
            is_same=is_same,
            is_other=evidence.is_other,
            share=told_share(evidence.share, self.model, X, rows.y, rows.weight, clones[len(folds) :], halves),
            relative_size=size,
        )
        if in_parts and verdict.memorised < MATTERS:  # no reason to do without the rows beside the sample
            verdict = replace(verdict, rows="either")
        if verdict.rows == "new" and looks_seen(rows.y, own):
            verdict = replace(verdict, rows="mixed")
        numbers = verdict.numbers if size is None else verdict.numbers | {"relative_size": size}
        # Clones of halves are as good as a model that has seen about as few rows, clones of folds are better.
        of_halves = bool(halves) and is_small(size)
        # Of a model that memorises nothing, its own residuals are better than those of worse clones.
        takes_own = in_parts or verdict.clones_worse > MATTERS
        # Clones of more rows than the model has seen are better than it is, and its own residuals are safer.
        may_have_fewer = not of_halves and (size is None or size < 1.0 - 1.0 / n_folds)
        are_own_larger = verdict.rows == "mixed" and verdict.clones_worse < CLONES_BETTER and may_have_fewer
        if verdict.rows == "new" or (verdict.rows == "either" and takes_own) or are_own_larger:
            larger = "; its own residuals are larger than those of clones" if are_own_larger else ""
            choice = ResidualChoice("in-sample", verdict.rows, f"{verdict}{larger}", n_fits, numbers)
            if verdict.rows == "new" and in_parts:
                choice = replace(choice, rows="unknown", reason=SAMPLE_CANNOT_TELL)
                warn_unknown(f"{UNKNOWN}: {SAMPLE_CANNOT_TELL}", rows.y, own)
            return Chosen(self.model, own, choice)
        if not in_parts and verdict.clones_worse > CLONES_WORSE and (evidence.is_other or verdict.rows == "mixed"):
            warn_of_worse_clones(self.model, verdict.clones_worse)
        choice = ResidualChoice("out-of-fold", verdict.rows, str(verdict), n_fits, numbers)
        if self._has_own_folds:
            return self.out_of_fold(choice.rows, choice.reason)
        if of_halves:
            folds, clones, by_clone = halves[:2], clones[len(folds) :][:2], by_clone[:, :, len(folds) :][:, :, :2]
        prediction = np.full_like(own, np.nan)
        for number, (_, test) in enumerate(folds):
            prediction[test] = by_clone[test, :, number]
        chosen = self._with_model(prediction, clones[: len(folds)], choice)
        if chosen.model is not self.model:
            return chosen
        inside = (by_clone[:, :, : len(folds)].sum(axis=2) - prediction) / (len(folds) - 1)
        share = 0.5 if verdict.share is None else min(max(verdict.share.value, 0.0), 1.0)
        return replace(chosen, own=own, like_clones=share * inside + (1.0 - share) * prediction)

    def _with_model(
        self, prediction: Array, clones: list[Any], choice: ResidualChoice, *, is_even: bool = True
    ) -> Chosen:
        """Clones of folds of much different sizes, as those of a time series, are not worth averaging."""
        if self.combine == "average" or (self.combine == "auto" and needs_fit(self.model) and is_even):
            return Chosen(FoldAverage(clones), prediction, choice)
        choice = replace(choice, n_fits=choice.n_fits + needs_fit(self.model))
        return Chosen(self._fitted(), prediction, choice)

    def _or_unknown(self, attempt: Callable[[], Chosen], verdict: str | None = None, reason: str = "") -> Chosen:
        """Out-of-fold predictions, if clones can be fitted at all: some need arguments that only their owner has. The
        verdict is that of the model itself, and why.
        """
        try:
            chosen: Chosen = attempt()
        except SeenRowsWarning:  # ours, where warnings are errors
            raise
        except Exception as error:
            failure = f"clones of {name_of(self.model)} cannot be fitted ({type(error).__name__}: {error})"
            if verdict is None:
                return self.unknown(failure)
            chosen = self.own(verdict, f"{reason}, and {failure}")
            warn_without_clones(verdict, reason, failure)
        return chosen

    @property
    def _not_fitted(self) -> str:
        return f"clones of {name_of(self.model)} predict the same whatever rows they are fitted to"

    def unknown(self, reason: str) -> Chosen:
        """The model's own predictions, with a warning."""
        chosen = self.own("unknown", reason)
        warn_unknown(f"{UNKNOWN}: {reason}", self.rows.y, chosen.y_pred)
        return chosen


def _rows(number: int) -> str:
    return "1 row is" if number == 1 else f"{number} rows are"
