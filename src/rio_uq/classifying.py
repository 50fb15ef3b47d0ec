"""From rows with labels and options to a `FittedClassifier`."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, column_or_1d

from rio_uq._base.array import Array
from rio_uq._base.checks import check_finite, repeated
from rio_uq._base.warnings import MostlyEqualWarning, warn_user
from rio_uq.confidence import (
    CorrectionChoice,
    Recalibration,
    choose_share,
    few_of_a_kind,
    fit_recalibration,
    log_loss,
    targets_of,
)
from rio_uq.fitted import Fitted
from rio_uq.fitted_classifier import FittedClassifier, LabelInputs, columns_of_labels, gp_rows
from rio_uq.gp.deadline import TIME_IS_UP, Deadline
from rio_uq.gp.problem import Problem
from rio_uq.gp.residual import ResidualGP
from rio_uq.learning_rows import LearningRows, learning_rows
from rio_uq.models.base import needs_fit
from rio_uq.models.cross_fitting import make_folds
from rio_uq.models.nested import nested_folds
from rio_uq.models.probabilities import Classes, check_probabilities, probability_model
from rio_uq.models.residuals import choose_residuals
from rio_uq.options import Options, Training
from rio_uq.rows.contract import Part
from rio_uq.rows.examples import example_rows
from rio_uq.rows.kept import keep_rows
from rio_uq.trainer import Trainer, warn_unless_converged

NESTED_ITERATIONS, NESTED_TOL = 50, 1e-4
"""Of the search for hyperparameters without each fold."""


@dataclass(frozen=True)
class LabelledRows:
    """Rows for a classifier.

    Attributes
    ----------
    part : Part
        With probabilities in place of predictions, checked, if they were given.
    classes : (K,) array
    column : (n,) array of int
        Of the label of each row.
    """

    part: Part
    classes: Classes
    column: NDArray[np.intp]


def labelled_rows(part: Part, estimator: Any, classes: Any) -> LabelledRows:
    """Check labels, and find out what the columns of probabilities are.

    Parameters
    ----------
    part : Part
        ``y_pred`` are probabilities that were given, or None.
    estimator : estimator, callable or None
    classes : sequence of labels or None
        In the order of the columns of probabilities, where somebody has said so.
    """
    n_rows = _num_samples(part.X)
    labels = _checked_labels(part.y, n_rows)
    n_columns = None
    if part.y_pred is not None:
        given = check_probabilities(part.y_pred, n_rows, None, "y_proba")
        part, n_columns = replace(part, y_pred=given), given.shape[1]
    known = _known_classes(estimator, labels, classes)
    if known is None:
        if n_columns is None:
            first = _safe_indexing(indexable(part.X)[0], [0])
            ask = estimator.predict_proba if hasattr(estimator, "predict_proba") else estimator
            n_columns = check_probabilities(ask(first), 1, None, "the model's prediction").shape[1]
        known = _classes_of_columns(labels, n_columns)
    if n_columns is not None and n_columns != len(known):
        raise ValueError(
            f"there are {n_columns} columns of probabilities and {len(known)} classes, {known.tolist()}: give a column "
            "for each class, and classes=[...] in their order"
        )
    return LabelledRows(part, known, columns_of_labels(labels, n_rows, known))


def _checked_labels(y: Any, n_rows: int) -> NDArray[Any]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: give the labels as the second argument")
    if n_rows == 0:
        raise ValueError("X has 0 rows (0 sample(s)): at least one row is needed to fit")
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows and y has {len(labels)}: they have to be the same rows")
    if labels.dtype.kind == "f":
        check_finite(labels, "y", "every row needs a label")
    missing = [row for row, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise ValueError(f"y has {len(missing)} missing labels, the first in row {missing[0]}: every row needs a label")
    check_classification_targets(labels)
    return np.asarray(labels)


def _known_classes(estimator: Any, labels: NDArray[Any], classes: Any) -> Classes | None:
    """Those that somebody has said, that a fitted model knows, or that a model learns from these labels."""
    own = None if estimator is None or needs_fit(estimator) else getattr(estimator, "classes_", None)
    if classes is not None:
        given = np.asarray(classes)
        if given.ndim != 1 or len(given) < 2 or repeated(given.tolist()):
            raise ValueError(f"classes has to be a list of two labels or more, each of them once; got {classes!r}")
        if own is not None and given.tolist() != np.asarray(own).tolist():
            raise ValueError(
                f"classes={given.tolist()} are not those of the model, {np.asarray(own).tolist()}: leave classes out"
            )
        return given
    if own is not None:
        return np.asarray(own)
    if estimator is None or not needs_fit(estimator):
        return None
    found = np.unique(labels)
    if len(found) < 2:
        raise ValueError(
            f"y has one class only, {found.tolist()[0]!r}: a classifier needs rows of two classes at least"
        )
    return found


def _classes_of_columns(labels: NDArray[Any], n_columns: int) -> Classes:
    """Labels in their order, or the numbers of columns."""
    found = np.unique(labels)
    if len(found) == n_columns:
        return found
    if labels.dtype.kind in "iu" and found[0] >= 0 and found[-1] < n_columns:
        return np.arange(n_columns)
    raise ValueError(
        f"there are {n_columns} columns of probabilities, and y has {len(found)} classes: say classes=[...] with the "
        "label of each column"
    )


def fit(rows: LabelledRows, options: Options, *, held_out: bool | None) -> FittedClassifier:
    """Fit the GP to what the model's confidence is from the truth, and first the model itself if it needs it.

    Parameters
    ----------
    rows : LabelledRows
    options : Options
    held_out : bool or None
        Whether the model has seen none of the rows, or all of them; None where nobody says, or the rows have a mask.
    """
    deadline = Deadline.after(options.training.time_budget, time.monotonic)
    part, classes = rows.part, rows.classes
    indicators = np.eye(len(classes))[rows.column]
    learnt = learning_rows(part, lambda n_rows: indicators, options, held_out, classes[rows.column])
    model = probability_model(options.estimator, classes)
    rng = options.new_rng()
    options = replace(options, cv=_folds(options.cv, learnt.X, classes[rows.column], learnt.groups))
    began = time.monotonic()
    chosen = choose_residuals(
        model,
        learnt.for_model(part.y_pred, options),
        residuals=options.residuals,
        cv=options.cv,
        combine=options.combine,
        uses_model=True,
        in_parts=False,
        rng=rng,
        verbose=bool(options.verbose),
    )
    seconds = time.monotonic() - began
    used = learnt.used(chosen.y_pred)
    if isinstance(learnt.unseen, np.ndarray):
        used = used[learnt.unseen[used]]  # labels of the others are righter than those of rows to come
    is_of_clones = chosen.choice.kind == "out-of-fold"
    if learnt.groups is not None and is_of_clones and learnt.features.shape[1]:
        # A clone that was fitted without a group of rows has probabilities for it that those of the model are not like.
        options = replace(options, kernel="input" if options.kernel == "io" else options.kernel)
    # Rows left out of the GP tell nothing where clones of other folds have seen them.
    training = Training(**{**options.training.get_params(), "guard": not is_of_clones and options.training.guard})
    label_rows = LabelRows(learnt.features[used], chosen.y_pred[used], rows.column[used], learnt.weights(used))
    fold = None if chosen.fold is None else chosen.fold[used]
    trained = train_on_labels(label_rows, replace(options, training=training), rng, deadline, fold)
    _warn_of_time(options, deadline, trained.gp.message)
    warn_unless_converged(trained.gp)
    right = label_rows.right
    confidence = trained.recalibration.confidence(label_rows.probabilities)
    if few_of_a_kind(right):
        _warn_of_few(right)
    pooled: LeftOutLabels | None = None
    if not (few_of_a_kind(right) or chosen.choice.is_of_clones_alone):
        if not is_of_clones:
            pooled = LeftOutLabels(right, confidence, trained.expected, label_rows.weight).known()
        elif not deadline.leaves_out("clones that lack two folds", 3.0 * seconds):
            pooled = _by_nested_folds(model, learnt, rows.column, options, deadline)
    if pooled is None:
        loss = float(np.average(log_loss(right, confidence), weights=label_rows.weight))
        choice = CorrectionChoice(0.0, loss, loss, 0.0)
    else:
        choice = choose_share(*pooled)
    errors = Fitted(
        model=chosen.model,
        extract=learnt.extract,
        gp=trained.gp,
        y_shape=(),
        kept=keep_rows(
            label_rows.features,
            label_rows.probabilities,
            right[:, None],
            label_rows.weight,
            np.arange(len(used)),
            rng,
        ),
        example=example_rows(learnt.X),
        n_features_in=learnt.n_features_in,
        feature_names_in=learnt.feature_names_in,
        residuals=chosen.choice,
    )
    return FittedClassifier(errors, classes, trained.recalibration, choice)


@dataclass(frozen=True)
class LabelRows:
    """Rows with probabilities of models that have not seen them.

    Attributes
    ----------
    features, probabilities : (n, d), (n, K) arrays
    column : (n,) array of int
        Of the right label.
    weight : (n,) array
    """

    features: Array
    probabilities: Array
    column: NDArray[np.intp]
    weight: Array

    @property
    def right(self) -> Array:
        """Whether the likeliest label is right, 1 or 0, (n,)."""
        return np.asarray(self.probabilities.argmax(axis=1) == self.column, dtype=float)


class TrainedOnLabels(NamedTuple):
    """A recalibration and a GP, and the corrections that are expected of left-out rows, (n,); NaN where unknown."""

    recalibration: Recalibration
    gp: ResidualGP
    expected: Array


class LeftOutLabels(NamedTuple):
    """Of left-out rows: whether labels are right, ĉ, corrections f, and weights, all (n,)."""

    right: Array
    confidence: Array
    correction: Array
    weight: Array

    def known(self) -> LeftOutLabels:
        """Those with a correction."""
        is_known = np.isfinite(self.correction)
        return LeftOutLabels(*(values[is_known] for values in self))


def train_on_labels(
    rows: LabelRows, options: Options, rng: np.random.Generator, deadline: Deadline, fold: NDArray[np.intp] | None
) -> TrainedOnLabels:
    """Recalibrate confidence, and train the GP on what it is from the truth."""
    right = rows.right
    recalibration = fit_recalibration(rows.probabilities, right, rows.weight)
    targets, precision = targets_of(right, recalibration.confidence(rows.probabilities))
    problem = Problem(
        *gp_rows(options.kernel != "output", LabelInputs(rows.features, rows.probabilities)),
        targets[:, None],
        rows.weight * precision * rows.weight.sum() / (rows.weight @ precision),
        is_residual=False,
        fold=fold,
    )
    gp, left_out = Trainer(options, rng, deadline)(problem, keeps_constant=False)
    return TrainedOnLabels(recalibration, gp, left_out.of_rows(left_out.expected)[:, 0])


def _by_nested_folds(
    model: Any, learnt: LearningRows, column: NDArray[np.intp], options: Options, deadline: Deadline
) -> LeftOutLabels | None:
    """Rows of each fold, as they are met by a recalibration and a GP that have nothing of them; see
    `rio_uq.models.nested`.
    """
    rng = options.new_rng()
    folds = make_folds(options.cv, learnt.X, learnt.y, learnt.features, learnt.groups, learnt.weight, rng, column)
    nested = nested_folds(model, learnt.X, learnt.y, learnt.weight, folds, options.fit_params)
    training = Training(**{**options.training.get_params(), "guard": False, "n_restarts": 0})
    quick = replace(
        options, training=training, max_iter=min(options.max_iter, NESTED_ITERATIONS), tol=max(options.tol, NESTED_TOL)
    )
    parts = []
    for fold in nested:
        weight = learnt.weights(fold.learnt)
        counted = fold.learnt[weight > 0.0]
        rows = LabelRows(learnt.features[counted], fold.of_learnt[weight > 0.0], column[counted], weight[weight > 0.0])
        if few_of_a_kind(rows.right):
            continue
        trained = train_on_labels(rows, quick, rng, deadline, None)
        tested = LabelInputs(learnt.features[fold.tested], fold.of_tested)
        expected = trained.gp.mean(*gp_rows(options.kernel != "output", tested), 1)[:, 0]
        right = (fold.of_tested.argmax(axis=1) == column[fold.tested]).astype(float)
        confidence = trained.recalibration.confidence(fold.of_tested)
        parts.append(LeftOutLabels(right, confidence, expected, learnt.weights(fold.tested)))
    return LeftOutLabels(*map(np.concatenate, zip(*parts, strict=True))) if parts else None


def _folds(cv: Any, X: Any, labels: NDArray[Any], groups: Any) -> Any:
    """A number of folds as it is; those of a splitter, which may look at labels."""
    if isinstance(cv, int | np.integer):
        return cv
    return list(check_cv(cv, labels, classifier=True).split(*indexable(X), labels, groups))


def _warn_of_few(right: Array) -> None:
    n_wrong = int(np.count_nonzero(right <= 0.5))
    of_kind, n_few = ("wrong", n_wrong) if 2 * n_wrong < len(right) else ("right", len(right) - n_wrong)
    warn_user(
        f"the model's label is {of_kind} in {n_few} of {len(right)} rows, too few to tell where: error scores are its "
        "confidence, recalibrated. Fit to more rows that it has not seen, or to rows that are harder",
        MostlyEqualWarning,
    )


def _warn_of_time(options: Options, deadline: Deadline, message: str) -> None:
    unfinished = ["the optimiser to converge"] if message == TIME_IS_UP else []
    if missing := unfinished + deadline.left_out:
        warn_user(
            f"time_budget={options.training.time_budget:g} left no time for {', '.join(missing)}, so that error scores "
            "are less sure than they could be; raise time_budget, or leave it out",
            ConvergenceWarning,
        )
