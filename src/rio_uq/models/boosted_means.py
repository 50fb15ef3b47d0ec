"""The share of the given rows that boosted trees were trained on, from the mean residuals that their leaves keep.

Each tree of boosting by squared errors is fitted to the residuals g that the trees before it have left. With N training
rows in a leaf, a learning rate η and an L2 penalty λ, the value of the leaf is

    v = η Σ g / (N + λ),        so that the mean of g over its training rows is        μ = v (N + λ)/(η N)

and that of g − μ is zero. Over the c given rows in the leaf it is zero if these are the training rows, and has the
variance σ² (1/c + 1/N) if they are others: see `rio_uq.models.overlap`, whose counts of rows know nothing of outcomes.

Trees are grown such that the means of their leaves differ, and those of new rows differ less. With a share s of the n
given rows among the N training rows, the mean square in units of that variance is

    Q = 1 − 2 s n / (n + N) + b (1 − s)²

where 1 + b is that of rows that are new, as clones of the model show, on rows that were kept from them. How squares
are added up to Q is in `rio_uq.models.kept_means`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.models.kept_means import KeptMeans, compared, some_rows, sum_of
from rio_uq.models.leaves import histogram_leaves, lightgbm_leaves, lightgbm_options, share_drawn, sklearn_leaves
from rio_uq.models.overlap import Share

TREES = 100
"""Trees that are looked at, from the first on."""

FEWEST_IN_LEAF = 3
"""Given rows in a leaf whose mean is compared."""


class BoostedTree(NamedTuple):
    """The leaf of each row, the leaves in ascending order, and training rows, value and mean residual of each.

    The mean is NaN of a tree whose leaves hold more than residuals.
    """

    leaf_of_row: NDArray[np.intp]
    leaves: NDArray[np.intp]
    trained: Array
    value: Array
    mean: Array


def boosted_means(model: Any, X: Array, y: Array) -> KeptMeans | None:
    """Means in all leaves; None of models that are not boosted by squared errors, or not in a way that is known.

    Parameters
    ----------
    model : fitted estimator
    X : (n, d) array
    y : (n,) array
    """
    if y.ndim > 1 or share_drawn(model, 1.0) < 1.0:
        return None
    total, left = None, np.array(y, dtype=float)
    for tree in islice(_boosted_trees(model, X, left), TREES):
        place = np.searchsorted(tree.leaves, tree.leaf_of_row)
        if np.isfinite(tree.mean).all():
            means = _of_leaves(left - tree.mean[place], place, tree.trained)
            total = means if total is None else sum_of((total, means))
        left -= tree.value[place]
    return total


def boosted_share(means: KeptMeans, of_new: list[KeptMeans], n: int) -> Share | None:
    """s, from means over the n rows given and, of clones, over rows that are new to them; None if rows are too few."""
    comparison = compared(means)
    ratios = np.array([of_clone.ratio for one in of_new if (of_clone := compared(one)) is not None])
    if comparison is None or len(ratios) < 2:
        return None
    b = max(float(ratios.mean()) - 1.0, 0.0)
    # Of b s² − 2 a s + 1 + b − Q, the root that is zero where Q = 1 + b.
    excess, a = 1.0 + b - comparison.ratio, b + n / (n + means.n_trained)
    value = excess / (a + np.sqrt(max(a**2 - b * excess, 0.0)))
    error = np.hypot((1.0 + b) * np.sqrt(2.0 / comparison.n_independent), ratios.std(ddof=1) / np.sqrt(len(ratios)))
    return Share(float(value), float(error / (2.0 * a)))


def _of_leaves(deviation: Array, place: NDArray[np.intp], trained: Array) -> KeptMeans:
    """Of deviations (n,) from the means of leaves, in units of their spread: half of it that in the leaf, half that in
    all of them.
    """
    counts = np.bincount(place, minlength=len(trained))
    size = np.maximum(counts, 1)
    mean, square = (np.bincount(place, values, len(trained)) / size for values in (deviation, deviation**2))
    own = (square - mean**2) * size / np.maximum(size - 1, 1)
    is_used = counts >= FEWEST_IN_LEAF
    weight = np.where(is_used, counts, 0.0)
    variance = 0.5 * own + 0.5 * float(weight @ own) / max(float(weight.sum()), 1.0)
    is_used &= variance > 0.0
    variance = np.where(is_used, variance, np.inf)
    difference = mean / np.sqrt(variance * (1.0 / size + 1.0 / trained))
    some = some_rows(len(deviation))
    leaf = place[some]
    unit = deviation[some] / np.sqrt(variance[leaf] * counts[leaf] / len(deviation))
    products = np.where(leaf[:, None] == leaf, np.outer(unit, unit), 0.0)
    return KeptMeans(float(difference @ difference), unit * difference[leaf], products, float(trained.sum()))


def _boosted_trees(model: Any, X: Array, left: Array) -> Iterator[BoostedTree]:
    """Trees in their order; the constant that they begin with is taken off the outcomes ``left`` (n,)."""
    options = model.get_params() if hasattr(model, "get_params") else {}
    name, rate = type(model).__name__, float(options.get("learning_rate", 0.0))
    if name == "HistGradientBoostingRegressor" and options["loss"] == "squared_error":
        if np.any(model.is_categorical_) or options["monotonic_cst"] is not None:
            return
        left -= float(np.ravel(vars(model)["_baseline_prediction"])[0])
        for (predictor,) in vars(model)["_predictors"]:
            if not _are_means(predictor.nodes, rate, options["l2_regularization"]):
                return
            leaf_of_row, leaves, trained = histogram_leaves(predictor.nodes, X)
            value = predictor.nodes["value"][leaves]
            mean = value * (trained + options["l2_regularization"]) / (rate * trained)
            yield BoostedTree(leaf_of_row, leaves, trained, value, mean)
    elif name == "GradientBoostingRegressor" and options["loss"] == "squared_error" and options["init"] is None:
        left -= float(np.ravel(model.init_.constant_)[0])
        for (one,) in model.estimators_:
            if not np.array_equal(one.tree_.n_node_samples, one.tree_.weighted_n_node_samples):
                return
            leaf_of_row, leaves, trained = sklearn_leaves(one, X)
            mean = one.tree_.value[leaves].ravel()
            yield BoostedTree(leaf_of_row, leaves, trained, rate * mean, mean)
    elif name == "LGBMRegressor" and _is_plain(options := lightgbm_options(model)):
        rate, penalty = float(options["learning_rate"]), float(options["lambda_l2"])
        for number, (leaf_of_row, leaves, trained, value, weight) in enumerate(lightgbm_leaves(model, X, TREES)):
            if not np.allclose(weight, trained):
                return  # rows were weighed
            mean = value * (trained + penalty) / (rate * trained)
            # The first tree has the mean of outcomes in its values, too.
            yield BoostedTree(leaf_of_row, leaves, trained, value, mean if number else np.full(len(mean), np.nan))


def _are_means(nodes: NDArray[Any], rate: float, penalty: float) -> bool:
    """Whether the sums of residuals in a tree of histogram boosting, value times (count + λ), add up: they do not where
    rows were weighed. The values of leaves, and of no other nodes, have the learning rate in them.
    """
    value = np.where(nodes["is_leaf"], nodes["value"] / rate, nodes["value"])
    total = value * (nodes["count"] + penalty)
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    parts = total[nodes["left"][inner]] + total[nodes["right"][inner]]
    return np.allclose(total[inner], parts, rtol=ROUNDING, atol=ROUNDING * float(np.abs(total).max()))


ROUNDING = 1e-3
"""Of sums of residuals in single precision."""

PLAIN_LIGHTGBM = {
    "boosting": "gbdt",
    "objective": "regression",
    "data_sample_strategy": "bagging",
    "lambda_l1": "0",
    "linear_tree": "0",
    "path_smooth": "0",
    "max_delta_step": "0",
    "monotone_constraints": "",
}
"""Options of LightGBM with which the value of a leaf is that of the top of this module."""


def _is_plain(options: dict[str, str]) -> bool:
    return all(options.get(name, plain).strip() == plain for name, plain in PLAIN_LIGHTGBM.items())
