"""Summary of a fitted classifier: how sure and how right its model is, and what its errors have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array
from rio_uq.confidence import CorrectionChoice, Recalibration
from rio_uq.fitted_classifier import FittedClassifier, LabelInputs
from rio_uq.models.residual_choice import ResidualChoice
from rio_uq.prediction_sets import SetCalibration
from rio_uq.summary.bands import N_BANDS, ROWS_OF_A_BAND, Band, worst_bands
from rio_uq.summary.parts import Feature, feature_relevance
from rio_uq.summary.words import percent

BANDS_SHOWN, FEATURES_SHOWN, CLASSES_SHOWN = 3, 5, 5


@dataclass(frozen=True)
class LabelErrors:
    """Errors among rows with one label of the model.

    Attributes
    ----------
    label : object
        The label that the model predicts.
    share : float
        Of all rows.
    error : float
        The mean error score: the share of these labels that are wrong, as RIO expects it.
    """

    label: object
    share: float
    error: float


@dataclass(frozen=True, repr=False)
class ClassifierSummary:
    """Summary of a fit. ``print`` it for a page of words.

    Attributes
    ----------
    n_rows : int
        Rows that the GP was fitted to.
    accuracy : float
        Share of them whose label by the model is right.
    model_confidence : float
        Mean probability of the label by the model itself, on these rows.
    recalibration : Recalibration
    choice : CorrectionChoice
        Whether confidence is corrected, and the evidence.
    residuals : ResidualChoice or None
        Which probabilities the GP was fitted to, and why.
    labels : tuple of LabelErrors
        By the label of the model, the one with the most expected errors first.
    bands : tuple of Band
        Of the model's confidence and each relevant feature the band of rows where error scores are furthest from what
        confidence says, largest first; empty without a correction.
    features : tuple of Feature
        All that the GP sees of X, the most relevant first.
    sets : SetCalibration or None
    """

    n_rows: int
    accuracy: float
    model_confidence: float
    recalibration: Recalibration
    choice: CorrectionChoice
    residuals: ResidualChoice | None
    labels: tuple[LabelErrors, ...]
    bands: tuple[Band, ...]
    features: tuple[Feature, ...]
    sets: SetCalibration | None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"RIO, fitted to whether labels of {self.n_rows:,} rows are right"]
        if self.residuals is not None:
            lines.append(f"Probabilities: {self.residuals}.")
        lines += [
            "",
            f"{percent(self.accuracy, 1)} of the model's labels are right, and it says "
            f"{percent(self.model_confidence, 1)}.",
            self._words_on_correction(),
            "",
            *self._words_on_errors(),
        ]
        if self.sets is not None:
            lines += ["", f"Sets of classes were calibrated on {self.sets.n_rows:,} rows ({self.sets.method})."]
        return "\n".join(lines)

    def _words_on_correction(self) -> str:
        choice = self.choice
        if not choice.is_corrected:
            return "Error scores are its confidence, recalibrated: left-out rows do not support a correction."
        return (
            f"Error scores are corrected: the log loss of left-out rows is {choice.log_loss_corrected:.3g} with the "
            f"correction and {choice.log_loss:.3g} without."
        )

    def _words_on_errors(self) -> list[str]:
        lines = ["Expected errors by the label of the model:"]
        lines += [
            f"  {one.label}: {percent(one.error, 1)} of {percent(one.share)} of rows"
            for one in self.labels[:CLASSES_SHOWN]
        ]
        if self.bands:
            lines += ["Where the model is wrong more or less often than it thinks:"]
            lines += [f"  {_words_on_band(band)}" for band in self.bands[:BANDS_SHOWN]]
            names = ", ".join(feature.name for feature in self.features[:FEATURES_SHOWN])
            lines += [f"Error scores depend most on {names}."]
        return lines


def _words_on_band(band: Band) -> str:
    where = "its confidence" if band.variable is None else band.variable
    more = "more" if band.correction > 0.0 else "less"
    return (
        f"where {where} is {band.range_in_words()}: {percent(abs(band.correction), 1)} {more} errors "
        f"({percent(band.share)} of rows)"
    )


def summarize_classifier(fitted: FittedClassifier, inputs: LabelInputs | None, n_jobs: int) -> ClassifierSummary:
    """Summary of a fit, on the given rows or on those that were kept."""
    kept = fitted.errors.kept
    weight = kept.weight if inputs is None else np.ones(len(inputs.probabilities))
    inputs = LabelInputs(kept.features, kept.y_pred) if inputs is None else inputs
    error = 1.0 - fitted.label_probability(inputs, n_jobs)
    confidence = fitted.confidence(inputs.probabilities)
    label = inputs.probabilities.argmax(axis=1)
    relevance = _relevance(fitted, inputs)
    order = np.argsort(-relevance, kind="stable")
    names = fitted.errors.feature_names if inputs.features.shape[1] else []
    bands: list[Band] = []
    n_bands = min(N_BANDS, len(error) // ROWS_OF_A_BAND)
    if fitted.choice.is_corrected and n_bands > 1:
        chosen = [i for i in order if relevance[i] > 0.1 * relevance.max(initial=0.0)]
        variables = [(None, confidence), *((names[i], inputs.features[:, i]) for i in chosen)]
        bands = worst_bands(variables, error - (1.0 - confidence), weight, n_bands=n_bands, output=0)
        bands = sorted(bands, key=lambda band: -abs(band.correction))
    return ClassifierSummary(
        n_rows=kept.n_fitted,
        accuracy=float(np.average(kept.outcome[:, 0], weights=kept.weight)),
        model_confidence=float(np.average(kept.y_pred.max(axis=1), weights=kept.weight)),
        recalibration=fitted.recalibration,
        choice=fitted.choice,
        residuals=fitted.errors.residuals,
        labels=_by_label(fitted, label, error, weight),
        bands=tuple(bands),
        features=tuple(Feature(names[i], float(relevance[i])) for i in order),
        sets=fitted.sets,
    )


def _relevance(fitted: FittedClassifier, inputs: LabelInputs) -> Array:
    """Of each feature of X, (d,): by how much the input part of the correction is expected to change with it."""
    d = inputs.features.shape[1]
    return feature_relevance(fitted.gp, fitted.gp_rows(inputs)[0])[:d, 0]


def _by_label(fitted: FittedClassifier, label: Array, error: Array, weight: Array) -> tuple[LabelErrors, ...]:
    total = np.bincount(label, weights=weight, minlength=fitted.n_classes)
    wrong = np.bincount(label, weights=weight * error, minlength=fitted.n_classes)
    there = [k for k in range(fitted.n_classes) if total[k] > 0.0]
    there.sort(key=lambda k: -wrong[k])
    names = fitted.classes.tolist()
    return tuple(LabelErrors(names[k], float(total[k] / weight.sum()), float(wrong[k] / total[k])) for k in there)
