"""The predictive distribution in other forms: intervals, quantiles, a SciPy distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rio_uq.validation import check_levels

Array = NDArray[np.float64]


class PredictiveMixin:
    """Made from nothing but ``predict(X, y_pred=..., return_std=True)``."""

    predict: Any

    def predict_interval(self, X: Any, *, confidence_level: Any = 0.95, y_pred: Any = None) -> Array:
        """Intervals that hold the outcome with the given probability.

        Parameters
        ----------
        X, y_pred : as in `predict`
        confidence_level : float or list of k floats
            Between 0 and 1.

        Returns
        -------
        array of shape (n, 2), or (n, 2, k) for a list
            Lower and upper bounds; for y of shape (n, q), (n, q, 2) or (n, q, 2, k).
        """
        levels = check_levels(confidence_level, "confidence_level")
        mean, std = self.predict(X, y_pred=y_pred, return_std=True)
        half = stats.norm.ppf(0.5 + 0.5 * levels) * std[(..., *[None] * levels.ndim)]
        centre = mean[(..., *[None] * levels.ndim)]
        return np.stack([centre - half, centre + half], axis=mean.ndim)

    def predict_quantiles(self, X: Any, *, quantiles: Any = (0.05, 0.5, 0.95), y_pred: Any = None) -> Array:
        """Quantiles of the outcome.

        Parameters
        ----------
        X, y_pred : as in `predict`
        quantiles : float or list of k floats
            Between 0 and 1.

        Returns
        -------
        array of the shape of the prediction, with a last axis of length k for a list
        """
        levels = check_levels(quantiles, "quantiles")
        mean, std = self.predict(X, y_pred=y_pred, return_std=True)
        new_axis = (..., *[None] * levels.ndim)
        return np.asarray(mean[new_axis] + stats.norm.ppf(levels) * std[new_axis])

    def predict_dist(self, X: Any, *, y_pred: Any = None) -> Any:
        """The distribution of each outcome as a frozen `scipy.stats.norm`."""
        mean, std = self.predict(X, y_pred=y_pred, return_std=True)
        return stats.norm(mean, std)
