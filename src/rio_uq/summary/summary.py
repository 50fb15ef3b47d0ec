"""Summary of a fitted regressor, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rio_uq.calibration.calibration import Calibration
from rio_uq.calibration.shape import Shape
from rio_uq.gp.without_model import ModelChoice
from rio_uq.models.residual_choice import ResidualChoice
from rio_uq.scales.choice import ScaleChoice
from rio_uq.summary.bands import Band
from rio_uq.summary.parts import Feature, Shares
from rio_uq.summary.words import how_wrong, number, numbers, of_output, percent

FEATURES_SHOWN, BANDS_SHOWN = 5, 3

STANDS_OUT = 1.2
"""Corrections in a band that is worth a sentence are this much larger than those of all rows."""


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
    is_out_of_time : bool
        Whether the optimiser stopped because a time budget was used up.
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
    is_out_of_time: bool = False

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        n_outputs = np.size(self.bias)
        does_without = self.model_choice is not None and not self.model_choice.uses_model
        targets, rows = "outcomes" if does_without else "residuals", "row" if self.n_rows == 1 else "rows"
        lines = [f"RIO, fitted to the {targets} of {self.n_rows:,} {rows}"]
        if self.residuals is not None:
            lines.append(f"Residuals: {self.residuals}.")
        if not self.converged:
            remedy = "a larger time_budget" if self.is_out_of_time else "max_iter"
            lines.append(f"The optimiser stopped before it had converged: numbers may still change with {remedy}.")
        for output in range(n_outputs):
            lines += ["", f"Output {output}"] if n_outputs > 1 else []
            lines += [] if self.scale is None else [self.scale.in_words(output)]
            lines += ["", *self._words_on_residuals(output), "", *self._words_on_bands(output)]
        return "\n".join([*lines, "", *self._words_on_features(), "", *self._words_on_error_bars()])

    def decisions(self, output: int = 0) -> list[str]:
        """The decisions on the way to the error bars of an output, and why: a sentence each."""
        return [
            *([] if self.residuals is None else [f"Residuals: {self.residuals}."]),
            *([] if self.scale is None else [self.scale.in_words(output)]),
            *self._words_on_model(output),
            *self._words_on_correction(output),
            *self._words_on_error_bars(),
        ]

    def beside_plain_gp(self, output: int = 0) -> str:
        """How a GP without the model does on left-out rows, in a sentence; empty where none was tried."""
        return " ".join(self._words_on_model(output))

    def _words_on_model(self, output: int) -> list[str]:
        choice = self.model_choice
        if choice is None:
            return []
        if choice.stray:
            return [
                f"Predictions do without the model: {percent(choice.stray)} of its predictions are outside the range "
                "of its clones', whose residuals say nothing about it then. Does its training end somewhere else each "
                "time, without having converged?"
            ]
        errors = choice.error, choice.expected_error, choice.error_without_model
        measured, with_model, without = (error[output] for error in errors)
        beside = "root mean squared errors of left-out rows"
        beside += " on that scale" if self._is_on_another_scale(output) else ""
        beside += f" are {number(measured)} with the model"
        if choice.gain < 1.0:
            beside += f"'s clones ({number(with_model)} expected with the model itself, which has more rows)"
        beside += f" and {number(without)} without it"
        if choice.uses_model:
            not_clear = ", which is not clearly better" if without < with_model else ""
            return [f"Beside a GP without the model: {beside}{not_clear}."]
        return [f"Predictions do without the model: {beside}."]

    def _words_on_correction(self, output: int) -> list[str]:
        return _words_on_correction(
            float(of_output(self.correction, output)), has_constant=self._is_on_another_scale(output)
        )

    def _words_on_residuals(self, output: int) -> list[str]:
        shares = [float(of_output(share, output)) for share in self.shares]
        meanings = (
            ("input part", "learnt from the features"),
            ("output part", "learnt from the model's output"),
            ("unsettled", "more rows would tell"),
            ("noise", f"cannot be foreseen, standard deviation {number(of_output(self.noise_std, output))}"),
        )
        spread = number(of_output(self.residual_std, output))
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
        return [_words_on_trust(of_output(self.trust, output), of_output(self.trust_std, output))]

    def _words_on_bands(self, output: int) -> list[str]:
        bias, size = float(of_output(self.bias, output)), float(of_output(self.correction_size, output))
        bands = [band for band in self.bands if band.output == output and self._stands_out(band)]
        lines = [f"Where the model errs most (over all rows predictions are {how_wrong(bias, size)})"]
        return lines + [f"  {band}" for band in bands[:BANDS_SHOWN]] if bands else [*lines, "  nowhere in particular"]

    def _is_on_another_scale(self, output: int) -> bool:
        return self.scale is not None and self.scale.scales[output].kind != "identity"

    def _stands_out(self, band: Band) -> bool:
        """Whether the band is worth a sentence: corrections there are larger than elsewhere, and than chance allows."""
        of_a_mean = of_output(self.error_std, band.output) / math.sqrt(max(band.share * self.n_rows, 1.0))
        return bool(band.size > max(STANDS_OUT * of_output(self.correction_size, band.output), 2.0 * of_a_mean))

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
            *(f"  {feature.name:<{width}}  {numbers(feature.relevance)}" for feature in shown),
            *([f"  and {rest} more"] if rest else []),
        ]

    def _words_on_error_bars(self) -> list[str]:
        low, high = (numbers(bound) for bound in self.noise_range)
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
        return f"Trust in the model's output: {number(trust)} by choice, for the kernel does not look at it."
    return f"Trust in the model's output: {trust:.2f} ± {std:.2f} (1 keeps it, 0 does without)."


def _words_on_correction(share: float, *, has_constant: bool) -> list[str]:
    """Nothing where all of it is made."""
    if share == 1.0:
        return []
    if share == 0.0:
        kept = "corrected by a constant on their scale only" if has_constant else "left as they are"
        return [f"Predictions are {kept}: rows that the GP was trained without do not support more."]
    return [f"Corrections are shrunk to {percent(share)}: rows that the GP was trained without support no more."]
