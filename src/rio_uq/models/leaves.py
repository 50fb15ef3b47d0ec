"""The leaves of fitted trees: where given rows end, and how many training rows are counted there."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array

TREES = 25
"""Trees that are looked at."""

COUNT_ROWS = (
    "DecisionTreeRegressor",
    "ExtraTreeRegressor",
    "ExtraTreesRegressor",
    "RandomForestRegressor",
    "BaggingRegressor",
    "GradientBoostingRegressor",
)
"""Models of scikit-learn whose trees count training rows. Those of others, such as AdaBoost, are grown on samples that
are drawn with weights."""

OFTEN_SAME = 0.01
"""Share of pairs of rows with the same outcome above which it is no sign of having been seen."""

ROUNDING = 1e-6
"""Of outcomes, which may have been trained on in single precision."""

MOSTLY_ALONE, IN_SOME_TREES = 0.5, 0.1
"""Trees remember rows if so many of them end in leaves of a single training row; a row was seen if its outcome stands
there in more than so many trees."""


Leaves = tuple[NDArray[np.intp], NDArray[np.intp], Array]
"""Of a tree: the leaf of each row, the leaves in ascending order, and the training rows in each."""


def leaves_of_trees(model: Any, X: Array, most: int = TREES) -> Iterator[Leaves]:
    """Of each tree, or of ``most`` of them."""
    library = type(model).__module__.partition(".")[0]
    histogram_trees = getattr(model, "_predictors", None)
    if histogram_trees is not None:
        if np.any(getattr(model, "is_categorical_", False)):
            return  # splits by categories are stored otherwise
        yield from (histogram_leaves(predictors[0].nodes, X) for predictors in histogram_trees[:most])
    elif type(model).__name__ in COUNT_ROWS:
        yield from (sklearn_leaves(tree, part) for tree, part in _sklearn_trees(model, X, most))
    elif library == "xgboost":
        booster = model.get_booster()
        booster = booster[: min(most, booster.num_boosted_rounds())]
        matrix = import_module("xgboost").DMatrix(X, feature_names=booster.feature_names)
        leaf_of_row = booster.predict(matrix, pred_leaf=True, strict_shape=True).reshape(len(X), -1).astype(int)
        nodes = booster.trees_to_dataframe()
        for tree in range(leaf_of_row.shape[1]):
            ends = nodes[(nodes["Tree"] == tree) & (nodes["Feature"] == "Leaf")].sort_values("Node")
            yield leaf_of_row[:, tree], ends["Node"].to_numpy(int), ends["Cover"].to_numpy(float)
    elif library == "lightgbm":
        yield from (leaves[:3] for leaves in lightgbm_leaves(model, X, most))
    elif library == "catboost":
        sizes = model.get_tree_leaf_counts()
        leaf_of_row = np.asarray(model.calc_leaf_indexes(X, ntree_end=min(most, len(sizes))))
        weights = np.split(np.asarray(model.get_leaf_weights()), np.cumsum(sizes)[:-1])
        for tree, weight in enumerate(weights[: leaf_of_row.shape[1]]):
            yield leaf_of_row[:, tree], np.arange(len(weight)), weight


def remembered_share(model: Any, X: Array, y: Array) -> float | None:
    """The share of rows whose very outcome stands in the leaves where they end.

    Fully grown trees have leaves of a single training row, and its outcome there. None of models that do not average
    such trees, and where outcomes are often the same.

    Parameters
    ----------
    model : estimator
    X : (n, d) array
    y : (n,) or (n, q) array
    """
    if not (hasattr(model, "tree_") or (hasattr(model, "bootstrap") and hasattr(model, "estimators_"))):
        return None
    outcome = y.reshape(len(y), -1)
    _, counts = np.unique(outcome, axis=0, return_counts=True)
    if float((counts * (counts - 1)).sum()) > OFTEN_SAME * len(y) * (len(y) - 1):
        return None
    is_alone, is_own = [], []
    for one, part in _sklearn_trees(model, X, TREES):
        tree, (place, _, _) = one.tree_, sklearn_leaves(one, part)
        values = tree.value[place].reshape(len(outcome), -1)
        is_alone.append(tree.n_node_samples[place] == 1)
        is_own.append(np.isclose(values, outcome, rtol=ROUNDING, atol=ROUNDING * float(outcome.std())).all(axis=1))
    if np.mean(is_alone) < MOSTLY_ALONE:
        return None
    return float((np.mean(is_own, axis=0) > IN_SOME_TREES).mean())


def _sklearn_trees(model: Any, X: Array, most: int) -> Iterator[tuple[Any, Array]]:
    """Trees of scikit-learn, and the columns that each looks at: all of them if they are few, else some from the first
    to the last, since a model may have gone on with other rows.
    """
    trees = list(np.ravel(model.estimators_)) if hasattr(model, "estimators_") else [model]
    columns = getattr(model, "estimators_features_", [slice(None)] * len(trees))
    for number in spread_out(len(trees), most):
        yield trees[number], X[:, columns[number]]


def sklearn_leaves(tree: Any, X: Array) -> Leaves:
    """Of a tree of scikit-learn."""
    nodes = tree.tree_
    leaves = np.flatnonzero(nodes.children_left == -1)
    return nodes.apply(np.ascontiguousarray(X, dtype=np.float32)), leaves, nodes.n_node_samples[leaves]


def spread_out(n_trees: int, most: int) -> NDArray[np.intp]:
    """Numbers of trees, from the first to the last."""
    return np.unique(np.linspace(0, n_trees - 1, min(n_trees, most)).round().astype(np.intp))


def lightgbm_leaves(
    model: Any, X: Array, n_trees: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Array, Array, Array]]:
    """Of the first trees of LightGBM that have a split, with the value of each leaf and the weight of its rows."""
    leaf_of_row = model.booster_.predict(X, pred_leaf=True, num_iteration=n_trees).reshape(len(X), -1)
    trees = model.booster_.dump_model(num_iteration=n_trees)["tree_info"]
    for place, tree in zip(leaf_of_row.T, trees, strict=True):
        if leaves := sorted(_lightgbm_leaves(tree["tree_structure"])):
            number, trained, value, weight = np.array(leaves).T
            yield place, number.astype(np.intp), trained, value, weight


def _lightgbm_leaves(node: dict[str, Any]) -> Iterator[tuple[int, int, float, float]]:
    """Number, training rows, value and weight of each leaf; none of a tree without a split."""
    if "leaf_index" in node:
        yield node["leaf_index"], node["leaf_count"], node["leaf_value"], node["leaf_weight"]
    for child in ("left_child", "right_child"):
        if child in node:
            yield from _lightgbm_leaves(node[child])


def histogram_leaves(nodes: NDArray[Any], X: Array) -> Leaves:
    """Of a tree of scikit-learn's histogram boosting, which has no method that gives leaves."""
    place = np.zeros(len(X), dtype=int)
    while (inside := nodes["is_leaf"][place] == 0).any():
        node = nodes[place[inside]]
        value = X[inside, node["feature_idx"]]
        goes_left = np.where(np.isnan(value), node["missing_go_to_left"] == 1, value <= node["num_threshold"])
        place[inside] = np.where(goes_left, node["left"], node["right"])
    leaves = np.flatnonzero(nodes["is_leaf"])
    return place, leaves, nodes["count"][leaves]


def share_drawn(model: Any, n_in_tree: float) -> float:
    """The share of the training rows that each tree was grown on, given how many those of a tree are."""
    n_trained = getattr(model, "_n_samples", None)
    if getattr(model, "bootstrap", False) and n_trained is not None:
        return n_in_tree / float(n_trained)
    library = type(model).__module__.partition(".")[0]
    if library == "lightgbm":
        options = lightgbm_options(model)
        return float(options["bagging_fraction"]) if int(options["bagging_freq"]) else 1.0
    share = None if library == "catboost" else getattr(model, "subsample", None)  # whose leaves count all rows
    return (1.0 if share is None else float(share)) * (1.0 - _share_validating(model))


def lightgbm_options(model: Any) -> dict[str, str]:
    """The options of LightGBM that a model was trained with, by the names that it has for them."""
    text = model.booster_.model_to_string(num_iteration=1)
    lines = text[text.index("parameters:") :].splitlines()
    pairs = (line.strip("[]").partition(": ") for line in lines if ": " in line)
    return {name: value for name, _, value in pairs}


def _share_validating(model: Any) -> float:
    """The share of its rows that scikit-learn's boosting has kept back to tell when to stop."""
    is_stopped = getattr(model, "do_early_stopping_", getattr(model, "n_iter_no_change", None) is not None)
    share = getattr(model, "validation_fraction", None)
    return share if is_stopped and isinstance(share, float) else 0.0
