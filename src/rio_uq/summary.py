"""Summary of a fitted regressor, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from rio_uq._base.array import Array, Mask
from rio_uq.calibration.calibration import Calibration
from rio_uq.calibration.shape import Shape
from rio_uq.fitted import Fitted, Inputs
from rio_uq.gp.noise.student import Student
from rio_uq.gp.residual import ResidualGP
from rio_uq.gp.without_model import ModelChoice
from rio_uq.models.residuals import ResidualChoice
from rio_uq.rows.kept import KeptRows
from rio_uq.scales.choice import ScaleChoice

FEATURES_SHOWN, BANDS_SHOWN = 5, 3

STANDS_OUT = 1.2
"""Corrections in a band that is worth a sentence are this much larger than those of all rows."""

CANCEL = -0.5
"""Parts of a correction with a correlation below this cancel to a good deal."""

N_BANDS, ROWS_OF_A_BAND = 5, 10
MATTERS = 0.1
"""Bands are made of features with at least this share of the largest relevance."""


class Shares(NamedTuple):
    """The parts of the variance of residuals: shares that add up to 1, each a float or a (q,) array.

    Attributes
    ----------
    input, output : float or (q,) array
        What the GP has learnt from the features, and from the model's output. Where the two parts go together or
        against each other, their common variance is divided in proportion to the variance of each.
    unsettled : float or (q,) array
        What the GP is not sure of yet: more rows would tell.
    noise : float or (q,) array
        What cannot be foreseen.
    """

    input: Any
    output: Any
    unsettled: Any
    noise: Any


@dataclass(frozen=True)
class Feature:
    """A feature that the GP sees.

    Attributes
    ----------
    name : str
    relevance : float or (q,) array
        By how much the input part of the correction is expected to change, in the units of y, when the feature moves by
        one standard deviation: the shorter its lengthscale, the more. It is √(2 (k(0) − k(δ))) for a stationary kernel
        k and such a step δ.
    """

    name: str
    relevance: Any


@dataclass(frozen=True)
class Band:
    """Rows where the prediction, or one feature, lies between two bounds.

    Attributes
    ----------
    variable : str or None
        The name of the feature; None for the model's prediction.
    low, high : float
        Above ``low``, and up to ``high``; −∞ and ∞ at the ends. Both are the same for rows with one value.
    share : float
        Of all rows.
    correction, size : float
        Means of the correction and of its absolute value.
    output : int
        The output that is corrected.
    """

    variable: str | None
    low: float
    high: float
    share: float
    correction: float
    size: float
    output: int = 0

    def __str__(self) -> str:
        about = "predictions" if self.variable is None else f"predictions where {self.variable} is"
        return f"{about} {self._range()} are {_how_wrong(self.correction, self.size)} ({percent(self.share)} of rows)"

    def _range(self) -> str:
        if self.low == self.high:
            return _number(self.low)
        if math.isinf(self.low):
            return f"up to {_number(self.high)}"
        if math.isinf(self.high):
            return f"above {_number(self.low)}"
        return f"between {_number(self.low)} and {_number(self.high)}"


@dataclass(frozen=True, repr=False)
class Summary:
    """Summary of a fit. ``print`` it for a page of words; numbers of several outputs are (q,) arrays.

    Attributes
    ----------
    n_rows : int
        Rows that the GP was fitted to.
    converged : bool
    shares : Shares
        What the variance of residuals is made of.
    residual_std : float or (q,) array
        Standard deviation of the residuals that the GP was fitted to, or of 2,000 of them. After `rio_uq.load` of a
        file that does not hold them: as the GP expects it to be.
    error_std : float or (q,) array
        The same in the units of y, whatever the scale of outcomes.
    noise_std : float or (q,) array
        Standard deviation of the part that cannot be foreseen.
    bias : float or (q,) array
        Mean correction: positive where predictions are too low.
    correction_size : float or (q,) array
        Mean absolute correction.
    correction : float or (q,) array
        The share of the GP's correction that left-out rows support.
    trust, trust_std : float or (q,) array
    features : tuple of Feature
        All that the GP sees, the most relevant first.
    has_ard : bool
        Whether each feature has a lengthscale of its own; if not, relevances do not tell features apart.
    bands : tuple of Band
        Of the prediction and of each relevant feature the band of rows with the largest corrections, largest first.
    noise : str
        "constant" (assumed), "no evidence" (noise="io" found no dependence on the row) or "varying".
    tails : float or None
        Degrees of freedom of the Student likelihood, where left-out rows are predicted better with it; None where noise
        was taken to be normal in the fit.
    noise_range : pair of float or of (q,) arrays
        5 % and 95 % quantiles over rows of the noise's standard deviation.
    calibrated : bool
        Whether error bars were calibrated.
    residuals : ResidualChoice or None
        Which residuals the GP was fitted to, and why.
    shape : Shape or None
        How outcomes are distributed, for each output; None where they were taken to be normal.
    calibration : Calibration or None
        What `RIORegressor.calibrate` has learnt.
    scale : ScaleChoice or None
        The scale that residuals were taken on, which shares, noise, trust and features are about.
    model_choice : ModelChoice or None
        Whether predictions use the model, and errors of left-out rows with and without it.
    """

    n_rows: int
    converged: bool
    shares: Shares
    residual_std: Any
    error_std: Any
    noise_std: Any
    bias: Any
    correction_size: Any
    correction: Any
    trust: Any
    trust_std: Any
    features: tuple[Feature, ...]
    has_ard: bool
    bands: tuple[Band, ...]
    noise: str
    noise_range: tuple[Any, Any]
    tails: float | None
    calibrated: bool
    residuals: ResidualChoice | None = None
    shape: Shape | None = None
    calibration: Calibration | None = None
    scale: ScaleChoice | None = None
    model_choice: ModelChoice | None = None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        n_outputs = np.size(self.bias)
        lines = [f"RIO, fitted to the residuals of {self.n_rows:,} rows"]
        if self.residuals is not None:
            lines.append(f"Residuals: {self.residuals}.")
        if not self.converged:
            lines.append("The optimiser stopped before it had converged: numbers may still change with max_iter.")
        for output in range(n_outputs):
            lines += ["", f"Output {output}"] if n_outputs > 1 else []
            lines += [] if self.scale is None else [self.scale.in_words(output)]
            lines += ["", *self._words_on_residuals(output), "", *self._words_on_bands(output)]
        return "\n".join([*lines, "", *self._words_on_features(), "", *self._words_on_error_bars()])

    def decisions(self, output: int = 0) -> list[str]:
        """What was decided on the way to the error bars of an output, and why: a sentence each."""
        return [
            *([] if self.residuals is None else [f"Residuals: {self.residuals}."]),
            *([] if self.scale is None else [self.scale.in_words(output)]),
            *self._words_on_model(output),
            *self._words_on_correction(output),
            *self._words_on_error_bars(),
        ]

    def _words_on_model(self, output: int) -> list[str]:
        choice = self.model_choice
        if choice is None:
            return []
        error, without = (_number(errors[output]) for errors in (choice.error, choice.error_without_model))
        beside = f"root mean squared errors of left-out rows are {error} with the model and {without} without it"
        if choice.uses_model:
            return [f"Beside a GP without the model: {beside}."]
        return [f"Predictions do without the model: {beside}."]

    def _words_on_correction(self, output: int) -> list[str]:
        return _words_on_correction(float(_of(self.correction, output)), has_constant=self._is_on_another_scale(output))

    def _words_on_residuals(self, output: int) -> list[str]:
        shares = [float(_of(share, output)) for share in self.shares]
        meanings = (
            ("input part", "learnt from the features"),
            ("output part", "learnt from the model's output"),
            ("unsettled", "more rows would tell"),
            ("noise", f"cannot be foreseen, standard deviation {_number(_of(self.noise_std, output))}"),
        )
        spread = _number(_of(self.residual_std, output))
        return [
            f"What residuals are made of (standard deviation {spread}, shares of their variance)",
            *(
                f"  {name:<12}{percent(share, 1):>7}  {words}"
                for (name, words), share in zip(meanings, shares, strict=True)
            ),
            *self._words_on_model(output),
            *self._words_on_trust(output),
            *self._words_on_correction(output),
        ]

    def _words_on_trust(self, output: int) -> list[str]:
        """Nothing where predictions do without the model."""
        if self.model_choice is not None and not self.model_choice.uses_model:
            return []
        return [_words_on_trust(_of(self.trust, output), _of(self.trust_std, output))]

    def _words_on_bands(self, output: int) -> list[str]:
        bias, size = float(_of(self.bias, output)), float(_of(self.correction_size, output))
        bands = [band for band in self.bands if band.output == output and self._stands_out(band)]
        lines = [f"Where the model errs most (over all rows predictions are {_how_wrong(bias, size)})"]
        return lines + [f"  {band}" for band in bands[:BANDS_SHOWN]] if bands else [*lines, "  nowhere in particular"]

    def _is_on_another_scale(self, output: int) -> bool:
        return self.scale is not None and self.scale.scales[output].kind != "identity"

    def _stands_out(self, band: Band) -> bool:
        """Whether the band is worth a sentence: corrections there are larger than elsewhere, and than chance allows."""
        of_a_mean = _of(self.error_std, band.output) / math.sqrt(max(band.share * self.n_rows, 1.0))
        return bool(band.size > max(STANDS_OUT * _of(self.correction_size, band.output), 2.0 * of_a_mean))

    def _words_on_features(self) -> list[str]:
        if not self.features:
            return ["The kernel does not look at features."]
        if not self.has_ard:
            return [f"The {len(self.features)} features share one lengthscale (ard=False): none stands out."]
        shown = self.features[:FEATURES_SHOWN]
        width = max(len(feature.name) for feature in shown)
        rest = len(self.features) - len(shown)
        return [
            "Features that matter most (expected change of the input part when they move by one standard deviation)",
            *(f"  {feature.name:<{width}}  {_numbers(feature.relevance)}" for feature in shown),
            *([f"  and {rest} more"] if rest else []),
        ]

    def _words_on_error_bars(self) -> list[str]:
        low, high = (_numbers(bound) for bound in self.noise_range)
        noise = {
            "constant": "Noise was taken to be the same for all rows (noise='constant').",
            "no evidence": "Noise seems to be the same for all rows: there is no evidence that it depends on them.",
            "varying": f"Noise depends on the row: its standard deviation is {low} to {high} for nine rows of ten.",
        }[self.noise]
        words = [noise]
        if self.tails is not None:
            tails = f"a Student likelihood with {self.tails:.1f} degrees of freedom"
            words.append(f"Noise has heavy tails: rows far from what the GP expects count less ({tails}).")
        if self.calibration is not None:
            return [*words, self.calibration.in_words()]
        return [*words, *self._words_on_shape(), "Error bars are as the GP gives them, not calibrated."]

    def _words_on_shape(self) -> list[str]:
        if self.shape is None:
            return ["Outcomes were taken to be normal (distribution='normal')."]
        names = [f" of output {i}" if len(self.shape.scores) > 1 else "" for i in range(len(self.shape.scores))]
        return [f"Outcomes{name} follow {self.shape.in_words(output)}." for output, name in enumerate(names)]


def _words_on_trust(trust: Any, std: Any) -> str:
    if np.isnan(trust):
        return "Trust in the model's output is not known: predictions are all the same, or not one for each output."
    if std == 0.0:
        return f"Trust in the model's output: {_number(trust)} by choice, for the kernel does not look at it."
    return f"Trust in the model's output: {trust:.2f} ± {std:.2f} (1 keeps it, 0 does without)."


def _words_on_correction(share: float, *, has_constant: bool) -> list[str]:
    """Nothing where all of it is made."""
    if share == 1.0:
        return []
    if share == 0.0:
        kept = "corrected by a constant on their scale only" if has_constant else "left as they are"
        return [f"Predictions are {kept}: rows that the GP was trained without do not support more."]
    return [f"Corrections are shrunk to {percent(share)}: rows that the GP was trained without support no more."]


def _how_wrong(correction: float, size: float) -> str:
    """In words, from the mean correction and its mean absolute value."""
    if size == 0.0:
        return "not corrected"
    if abs(correction) < 0.5 * size:
        return f"corrected by {_number(size)} on average, in both directions"
    return f"too {'low' if correction > 0 else 'high'} by {_number(abs(correction))} on average"


def _of(value: Any, output: int) -> Any:
    return value if np.ndim(value) == 0 else value[output]


def percent(share: float, digits: int = 0) -> str:
    """0.123 as "12 %"."""
    return f"{100.0 * share:.{digits}f} %"


def _numbers(value: Any) -> str:
    return ", ".join(_number(float(entry)) for entry in np.atleast_1d(value))


def _number(value: float) -> str:
    """Three digits, without powers of ten where they can be avoided."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.12g}" if 1e-3 <= abs(rounded) < 1e7 or rounded == 0.0 else f"{rounded:.3g}"


def worst_bands(
    variables: Sequence[tuple[str | None, Array]], correction: Array, weight: Array, *, n_bands: int, output: int
) -> list[Band]:
    """Of each variable the band of rows with the largest mean absolute correction, largest first.

    Parameters
    ----------
    variables : sequence of pairs
        Name (None for the prediction) and values (n,).
    correction, weight : (n,) arrays
    n_bands : int
        Each variable is cut into at most this many bands with about the same number of rows.
    output : int
        The output that is corrected.
    """
    worst = []
    for name, values in variables:
        bands = [
            Band(name, low, high, *_band_means(rows, correction, weight), output)
            for low, high, rows in cut(values, n_bands)
        ]
        if len(bands) > 1:
            worst.append(max(bands, key=lambda band: band.size))
    return sorted(worst, key=lambda band: -band.size)


def _band_means(rows: Mask, correction: Array, weight: Array) -> tuple[float, float, float]:
    """Share of rows, mean correction, mean absolute correction."""
    within = weight[rows]
    mean, size = (np.average(values[rows], weights=within) for values in (correction, np.abs(correction)))
    return float(within.sum() / weight.sum()), float(mean), float(size)


def cut(values: Array, n_bands: int) -> list[tuple[float, float, Mask]]:
    """Bands of values with their bounds; each value for itself where there are no more of them than bands."""
    distinct = np.unique(values)
    if len(distinct) <= n_bands:
        return [(float(value), float(value), values == value) for value in distinct]
    inner = np.unique(np.quantile(values, np.arange(1, n_bands) / n_bands, method="nearest"))
    edges = [-np.inf, *inner[inner < distinct[-1]].tolist(), np.inf]
    return [(low, high, (values > low) & (values <= high)) for low, high in pairwise(edges)]


def summarize(fitted: Fitted, rows: KeptRows, n_jobs: int) -> Summary:
    """Summary of a fit, on the given rows."""
    gp, (features, y_pred, weight) = fitted.gp, (rows.features, rows.y_pred, rows.weight)
    on_scale = replace(rows, y_pred=fitted.scaled(y_pred))
    mean, latent = gp.mean_and_variance(features, on_scale.y_pred, n_jobs)
    noise_variance = gp.noise_at(features, on_scale.y_pred, n_jobs)
    correction = fitted.mean(Inputs(features, y_pred), n_jobs) - fitted.reference(y_pred)
    relevance = feature_relevance(gp, features)
    names = fitted.feature_names
    order = np.argsort(-relevance[:, 0], kind="stable")
    learnt = mean + fitted.base(y_pred) - fitted.scales.forward_prediction(fitted.reference(y_pred))
    variances = _variances(gp, on_scale, learnt, latent, noise_variance, n_jobs)
    total = np.sum(variances, axis=0)
    constant = "constant" if gp.noise_choice == "constant" else "no evidence"
    seen, error_std = fitted.scaled_rows().residual_std(), fitted.kept.residual_std()
    low, high = np.quantile(np.sqrt(noise_variance), [0.05, 0.95], axis=0)
    trust, trust_std = gp.trust()
    per_output = fitted.per_output
    return Summary(
        n_rows=rows.n_fitted,
        converged=gp.converged,
        shares=Shares(*(per_output(variance / total) for variance in variances)),
        residual_std=per_output(np.sqrt(total) if seen is None else seen),
        error_std=per_output(np.sqrt(total) if error_std is None else error_std),
        noise_std=per_output(np.sqrt(variances[-1])),
        bias=per_output(np.average(correction, axis=0, weights=weight)),
        correction_size=per_output(np.average(np.abs(correction), axis=0, weights=weight)),
        correction=per_output(gp.correction),
        trust=per_output(trust),
        trust_std=per_output(trust_std),
        features=tuple(Feature(names[i], per_output(relevance[i])) for i in order),
        has_ard=gp.has_ard,
        bands=tuple(_bands(rows, correction, [(names[i], i) for i in order if _matters(relevance[:, 0], i)])),
        noise="varying" if gp.noise.varies else constant,
        noise_range=(per_output(low), per_output(high)),
        tails=gp.noise.degrees if isinstance(gp.noise, Student) else None,
        calibrated=fitted.calibration is not None,
        residuals=fitted.residuals,
        shape=fitted.shape,
        calibration=fitted.calibration,
        scale=fitted.scale_choice if fitted.has_scale_to_explain else None,
        model_choice=fitted.model_choice,
    )


def _variances(
    gp: ResidualGP, rows: KeptRows, correction: Array, latent: Array, noise: Array, n_jobs: int
) -> tuple[Array, Array, Array, Array]:
    """The variance of residuals over rows and outcomes, as a sum of four parts, each (q,); see `Shares`.

    By the law of total variance it is that of the correction over rows, plus the mean of what is not known of it, plus
    the mean noise.
    """

    def spread(values: Array) -> Array:
        centre = np.average(values, axis=0, weights=rows.weight)
        return np.asarray(np.average((values - centre) ** 2, axis=0, weights=rows.weight))

    has_output_part = bool(gp.posterior.kernel.part("output"))
    by_input = gp.part("input", rows.features, rows.y_pred, n_jobs) if has_output_part else correction
    parts = without_shared_slope(by_input, correction - by_input, rows.y_pred, rows.weight)
    input_spread, output_spread = (spread(part) for part in parts)
    both = input_spread + output_spread
    share = np.divide(input_spread, both, out=np.zeros_like(both), where=both > 0.0)
    learnt = spread(correction)
    unsettled, unforeseen = (np.average(values, axis=0, weights=rows.weight) for values in (latent, noise))
    return share * learnt, (1.0 - share) * learnt, np.asarray(unsettled), np.asarray(unforeseen)


def without_shared_slope(
    by_input: Array, by_output: Array, y_pred: Array, weight: Array | None = None
) -> tuple[Array, Array]:
    """The input and the output part of corrections, (n, q) each, without what one adds and the other takes away.

    ŷ is a function of the features, so that both parts can have a slope on it, and data tell only the sum of the two.
    Where the parts cancel, the input part's slope on ŷ is given to the output part, which stays a function of ŷ.
    """
    if y_pred.shape != by_input.shape:  # no prediction for each output
        return by_input, by_output
    weight = np.ones(len(y_pred)) if weight is None else weight

    def centred(values: Array) -> Array:
        return np.asarray(values - np.average(values, axis=0, weights=weight))

    def product(one: Array, other: Array) -> Array:
        return np.asarray(np.average(centred(one) * centred(other), axis=0, weights=weight))

    size = np.sqrt(product(by_input, by_input) * product(by_output, by_output))
    cancels = product(by_input, by_output) < CANCEL * size
    spread = product(y_pred, y_pred)
    slope = np.divide(product(by_input, y_pred), spread, out=np.zeros_like(spread), where=cancels & (spread > 0.0))
    shared = slope * centred(y_pred)
    return by_input - shared, by_output + shared


def feature_relevance(gp: ResidualGP, features: Array) -> Array:
    """By how much the input part is expected to change, in the units of y, when a feature moves by its standard
    deviation over the given rows (n, d); shape (d, q).

    A priori, f(c + δ) − f(c) has the variance k(c + δ, c + δ) − 2 k(c + δ, c) + k(c, c); c is the mean of the rows.
    """
    d, posterior = features.shape[1], gp.posterior
    terms = posterior.kernel.part("input")
    squares = np.zeros(d)
    if d and terms:
        kernel, theta = posterior.kernel.restricted(terms, posterior.theta)
        step = gp.inputs.apply(features).std(axis=0)
        centre = np.zeros((1, posterior.points.shape[1]))
        at_centre = kernel.diagonal(theta, centre)
        for batch in gen_batches(d, 256):
            columns = np.arange(d)[batch]
            moved = np.zeros((len(columns), centre.shape[1]))
            moved[np.arange(len(columns)), columns] = step[columns]
            cross = kernel.matrix(theta, moved, centre)[:, 0]
            squares[batch] = kernel.diagonal(theta, moved) - 2.0 * cross + at_centre
    return np.sqrt(np.maximum(squares, 0.0))[:, None] * gp.targets.scale


def _matters(relevance: Array, i: int) -> bool:
    return bool(relevance[i] > MATTERS * relevance.max())


def _bands(rows: KeptRows, correction: Array, chosen: list[tuple[str, int]]) -> list[Band]:
    """The worst bands of each output, by its prediction if it has one, and by features."""
    n_bands = min(N_BANDS, len(correction) // ROWS_OF_A_BAND)
    if n_bands < 2:
        return []
    features = [(name, rows.features[:, i]) for name, i in chosen]
    has_prediction = rows.y_pred.shape[1] == correction.shape[1]
    return [
        band
        for output in range(correction.shape[1])
        for band in worst_bands(
            [*([(None, rows.y_pred[:, output])] if has_prediction else []), *features],
            correction[:, output],
            rows.weight,
            n_bands=n_bands,
            output=output,
        )
    ]
