"""Error bars of each method on altered rows, and where those rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.shift.alterations import OTHER_DATA, Alteration
from lab.rio import fit, regressor
from rio_uq import RIORegressor, metrics

OURS, LATENT, NOISE, ENSEMBLE = "RIO", "RIO, latent part", "RIO, noise part", "deep ensemble"
PAPER = {"RIO, paper's settings": "RIO", "R+I, paper's settings": "R+I", "R+O, paper's settings": "R+O"}
INPUTS_INSIDE, OUTPUT_INSIDE = "all features in their training range", "ŷ in its training range"

ErrorBars = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From rows to predictions and standard deviations."""


@dataclass(frozen=True)
class Measurement:
    """A number in one of the tables, of one run.

    Attributes
    ----------
    measure : {"auroc", "rise", "risen", "coverage", "place"}
        Which table.
    row : str
        The method, or what else the line is about.
    kind, label : str
        Of the alteration.
    value : float
    """

    measure: str
    row: str
    kind: str
    label: str
    value: float


def rio_parts(rio: RIORegressor) -> dict[str, ErrorBars]:
    """The error bars of a fitted regressor, whole and in the two parts of their square."""

    def whole(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rio.predict(X, return_std=True)

    def latent(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rio.predict(X, return_std=True, include_noise=False)

    def noise(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (mean, std), (_, latent_std) = whole(X), latent(X)
        variance = np.maximum(std**2 - latent_std**2, np.finfo(float).tiny)
        return mean, np.exp(np.round(0.5 * np.log(variance), 4))  # no rank by what rounding left of a constant

    return {OURS: whole, LATENT: latent, NOISE: noise}


def ensemble(models: list[Any]) -> ErrorBars:
    """The mean of the models and their spread, nothing else."""

    def members(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        predictions = np.stack([model.predict(X) for model in models])
        return predictions.mean(axis=0), predictions.std(axis=0)

    return members


def error_bars(models: list[Any], X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, ErrorBars]:
    """Every method, fitted: RIO and its variants on the first of the models, and the ensemble of all.

    Parameters
    ----------
    models : list
        Fitted, of the same kind.
    X, y : (n, d) and (n,) arrays
        The training rows.
    seed : int
    """

    def parts(variant: str | None = None) -> dict[str, ErrorBars]:
        return rio_parts(fit(regressor(models[0], variant=variant, n_jobs=1, random_state=seed), X, y))

    paper = {name: parts(variant)[OURS] for name, variant in PAPER.items()}
    return {**parts(), **paper, ENSEMBLE: ensemble(models)}


def auroc(clean: np.ndarray, altered: np.ndarray) -> float:
    """Area under the ROC curve for telling altered rows from clean ones by their standard deviations."""
    is_altered = np.repeat([0, 1], [len(clean), len(altered)])
    return float(roc_auc_score(is_altered, np.concatenate([clean, altered])))


def compare(
    bars: dict[str, ErrorBars], X: np.ndarray, y: np.ndarray, altered: Iterable[Alteration]
) -> Iterator[Measurement]:
    """The error bars of each method on altered rows, beside the clean test rows X with outcomes y."""
    clean = {name: method(X)[1] for name, method in bars.items()}
    for rows in altered:
        for name, method in bars.items():
            mean, std = method(rows.X)
            yield Measurement("auroc", name, rows.kind, rows.label, auroc(clean[name], std))
            rise = float(np.median(std) / np.median(clean[name]))
            yield Measurement("rise", name, rows.kind, rows.label, rise)
            if rows.kind != OTHER_DATA:
                yield Measurement("risen", name, rows.kind, rows.label, float((std > clean[name]).mean()))
            if rows.keeps_outcome and name not in (LATENT, NOISE):
                yield Measurement("coverage", name, rows.kind, rows.label, metrics.coverage(y, mean, std))


def inside(values: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Whether values are within the range of training values, column by column."""
    return (values >= training.min(axis=0)) & (values <= training.max(axis=0))


def places(model: Any, X_train: np.ndarray, y: np.ndarray, altered: Iterable[Alteration]) -> Iterator[Measurement]:
    """Where altered rows are: in the training region or out of it, by inputs and by the model's output."""
    training = model.predict(X_train)
    for rows in altered:
        prediction = model.predict(rows.X)
        shares = {INPUTS_INSIDE: inside(rows.X, X_train).all(axis=1), OUTPUT_INSIDE: inside(prediction, training)}
        for row, is_inside in shares.items():
            yield Measurement("place", row, rows.kind, rows.label, float(is_inside.mean()))
        if rows.keeps_outcome:
            error = metrics.rmse(y, prediction)
            yield Measurement("place", "RMSE of the network", rows.kind, rows.label, error)
