"""Evidence inside a fitted model of which rows it was trained on; nothing is fitted for it.

Trees store how many training rows ended in each leaf. With the given rows sent through a tree,

    unseen ≥ Σ_leaf max(0, given − trained)     given rows that no training row accounts for
    others ≥ Σ_leaf max(0, trained − given)     training rows that were not given

Both vanish where the rows are the same, and ``others`` alone where the training rows are among those given. Trees that
draw samples of the rows (bootstrap, subsample) say nothing of ``unseen``, and of ``others`` only if the samples are so
large that leaves would lack some of the rows if these were new.

A bagged model can be asked for its out-of-bag predictions after the fact: its samples are drawn again from the random
state of each tree. Fully grown trees have the very outcomes of their training rows in their leaves. Other models keep
their training rows, or some of them as support vectors; a least-squares fit solves the normal equations of its own rows
and of no others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.utils import _safe_indexing

from rio_uq._base.array import Array, Mask
from rio_uq.gp.copies import measurement_of
from rio_uq.models.boosted_means import boosted_means, boosted_share
from rio_uq.models.kept_means import KeptMeans
from rio_uq.models.leaves import TREES, leaves_of_trees, remembered_share, share_drawn, spread_out
from rio_uq.models.overlap import Share, mean_share, seen_share

FEW = 1e-3
"""Share of the rows below which differences count as rounding."""

ROUNDING = 1e-6
CLEAR, STANDARD_ERRORS = 5.0, 4.0
"""Rows that leaves would lack, or have too many of, if the rows given were new, for counts that agree to tell anything;
and how far samples drawn for trees may be from their size.
"""

PREDICTED_FEW = 0.1
"""Out-of-bag predictions are of use if at most this share of the rows is in every tree's sample."""

SAME_BY_CHANCE = 0.1
"""Share of new rows, at most, that have the outcome of a training row beside them."""

SAME_ROW = 1e-5
"""Rows whose columns differ by no more, in units of their spread, are the same."""

LOOK_AT_OUTCOMES = ("sklearn.feature_selection", "sklearn.cross_decomposition")
"""Modules whose transformers look at outcomes, though their tags say that these are not required."""

MEANS = ("squared_error", "friedman_mse", "poisson")
"""Criteria by which the value of a node is the mean outcome there."""

KEEPS_ROWS = ("_fit_X", "X_train_", "X_fit_")
"""Attributes in which models of scikit-learn keep their training rows."""


@dataclass(frozen=True)
class TrainingEvidence:
    """The evidence inside a model on the rows given.

    Attributes
    ----------
    verdict : {"seen", "new", "mixed"} or None
        None where it says nothing.
    reason : str
    is_other : bool
        Whether it is certain that the training rows are not just those given.
    out_of_bag : (n, q) array or None
        Predictions for each row by those trees that have not seen it, NaN where there is none.
    share : Share or None
        Of the rows that were seen, estimated.
    """

    verdict: str | None = None
    reason: str = ""
    is_other: bool = False
    out_of_bag: Array | None = None
    share: Share | None = None


NO_EVIDENCE = TrainingEvidence()


def training_evidence(model: Any, X: Any, y: Array) -> TrainingEvidence:
    """Ask a fitted model whether it was trained on the rows given.

    Parameters
    ----------
    model : estimator
        Of scikit-learn, XGBoost, LightGBM or CatBoost, or a pipeline or search around one.
    X : rows as the model takes them
    y : (n,) or (n, q) array
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")  # rows are a matrix here
            steps, outcome = _steps(model, X, y)
            last, rows = steps[-1]
            evidence = _evidence(last, rows, outcome)
    except Exception:  # a version that stores things otherwise, or rows that are no matrix: there are other ways
        return NO_EVIDENCE
    if last is not model and evidence.out_of_bag is not None and hasattr(model, "transformer_"):
        evidence = replace(evidence, out_of_bag=None)  # those of transformed outcomes
    if any(_learns_from_outcomes(step) for step, _ in steps[:-1]):
        evidence = _beyond_transformers(evidence)
    if evidence.verdict is not None:
        return evidence
    try:
        return replace(evidence, share=seen_share(steps))
    except Exception:
        return evidence


def told_share(
    share: Share | None,
    model: Any,
    X: Any,
    y: Array,
    weight: Array | None,
    clones: list[Any],
    halves: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> Share | None:
    """The share of seen rows by all that the model keeps: a share that is known from it, and that by the residuals in
    the leaves of boosted trees, if it has any, with those of clones of halves on the other halves beside it.

    Parameters
    ----------
    share : Share or None
        As in `TrainingEvidence`.
    model, X, y : as in `training_evidence`
    weight : (n,) array or None
        With weights, means in leaves are of another kind.
    clones, halves : lists
        Clones of the model, each with the rows that it was fitted to and the others.
    """
    shares = [] if share is None else [share]
    means = kept_residuals(model, X, y) if clones and weight is None else None
    if means is not None:
        parts = zip(clones, halves, strict=True)
        of_clones = [kept_residuals(clone, _safe_indexing(X, test), y[test]) for clone, (_, test) in parts]
        of_new = [one for one in of_clones if one is not None]
        if (by_residuals := boosted_share(means, of_new, len(y))) is not None:
            shares.append(by_residuals)
    return mean_share(shares)


def kept_residuals(model: Any, X: Any, y: Array) -> KeptMeans | None:
    """Mean residuals that the leaves of boosted trees keep, compared with those of the rows; None of other models."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            steps, outcome = _steps(model, X, y)
            return boosted_means(*steps[-1], outcome)
    except Exception:  # as above
        return None


def _steps(model: Any, X: Any, y: Array) -> tuple[list[tuple[Any, Any]], Array]:
    """The steps of pipelines and searches with X as each of them sees it, the estimator last, and y as that sees it."""
    steps = []
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "regressor_") and hasattr(model, "transformer_"):
            values = np.asarray(model.transformer_.transform(y.reshape(len(y), -1)))
            y, model = values.reshape(y.shape), model.regressor_
        elif hasattr(model, "steps"):
            for _, step in model.steps[:-1]:
                if hasattr(step, "transform"):
                    steps.append((step, X))
                    X = step.transform(X)
            model = model.steps[-1][1]
        else:
            if any(str(kind) == "category" for kind in getattr(X, "dtypes", ())):
                if not type(model).__module__.startswith("lightgbm"):  # which keeps its codes, and takes frames
                    raise TypeError("which code a model has for a category is its own affair")
                return [*steps, (model, X)], y
            return [*steps, (model, np.asarray(X, dtype=float))], y


def _learns_from_outcomes(step: Any) -> bool:
    """Whether a transformer, or one inside of it, is fitted to outcomes."""
    names = ("transformers_", "steps", "transformer_list")
    inner = next((getattr(step, name) for name in names if hasattr(step, name)), None)
    if inner is not None:
        return any(_learns_from_outcomes(one) for _, one, *_ in inner)
    if type(step).__module__.startswith(LOOK_AT_OUTCOMES):
        return type(step).__name__ != "VarianceThreshold"
    return hasattr(step, "__sklearn_tags__") and bool(step.__sklearn_tags__().target_tags.required)


def _beyond_transformers(evidence: TrainingEvidence) -> TrainingEvidence:
    """The evidence that is left where the rows of the last step depend on outcomes: it may have been trained on other
    values of the same rows, and its out-of-bag rows were seen by the steps before.
    """
    verdict = evidence.verdict if evidence.verdict == "seen" else None
    return replace(evidence, verdict=verdict, out_of_bag=None)


def _evidence(model: Any, X: Array, y: Array) -> TrainingEvidence:
    kept = next((getattr(model, name) for name in KEEPS_ROWS if hasattr(model, name)), None)
    if kept is not None:
        share = float(_members(np.asarray(kept), X).mean())
        return TrainingEvidence(
            _by_share(share), f"it keeps its training rows, and {share:.0%} of those given are there"
        )
    if hasattr(model, "support_vectors_"):
        return _of_support_vectors(model, X, y)
    if getattr(model, "bootstrap", False) and hasattr(model, "estimators_samples_"):
        return _or_remembered(_of_bootstrap(model, X, y), model, X, y)
    bounds = _leaf_bounds(model, X)
    if bounds is not None:
        evidence = _of_leaves(bounds, len(X), share_drawn(model, bounds.trained))
        return _or_remembered(evidence, model, X, y)
    if type(model).__name__ in ("LinearRegression", "Ridge"):
        return _of_normal_equations(model, X, y)
    return NO_EVIDENCE


def _or_remembered(evidence: TrainingEvidence, model: Any, X: Array, y: Array) -> TrainingEvidence:
    """With the verdict of fully grown trees that have a training row to each leaf, where there is no other verdict."""
    if evidence.verdict is not None or (share := remembered_share(model, X, y)) is None:
        return evidence
    verdict = _by_share(share, by_chance=SAME_BY_CHANCE)
    return replace(evidence, verdict=verdict, reason=f"its leaves have the outcomes of {share:.0%} of the rows given")


def _by_share(share: float, by_chance: float = 0.02) -> str:
    return "seen" if share > 0.98 else "new" if share < by_chance else "mixed"


def _members(rows: Array, X: Array) -> Mask:
    """Which rows of X are among the others, but for rounding: pipelines may transform the same rows a little otherwise,
    and tables lose digits on their way through files.
    """
    rows = np.asarray(rows, dtype=float)
    spread = rows.std(axis=0)
    unit = np.where(spread > 0.0, spread, 1.0)
    distance, _ = cKDTree(rows / unit).query(X / unit, p=np.inf)
    return np.asarray(distance <= SAME_ROW)


def _of_support_vectors(model: Any, X: Array, y: Array) -> TrainingEvidence:
    """Of seen rows, those outside of the tube are support vectors."""
    is_vector = _members(model.support_vectors_, X)
    is_outside = np.abs(y - model.predict(X)) > model.epsilon * (1.0 + 1e-3) + 1e-3 * y.std()
    unexplained = float((is_outside & ~is_vector).mean())
    reason = f"{is_vector.mean():.0%} of the rows are its support vectors"
    if is_vector.mean() <= 5.0 * FEW:
        return TrainingEvidence("new", reason)
    return TrainingEvidence("mixed" if unexplained > 5.0 * FEW else "seen", reason)


def _of_bootstrap(model: Any, X: Array, y: Array) -> TrainingEvidence:
    """Of forests and bagged trees: the mean outcome of each tree's sample, drawn again, stands at its root."""
    trees, samples = list(model.estimators_), model.estimators_samples_
    if not all(hasattr(tree, "tree_") and tree.criterion in MEANS for tree in trees):
        return NO_EVIDENCE
    n = len(y)
    copy_of = measurement_of(X, y.reshape(n, -1))
    for number in spread_out(len(trees), 5):
        tree, sample = trees[number], samples[number]
        if len(sample) and sample.max() >= n:
            return TrainingEvidence(is_other=True)
        root = tree.tree_.value[0].reshape(-1)
        if not np.allclose(np.reshape(y[sample].mean(axis=0), -1), root, rtol=1e-9, atol=1e-9 * float(np.std(y))):
            return TrainingEvidence(is_other=True)
    columns = getattr(model, "estimators_features_", [slice(None)] * len(trees))
    total, count = np.zeros((n, root.size)), np.zeros(n)
    for tree, sample, chosen in zip(trees, samples, columns, strict=True):
        left_out = ~np.isin(copy_of, copy_of[sample])
        if left_out.any():
            total[left_out] += np.reshape(tree.predict(X[left_out][:, chosen]), (-1, root.size))
            count[left_out] += 1.0
    is_enough = float((count == 0.0).mean()) <= PREDICTED_FEW
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / np.where(count > 0.0, count, np.nan)[:, None]
    reason = "the bootstrap samples of its trees, drawn again, are of these rows"
    return TrainingEvidence("seen", reason, out_of_bag=mean if is_enough else None)


class _LeafBounds(NamedTuple):
    """``unseen`` and ``others`` of the top of this module, what to expect of each if the rows were new, and the rows
    that a tree was grown on.
    """

    unseen: float
    others: float
    unseen_if_new: float
    others_if_new: float
    trained: float


def _of_leaves(bounds: _LeafBounds, n: int, share: float) -> TrainingEvidence:
    """Of trees that were each grown on a share of the training rows."""
    reason = f"by the counts in its leaves, {bounds.others:.0f} training rows at least were not among the {n} given"
    if bounds.others <= FEW * n:
        if share < 1.0:
            away, spread = abs(bounds.trained - share * n), np.sqrt(n * share * (1.0 - share))
            is_size, is_clear = away <= STANDARD_ERRORS * spread + 1.0, bounds.others_if_new >= CLEAR
        else:
            is_size, is_clear = True, bounds.unseen <= FEW * n
        if is_size and is_clear:
            return TrainingEvidence("seen", "the counts in its leaves are those of these rows")
        if share < 1.0:
            return TrainingEvidence(is_other=not is_size)
    if share == 1.0 and bounds.unseen <= FEW * n and bounds.unseen_if_new >= CLEAR:
        return TrainingEvidence("seen", "all of these rows are among those counted in its leaves")
    return TrainingEvidence(reason=reason, is_other=True)


def _leaf_bounds(model: Any, X: Array) -> _LeafBounds | None:
    """The largest bounds by some trees; None for models without trees."""
    bounds = []
    for leaf_of_row, leaves, trained in islice(leaves_of_trees(model, X), TREES):
        if not np.array_equal(trained, np.round(trained)):
            return None  # sums of weights or of second derivatives
        place = np.searchsorted(leaves, leaf_of_row)
        counts, total = np.bincount(place, minlength=len(leaves)), float(trained.sum())
        rate = len(X) * trained / max(total, 1.0)
        bounds.append(
            [
                np.maximum(counts - trained, 0).sum(),
                np.maximum(trained - counts, 0).sum(),
                _surplus(rate, trained),
                _surplus(trained, rate),
                total,
            ]
        )
    return _LeafBounds(*np.max(bounds, axis=0).tolist()) if bounds else None


def _surplus(expected: Array, other: Array) -> float:
    """How much counts about these expected values exceed others, summed over leaves, roughly."""
    by_chance = 0.4 * np.sqrt(expected) * (other < expected + np.sqrt(expected + 1.0))
    return float((np.maximum(expected - other, 0.0) + by_chance).sum())


def _of_normal_equations(model: Any, X: Array, y: Array) -> TrainingEvidence:
    """Xᵀe = α w and a mean residual of zero hold for the training rows, and by chance for no others.

    Residuals that vanish, as those of fewer rows than coefficients do, solve nothing: all that is left is rounding.
    """
    residual = y - model.predict(X)
    if np.abs(residual).max() < ROUNDING * float(np.std(y)) or getattr(model, "positive", False):
        return NO_EVIDENCE
    centred = X - X.mean(axis=0) if model.fit_intercept else X
    gradient = centred.T @ residual - getattr(model, "alpha", 0.0) * np.transpose(model.coef_)
    norms = np.sqrt((centred**2).sum(axis=0))[:, None] * np.sqrt((residual**2).sum(axis=0)) + np.finfo(float).tiny
    is_solved = bool((np.abs(np.reshape(gradient, norms.shape)) < ROUNDING * norms).all())
    is_centred = not model.fit_intercept or np.abs(residual.mean(axis=0)).max() < ROUNDING * float(np.std(y))
    if is_solved and is_centred:
        return TrainingEvidence("seen", "it solves the least-squares problem of these rows")
    return TrainingEvidence(is_other=True)
