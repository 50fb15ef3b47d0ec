"""`Fitted`: all that `fit` has learnt, as one frozen object, and what it says of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array
from rio_uq._base.checks import check_target
from rio_uq.calibration.calibration import UNCALIBRATED, Calibration
from rio_uq.calibration.distributions import CalibratedDistribution, ShapedDistribution
from rio_uq.calibration.scores import Density
from rio_uq.calibration.shape import Shape
from rio_uq.features.extractors import Extractor, feature_names
from rio_uq.gp.residual import ResidualGP
from rio_uq.models import base as base_model
from rio_uq.models.residuals import ResidualChoice
from rio_uq.rows.contract import Part
from rio_uq.rows.example_table import ExampleTable
from rio_uq.rows.examples import ExampleRows
from rio_uq.rows.kept import KeptRows


class Inputs(NamedTuple):
    """Rows as the GP takes them.

    Attributes
    ----------
    features : (n, d) array
    y_pred : (n, p) array
        Predictions of the model.
    groups : sequence of n labels or None
        That error bars were calibrated by.
    """

    features: Array
    y_pred: Array
    groups: Any = None


class Decomposition(NamedTuple):
    """The correction of each prediction as a sum of two parts, each of the shape of the corrected prediction.

    ``y_pred + input + output`` is the corrected prediction; where there is not one prediction for each output,
    ``input + output`` is. The constant part of the correction belongs to the
    output (to the input where the kernel has no output part).
    """

    input: Array
    output: Array


class LeaveOneOut(NamedTuple):
    """Each row given to `fit`, as it is predicted without it; arrays of the shape of y.

    Attributes
    ----------
    mean : array
        Corrected prediction.
    std : array
        The GP's own standard deviation of the outcome, before its distribution's shape and calibration come in.
    z : array
        (y − mean)/std: of about unit variance if error bars are right.
    weight : (n,) array
        How much each row says of rows to come: its ``sample_weight``, and 0 for rows that the model has seen where
        others are held out.
    """

    mean: Array
    std: Array
    z: Array
    weight: Array


class ErrorBars(NamedTuple):
    """Corrected predictions, their standard deviations, and the ends of intervals, each (n, q)."""

    mean: Array
    std: Array
    lower: Array
    upper: Array


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that was learnt.

    Attributes
    ----------
    model : object
        The fitted model under the GP; None if predictions are given with every call.
    extract : Extractor or None
        The function from X to the GP's features; None where the kernel does not look at them.
    gp : ResidualGP
    y_shape : tuple of int
        Of one outcome: () or (q,).
    kept : KeptRows
        A sample of the training rows.
    example : ExampleRows, ExampleTable or None
        A few rows of X itself, by which a model is recognised; None where they cannot be stored.
    n_features_in : int or None
        Columns of X; None where it has none.
    feature_names_in : tuple of str or None
        Their names, where they have any.
    residuals : ResidualChoice or None
        Which residuals the GP was fitted to, and why; None in files of earlier versions.
    calibration : Calibration or None
    metadata : mapping or None
        A user's own, which a file carries along.
    loo : LeaveOneOut or None
        Of the rows given to `fit`; None where they were read in parts, after `partial_fit`, and from a file.
    shape : Shape or None
        How scores of left-out rows are distributed; None for a normal distribution by choice.
    """

    model: Any
    extract: Extractor | None
    gp: ResidualGP
    y_shape: tuple[int, ...]
    kept: KeptRows
    example: ExampleRows | ExampleTable | None
    n_features_in: int | None
    feature_names_in: tuple[str, ...] | None
    residuals: ResidualChoice | None = None
    calibration: Calibration | None = None
    metadata: Mapping[str, Any] | None = None
    loo: LeaveOneOut | None = None
    shape: Shape | None = None

    @property
    def n_outputs(self) -> int:
        return self.y_shape[0] if self.y_shape else 1

    @property
    def n_predictions(self) -> int:
        """Columns of ŷ: as many as outputs, but where the GP is fitted to outcomes and looks at other predictions."""
        return self.gp.n_predictions

    @property
    def feature_names(self) -> list[str]:
        """Of the GP's features."""
        return feature_names(self.extract, self.kept.features.shape[1], self.feature_names_in)

    @property
    def scores(self) -> Calibration:
        """How scores (y − mean)/std are distributed: by calibration, or as those of left-out rows, or normally."""
        if self.calibration is not None:
            return self.calibration
        return UNCALIBRATED if self.shape is None else self.shape.calibration

    def density(self, output: int) -> Density | None:
        """The distribution of scores of one output; None where it is normal, or has no density after calibration."""
        if self.calibration is not None or self.shape is None or self.shape.scores[output].is_normal:
            return None
        return self.shape.scores[output]

    def shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        """(n, q) as the shape of y; further axes are kept."""
        return values[:, 0] if self.y_shape == () else values

    def per_output(self, values: Array) -> Any:
        """(q,) as a number where y has one output."""
        return float(values[0]) if self.y_shape == () else values

    def features(self, X: Any) -> Array:
        """The GP's features, (n, d)."""
        return np.empty((_num_samples(X), 0)) if self.extract is None else self.extract(X)

    def predictions(self, X: Any, y_pred: Any = None) -> Array:
        """ŷ of shape (n, p): those that are given, or the model's."""
        return model_predictions(self.model, X, y_pred, self.n_predictions)

    def inputs(self, part: Part) -> Inputs:
        """Rows of X as the GP takes them."""
        return Inputs(self.features(part.X), self.predictions(part.X, part.y_pred), part.groups)

    def outcome(self, y: Any, n_rows: int) -> Array:
        """y of new rows, of shape (n, q)."""
        outcome = check_target(y, n_rows)
        if outcome.shape[1:] != self.y_shape:
            fitted = f"({n_rows}{''.join(f', {size}' for size in self.y_shape) or ','})"
            raise ValueError(f"y has shape {outcome.shape}, and has to have shape {fitted}, as in fit")
        return outcome.reshape(n_rows, -1)

    def base(self, y_pred: Array) -> Array:
        """What the GP's targets are relative to, (n, q): predictions, or zero where it is fitted to outcomes."""
        return y_pred if self.gp.is_residual else self._zeros(y_pred)

    def reference(self, y_pred: Array) -> Array:
        """What a correction is relative to, (n, q): predictions, or zero where they are not one for each output, so
        that the correction is the corrected prediction itself.
        """
        return y_pred if self.n_predictions == self.n_outputs else self._zeros(y_pred)

    def _zeros(self, y_pred: Array) -> Array:
        return np.zeros((len(y_pred), self.n_outputs))

    def mean(self, inputs: Inputs, n_jobs: int) -> Array:
        """Corrected predictions, (n, q)."""
        return np.asarray(self.base(inputs.y_pred) + self.gp.mean(inputs.features, inputs.y_pred, n_jobs))

    def mean_and_std(self, inputs: Inputs, n_jobs: int, *, include_noise: bool = True) -> tuple[Array, Array]:
        """Corrected predictions and the GP's own standard deviations, before calibration, both (n, q)."""
        mean, std = self._target(inputs, n_jobs, include_noise=include_noise)
        return self.base(inputs.y_pred) + mean, std

    def _target(self, inputs: Inputs, n_jobs: int, *, include_noise: bool) -> tuple[Array, Array]:
        """Mean and standard deviation of the GP's target."""
        mean, variance = self.gp.mean_and_variance(inputs.features, inputs.y_pred, n_jobs)
        if include_noise:
            variance = variance + self.gp.noise_at(inputs.features, inputs.y_pred, n_jobs)
        return mean, np.sqrt(variance)

    def std_factor(self, inputs: Inputs) -> Array:
        """Of calibration, for each row and output; before it of shape (1, q), or (1, 1) if the shape is normal."""
        return self.scores.std_factor[self.scores.members(inputs.groups, len(inputs.y_pred))]

    def predict(
        self,
        inputs: Inputs,
        n_jobs: int,
        *,
        return_std: bool = False,
        return_cov: bool = False,
        include_noise: bool = True,
    ) -> Any:
        """Corrected predictions and, if asked for, their standard deviations or their covariance."""
        if return_cov:
            return self._with_covariance(inputs, n_jobs, include_noise=include_noise)
        if not return_std:
            return self.shaped(self.mean(inputs, n_jobs))
        factor = self.std_factor(inputs)
        mean, std = self.mean_and_std(inputs, n_jobs, include_noise=include_noise)
        return self.shaped(mean), self.shaped(factor * std)

    def _with_covariance(self, inputs: Inputs, n_jobs: int, *, include_noise: bool) -> tuple[Array, Array]:
        features, y_pred = inputs.features, inputs.y_pred
        mean = self.mean(inputs, n_jobs)
        covariance = self.gp.covariance(features, y_pred)
        if include_noise:
            covariance += self.gp.noise_at(features, y_pred, n_jobs).T[:, :, None] * np.eye(len(mean))
        factor = self.std_factor(inputs).T
        covariance *= factor[:, :, None] * factor[:, None, :]
        return self.shaped(mean), covariance[0] if self.y_shape == () else np.moveaxis(covariance, 0, -1)

    def correction(self, inputs: Inputs, n_jobs: int, *, return_std: bool = False, include_noise: bool = True) -> Any:
        """Corrected prediction minus prediction (see `reference`) and, if asked for, the standard deviation of
        `predict`.
        """
        constant = self.base(inputs.y_pred) - self.reference(inputs.y_pred)
        if not return_std:
            return self.shaped(constant + self.gp.mean(inputs.features, inputs.y_pred, n_jobs))
        factor = self.std_factor(inputs)
        mean, std = self._target(inputs, n_jobs, include_noise=include_noise)
        return self.shaped(constant + mean), self.shaped(factor * std)

    def decompose(self, inputs: Inputs, n_jobs: int) -> Decomposition:
        """The correction (see `reference`) by the kernel's parts."""
        features, y_pred = inputs.features, inputs.y_pred
        by_input, by_output = (self.gp.part(name, features, y_pred, n_jobs) for name in ("input", "output"))
        constant = self.gp.targets.offset + self.base(y_pred) - self.reference(y_pred)
        if self.gp.posterior.kernel.part("output"):
            by_output += constant
        else:
            by_input += constant
        return Decomposition(self.shaped(by_input), self.shaped(by_output))

    def quantiles(self, inputs: Inputs, n_jobs: int, *, probabilities: Array) -> Array:
        """Quantiles of outcomes, of the shape of y and then of the probabilities."""
        scores = self.scores.quantiles(probabilities)[self.scores.members(inputs.groups, len(inputs.y_pred))]
        mean, std = self.mean_and_std(inputs, n_jobs)
        new_axes = (..., *[None] * probabilities.ndim)
        return self.shaped(self.scores.outcomes(mean[new_axes], std[new_axes], scores, probabilities))

    def error_bars(self, inputs: Inputs, n_jobs: int, *, level: float, include_noise: bool = True) -> ErrorBars:
        """All of it at once; intervals include noise in any case."""
        members = self.scores.members(inputs.groups, len(inputs.y_pred))
        ends = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])
        scores = self.scores.quantiles(ends)[members]
        mean, std = self.mean_and_std(inputs, n_jobs)
        lower, upper = (self.scores.outcomes(mean, std, scores[..., end], ends[end]) for end in (0, 1))
        if not include_noise:
            std = self.mean_and_std(inputs, n_jobs, include_noise=False)[1]
        return ErrorBars(mean, self.std_factor(inputs) * std, lower, upper)

    def distribution(self, inputs: Inputs, n_jobs: int) -> Any:
        """Of each outcome: a frozen `scipy.stats.norm`, or a shaped or calibrated distribution."""
        members = self.scores.members(inputs.groups, len(inputs.y_pred))
        mean, std = self.mean_and_std(inputs, n_jobs)
        if self.scores.is_normal:
            return stats.norm(self.shaped(mean), self.shaped(self.scores.std_factor[members] * std))
        member = np.broadcast_to(members[:, None] * self.n_outputs + np.arange(self.n_outputs), std.shape)
        kind = ShapedDistribution if self.calibration is None else CalibratedDistribution
        return kind(self.shaped(mean), self.shaped(std), self.scores, self.shaped(member))

    def sample(
        self, inputs: Inputs, n_jobs: int, *, n_samples: int, rng: np.random.Generator, include_noise: bool
    ) -> Array:
        """Joint draws of outcomes, (n, n_samples) or (n, q, n_samples).

        Latent values are drawn from the GP, and the noise of each outcome from the shape of its scores, scaled to the
        noise there. Both are as wide as the standard deviations of `predict`.
        """
        if self.calibration is not None and not self.scores.is_normal:
            raise ValueError(
                f"sample_y draws from the joint normal distribution, which calibrate(method="
                f"{self.scores.method!r}) has set aside: calibrate with method='variance' for draws"
            )
        features, y_pred = inputs.features, inputs.y_pred
        factor = self.std_factor(inputs)[..., None]
        draws = self.base(y_pred)[..., None] + self.gp.sample(features, y_pred, n_samples, rng)
        if include_noise:
            noise = rng.standard_normal(draws.shape)
            for output in range(self.n_outputs):
                density = self.density(output)
                if density is not None:
                    noise[:, output] = density.ppf(ndtr(noise[:, output])) / density.std
            draws += np.sqrt(self.gp.noise_at(features, y_pred, n_jobs))[..., None] * noise
        if np.any(factor != 1.0):
            mean = self.mean(inputs, n_jobs)[..., None]
            draws = mean + factor * (draws - mean)
        return self.shaped(draws)

    def uncalibrated(self) -> Fitted:
        return self if self.calibration is None else replace(self, calibration=None)


def model_predictions(model: Any, X: Any, y_pred: Any, n_columns: int) -> Array:
    """ŷ of shape (n, n_columns): those that are given, or the model's."""
    if y_pred is None and model is None:
        raise ValueError(
            "there is no model to ask for predictions: give RIORegressor an estimator, or give this method y_pred"
        )
    source = "y_pred" if y_pred is not None else "the model's prediction"
    values = y_pred if y_pred is not None else base_model.predictions(model, X)
    return base_model.check_predictions(values, _num_samples(X), n_columns, source)
