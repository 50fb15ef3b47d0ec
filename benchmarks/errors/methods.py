"""The models, and the methods that say how likely each of their labels is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.errors.tables import Split

Array = NDArray[np.float64]
N_FOLDS = 5
LEVELS = np.arange(0.3, 1.0, 0.05).round(2).tolist()
"""Of the sets of MAPIE."""

SMALLEST = 1e-12
"""Probability whose logarithm is taken."""


def model_of(name: str, run: int) -> Any:
    """An unfitted classifier."""
    if name == "network":
        return make_pipeline(StandardScaler(), MLPClassifier((64, 64), max_iter=200, random_state=run))
    if name == "forest":
        return RandomForestClassifier(100, random_state=run)
    return HistGradientBoostingClassifier(max_iter=100, random_state=run)


MODELS = ("network", "forest", "boosting")


@dataclass(frozen=True)
class Learnt:
    """All that methods may learn from, and the test rows.

    Attributes
    ----------
    split : Split
    unfitted : classifier
    run : int
    out_of_fold, test : (n, K) arrays
        Probabilities of training rows by clones that have not seen them, and of test rows by the model of all rows.
    """

    split: Split
    unfitted: Any
    run: int
    out_of_fold: Array
    test: Array

    @property
    def right(self) -> Array:
        """Whether out-of-fold labels are right, (n,)."""
        return (self.out_of_fold.argmax(axis=1) == self.split.y).astype(float)


@dataclass(frozen=True)
class Scores:
    """Of the labels of test rows.

    Attributes
    ----------
    error : (n,) array
        The larger, the likelier the label is wrong.
    is_probability : bool
        Whether it is the probability of that.
    extra : dict
        Further numbers for the result.
    """

    error: Array
    is_probability: bool
    extra: dict[str, Any]


def folds_of(run: int) -> StratifiedKFold:
    return StratifiedKFold(N_FOLDS, shuffle=True, random_state=run)


def learn(split: Split, name: str, run: int) -> Learnt:
    """Fit the model to all training rows, and clones to folds of them."""
    unfitted = model_of(name, run)
    n_classes = int(max(split.y.max(), split.y_test.max())) + 1
    out_of_fold = np.zeros((len(split.y), n_classes))
    for train, test in folds_of(run).split(split.X, split.y):
        fold_model = clone(unfitted).fit(split.X[train], split.y[train])
        out_of_fold[np.ix_(test, fold_model.classes_)] = fold_model.predict_proba(split.X[test])
    model = clone(unfitted).fit(split.X, split.y)
    test_probabilities = np.zeros((len(split.y_test), n_classes))
    test_probabilities[:, model.classes_] = model.predict_proba(split.X_test)
    return Learnt(split, unfitted, run, out_of_fold, test_probabilities)


def confidence(learnt: Learnt) -> Scores:
    return Scores(1.0 - learnt.test.max(axis=1), True, {})


def temperature(learnt: Learnt) -> Scores:
    """Probabilities to a power, normalised, that makes out-of-fold labels likeliest."""
    logs, of_test = (np.log(np.maximum(values, SMALLEST)) for values in (learnt.out_of_fold, learnt.test))
    rows = np.arange(len(logs))

    def loss(log_power: float) -> float:
        chosen = softmax(np.exp(log_power) * logs, axis=1)[rows, learnt.split.y]
        return float(-np.log(np.maximum(chosen, SMALLEST)).mean())

    power = np.exp(minimize_scalar(loss, bounds=(-4.0, 3.0), method="bounded").x)
    tempered = softmax(power * of_test, axis=1)[np.arange(len(of_test)), learnt.test.argmax(axis=1)]
    return Scores(1.0 - tempered, True, {})


def isotonic(learnt: Learnt) -> Scores:
    """Whether labels are right, as an increasing function of confidence."""
    fitted = IsotonicRegression(out_of_bounds="clip").fit(learnt.out_of_fold.max(axis=1), learnt.right)
    return Scores(1.0 - fitted.predict(learnt.test.max(axis=1)), True, {})


def boosted_errors(learnt: Learnt) -> Scores:
    """A boosted classifier of whether labels are right, by features and probabilities."""
    right = learnt.right
    if right.min() == right.max():
        return Scores(np.full(len(learnt.test), 1.0 - right[0]), True, {})
    rows, new = np.hstack([learnt.split.X, learnt.out_of_fold]), np.hstack([learnt.split.X_test, learnt.test])
    model = HistGradientBoostingClassifier(
        max_iter=50, learning_rate=0.05, max_leaf_nodes=8, random_state=learnt.run
    ).fit(rows, right)
    return Scores(1.0 - model.predict_proba(new)[:, 1], True, {})


def deup(learnt: Learnt) -> Scores:
    """The package deup with its defaults: boosting on logarithms of out-of-fold losses."""
    from deup.estimators import DEUPClassifier

    fitted = DEUPClassifier(clone(learnt.unfitted), random_state=learnt.run).fit(learnt.split.X, learnt.split.y)
    return Scores(np.asarray(fitted.predict_epistemic(learnt.split.X_test), dtype=float), False, {})


def mapie(learnt: Learnt) -> Scores:
    """Share of levels at which the cross-conformal set of MAPIE is not one class: it is empty, or holds several."""
    from mapie.classification import CrossConformalClassifier

    fitted = CrossConformalClassifier(clone(learnt.unfitted), confidence_level=LEVELS, cv=N_FOLDS)
    _, sets = fitted.fit_conformalize(learnt.split.X, learnt.split.y).predict_set(learnt.split.X_test)
    return Scores(np.mean(np.asarray(sets).sum(axis=1) != 1, axis=1), False, {})


def rio(learnt: Learnt) -> Scores:
    """RIOClassifier with its defaults, but for folds and the model that predicts, which are those of all methods."""
    from rio_uq import RIOClassifier

    fitted = RIOClassifier(
        clone(learnt.unfitted), cv=folds_of(learnt.run), combine="refit", random_state=learnt.run
    ).fit(learnt.split.X, learnt.split.y)
    score, std = fitted.error_score(learnt.split.X_test, return_std=True)
    predicted = fitted.predict(learnt.split.X_test)
    extra: dict[str, Any] = {
        "share": fitted.correction_choice_.share,
        "accuracy": float(np.mean(predicted == learnt.split.y_test)),
        **_unfamiliar_rows(learnt, fitted, score, std),
    }
    return Scores(np.asarray(score), True, extra)


def _unfamiliar_rows(learnt: Learnt, fitted: Any, score: Array, std: Array) -> dict[str, float]:
    """AUROC for telling test rows from rows whose columns were shuffled each for itself, by the GP's std, by error
    scores, by confidence, and by an isolation forest.
    """
    from sklearn.ensemble import IsolationForest
    from sklearn.metrics import roc_auc_score

    X, rng = learnt.split.X_test, np.random.default_rng(learnt.run)
    shuffled = np.column_stack([rng.permutation(column) for column in X.T])
    probabilities = fitted.estimator_.predict_proba(shuffled)
    other_score, other_std = fitted.error_score(shuffled, return_std=True)
    forest = IsolationForest(random_state=learnt.run).fit(learnt.split.X)
    is_shuffled = np.repeat([0, 1], len(X))

    def area(known: Array, unknown: Array) -> float:
        return float(roc_auc_score(is_shuffled, np.concatenate([known, unknown])))

    return {
        "unfamiliar_std": area(std, other_std),
        "unfamiliar_score": area(score, other_score),
        "unfamiliar_confidence": area(-learnt.test.max(axis=1), -probabilities.max(axis=1)),
        "unfamiliar_isolation": area(-forest.score_samples(X), -forest.score_samples(shuffled)),
    }


CONFIDENCE, RIO = "confidence", "RIO"
METHODS: dict[str, Callable[[Learnt], Scores]] = {
    CONFIDENCE: confidence,
    "temperature": temperature,
    "isotonic": isotonic,
    "boosting on errors": boosted_errors,
    "deup": deup,
    "MAPIE": mapie,
    RIO: rio,
}
