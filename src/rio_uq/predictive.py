"""What a fitted regressor says of new rows: corrected predictions, intervals, quantiles, distributions, draws."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from rio_uq import base_model
from rio_uq.features import Extractor
from rio_uq.gp.rows import effective_jobs
from rio_uq.residual_gp import ResidualGP
from rio_uq.validation import check_count, check_levels

Array = NDArray[np.float64]


class Decomposition(NamedTuple):
    """The correction of each prediction as a sum of two parts, each of the shape of the prediction.

    ``y_pred + input + output`` is the corrected prediction. The constant part of the correction belongs to the
    output (to the input where the kernel has no output part).
    """

    input: Array
    output: Array


class PredictiveMixin:
    """The methods of RIORegressor that only read what was learnt in `fit`."""

    n_jobs: int | None
    estimator_: Any
    _gp: ResidualGP
    _extract: Extractor | None
    _y_shape: tuple[int, ...]
    _n_outputs: int
    _is_residual: bool

    def predict(
        self,
        X: Any,
        *,
        y_pred: Any = None,
        return_std: bool = False,
        return_cov: bool = False,
        include_noise: bool = True,
    ) -> Any:
        """Corrected predictions and, if asked for, their uncertainty.

        Parameters
        ----------
        X : as in `fit`
        y_pred : array of shape (n,) or (n, q), optional
            The model's predictions for X, if they are known already.
        return_std : bool
            Return the standard deviation as well. It is that of an outcome y, noise included, unless ``include_noise``
            is False: then that of the mean of outcomes at X.
        return_cov : bool
            Return the covariance between the rows of X instead, with the noise on its diagonal or without.
        include_noise : bool

        Returns
        -------
        mean : array of shape (n,) or (n, q)
        std : array of the same shape
            If ``return_std``.
        cov : array of shape (n, n) or (n, n, q)
            If ``return_cov``.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov were both True: ask for one of them at a time")
        features, prediction = self._inputs(X, y_pred)
        base = self._base(prediction)
        if return_cov:
            mean = base + self._gp.mean(features, prediction, self._jobs())
            covariance = self._gp.covariance(features, prediction)
            if include_noise:
                noise = self._gp.noise_at(features, prediction, self._jobs())
                covariance += noise.T[:, :, None] * np.eye(len(mean))
            return self._shaped(mean), covariance[0] if self._y_shape == () else np.moveaxis(covariance, 0, -1)
        if not return_std:
            return self._shaped(base + self._gp.mean(features, prediction, self._jobs()))
        mean, std = self._mean_and_std(features, prediction, include_noise=include_noise)
        return self._shaped(base + mean), self._shaped(std)

    def _mean_and_std(self, features: Array, prediction: Array, *, include_noise: bool) -> tuple[Array, Array]:
        mean, variance = self._gp.mean_and_variance(features, prediction, self._jobs())
        if include_noise:
            variance = variance + self._gp.noise_at(features, prediction, self._jobs())
        return mean, np.sqrt(variance)

    def predict_residual(
        self, X: Any, *, y_pred: Any = None, return_std: bool = False, include_noise: bool = True
    ) -> Any:
        """The correction alone: corrected prediction minus prediction, and the standard deviation if asked for."""
        features, prediction = self._inputs(X, y_pred)
        constant = self._base(prediction) - prediction
        if not return_std:
            return self._shaped(constant + self._gp.mean(features, prediction, self._jobs()))
        mean, std = self._mean_and_std(features, prediction, include_noise=include_noise)
        return self._shaped(constant + mean), self._shaped(std)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, *, y_pred: Any = None, include_noise: bool = True
    ) -> Array:
        """Joint draws of the outcomes at the rows of X.

        Returns
        -------
        array of shape (n, n_samples) or (n, q, n_samples)
        """
        check_count(n_samples, "n_samples", at_least=1)
        features, prediction = self._inputs(X, y_pred)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        draws = self._base(prediction)[..., None] + self._gp.sample(features, prediction, n_samples, rng)
        if include_noise:
            noise = self._gp.noise_at(features, prediction, self._jobs())
            draws += np.sqrt(noise)[..., None] * rng.standard_normal(draws.shape)
        return draws[:, 0] if self._y_shape == () else draws

    def decompose(self, X: Any, *, y_pred: Any = None) -> Decomposition:
        """How much of each correction comes from the input kernel, and how much from the output kernel.

        The kernel is a sum, so the correction is one too. The output part is a function of the prediction alone.
        """
        features, prediction = self._inputs(X, y_pred)
        input_part, output_part = (
            self._gp.part(name, features, prediction, self._jobs()) for name in ("input", "output")
        )
        constant = self._gp.targets.offset + self._base(prediction) - prediction
        if self._gp.posterior.kernel.part("output"):
            output_part += constant
        else:
            input_part += constant
        return Decomposition(self._shaped(input_part), self._shaped(output_part))

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

    def _inputs(self, X: Any, y_pred: Any) -> tuple[Array, Array]:
        """The GP's features and the model's predictions for new rows."""
        check_is_fitted(self)
        features = self._features(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return features, self._predictions(X, y_pred)

    def _features(self, X: Any) -> Array:
        return np.empty((_num_samples(X), 0)) if self._extract is None else self._extract(X)

    def _predictions(self, X: Any, y_pred: Any) -> Array:
        """ŷ of shape (n, q)."""
        if y_pred is None and self.estimator_ is None:
            raise ValueError(
                "there is no model to ask for predictions: give RIORegressor an estimator, or give this method y_pred"
            )
        source = "y_pred" if y_pred is not None else "the model's prediction"
        values = y_pred if y_pred is not None else base_model.predictions(self.estimator_, X)
        return base_model.check_predictions(values, _num_samples(X), self._n_outputs, source)

    def _base(self, prediction: Array) -> Array:
        """What the GP's mean is added to."""
        return prediction if self._is_residual else np.zeros_like(prediction)

    def _shaped(self, values: Array) -> Array:
        """(n, q) as the shape of y."""
        return values[:, 0] if self._y_shape == () else values

    def _jobs(self) -> int:
        return effective_jobs(self.n_jobs)
