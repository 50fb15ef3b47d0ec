"""How many rows a fitted model was trained on, beside a clone fitted to all rows given.

Many models keep a number that is in proportion to their training rows, or keep these rows: a scaler counts them, the
first tree of an ensemble has them at its root (or their weights, or the sample that was drawn of them), a network knows
how many it has walked over. Its unit does not matter, because the same number of a clone is that of as many rows as
were given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def relative_size(model: Any, clone: Any) -> float | None:
    """Training rows of a model in units of those of a clone of it; None where it does not tell."""
    for of_model, of_clone in zip(_counters(model), _counters(clone), strict=False):
        try:
            size, unit = float(of_model()), float(of_clone())
        except Exception:  # not a model of this kind, or of a version that stores it otherwise
            continue
        if size > 0.0 and unit > 0.0:
            return size / unit
    return None


def _counters(model: Any) -> Iterator[Callable[[], Any]]:
    """Ways to count the training rows: those of the steps of pipelines and searches, then those of the estimator."""
    if hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    if hasattr(model, "steps"):
        for _, step in model.steps:
            yield from _counters(step)
    elif hasattr(model, "regressor_") and hasattr(model, "transformer_"):
        yield from _counters(model.regressor_)
    else:
        for counter in COUNTERS:
            yield lambda counter=counter: counter(model)  # type: ignore[misc]


def _seen_by_scaler(scaler: Any) -> Any:
    return np.max(scaler.n_samples_seen_)


def _walked_over(network: Any) -> Any:
    """Of networks and linear models of scikit-learn that are trained by stochastic gradients."""
    return network.t_ / network.n_iter_


def _at_root(model: Any) -> Any:
    """Of a tree of scikit-learn, or the first one of an ensemble."""
    first = model if hasattr(model, "tree_") else np.ravel(model.estimators_)[0]
    return first.tree_.n_node_samples[0]


def _at_root_of_histograms(model: Any) -> Any:
    return vars(model)["_predictors"][0][0].nodes["count"][0]


def _at_root_of_lightgbm(model: Any) -> Any:
    booster = getattr(model, "booster_", model)
    return booster.dump_model(num_iteration=1)["tree_info"][0]["tree_structure"]["internal_count"]


def _at_root_of_xgboost(model: Any) -> Any:
    booster = model.get_booster()
    return json.loads(booster[:1].get_dump(with_stats=True, dump_format="json")[0])["cover"]


def _at_root_of_catboost(model: Any) -> Any:
    return np.sum(model.get_leaf_weights()[: model.get_tree_leaf_counts()[0]])


def _kept_by_neighbours(neighbours: Any) -> Any:
    return neighbours.n_samples_fit_


def _kept_by_support_vectors(machine: Any) -> Any:
    return machine.shape_fit_[0]


def _kept_by_kernel_ridge(model: Any) -> Any:
    return len(model.X_fit_)


def _kept_by_gaussian_process(model: Any) -> Any:
    return len(model.X_train_)


COUNTERS: tuple[Callable[[Any], Any], ...] = (
    _kept_by_neighbours,
    _kept_by_support_vectors,
    _kept_by_kernel_ridge,
    _kept_by_gaussian_process,
    _seen_by_scaler,
    _walked_over,
    _at_root,
    _at_root_of_histograms,
    _at_root_of_lightgbm,
    _at_root_of_xgboost,
    _at_root_of_catboost,
)
