"""The model under RIO: taken as it is if it is fitted, cloned and fitted if it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from rio_uq._base.array import Array
from rio_uq._base.checks import check_finite, row_labels, to_numeric
from rio_uq._base.warnings import warn_user

TORCH_MODULE = "torch.nn.modules.module.Module"
NOT_AS_THEY_ARE = {
    TORCH_MODULE: "takes tensors: use RIORegressor(rio_uq.models.torch_model(module))",
    "xgboost.core.Booster": "takes a DMatrix: use RIORegressor(booster.inplace_predict)",
    "onnxruntime.capi.onnxruntime_inference_collection.InferenceSession": (
        "takes a dict: use RIORegressor(rio_uq.models.onnx_model(path))"
    ),
}
"""Models of other libraries that do not take X, and what to do instead."""


def is_estimator(model: Any) -> bool:
    """Whether the model can be fitted and then asked, as estimators of scikit-learn can.

    Some have no ``predict`` before they are fitted, a StackingRegressor for one; but their class has.
    """
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "get_params")):
        return False
    return hasattr(model, "predict") or hasattr(type(model), "predict")


def needs_fit(model: Any) -> bool:
    """Whether the model is a scikit-learn estimator that has not been fitted yet.

    Anything else (a callable, a network of another library, a fitted estimator) is used as it is.
    """
    if not is_estimator(model):
        return False
    if callable(getattr(model, "is_fitted", None)):
        return not model.is_fitted()
    try:
        check_is_fitted(model)
    except NotFittedError:
        return True
    return False


def _is_a(model: Any, name: str) -> bool:
    """Whether the model is of a class of another library, which need not be installed."""
    return any(f"{kind.__module__}.{kind.__qualname__}" == name for kind in type(model).__mro__)


def is_module(model: Any) -> bool:
    """Whether the model is one of PyTorch, which takes tensors."""
    return _is_a(model, "torch.nn.modules.module.Module") and not hasattr(model, "predict")


def check_takes_X(model: Any) -> None:
    """Raise for a model of another library that takes rows in a form of its own, with what to do instead."""
    for name, advice in NOT_AS_THEY_ARE.items():
        if is_torch_module(model) if name == TORCH_MODULE else _is_a(model, name):
            raise TypeError(f"{type(model).__name__} {advice}")


def is_torch_module(model: Any) -> bool:
    """Whether it takes tensors only; Keras on PyTorch, say, has a ``predict`` of its own."""
    return _is_a(model, TORCH_MODULE) and not hasattr(model, "predict")


def fitted(
    model: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: NDArray[Any] | None,
    fit_params: Mapping[str, Any] | None = None,
) -> Any:
    """The model itself, or a fitted clone of it if it needs one."""
    check_takes_X(model)
    needs_no_check = model is None or is_estimator(model)
    if isinstance(model, type) or not (needs_no_check or hasattr(model, "predict") or callable(model)):
        raise TypeError(
            f"estimator has to be a model with a predict method, or a function from X to predictions; got {model!r}"
        )
    return fitted_clone(model, X, y, sample_weight, fit_params) if needs_fit(model) else model


def unfitted_clone(model: Any) -> Any:
    """A model with the same parameters that has learnt nothing.

    scikit-learn cannot clone CatBoost's own class, which takes all parameters as one argument, nor a CatBoostRegressor
    with a list among its parameters, such as ``cat_features``, since it keeps a copy of the list; nor then a Pipeline
    that ends in one.
    """
    if isinstance(model, Pipeline) and _is_a(model.steps[-1][1], "catboost.core.CatBoost"):
        parts = {**model.get_params(deep=False), "steps": [(name, _unfitted_step(step)) for name, step in model.steps]}
        return type(model)(**parts)
    if not _is_a(model, "catboost.core.CatBoost"):
        return clone(model)
    params = model.get_params()
    return type(model)(params) if type(model).__name__ == "CatBoost" else type(model)(**params)


def _unfitted_step(step: Any) -> Any:
    """Of a Pipeline, whose steps may be left out by "passthrough" or None."""
    return unfitted_clone(step) if hasattr(step, "get_params") else step


def fitted_clone(
    model: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: NDArray[Any] | None,
    fit_params: Mapping[str, Any] | None = None,
) -> Any:
    """A clone of the model, fitted with weights if it takes them.

    Parameters
    ----------
    sample_weight : (n,) array or None
        Where metadata routing is enabled the model has to have asked for it.
    fit_params : mapping, optional
        Further parameters of its ``fit``.
    """
    copy, params = unfitted_clone(model), dict(fit_params or {})
    if sample_weight is None:
        return copy.fit(X, y, **params)
    if get_config()["enable_metadata_routing"]:
        if get_routing_for_object(copy).consumes("fit", {"sample_weight"}):
            params["sample_weight"] = sample_weight
        return copy.fit(X, y, **params)
    if has_fit_parameter(copy, "sample_weight"):
        return copy.fit(X, y, sample_weight=sample_weight, **params)
    if not any(name.endswith("__sample_weight") for name in params):
        warn_user(
            f"the fit method of {type(copy).__name__} takes no sample_weight: the model is fitted without, and only "
            "the GP on its residuals is weighted; fit the model yourself to weight it"
            + (", or give fit the weights of a step, as step__sample_weight=..." if hasattr(copy, "steps") else "")
        )
    return copy.fit(X, y, **params)


def check_fit_params_used(model: Any, fit_params: Mapping[str, Any]) -> None:
    """Raise if there are parameters for the ``fit`` of a model that is not fitted here."""
    if fit_params and not needs_fit(model):
        raise ValueError(
            f"{', '.join(fit_params)} would go to the fit method of the model, which is not fitted here: leave them "
            "out, give a model that is not fitted yet, or use residuals='cross-fit'"
        )


def predictions(model: Any, X: Any) -> Any:
    """ŷ of a model with ``predict``, or of a callable."""
    return model.predict(X) if hasattr(model, "predict") else model(X)


def check_predictions(y_pred: Any, n_rows: int, n_outputs: int, source: str, rows_of: Any = None) -> Array:
    """Predictions as an array of shape (n_rows, n_outputs), or an error that says what is wrong with them.

    Rows are named as those of ``rows_of``, the X of predictions, unless these have labels of their own.
    """
    array = to_numeric(y_pred, source)
    if array.ndim == 1:
        array = array[:, None]
    if array.shape != (n_rows, n_outputs):
        expected = f"({n_rows},)" if n_outputs == 1 else f"({n_rows}, {n_outputs})"
        raise ValueError(
            f"{source} should have shape {expected}, one prediction for each row of X"
            f"{'' if n_outputs == 1 else ' and each output'}; got shape {np.shape(y_pred)}"
        )
    check_finite(array, source, "every row needs a prediction", y_pred if row_labels(y_pred) is not None else rows_of)
    return array


def checked_predictions(model: Any, X: Any, y_pred: Any, n_columns: int, *, is_left_out: bool = False) -> Array:
    """ŷ of shape (n, n_columns): those that are given, or the model's; which may have been left out of a file."""
    if y_pred is None and model is None:
        remedy = "give this method y_pred, as `fit` was"
        if is_left_out:
            remedy = (
                "the file does not hold it: give it to load, load(path, estimator=model), or give this method y_pred"
            )
        raise ValueError(f"there is no model to ask for predictions: {remedy}")
    source = "y_pred" if y_pred is not None else "the model's prediction"
    values = y_pred if y_pred is not None else predictions(model, X)
    return check_predictions(values, _num_samples(X), n_columns, source, X)
