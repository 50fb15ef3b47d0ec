"""What scikit-learn asks of an estimator, where RIORegressor differs from others: a fitted model is never changed."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags

from rio_uq.models import base as base_model


class ConventionsMixin(BaseEstimator):
    """Parameters, clones and tags for RIORegressor."""

    estimator: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a fitted model stay as they are, since setting them would change the model."""
        model = params.get("estimator", self.estimator)
        nested = [name for name in params if name.startswith("estimator__")]
        if nested and not base_model.needs_fit(model):
            raise ValueError(
                f"{', '.join(nested)} cannot be set: the model is fitted, and RIO never changes a fitted model; give "
                "RIORegressor an unfitted one (sklearn.base.clone(model)) to search over its parameters"
            )
        super().set_params(**params)
        return self

    def __sklearn_clone__(self) -> Self:
        """A fitted model stays the one it is; the rest is cloned as usual."""
        params = self.get_params(deep=False)
        copies = {name: clone(value, safe=False) for name, value in params.items() if name != "estimator"}
        model = params["estimator"]
        copies["estimator"] = base_model.unfitted_clone(model) if base_model.needs_fit(model) else model
        return type(self)(**copies)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = False
        return tags
