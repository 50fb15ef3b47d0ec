"""What a fitted regressor says of new rows: corrected predictions, intervals, quantiles, distributions, draws."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from rio_uq._base.array import Array
from rio_uq._base.checks import check_count, check_levels, check_target
from rio_uq.calibration.calibration import UNCALIBRATED, Calibration, fit_calibration
from rio_uq.calibration.distributions import CalibratedDistribution
from rio_uq.features.extractors import Extractor, is_plain
from rio_uq.gp.residual import ResidualGP
from rio_uq.gp.rows import effective_jobs
from rio_uq.models import base as base_model
from rio_uq.rows.source import check_in_memory
from rio_uq.streaming import by_parts


class Decomposition(NamedTuple):
    """The correction of each prediction as a sum of two parts, each of the shape of the prediction.

    ``y_pred + input + output`` is the corrected prediction. The constant part of the correction belongs to the
    output (to the input where the kernel has no output part).
    """

    input: Array
    output: Array


class PredictiveMixin:
    """The methods of RIORegressor that leave alone what was learnt in `fit`."""

    n_jobs: int | None
    n_features_in_: int
    estimator_: Any
    calibration_: Calibration | None
    _gp: ResidualGP
    _extract: Extractor | None
    _y_shape: tuple[int, ...]
    _n_outputs: int
    _is_residual: bool

    def calibrate(self, X: Any, y: Any, *, method: str = "conformal", y_pred: Any = None, groups: Any = None) -> Self:
        """Set error bars right on rows that neither the model nor the GP has seen. Predictions stay as they are.

        Intervals keep RIO's shape: calibration says by how much all of them have to be wider or narrower.

        Parameters
        ----------
        X, y : as in `fit`
            Rows as good as those to come: drawn alike, and used for nothing before.
        method : {"conformal", "conformal-asymmetric", "variance", "isotonic"}
            "conformal" intervals hold the outcome with the probability asked for, or a little more, whatever the noise,
            if calibration rows and new rows are exchangeable. "conformal-asymmetric" says so of each tail for itself,
            for skewed noise, and needs about twice as many rows. "variance" learns one factor on the std, which a few
            dozen rows are enough for, and leaves the distribution normal. "isotonic" learns the whole distribution,
            with neither a guarantee nor a limit to the levels.
        y_pred : array of the shape of y, optional
            The model's predictions for X, if they are known already.
        groups : array of shape (n,), optional
            Labels of groups of rows, each of which is calibrated for itself, so that intervals hold as often as they
            should in every one of them. Error bars then need the groups of the rows that they are for.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from rio_uq import RIORegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> rio = RIORegressor(Ridge(), random_state=0).fit(X[:200], y[:200]).calibrate(X[200:300], y[200:300])
        >>> rio.calibration_
        Calibration(method='conformal', groups=None)
        >>> rio.predict_interval(X[300:], confidence_level=0.9).shape
        (142, 2)
        """
        features, prediction = self._inputs(X, y_pred)
        outcome = self._outcome(y, len(prediction))
        mean, std = self._mean_and_std(features, prediction)
        mean += self._base(prediction)
        self.calibration_ = fit_calibration(outcome, mean, std, method=method, groups=groups)
        return self

    @by_parts
    def predict(
        self,
        X: Any,
        *,
        y_pred: Any = None,
        groups: Any = None,
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
        groups : array of shape (n,), optional
            The group of each row, if error bars were calibrated by group; the mean does not depend on it.
        return_std : bool
            Return the standard deviation as well. It is that of an outcome y, noise included, unless ``include_noise``
            is False: then that of the mean of outcomes at X. After `calibrate` it is multiplied by a factor:
            "variance" learns the factor itself; after "isotonic" the std is that of the recalibrated distribution;
            conformal forms have intervals but no std, so it is half the width of the calibrated 68.27 % interval, as
            in a normal distribution. The factor is the same with and without noise, which outcomes cannot tell apart.
        return_cov : bool
            Return the covariance between the rows of X instead, with the noise on its diagonal or without, and with
            the same factors.
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
            mean: Array = base + self._gp.mean(features, prediction, self._jobs())
            covariance = self._gp.covariance(features, prediction)
            if include_noise:
                noise = self._gp.noise_at(features, prediction, self._jobs())
                covariance += noise.T[:, :, None] * np.eye(len(mean))
            factor = self._std_factor(groups, len(mean)).T
            covariance *= factor[:, :, None] * factor[:, None, :]
            return self._shaped(mean), covariance[0] if self._y_shape == () else np.moveaxis(covariance, 0, -1)
        if not return_std:
            return self._shaped(base + self._gp.mean(features, prediction, self._jobs()))
        factor = self._std_factor(groups, len(prediction))
        mean, std = self._mean_and_std(features, prediction, include_noise=include_noise)
        return self._shaped(base + mean), self._shaped(factor * std)

    def _mean_and_std(self, features: Array, prediction: Array, *, include_noise: bool = True) -> tuple[Array, Array]:
        """Of the GP's target, before calibration."""
        n_jobs = self._jobs()
        mean, variance = self._gp.mean_and_variance(features, prediction, n_jobs)
        if include_noise:
            variance = variance + self._gp.noise_at(features, prediction, n_jobs)
        return mean, np.sqrt(variance)

    @by_parts
    def predict_residual(
        self,
        X: Any,
        *,
        y_pred: Any = None,
        groups: Any = None,
        return_std: bool = False,
        include_noise: bool = True,
    ) -> Any:
        """The correction alone: corrected prediction minus prediction, and if asked for the standard deviation, which
        is that of `predict`.
        """
        features, prediction = self._inputs(X, y_pred)
        constant = self._base(prediction) - prediction
        if not return_std:
            return self._shaped(constant + self._gp.mean(features, prediction, self._jobs()))
        factor = self._std_factor(groups, len(prediction))
        mean, std = self._mean_and_std(features, prediction, include_noise=include_noise)
        return self._shaped(constant + mean), self._shaped(factor * std)

    def sample_y(
        self,
        X: Any,
        n_samples: int = 1,
        random_state: Any = 0,
        *,
        y_pred: Any = None,
        groups: Any = None,
        include_noise: bool = True,
    ) -> Array:
        """Joint draws of the outcomes at the rows of X.

        After ``calibrate(method="variance")`` their deviations from the mean are multiplied by its factor. Other
        methods calibrate each outcome for itself and do not say how outcomes go together: draws are then refused.

        Returns
        -------
        array of shape (n, n_samples) or (n, q, n_samples)
        """
        check_count(n_samples, "n_samples", at_least=1)
        features, prediction = self._inputs(X, y_pred)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        if not self._calibration.is_normal:
            raise ValueError(
                f"sample_y draws from the joint normal distribution, which calibrate(method="
                f"{self._calibration.method!r}) has set aside: calibrate with method='variance' for draws"
            )
        factor = self._std_factor(groups, len(prediction))[..., None]
        draws = self._base(prediction)[..., None] + self._gp.sample(features, prediction, n_samples, rng)
        if include_noise:
            noise = self._gp.noise_at(features, prediction, self._jobs())
            draws += np.sqrt(noise)[..., None] * rng.standard_normal(draws.shape)
        if self.calibration_ is not None:
            mean = (self._base(prediction) + self._gp.mean(features, prediction, self._jobs()))[..., None]
            draws = mean + factor * (draws - mean)
        return draws[:, 0] if self._y_shape == () else draws

    @by_parts
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

    @by_parts
    def predict_interval(
        self, X: Any, *, confidence_level: Any = 0.95, y_pred: Any = None, groups: Any = None
    ) -> Array:
        """Intervals that hold the outcome with the given probability.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
        confidence_level : float or list of k floats
            Between 0 and 1.

        Returns
        -------
        array of shape (n, 2), or (n, 2, k) for a list
            Lower and upper bounds; for y of shape (n, q), (n, q, 2) or (n, q, 2, k).
        """
        levels = check_levels(confidence_level, "confidence_level")
        return self._quantiles(X, np.stack([0.5 - 0.5 * levels, 0.5 + 0.5 * levels]), y_pred, groups)

    @by_parts
    def predict_quantiles(
        self, X: Any, *, quantiles: Any = (0.05, 0.5, 0.95), y_pred: Any = None, groups: Any = None
    ) -> Array:
        """Quantiles of the outcome.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
        quantiles : float or list of k floats
            Between 0 and 1.

        Returns
        -------
        array of the shape of the prediction, with a last axis of length k for a list
        """
        return self._quantiles(X, check_levels(quantiles, "quantiles"), y_pred, groups)

    def _quantiles(self, X: Any, probabilities: Array, y_pred: Any, groups: Any) -> Array:
        features, prediction = self._inputs(X, y_pred)
        scores = self._calibration.quantiles(probabilities)[self._calibration.members(groups, len(prediction))]
        mean, std = self._mean_and_std(features, prediction)
        new_axes = (..., *[None] * probabilities.ndim)
        return self._shaped((self._base(prediction) + mean)[new_axes] + scores * std[new_axes])

    def _error_bars(
        self, X: Any, level: float, y_pred: Any, groups: Any, *, include_noise: bool = True
    ) -> tuple[Array, Array, Array, Array]:
        """Mean, std, and the ends of intervals, each (n, q), with one look at the model; intervals include noise."""
        features, prediction = self._inputs(X, y_pred)
        members = self._calibration.members(groups, len(prediction))
        scores = self._calibration.quantiles(np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]))[members]
        mean, std = self._mean_and_std(features, prediction)
        mean = self._base(prediction) + mean
        lower, upper = (mean + scores[..., end] * std for end in (0, 1))
        if not include_noise:
            std = self._mean_and_std(features, prediction, include_noise=False)[1]
        return mean, self._std_factor(groups, len(prediction)) * std, lower, upper

    def predict_dist(self, X: Any, *, y_pred: Any = None, groups: Any = None) -> Any:
        """The distribution of each outcome.

        A frozen `scipy.stats.norm`, also after ``calibrate(method="variance")``. After the other methods it is not
        normal, and has the methods of a frozen distribution that make sense: ``ppf``, ``cdf``, ``sf``, ``interval``,
        ``median``, ``mean``, ``std`` and ``var``, but no density.
        """
        features, prediction = self._inputs(X, y_pred)
        calibration, members = self._calibration, self._calibration.members(groups, len(prediction))
        mean, std = self._mean_and_std(features, prediction)
        centre = self._shaped(self._base(prediction) + mean)
        if calibration.is_normal:
            return stats.norm(centre, self._shaped(calibration.std_factor[members] * std))
        member = np.broadcast_to(members[:, None] * self._n_outputs + np.arange(self._n_outputs), std.shape)
        return CalibratedDistribution(centre, self._shaped(std), calibration, self._shaped(member))

    @property
    def _calibration(self) -> Calibration:
        return UNCALIBRATED if self.calibration_ is None else self.calibration_

    def _std_factor(self, groups: Any, n_rows: int) -> Array:
        """Of each row and output; of shape (1, 1) before calibration."""
        return self._calibration.std_factor[self._calibration.members(groups, n_rows)]

    def _inputs(self, X: Any, y_pred: Any) -> tuple[Array, Array]:
        """The GP's features and the model's predictions for new rows."""
        check_is_fitted(self)
        check_in_memory(X)
        features = self._features(X)
        if hasattr(self, "feature_names_in_") or not is_plain(X) or X.shape[1] != self.n_features_in_:
            validate_data(self, X, reset=False, skip_check_array=True)
        return features, self._predictions(X, y_pred)

    def _outcome(self, y: Any, n_rows: int) -> Array:
        """y of new rows, of shape (n, q)."""
        outcome = check_target(y, n_rows)
        if outcome.shape[1:] != self._y_shape:
            fitted = f"({n_rows}{''.join(f', {size}' for size in self._y_shape) or ','})"
            raise ValueError(f"y has shape {outcome.shape}, and has to have shape {fitted}, as in fit")
        return outcome.reshape(n_rows, -1)

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

    def _shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        """(n, q) as the shape of y; further axes are kept."""
        return values[:, 0] if self._y_shape == () else values

    def _jobs(self) -> int:
        return effective_jobs(self.n_jobs)
