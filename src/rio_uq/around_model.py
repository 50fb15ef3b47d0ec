"""An estimator of scikit-learn around a model: what cloning, parameters and metadata do to the model.

`RIORegressor` and `RIOClassifier` share them. The estimator has the parameters ``estimator``, ``training`` and
``residuals``.
"""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import validate_data

from rio_uq.features.extractors import is_plain
from rio_uq.fitted import Fitted
from rio_uq.models import base as base_model
from rio_uq.options import Training


def copy_of(estimator: Any) -> Any:
    """With the fitted model as it is, or a clone of one that is not fitted, and all other parameters cloned."""
    params = estimator.get_params(deep=False)
    copies = {name: clone(value, safe=False) for name, value in params.items() if name != "estimator"}
    model = params["estimator"]
    copies["estimator"] = base_model.unfitted_clone(model) if base_model.needs_fit(model) else model
    return type(estimator)(**copies)


def settable(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters to be set, with a Training where one of its own is among them; those of a fitted model are refused."""
    model = params.get("estimator", estimator.estimator)
    nested = [name for name in params if name.startswith("estimator__")]
    if nested and not base_model.needs_fit(model):
        raise ValueError(
            f"{', '.join(nested)} cannot be set: the model is fitted, and RIO never changes a fitted model; give "
            f"{type(estimator).__name__} an unfitted one (sklearn.base.clone(model)) to search over its parameters"
        )
    if any(name.startswith("training__") for name in params):
        return {"training": clone(Training.of(params.get("training", estimator.training))), **params}
    return params


def routing_of(estimator: Any) -> MetadataRouter:
    """The parameters that `fit` hands on to the model."""
    to_model = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner=estimator).add_self_request(estimator)
    return router.add(estimator=estimator.estimator, method_mapping=to_model)


def model_fit_params(estimator: Any, sample_weight: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
    """Parameters for the ``fit`` of the model: all of them, or where routing is enabled those it asks for."""
    is_fitted_here = base_model.needs_fit(estimator.estimator) or estimator.residuals == "cross-fit"
    if not get_config()["enable_metadata_routing"] or not (is_fitted_here or fit_params):
        return fit_params
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return dict(process_routing(estimator, "fit", **weights, **fit_params).estimator.fit)


def check_columns(estimator: Any, fitted: Fitted, X: Any) -> None:
    """Raise unless X has the columns of `fit`."""
    n_dimensions, n_columns = getattr(X, "ndim", 2), fitted.n_features_in
    if n_columns and n_dimensions > 2 and X.shape[1] != n_columns:
        raise ValueError(
            f"X has shape {tuple(X.shape)}, where the second number has to be {n_columns} as in fit: a single row of X "
            "is X[:1], and not X[0]"
        )
    has_columns = n_dimensions >= 2  # other arrays are refused where features are made of them
    is_right = is_plain(X) and fitted.feature_names_in is None and X.shape[1] == n_columns
    if has_columns and not is_right:
        validate_data(estimator, X, reset=False, skip_check_array=True)
