"""The summary of a fit, from what it has learnt and a sample of its rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rio_uq._base.array import Array
from rio_uq.answers import Inputs
from rio_uq.fitted import Fitted
from rio_uq.gp.deadline import TIME_IS_UP
from rio_uq.gp.noise.student import Student
from rio_uq.rows.kept import KeptRows
from rio_uq.summary.bands import bands_of_outputs
from rio_uq.summary.parts import Feature, Shares, feature_relevance, variances_of_parts
from rio_uq.summary.summary import Summary

MATTERS = 0.1
"""Bands are made of features with at least this share of the largest relevance."""


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
    variances = variances_of_parts(gp, on_scale, learnt, latent, noise_variance, n_jobs)
    total = np.sum(variances, axis=0)
    constant = "constant" if gp.noise_choice == "constant" else "no evidence"
    seen, error_std = _on_scale(fitted).residual_std(), fitted.kept.residual_std()
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
        bands=tuple(bands_of_outputs(rows, correction, [(names[i], i) for i in order if _matters(relevance[:, 0], i)])),
        noise="varying" if gp.noise.varies else constant,
        noise_range=(per_output(low), per_output(high)),
        tails=gp.noise.degrees if isinstance(gp.noise, Student) else None,
        calibrated=fitted.calibration is not None,
        residuals=fitted.residuals,
        shape=fitted.shape,
        calibration=fitted.calibration,
        scale=fitted.scale_choice if fitted.has_scale_to_explain else None,
        model_choice=fitted.model_choice,
        is_out_of_time=gp.message == TIME_IS_UP,
    )


def _on_scale(fitted: Fitted) -> KeptRows:
    """The sample of the training rows, with predictions and outcomes on the scale of outcomes."""
    kept, scales = fitted.kept, fitted.scales
    if scales.is_identity or fitted.n_predictions != fitted.n_outputs:
        return kept
    return replace(kept, outcome=scales.forward(kept.outcome), y_pred=scales.forward_prediction(kept.y_pred))


def _matters(relevance: Array, i: int) -> bool:
    return bool(relevance[i] > MATTERS * relevance.max())
