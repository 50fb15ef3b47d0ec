"""`Fitted`: all that `fit` has learnt, as one frozen object, and what it says of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array
from rio_uq._base.checks import check_target
from rio_uq.answers import Decomposition, ErrorBars, Inputs, LeaveOneOut
from rio_uq.calibration.calibration import UNCALIBRATED, Calibration
from rio_uq.calibration.distributions import (
    CalibratedDistribution,
    ShapedDistribution,
    TransformedDensity,
    TransformedDistribution,
)
from rio_uq.calibration.moments import moments
from rio_uq.calibration.scores import normal_nodes
from rio_uq.calibration.shape import Shape
from rio_uq.features.extractors import Extractor, feature_names
from rio_uq.gp.residual import ResidualGP
from rio_uq.gp.without_model import ModelChoice
from rio_uq.metrics import row_crps
from rio_uq.models import base as base_model
from rio_uq.models.residual_choice import ResidualChoice
from rio_uq.rows.contract import Part
from rio_uq.rows.example_table import ExampleTable
from rio_uq.rows.examples import ExampleRows
from rio_uq.rows.kept import KeptRows
from rio_uq.scales.choice import ScaleChoice
from rio_uq.scales.outputs import OutcomeScales


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
    scale_choice : ScaleChoice or None
        The scale of each output, and why; None for outcomes as they are.
    model_choice : ModelChoice or None
        Whether predictions use the model, and why; None where that was no question.
    is_without_its_model : bool
        Whether there was a model that the file, from which all of this comes, does not hold.
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
    scale_choice: ScaleChoice | None = None
    model_choice: ModelChoice | None = None
    is_without_its_model: bool = False

    @cached_property
    def scales(self) -> OutcomeScales:
        """Of each output."""
        choice = self.scale_choice or ScaleChoice.of_outcomes_as_they_are(self.n_outputs)
        return OutcomeScales(choice.scales)

    def __getstate__(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

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
        """ŷ of shape (n, p): those that are given, or the model's; zeros where there is none and the GP needs none."""
        if self.model is None and y_pred is None and not self.gp.looks_at_model:
            return np.zeros((_num_samples(X), self.n_predictions))
        return base_model.checked_predictions(
            self.model, X, y_pred, self.n_predictions, is_left_out=self.is_without_its_model
        )

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
        """The zero of the GP's targets, on the scale of outcomes, (n, q): predictions, or zero where it is fitted to
        outcomes.
        """
        return self.scaled(y_pred) if self.gp.is_residual else self._zeros(y_pred)

    def scaled(self, y_pred: Array) -> Array:
        """Predictions as the GP sees them: on the scale of outcomes, where there is one for each of them."""
        return self.scales.forward_prediction(y_pred) if self.gp.is_residual else y_pred

    @property
    def has_scale_to_explain(self) -> bool:
        """Whether outcomes are on another scale than their own, or might have been."""
        return not self.scales.is_identity or (self.scale_choice is not None and self.scale_choice.has_evidence)

    def reference(self, y_pred: Array) -> Array:
        """The zero of corrections, (n, q): predictions, or zero where they are not one for each output, so that the
        correction is the corrected prediction itself.
        """
        return y_pred if self.n_predictions == self.n_outputs else self._zeros(y_pred)

    def _zeros(self, y_pred: Array) -> Array:
        return np.zeros((len(y_pred), self.n_outputs))

    def mean_and_std(self, inputs: Inputs, n_jobs: int, *, include_noise: bool = True) -> tuple[Array, Array]:
        """Mean and the GP's own standard deviation of outcomes on their scale, before calibration, both (n, q)."""
        y_pred = self.scaled(inputs.y_pred)
        mean, variance = self.gp.mean_and_variance(inputs.features, y_pred, n_jobs)
        if include_noise:
            variance = variance + self.gp.noise_at(inputs.features, y_pred, n_jobs)
        return self.base(inputs.y_pred) + mean, np.sqrt(variance)

    def std_factor(self, inputs: Inputs) -> Array:
        """Of calibration, for each row and output; before it of shape (1, q), or (1, 1) if the shape is normal."""
        return self.scores.std_factor[self._members(inputs)]

    def _members(self, inputs: Inputs) -> NDArray[np.intp]:
        return self.scores.members(inputs.groups, len(inputs.y_pred))

    def mean(self, inputs: Inputs, n_jobs: int) -> Array:
        """Corrected predictions, (n, q); calibration does not change them."""
        if self.scales.is_identity:
            target = self.gp.mean(inputs.features, self.scaled(inputs.y_pred), n_jobs)
            return np.asarray(self.base(inputs.y_pred) + target)
        return moments(self.scales, *self.mean_and_std(inputs, n_jobs), self.uncalibrated().nodes)[0]

    def mean_and_std_of_outcomes(
        self, inputs: Inputs, n_jobs: int, *, include_noise: bool = True
    ) -> tuple[Array, Array]:
        """Corrected predictions and the standard deviations of outcomes, after calibration, both (n, q)."""
        if self.scales.is_identity:  # the mean does not depend on the spread
            centre, spread = self.mean_and_std(inputs, n_jobs, include_noise=include_noise)
            return centre, self.std_factor(inputs) * spread
        return self._moments(inputs, n_jobs, *self.mean_and_std(inputs, n_jobs), include_noise=include_noise)

    def _moments(
        self, inputs: Inputs, n_jobs: int, centre: Array, spread: Array, *, include_noise: bool = True
    ) -> tuple[Array, Array]:
        """Mean and standard deviation of outcomes, from those on their scale; calibration changes the second only.

        Without noise it is the standard deviation of their median, of which the GP is not sure.
        """
        own = spread if include_noise else self.mean_and_std(inputs, n_jobs, include_noise=False)[1]
        if self.scales.is_identity:
            return centre, self.std_factor(inputs) * own
        mean, std = moments(self.scales, centre, spread, self.uncalibrated().nodes)
        if not include_noise:
            return mean, self.moments(centre, self.std_factor(inputs) * own)[1]
        if self.calibration is not None:
            std = moments(self.scales, centre, spread, self.nodes[self._members(inputs)])[1]
        return mean, std

    @cached_property
    def nodes(self) -> Array:
        """Scores of each group and output, (k, q, nodes), over which moments are taken."""
        x, _ = normal_nodes()
        if self.calibration is None and self.shape is not None and self.shape.nodes is not None:
            return self.shape.nodes[None]
        if not self.has_density:  # quantiles, but no moments
            return self.scores.std_factor[..., None] * x
        return self.scores.quantiles(ndtr(x))

    def moments(self, centre: Array, spread: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of outcomes that are normal on their scale, both (n, q)."""
        nodes, _ = normal_nodes()
        return moments(self.scales, centre, spread, nodes[None, None])

    def predict(
        self,
        inputs: Inputs,
        n_jobs: int,
        *,
        return_std: bool = False,
        return_cov: bool = False,
        include_noise: bool = True,
        point: str = "mean",
    ) -> Any:
        """Corrected predictions and, if asked for, their standard deviations or their covariance."""
        if return_cov:
            return self._with_covariance(inputs, n_jobs, include_noise=include_noise)
        if not return_std:
            return self._point(inputs, n_jobs, point)
        mean, std = self.mean_and_std_of_outcomes(inputs, n_jobs, include_noise=include_noise)
        centre = self.shaped(mean) if point == "mean" else self._point(inputs, n_jobs, point)
        return centre, self.shaped(std)

    def _point(self, inputs: Inputs, n_jobs: int, point: str) -> Array:
        if point == "mean":
            return self.shaped(self.mean(inputs, n_jobs))
        return self.quantiles(inputs, n_jobs, probabilities=np.array(0.5))

    def _with_covariance(self, inputs: Inputs, n_jobs: int, *, include_noise: bool) -> tuple[Array, Array]:
        if not self.scales.is_identity:
            raise ValueError(
                f"return_cov is for outcomes as they are, and the scale is {self.scales.scales[0].in_words()}: draw "
                "from the joint distribution by sample_y, or fit with scale='identity'"
            )
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
        reference = self.shaped(self.reference(inputs.y_pred))
        if not return_std:
            return self.predict(inputs, n_jobs) - reference
        mean, std = self.predict(inputs, n_jobs, return_std=True, include_noise=include_noise)
        return mean - reference, std

    def decompose(self, inputs: Inputs, n_jobs: int) -> Decomposition:
        """The correction (see `reference`) by the kernel's parts.

        On the scale of outcomes the parts add up. On another than their own, what the mean of outcomes has over the
        inverse of the mean on their scale belongs to the output, as the constant part does.
        """
        y_pred, reference = self.scaled(inputs.y_pred), self.reference(inputs.y_pred)
        parts = [self.gp.part(name, inputs.features, y_pred, n_jobs) for name in ("input", "output")]
        base = self.base(inputs.y_pred)
        with_constant = 1 if self.gp.posterior.kernel.part("output") else 0
        parts[with_constant] += self.gp.constant
        if self.scales.is_identity:
            rest = base - reference
        else:
            parts = list(self.scales.addends_of_outcomes(base, *parts))
            rest = self.mean(inputs, n_jobs) - reference - parts[0] - parts[1]
        parts[with_constant] += rest
        return Decomposition(*map(self.shaped, parts))

    def quantiles(self, inputs: Inputs, n_jobs: int, *, probabilities: Array) -> Array:
        """Quantiles of outcomes, of the shape of y and then of the probabilities."""
        scores = self.scores.quantiles(probabilities)[self._members(inputs)]
        centre, spread = self.mean_and_std(inputs, n_jobs)
        new_axes = (..., *[None] * probabilities.ndim)
        outcomes = self.scores.outcomes(centre[new_axes], spread[new_axes], scores, probabilities)
        return self.shaped(self.scales.inverse(outcomes))

    def error_bars(self, inputs: Inputs, n_jobs: int, *, level: float, include_noise: bool = True) -> ErrorBars:
        """All of it at once; intervals include noise in any case."""
        ends = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])
        scores = self.scores.quantiles(ends)[self._members(inputs)]
        centre, spread = self.mean_and_std(inputs, n_jobs)
        lower, upper = (
            self.scales.inverse(self.scores.outcomes(centre, spread, scores[..., end], ends[end])) for end in (0, 1)
        )
        mean, std = self._moments(inputs, n_jobs, centre, spread, include_noise=include_noise)
        return ErrorBars(mean, std, lower, upper)

    def distribution(self, inputs: Inputs, n_jobs: int) -> Any:
        """Of each outcome: a frozen `scipy.stats.norm`, or a shaped, calibrated or transformed distribution."""
        members = self._members(inputs)
        centre, spread = self.mean_and_std(inputs, n_jobs)
        if self.scores.is_normal:
            on_scale = stats.norm(self.shaped(centre), self.shaped(self.scores.std_factor[members] * spread))
        else:
            member = np.broadcast_to(members[:, None] * self.n_outputs + np.arange(self.n_outputs), spread.shape)
            shaped_or_calibrated = ShapedDistribution if self.calibration is None else CalibratedDistribution
            on_scale = shaped_or_calibrated(self.shaped(centre), self.shaped(spread), self.scores, self.shaped(member))
        if self.scales.is_identity:
            return on_scale
        mean, std = map(self.shaped, self._moments(inputs, n_jobs, centre, spread))
        kind = TransformedDensity if self.has_density else TransformedDistribution
        return kind(on_scale, self.scales.scales, mean, std)

    @property
    def has_density(self) -> bool:
        """Whether outcomes have one: not after calibration by ranks."""
        return self.calibration is None or self.scores.is_normal

    def losses(self, inputs: Inputs, outcome: Array, n_jobs: int) -> tuple[Array, Array] | None:
        """Negative log density and CRPS of outcomes (n, q), each (n, q); None where outcomes have no density."""
        if not self.has_density:
            return None
        distribution, y = self.distribution(inputs, n_jobs), self.shaped(outcome)
        return -distribution.logpdf(y).reshape(outcome.shape), row_crps(y, distribution).reshape(outcome.shape)

    def sample(
        self, inputs: Inputs, n_jobs: int, *, n_samples: int, rng: np.random.Generator, include_noise: bool
    ) -> Array:
        """Joint draws of outcomes, (n, n_samples) or (n, q, n_samples).

        On the scale of outcomes, latent values are drawn from the GP, and the noise of each outcome from the shape of
        its scores, scaled to the noise there. Both are as wide as the standard deviations there.
        """
        if not self.has_density:
            raise ValueError(
                f"sample_y draws from the joint normal distribution, which calibrate(method="
                f"{self.scores.method!r}) has set aside: calibrate with method='variance' for draws"
            )
        features, y_pred = inputs.features, self.scaled(inputs.y_pred)
        factor = self.std_factor(inputs)[..., None]
        draws = self.base(inputs.y_pred)[..., None] + self.gp.sample(features, y_pred, n_samples, rng)
        if include_noise:
            noise: Array = rng.standard_normal(draws.shape)
            if self.shape is not None and self.calibration is None:
                noise = self.shape.of_normal_draws(noise)
            draws += np.sqrt(self.gp.noise_at(features, y_pred, n_jobs))[..., None] * noise
        if np.any(factor != 1.0):
            centre = self.mean_and_std(inputs, n_jobs)[0][..., None]
            draws = centre + factor * (draws - centre)
        return self.shaped(self.scales.inverse(draws))

    def uncalibrated(self) -> Fitted:
        return self if self.calibration is None else self._uncalibrated

    @cached_property
    def _uncalibrated(self) -> Fitted:
        return replace(self, calibration=None)
